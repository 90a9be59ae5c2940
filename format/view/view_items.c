/* SPDX-License-Identifier: MIT */
/*
 * See view_items.h. A thread's row has its states, its spans by their depth, and its points; a CPU's row has the
 * threads that ran there, and below them the interrupts. Spans by key, counters, states and tasks have rows of their
 * own.
 */
#include "format/view/view_items.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/view/view_rows.h"

/* Ids of programs' events in the files that recorder writes; the kernel's are below. */

/* 2^64 divided by the golden ratio: multiplication by it moves close numbers far apart. */
#define MIX 0x9e3779b97f4a7c15u

/* ------------------------------------------------------------------------------------------------------- events */

/* The string "system:name" of an event. */
static uint32_t event_name(struct view_items *items, int id, const struct event_type *type)
{
	char text[512];

	if (!items->names[id & 65535]) {
		if (type)
			snprintf(text, sizeof(text), "%s:%s", type->event->system, type->event->name);
		else
			snprintf(text, sizeof(text), "event %d", id);
		items->names[id & 65535] = view_string(items->trace, text) + 1;
	}
	return items->names[id & 65535] - 1;
}

static uint32_t rule_name(struct view_items *items, const struct model_rule *rule)
{
	char text[512];

	snprintf(text, sizeof(text), "%s:%s", rule->system, rule->name);
	return view_string(items->trace, text);
}

/*
 * The id of a row that is identified by a name. It is the same in each picture of a running recording, although the ids
 * of events may change between pictures.
 */
static uint64_t rule_id(const struct model_rule *rule)
{
	const char *const words[] = { rule->system, ":", rule->name };
	uint64_t id = 0;

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		for (const char *at = words[i]; *at; at++)
			id = (id ^ (unsigned char)*at) * MIX;
	return id;
}

static uint32_t span_name(struct view_items *items, const struct model_span *span)
{
	char text[512];

	snprintf(text, sizeof(text), "%s:%s", span->rule->system, span->name);
	return view_string(items->trace, text);
}

/*
 * An id for an item that the model reports only at its end, made from its begin and its thread. Spans have ids of their
 * own.
 */
static uint64_t place(uint64_t ts, int32_t tid)
{
	return ts * MIX ^ (uint32_t)tid ^ UINT64_C(1) << 63;
}

static void note_begin(struct view_items *items, uint64_t key)
{
	if (!items->trace->error)
		items->trace->error = number_map_set(&items->begins, key, (uint64_t)items->event + 1);
}

static uint32_t begin_of(const struct view_items *items, uint64_t key)
{
	const uint64_t event = number_map_get(&items->begins, key);

	return event ? (uint32_t)(event - 1) : VIEW_NO_EVENT;
}

void view_items_event(struct view_items *items, const struct model_rule *rule, const struct dat_event *event)
{
	struct view_trace *trace = items->trace;
	const int id = event_id(items->table, event->data, event->size);
	const int32_t tid = event_pid(items->table, event->data, event->size);
	const uint32_t name = event_name(items, id, rule->type);

	if (trace->error)
		return;
	trace->string_events[name]++;
	if (rule->meaning == MODEL_STATE || rule->meaning == MODEL_TASK)
		note_begin(items, place(event->ts, tid));
	if (event_is_programs(id) && tid > 0)
		view_thread_is_program(trace, items->table, view_thread_row(trace, items->table, tid));
}

/* ------------------------------------------------------------------------------------------------ spans, points */

static int begin_span(void *arg, const struct model_span *span)
{
	struct view_items *items = arg;

	note_begin(items, span->id);
	return items->trace->error;
}

/* Whether the thread of one of the kernel's events has no row: the row of its id is that of a program's thread. */
static bool has_no_row(const struct view_items *items, int32_t tid)
{
	return event_is_ambiguous(items->table, tid);
}

static uint32_t keyed_row(struct view_items *items, const struct model_rule *rule)
{
	bool is_new;
	const uint32_t row =
		view_row(items->trace, VIEW_KEYED, rule_id(rule), view_group_row(items->trace, VIEW_GROUP_KEYED),
			 &is_new);

	if (is_new) {
		items->trace->rows[row].name = rule_name(items, rule);
		items->trace->rows[row].order = rule->pair;
	}
	return row;
}

static int add_span(void *arg, const struct model_span *span)
{
	struct view_items *items = arg;
	struct view_trace *trace = items->trace;
	const uint32_t begun = begin_of(items, span->id);
	struct view_item item = {
		.begin = span->begin,
		.end = span->end,
		.name = span_name(items, span),
		.cpu = (uint16_t)span->cpu,
	};

	/* The flags of the model have the same values as those of the view. */
	item.flags = (uint16_t)span->flags;
	item.event = begun != VIEW_NO_EVENT ? begun : items->event;
	item.last = span->last.data ? items->event : item.event;
	/* The begin of a timed span has no event, so it can be before the file's first one. */
	if (span->begin < trace->begin)
		trace->begin = span->begin;
	if (span->rule->is_keyed)
		view_add(trace, keyed_row(items, span->rule), VIEW_SPANS, 0, &item);
	else if (span->rule->is_of_cpu || span->tid <= 0)
		view_add(trace, view_cpu_row(trace, span->cpu), VIEW_SPANS, span->depth + 1, &item);
	else if (span->rule->is_program || !has_no_row(items, span->tid))
		view_add(trace, view_thread_row(trace, items->table, span->tid), VIEW_SPANS, span->depth, &item);
	return trace->error;
}

static int add_point(void *arg, const struct model_record *record, const struct dat_event *event, int32_t tid,
		     uint64_t span)
{
	struct view_items *items = arg;
	struct view_trace *trace = items->trace;
	const int id = event_id(items->table, event->data, event->size);
	const struct view_item item = { .begin = event->ts,
					.end = event->ts,
					.name = event_name(items, id, record->type),
					.event = items->event,
					.cpu = (uint16_t)event->cpu };

	(void)span;
	if (!event_is_programs(id) && has_no_row(items, tid))
		tid = 0;
	view_add(trace, tid > 0 ? view_thread_row(trace, items->table, tid) : view_cpu_row(trace, event->cpu),
		 VIEW_POINTS, 0, &item);
	return trace->error;
}

static int add_loss(void *arg, const struct model_loss *loss)
{
	struct view_items *items = arg;
	struct view_trace *trace = items->trace;
	const struct view_item item = { .begin = loss->ts, .end = loss->ts, .event = VIEW_NO_EVENT,
					.name = view_string(trace, "events lost"), .cpu = (uint16_t)loss->cpu };

	trace->gaps++;
	if (loss->lost > 0)
		trace->lost += (uint64_t)loss->lost;
	view_add(trace, view_cpu_row(trace, loss->cpu), VIEW_LOSSES, 0, &item);
	return trace->error;
}

/* ---------------------------------------------------------------------------------------------- counters, states */

/*
 * The row of a counter. Each process has its own value of the counter; a thread whose process is not known counts as a
 * process.
 */
static uint32_t counter_row(struct view_items *items, const struct model_counter *counter)
{
	struct view_trace *trace = items->trace;
	const int32_t known = event_process(items->table, counter->tid), process = known >= 0 ? known : counter->tid;
	const uint64_t number = (rule_id(counter->rule) ^ (uint32_t)process) * MIX;
	bool is_new;
	const uint32_t row = view_row(trace, VIEW_COUNTER, number, view_group_row(trace, VIEW_GROUP_COUNTERS), &is_new);
	char name[512];

	if (is_new) {
		snprintf(name, sizeof(name), "%.200s:%.200s, process %" PRId32, counter->rule->system,
			 counter->rule->name, process);
		trace->rows[row].name = view_string(trace, name);
		trace->rows[row].order = (uint64_t)counter->rule->pair << 32 | (uint32_t)process;
	}
	return row;
}

/* The model gives an unsigned value that int64_t cannot hold as a negative number. It becomes the largest value. */
static int64_t counter_value(const struct model_counter *counter)
{
	const bool is_signed = counter->rule->value->flags & TEP_FIELD_IS_SIGNED;

	return counter->value < 0 && !is_signed ? INT64_MAX : counter->value;
}

static int add_counter(void *arg, const struct model_counter *counter)
{
	struct view_items *items = arg;
	struct view_trace *trace = items->trace;
	struct view_item item = {
		.begin = counter->ts, .end = counter->ts, .event = items->event, .cpu = (uint16_t)counter->cpu
	};

	item.low = item.high = counter_value(counter);
	view_add(trace, counter_row(items, counter), VIEW_VALUES, 0, &item);
	return trace->error;
}

static uint32_t state_row(struct view_items *items, const struct model_state *state)
{
	struct view_trace *trace = items->trace;
	uint64_t id = rule_id(state->rule);
	char name[MODEL_TITLE];
	bool is_new;
	uint32_t row;

	for (unsigned int i = 0; i < state->nr_keys; i++)
		id = (id ^ state->keys[i]) * MIX;
	row = view_row(trace, VIEW_STATE, id, view_group_row(trace, VIEW_GROUP_STATES), &is_new);
	if (is_new) {
		model_state_title(state, name, sizeof(name));
		trace->rows[row].name = view_string(trace, name);
		/* Rows are in the order in which they first appear. */
		trace->rows[row].order = row;
	}
	return row;
}

static int add_state(void *arg, const struct model_state *state)
{
	struct view_items *items = arg;
	const struct model_rule *rule = state->rule;
	const char *word = event_symbol(event_symbols(rule->type, rule->value), rule->value, state->value);
	struct view_item item = { .begin = state->begin, .end = state->end, .flags = state->is_open ? VIEW_NO_END : 0 };
	char number[32];

	model_number_text(rule->value, (uint64_t)state->value, number, sizeof(number));
	item.name = view_string(items->trace, word ? word : number);
	item.event = begin_of(items, place(state->begin, state->tid));
	item.last = item.event;
	view_add(items->trace, state_row(items, state), VIEW_SPANS, 0, &item);
	return items->trace->error;
}

/* ------------------------------------------------------------------------------------------------- tasks, flows */

static int add_task(void *arg, const struct model_task *task)
{
	struct view_items *items = arg;
	struct view_trace *trace = items->trace;
	struct view_item item = { .begin = task->begin, .end = task->end, .flags = task->is_open ? VIEW_NO_END : 0 };
	bool is_new;
	const uint32_t row = view_row(trace, VIEW_TASK, task->task, view_group_row(trace, VIEW_GROUP_TASKS), &is_new);
	char name[512];

	if (is_new || (task->name && row != VIEW_NO_ROW)) {
		snprintf(name, sizeof(name), "%.400s%stask %" PRIu64, task->name ? task->name : "",
			 task->name ? ", " : "", task->task);
		trace->rows[row].name = view_string(trace, name);
	}
	item.name = view_thread_name(trace, items->table, task->tid);
	item.event = begin_of(items, place(task->begin, task->tid));
	item.last = item.event;
	view_add(trace, row, VIEW_SPANS, 0, &item);
	return trace->error;
}

static int add_flow(void *arg, const struct model_flow *flow)
{
	struct view_items *items = arg;
	struct view_arrow arrow = { .from = flow->from_ts, .to = flow->ts, .kind = VIEW_FLOW, .event = items->event };

	if (!flow->from_ts || flow->tid <= 0 || flow->from_tid <= 0)
		return 0;
	arrow.from_row = view_thread_row(items->trace, items->table, flow->from_tid);
	arrow.to_row = view_thread_row(items->trace, items->table, flow->tid);
	view_add_arrow(items->trace, &arrow);
	return items->trace->error;
}

/* ------------------------------------------------------------------------------------------------ thread states */

static void add_wake(struct view_items *items, const struct model_thread_state *state, uint32_t row)
{
	struct view_arrow arrow = {
		.from = state->end, .to = state->end, .to_row = row, .kind = VIEW_WAKE, .event = items->event
	};

	if (state->waker <= 0 || state->waker == state->tid || has_no_row(items, state->waker))
		return;
	arrow.from_row = view_thread_row(items->trace, items->table, state->waker);
	view_add_arrow(items->trace, &arrow);
}

/* The name of a thread on a CPU. The kernel's thread does not have the name of the program's thread of the same id. */
static uint32_t name_on_cpu(struct view_items *items, const struct model_thread_state *state)
{
	char name[32];

	if (state->state == MODEL_RUNNING)
		return view_thread_name(items->trace, items->table, state->tid);
	snprintf(name, sizeof(name), "kernel's thread %" PRId32, state->tid);
	return view_string(items->trace, name);
}

static int add_thread_state(void *arg, const struct model_thread_state *state)
{
	struct view_items *items = arg;
	struct view_trace *trace = items->trace;
	const uint32_t row = view_thread_row(trace, items->table, state->tid);
	/* The states of the model have the same values as those of the view. */
	struct view_item item = {
		.begin = state->begin, .end = state->end, .name = (uint32_t)state->state, .event = VIEW_NO_EVENT
	};

	if (state->state == MODEL_UNKNOWN && !model_state_runs(state))
		return 0;
	item.cpu = state->cpu <= UINT16_MAX ? (uint16_t)state->cpu : 0;
	item.flags = (uint16_t)((state->is_open ? VIEW_NO_END : 0) | (state->is_preempted ? VIEW_PREEMPTED : 0));
	if (state->state != MODEL_UNKNOWN)
		view_add(trace, row, VIEW_STATES, 0, &item);
	if (model_state_runs(state)) {
		item.name = name_on_cpu(items, state);
		view_add(trace, view_cpu_row(trace, state->cpu), VIEW_SPANS, 0, &item);
	}
	add_wake(items, state, row);
	return trace->error;
}

struct model_sink view_items_sink(struct view_items *items)
{
	return (struct model_sink){
		.arg = items,
		.span = add_span,
		.span_begin = begin_span,
		.counter = add_counter,
		.state = add_state,
		.flow = add_flow,
		.task = add_task,
		.thread_state = add_thread_state,
		.loss = add_loss,
		.point = add_point,
		.given_up = &items->trace->given_up,
	};
}

void view_items_free(struct view_items *items)
{
	number_map_free(&items->begins);
}
