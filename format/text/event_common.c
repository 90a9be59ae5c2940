/* SPDX-License-Identifier: MIT */
/* The values of a record's common fields: type, thread, flags; and the names of values. See event_parse.h. */
#include "format/io/bytes.h"
#include "format/text/event_parse.h"

#include <stdlib.h>
#include <string.h>

static int common_number(const struct event_table *t, uint32_t offset, uint32_t width, const void *data, uint32_t size)
{
	const bool big = t->big;
	const char *at = (const char *)data + offset;

	if (offset + width > size)
		return -1;
	switch (width) {
	case 1:
		return *(const unsigned char *)at;
	case 2:
		return bytes_get16(at, big);
	case 4:
		return (int)bytes_get32(at, big);
	default:
		return -1;
	}
}

int event_id(const struct event_table *table, const void *data, uint32_t size)
{
	return common_number(table, table->type_offset, table->type_size, data, size);
}

int event_pid(const struct event_table *table, const void *data, uint32_t size)
{
	return common_number(table, table->pid_offset, table->pid_size, data, size);
}

int event_flags(const struct event_table *table, const void *data, uint32_t size)
{
	return common_number(table, table->flags_offset, table->flags_size, data, size);
}

const struct event_type *event_type(const struct event_table *table, int id)
{
	return id >= 0 && id < (int)EVENT_NR_IDS ? table->types[id] : NULL;
}

const struct event_type *event_type_at(const struct event_table *table, uint32_t i)
{
	const struct event_type *type = &table->all[i];

	return event_type(table, type->event->id) == type ? type : NULL;
}

int32_t event_process(const struct event_table *table, int32_t tid)
{
	return dat_process(&table->processes, tid);
}

struct tep_print_flag_sym *event_symbols(const struct event_type *type, const struct tep_format_field *field)
{
	const struct tep_print_arg *arg = type->event->print_fmt.args;
	struct tep_print_flag_sym *symbols = NULL;

	for (; arg && !symbols; arg = arg->next) {
		const struct tep_print_arg *what = arg->type == TEP_PRINT_SYMBOL ? arg->symbol.field : NULL;

		while (what && what->type == TEP_PRINT_TYPE)
			what = what->typecast.item;
		if (what && what->type == TEP_PRINT_FIELD && !strcmp(what->field.name, field->name))
			symbols = arg->symbol.symbols;
	}
	return symbols;
}

const char *event_symbol(const struct tep_print_flag_sym *symbols, const struct tep_format_field *field,
			 int64_t number)
{
	const uint64_t mask = field->size >= 8 ? UINT64_MAX : (UINT64_C(1) << (8 * field->size)) - 1;

	for (; symbols; symbols = symbols->next) {
		if ((strtoull(symbols->value, NULL, 0) & mask) == ((uint64_t)number & mask))
			return symbols->str;
	}
	return NULL;
}
