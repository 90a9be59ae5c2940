/* SPDX-License-Identifier: MIT */
/* See view_collect.h. */
#include "format/view/view_collect.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "format/view/view_rows.h"
#include "format/view/view_sched.h"

/* Ids of programs' events in the files that recorder writes; the kernel's are below. */
#define PROGRAM_IDS 16384

struct collect {
	struct view_trace *trace;
	const struct event_table *table;
	struct view_sched sched;
	uint32_t names[65536]; /* for each event id, the string of its name plus 1 */
};

/* "system:name", and its count. */
static uint32_t name_of(struct collect *collect, int id, const struct event_type *type)
{
	char text[512];

	if (!collect->names[id & 65535]) {
		if (type)
			snprintf(text, sizeof(text), "%s:%s", type->event->system, type->event->name);
		else
			snprintf(text, sizeof(text), "event %d", id);
		collect->names[id & 65535] = view_string(collect->trace, text) + 1;
	}
	return collect->names[id & 65535] - 1;
}

static void add_loss(struct collect *collect, const struct dat_event *event)
{
	struct view_trace *trace = collect->trace;
	const struct view_item item = { .begin = event->ts, .end = event->ts, .event = VIEW_NO_EVENT,
					.name = view_string(trace, "events lost"), .cpu = (uint16_t)event->cpu };

	trace->gaps++;
	if (event->lost > 0)
		trace->lost += (uint64_t)event->lost;
	view_add(trace, view_cpu_row(trace, event->cpu), VIEW_LOSSES, 0, &item);
	view_sched_lost(&collect->sched, event->cpu, event->ts);
}

static void add_event(struct collect *collect, const struct dat_event *event, uint32_t number)
{
	struct view_trace *trace = collect->trace;
	const int id = event_id(collect->table, event->data, event->size);
	const int32_t tid = event_pid(collect->table, event->data, event->size);
	const struct event_type *type = event_type(collect->table, id);
	const uint32_t name = name_of(collect, id, type);
	const struct view_item item = { .begin = event->ts, .end = event->ts, .name = name, .event = number,
					.cpu = (uint16_t)event->cpu };
	uint32_t row;

	if (event->lost)
		add_loss(collect, event);
	if (trace->error)
		return;
	trace->string_events[name]++;
	if (type && view_sched_event(&collect->sched, type, event, tid))
		return;
	row = tid > 0 ? view_thread_row(trace, collect->table, tid) : view_cpu_row(trace, event->cpu);
	if (id >= PROGRAM_IDS && tid > 0)
		view_thread_is_program(trace, row);
	view_add(trace, row, VIEW_POINTS, 0, &item);
}

int view_collect(const struct event_table *table, struct dat_merge *merge, struct view_trace *trace)
{
	struct collect *collect = calloc(1, sizeof(*collect));
	struct dat_event event;

	if (!collect)
		return -ENOMEM;
	collect->trace = trace;
	collect->table = table;
	collect->sched = (struct view_sched){ .trace = trace, .table = table };
	while (!trace->error && trace->events < VIEW_NO_EVENT && dat_merge_next(merge, &event)) {
		if (!trace->events || event.ts < trace->begin)
			trace->begin = event.ts;
		add_event(collect, &event, (uint32_t)trace->events++);
		if (event.ts > trace->end)
			trace->end = event.ts;
	}
	view_sched_close(&collect->sched, trace->end);
	free(collect);
	return trace->error;
}
