/* SPDX-License-Identifier: MIT */
/*
 * The table of stacks. The kernel writes a stack as an event of its own, immediately after the event to which it
 * belongs and in the same buffer; only interrupts can come between the two. So it belongs to the last event of its
 * buffer, CPU and context that is not a stack. The context is a thread, or a soft, a hard or a non-maskable interrupt.
 */
#include "format/sql/sql_field.h"
#include "format/sql/sql_model.h"

#include <errno.h>
#include <stdlib.h>

#define NR_CONTEXTS 8u

/* An event to which the next stacks belong. */
struct owner {
	int64_t number;
	uint64_t ts;
	bool is_known;
};

struct stacks {
	struct sql_row row;
	struct number_map places; /* of a CPU of a buffer: the index of its first context in `owners`, plus one */
	struct owner *owners;
	size_t nr;
};

/* The contexts of an event's buffer and CPU. NULL: out of memory. */
static struct owner *owners_of(struct stacks *s, const struct dat_event *event)
{
	const uint64_t key = (uint64_t)(event->buffer - s->row.trace->file->buffers) << 32 | event->cpu;
	uint64_t place = number_map_get(&s->places, key);

	if (!place) {
		struct owner *more = reallocarray(s->owners, s->nr + NR_CONTEXTS, sizeof(*more));

		if (!more)
			return NULL;
		s->owners = more;
		for (unsigned int i = 0; i < NR_CONTEXTS; i++)
			more[s->nr + i] = (struct owner){ 0 };
		place = s->nr + 1;
		if (number_map_set(&s->places, key, place))
			return NULL;
		s->nr += NR_CONTEXTS;
	}
	return &s->owners[place - 1];
}

/* By common_flags: 0x08 in a hard, 0x10 in a soft, 0x40 in a non-maskable interrupt. */
static unsigned int context_of(const struct sql_trace *trace, const struct dat_event *event)
{
	const int flags = event_flags(trace->table, event->data, event->size);

	return flags < 0 ? 0 : ((unsigned int)flags >> 3 & 3u) | ((unsigned int)flags >> 4 & 4u);
}

/* The addresses of a stack: an array of numbers of the size of a pointer, which may extend to the record's end. */
static int add_frames(struct sql_row *row, const struct dat_event *event, const struct tep_format_field *field,
		      const char *kind, const struct owner *owner)
{
	const bool big = row->trace->file->big;
	const uint32_t width = row->trace->file->commit_size;
	const int32_t tid = event_pid(row->trace->table, event->data, event->size);
	struct tep_format_field frame = { .size = (int)width };
	int64_t depth = 0, address;
	int err = 0;

	for (uint32_t at = (uint32_t)field->offset; !err && at + width <= event->size; at += width, depth++) {
		struct tep_handle *const tep = row->trace->table->tep;

		frame.offset = (int)at;
		/* The kernel's stack ends with an address of all ones, a program's with zeros that fill the array. */
		if (!sql_field_number(&frame, event->data, event->size, big, &address) || address == -1 ||
		    (!address && kind[0] == 'u'))
			break;
		sql_row_int(row, (int64_t)event->ts);
		sql_row_int(row, event->cpu);
		sql_row_int(row, tid);
		sql_row_comm(row, tid);
		sql_row_text(row, kind);
		sql_row_int(row, depth);
		sql_row_int(row, address);
		sql_row_text(row, sql_row_wants(row) ? tep_find_function(tep, (unsigned long long)address) : NULL);
		sql_row_int_if(row, owner->is_known, owner->number);
		sql_row_int_if(row, owner->is_known, (int64_t)owner->ts);
		err = sql_row_end(row);
	}
	return err;
}

static int add_event(struct stacks *s, const struct dat_event *event)
{
	const struct sql_trace *trace = s->row.trace;
	const struct event_type *type = event_type(trace->table, event_id(trace->table, event->data, event->size));
	const char *name = type ? type->event->name : "";
	struct owner *owners = owners_of(s, event), *owner;
	struct tep_format_field *field;

	if (!owners)
		return -ENOMEM;
	/* The event of a stack may be among those that were lost. */
	for (unsigned int i = 0; event->lost && i < NR_CONTEXTS; i++)
		owners[i].is_known = false;
	owner = &owners[context_of(trace, event)];
	if (strcmp(name, "kernel_stack") != 0 && strcmp(name, "user_stack") != 0) {
		*owner = (struct owner){ sql_event_number(event), event->ts, true };
		return 0;
	}
	field = tep_find_field(type->event, "caller");
	return field ? add_frames(&s->row, event, field, name[0] == 'k' ? "kernel" : "user", owner) : 0;
}

int sql_collect_stacks(struct sql_trace *trace, struct sql_cells *cells)
{
	struct stacks s = { .row = { .trace = trace, .cells = cells } };
	struct dat_merge *merge;
	struct dat_event event;
	int err = 0;

	if (dat_merge_open(trace->file, &trace->time, NULL, NULL, &merge))
		return -ENOMEM;
	while (!err && dat_merge_next(merge, &event))
		err = sql_pass_ends(trace) ? -EINTR : add_event(&s, &event);
	dat_merge_close(merge);
	number_map_free(&s.places);
	free(s.owners);
	return err;
}
