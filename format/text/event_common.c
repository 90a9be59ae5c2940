/* SPDX-License-Identifier: MIT */
/* The values of a record's common fields: type, thread, flags. See event_parse.h. */
#include "format/io/bytes.h"
#include "format/text/event_parse.h"

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

const char *event_comm(const struct event_table *table, int32_t tid)
{
	const char *name = tep_data_comm_from_pid(table->tep, tid);

	/* The text that libtraceevent returns for a thread without a name. */
	return name && strcmp(name, "<...>") != 0 ? name : "";
}
