/* SPDX-License-Identifier: MIT */
/* See report_field.h. Fields are where libtraceevent finds them; no number in a record makes us read outside of it. */
#include "cli/report/report_field.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/report/report_event.h"
#include "format/io/bytes.h"
#include "format/text/event_field.h"
#include "format/text/event_float.h"

/* ----------------------------------------------------------------------------------------------- fields of an event */

/* Whether a field holds addresses of functions: it has one of these names, and room for an address of the machine. */
static bool is_function(const struct tep_format_field *field)
{
	static const char *const names[] = { "ip", "parent_ip", "func", "function", "caller", "call_site", "callsite" };

	for (unsigned int i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(field->name, names[i]))
			return field->size == 0 || field->size >= tep_get_long_size(field->event->tep);
	return false;
}

static unsigned int count(const struct tep_format_field *field)
{
	unsigned int nr = 0;

	for (; field; field = field->next)
		nr++;
	return nr;
}

static void add(const struct report *r, struct report_event_fields *fields, const struct tep_event *event,
		struct tep_format_field *field)
{
	struct report_field *one = &fields->fields[fields->nr++];

	one->field = field;
	one->is_float = event_field_is_float(field);
	one->is_text = event_field_is_text(field);
	one->names = report_event_names(event, field->name);
	if (!one->names && !one->is_float && field->size == 8)
		one->decimals = report_event_decimals(r->file, event, field->name);
	one->is_function = !one->is_text && is_function(field);
}

static struct report_event_fields *describe(const struct report *r, const struct tep_event *event)
{
	const unsigned int nr = count(event->format.common_fields) + count(event->format.fields);
	struct report_event_fields *fields = calloc(1, sizeof(*fields) + nr * sizeof(fields->fields[0]));

	if (!fields)
		return NULL;
	for (struct tep_format_field *field = event->format.common_fields; field; field = field->next)
		if (strcmp(field->name, "common_type") != 0 && strcmp(field->name, "common_pid") != 0)
			add(r, fields, event, field);
	for (struct tep_format_field *field = event->format.fields; field; field = field->next)
		add(r, fields, event, field);
	fields->has_text = !strcmp(event->system, "ftrace") &&
			   (!strcmp(event->name, "bprint") || !strcmp(event->name, "bputs"));
	return fields;
}

int report_fields_open(const struct report *r, struct report_fields *ret_fields)
{
	const uint32_t nr = r->table->nr_events;

	*ret_fields = (struct report_fields){ .r = r, .all = calloc(nr ? nr : 1, sizeof(*ret_fields->all)) };
	return ret_fields->all ? 0 : -ENOMEM;
}

void report_fields_close(struct report_fields *fields)
{
	for (uint32_t i = 0; fields->all && i < fields->r->table->nr_events; i++)
		free(fields->all[i]);
	free(fields->all);
	fields->all = NULL;
}

struct report_event_fields *report_fields_of(struct report_fields *fields, const struct event_type *type)
{
	struct report_event_fields **place = &fields->all[type - fields->r->table->all];

	if (!*place)
		*place = describe(fields->r, type->event);
	return *place;
}

/* ----------------------------------------------------------------------------------------------------------- values */

struct report_value report_field_value(const struct report_field *one, const void *data, uint32_t size)
{
	const struct tep_format_field *field = one->field;
	const bool array = field->flags & (TEP_FIELD_IS_DYNAMIC | TEP_FIELD_IS_ARRAY);
	struct report_value value = { .is_signed = field->flags & TEP_FIELD_IS_SIGNED };
	uint32_t offset, length;

	if (!event_field_place(field, data, size, tep_is_file_bigendian(field->event->tep), &offset, &length))
		return value;
	value.data = (const char *)data + offset;
	if (one->is_text) {
		value.kind = REPORT_VALUE_STRING;
		value.nr = (uint32_t)strnlen(value.data, length);
		return value;
	}
	value.element = array ? field->elementsize : length;
	value.kind = array ? REPORT_VALUE_LIST : REPORT_VALUE_NUMBER;
	if (!bytes_is_number(value.element)) {
		value.kind = REPORT_VALUE_LIST;
		value.element = 1;
		value.is_signed = false;
	}
	value.is_float = one->is_float;
	value.nr = length / value.element;
	return value;
}

uint64_t report_value_number(const struct report *r, const struct report_value *value, uint32_t i)
{
	return (uint64_t)bytes_number(value->data + (size_t)i * value->element, value->element, value->is_signed,
				      r->file->big);
}

/* ------------------------------------------------------------------------------------------------------------ names */

bool report_field_has_name(const struct report_field *field)
{
	return field->names || field->is_function || field->decimals;
}

static bool symbol_number(const struct tep_print_flag_sym *symbol, uint64_t *ret_number)
{
	char *end;

	if (!symbol->value || !symbol->str)
		return false;
	*ret_number = strtoull(symbol->value, &end, 0);
	return end != symbol->value;
}

static void put_flags(const struct tep_print_arg_flags *flags, uint64_t number, struct blob *out)
{
	const char *between = flags->delim ? flags->delim : "|";
	bool first = true;
	uint64_t bits;

	for (const struct tep_print_flag_sym *flag = flags->flags; flag; flag = flag->next) {
		if (!symbol_number(flag, &bits) || (bits ? (number & bits) != bits : number != 0 || !first))
			continue;
		number &= ~bits;
		blob_printf(out, "%s%s", first ? "" : between, flag->str);
		first = false;
	}
	if (number && !first)
		blob_printf(out, "%s0x%llx", between, (unsigned long long)number);
}

static void put_symbol(const struct tep_print_flag_sym *symbol, uint64_t number, struct blob *out)
{
	uint64_t value;

	for (; symbol; symbol = symbol->next) {
		if (!symbol_number(symbol, &value) || value != number)
			continue;
		blob_put(out, symbol->str, strlen(symbol->str));
		return;
	}
}

static void put_real(int64_t number, uint32_t decimals, struct blob *out)
{
	const uint64_t value = number < 0 ? 0 - (uint64_t)number : (uint64_t)number;
	uint64_t scale = 1;

	for (uint32_t i = 0; i < decimals; i++)
		scale *= 10;
	blob_printf(out, "%s%llu.%0*llu", number < 0 ? "-" : "", (unsigned long long)(value / scale), (int)decimals,
		    (unsigned long long)(value % scale));
}

void report_field_name(const struct report *r, const struct report_field *field, uint64_t number, struct blob *out)
{
	const uint32_t width = (uint32_t)field->field->size;
	/* Names of values are for the field's bits, without a sign. */
	const uint64_t bits = width && width < 8 ? number & ((1ull << (8 * width)) - 1) : number;
	const char *function;

	if (field->names && field->names->type == TEP_PRINT_FLAGS) {
		put_flags(&field->names->flags, bits, out);
	} else if (field->names) {
		const size_t before = out->size;

		put_symbol(field->names->symbol.symbols, number, out);
		if (out->size == before)
			put_symbol(field->names->symbol.symbols, bits, out);
	} else if (field->decimals) {
		put_real((int64_t)number, field->decimals, out);
	} else if (field->is_function) {
		function = tep_find_function(r->table->tep, number);
		if (function)
			blob_put(out, function, strlen(function));
	}
}
