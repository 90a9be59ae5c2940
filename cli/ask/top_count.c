/* SPDX-License-Identifier: MIT */
/*
 * Counts. The time that a thread ran or was ready comes from the model's states, which are derived from switches and
 * wake-ups. A time in which the state is unknown counts as neither. Spans of which a begin or an end is missing, or
 * inside which events were lost, have no duration and are left out.
 */
#include "cli/ask/top_count.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------------------------------------------------- rows */

/* Find or make the row of a key; a new row is all zeros except its key. NULL: no memory. */
static struct top_row *row_of(struct top_list *list, uint64_t key)
{
	const uint64_t place = number_map_get(&list->places, key);
	struct top_row *more;

	if (place)
		return &list->rows[place - 1];
	if (list->nr == list->room) {
		const size_t room = list->room ? 2 * list->room : 64;

		more = reallocarray(list->rows, room, sizeof(*more));
		if (!more)
			return NULL;
		list->rows = more;
		list->room = room;
	}
	if (number_map_set(&list->places, key, list->nr + 1))
		return NULL;
	list->rows[list->nr] = (struct top_row){ .key = key };
	return &list->rows[list->nr++];
}

static const char *keep(struct top *top, const char *text)
{
	const struct pooled_text *pooled = text_pool_add(&top->pool, text, strlen(text));

	return pooled ? pooled->text : NULL;
}

static struct top_row *thread_row(struct top *top, int32_t tid)
{
	struct top_row *row = row_of(&top->lists[TOP_THREADS], (uint32_t)tid);

	if (row)
		row->tid = tid;
	return row;
}

/* Give a new row a name of two parts, "system:event". 0; -ENOMEM. */
static int name_row(struct top *top, struct top_row *row, const char *system, const char *name)
{
	char room[256];

	if (!row)
		return -ENOMEM;
	if (row->name)
		return 0;
	snprintf(room, sizeof(room), "%s:%s", system, name);
	row->name = keep(top, room);
	return row->name ? 0 : -ENOMEM;
}

/* --------------------------------------------------------------------------------------------------------- counting */

/* The key of a span. Equal names of spans have the same address, so an address identifies a name. */
static uint64_t key_of(const struct model_span *span)
{
	if (span->name != span->rule->name)
		return (uint64_t)(uintptr_t)span->name ^ (uint64_t)span->rule->pair << 48;
	return span->rule->pair ? span->rule->pair : (uint64_t)(uintptr_t)span->rule;
}

static int take_span(void *arg, const struct model_span *span)
{
	struct top *top = arg;
	const uint64_t dur = span->end - span->begin;
	struct top_row *row;

	/* A system call with two events at each end has two spans, and is counted once. */
	if (span->flags || span->is_beside)
		return 0;
	row = row_of(&top->lists[TOP_SPANS], key_of(span));
	if (name_row(top, row, span->rule->system, span->name))
		return -ENOMEM;
	row->events++;
	row->running += dur;
	/* A keyed span has no inner spans. */
	row->runnable += span->rule->is_keyed ? dur : span->own;
	row->longest = dur > row->longest ? dur : row->longest;
	return 0;
}

static int take_state(void *arg, const struct model_thread_state *state)
{
	struct top *top = arg;
	struct top_row *row;

	/* The idle tasks are not counted as a thread. */
	if (state->tid <= 0)
		return 0;
	top->has_switches = top->has_switches || state->state != MODEL_UNKNOWN;
	row = thread_row(top, state->tid);
	if (!row)
		return -ENOMEM;
	row->has_times = row->has_times || state->state != MODEL_UNKNOWN;
	if (state->state == MODEL_RUNNING)
		row->running += state->end - state->begin;
	else if (state->state == MODEL_RUNNABLE)
		row->runnable += state->end - state->begin;
	return 0;
}

static bool is_switch(const struct event_type *type)
{
	return !strcmp(type->event->system, "sched") && !strcmp(type->event->name, "sched_switch");
}

static int count_event(struct top *top, const struct dat_event *event)
{
	const int id = event_id(top->table, event->data, event->size);
	const int32_t tid = event_pid(top->table, event->data, event->size);
	const struct event_type *type = id < 0 ? NULL : event_type(top->table, id);
	struct top_row *row;

	top->begin = top->events && top->begin < event->ts ? top->begin : event->ts;
	top->end = event->ts > top->end ? event->ts : top->end;
	top->events++;
	row = tid >= 0 ? thread_row(top, tid) : NULL;
	if (!row && tid >= 0)
		return -ENOMEM;
	if (row)
		row->events++;
	if (!type)
		return 0;
	top->records_switches = top->records_switches || is_switch(type);
	row = row_of(&top->lists[TOP_EVENTS], (uint32_t)id);
	if (name_row(top, row, type->event->system, type->event->name))
		return -ENOMEM;
	row->events++;
	return 0;
}

/*
 * Called after all events, when names are complete. If the file does not state a thread's process, the thread is in no
 * process.
 */
static int add_processes(struct top *top)
{
	struct top_list *threads = &top->lists[TOP_THREADS];

	for (size_t i = 0; i < threads->nr; i++) {
		struct top_row *thread = &threads->rows[i], *process;
		const char *comm;

		thread->name = keep(top, event_comm_shown(top->table, thread->tid));
		thread->pid = event_process(top->table, thread->tid);
		process = row_of(&top->lists[TOP_PROCESSES], (uint32_t)(thread->pid < 0 ? thread->tid : thread->pid));
		if (!thread->name || !process)
			return -ENOMEM;
		process->pid = thread->pid < 0 ? thread->tid : thread->pid;
		/* A first thread without events has no name: then another thread's is used. */
		comm = event_comm(top->table, process->pid);
		if (!process->name || *comm)
			process->name = *comm ? keep(top, comm) : thread->name;
		if (!process->name)
			return -ENOMEM;
		process->events += thread->events;
		process->has_times = process->has_times || thread->has_times;
		process->running += thread->running;
		process->runnable += thread->runnable;
	}
	return 0;
}

static int by_time(const void *a, const void *b)
{
	const struct top_row *x = a, *y = b;

	if (x->running != y->running)
		return x->running > y->running ? -1 : 1;
	if (x->events != y->events)
		return x->events > y->events ? -1 : 1;
	return x->key < y->key ? -1 : x->key > y->key;
}

static int read_events(struct top *top, struct model *model, struct dat_merge *merge)
{
	struct dat_event event;
	int err = 0;

	while (!err && dat_merge_next(merge, &event)) {
		dat_gaps_note(&top->gaps, &event);
		err = count_event(top, &event);
		if (!err)
			err = model_event(model, &event);
	}
	return err ? err : model_end(model);
}

int top_open(const struct dat_file *file, const struct dat_time *time, const struct event_table *table,
	     struct top *ret_top, struct dat_error *ret_error)
{
	const struct model_sink sink = { .arg = ret_top, .span = take_span, .thread_state = take_state,
					 .given_up = &ret_top->gaps.given_up };
	struct model_rules *rules = NULL;
	struct dat_merge *merge = NULL;
	struct model *model = NULL;
	uint32_t cpu;
	bool is_damaged = false;
	int err;

	ret_top->table = table;
	err = model_rules_open(table, &rules);
	if (!err)
		err = model_open(rules, &sink, &model);
	if (!err)
		err = dat_merge_open(file, time, NULL, NULL, &merge);
	if (!err)
		err = read_events(ret_top, model, merge);
	if (!err)
		is_damaged = dat_merge_damaged(merge, ret_error, &cpu) > 0;
	dat_merge_close(merge);
	model_close(model);
	model_rules_close(rules);
	if (!err)
		err = add_processes(ret_top);
	for (unsigned int i = 0; !err && i < TOP_KINDS; i++) {
		if (ret_top->lists[i].nr)
			qsort(ret_top->lists[i].rows, ret_top->lists[i].nr, sizeof(struct top_row), by_time);
	}
	return err || !is_damaged ? err : -EBADMSG;
}

void top_close(struct top *top)
{
	for (unsigned int i = 0; i < TOP_KINDS; i++) {
		free(top->lists[i].rows);
		number_map_free(&top->lists[i].places);
	}
	text_pool_close(&top->pool);
	*top = (struct top){ 0 };
}
