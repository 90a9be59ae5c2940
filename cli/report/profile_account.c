/* SPDX-License-Identifier: MIT */
/*
 * Adds up durations. A task has open begins, and lines, one for each kind and value of events. An end closes the newest
 * open begin with the same key. A stack belongs to the begin or the end that its task wrote before it; the stack of a
 * wake-up belongs to the task that was woken.
 *
 * When events were lost, open begins of that CPU are dropped, and so are begins that may end on another CPU.
 */
#include "cli/report/profile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/text/event_field.h"

/* An open begin. It is in a chain of its task, and in the list of its CPU. */
struct profile_open {
	struct profile_open *chained;
	struct profile_open *next, **place; /* in the list */
	const struct profile_kind *kind;
	struct profile_task *task;
	uint64_t key, value, ts;
	const struct pooled_text *stack; /* NULL: none */
	uint64_t stack_ts;
};

/* ------------------------------------------------------------------------------------------------------------ tasks */

/* Find or make a task. NULL: no memory. */
static struct profile_task *task_of(struct profile *p, int32_t tid)
{
	struct profile_task *task = (void *)(uintptr_t)number_map_get(&p->by_tid, (uint32_t)tid);
	struct profile_task **more;

	if (task)
		return task;
	more = reallocarray(p->tasks, p->nr_tasks + 1, sizeof(struct profile_task *));
	if (more)
		p->tasks = more;
	task = more ? calloc(1, sizeof(*task)) : NULL;
	if (!task || number_map_set(&p->by_tid, (uint32_t)tid, (uint64_t)(uintptr_t)task)) {
		free(task);
		p->is_short_of_memory = true;
		return NULL;
	}
	task->tid = tid;
	p->tasks[p->nr_tasks++] = task;
	return task;
}

/* Give the task the name in a field of an event, unless it has one. */
static void name_task(struct profile *p, struct profile_task *task, const struct tep_format_field *field,
		      const struct tep_record *record)
{
	uint32_t offset, length;

	if (!field || task->comm ||
	    !event_field_place(field, record->data, (uint32_t)record->size, p->r->file->big, &offset, &length))
		return;
	task->comm = strndup((const char *)record->data + offset, length);
	p->is_short_of_memory = p->is_short_of_memory || !task->comm;
}

/* 0 for a field that the record does not have. */
static uint64_t number_of(struct tep_format_field *field, const struct tep_record *record)
{
	unsigned long long number = 0;

	if (!field || field->offset + field->size > record->size || tep_read_number_field(field, record->data, &number))
		return 0;
	return number;
}

/* -------------------------------------------------------------------------------------------------- begins and ends */

static void add_stack(struct profile *p, struct profile_line *line, const struct pooled_text *addresses, uint64_t ns,
		      uint64_t ts)
{
	struct profile_total *total = profile_stack(p, line, addresses);

	if (total)
		profile_add_time(total, ns, ts);
}

static struct profile_open *begin(struct profile *p, struct profile_task *task, const struct profile_kind *kind,
				  uint64_t key, uint64_t value, const struct dat_event *event)
{
	const uint64_t hash = profile_hash(kind, key);
	const uint32_t cpu = kind->is_migrating || event->cpu >= p->nr_cpus ? p->nr_cpus : event->cpu;
	struct profile_open *open = calloc(1, sizeof(*open)), **list = &p->opens[cpu];

	if (!open) {
		p->is_short_of_memory = true;
		return NULL;
	}
	*open = (struct profile_open){ .chained = profile_chain(&task->by_open, hash),
				       .next = *list,
				       .place = list,
				       .kind = kind,
				       .task = task,
				       .key = key,
				       .value = value,
				       .ts = event->ts };
	if (open->next)
		open->next->place = &open->next;
	*list = open;
	profile_set_chain(p, &task->by_open, hash, open);
	return open;
}

static void forget(struct profile *p, struct profile_open *open)
{
	const uint64_t hash = profile_hash(open->kind, open->key);
	struct profile_open *first = profile_chain(&open->task->by_open, hash);
	struct profile_open **place = &first;

	while (*place && *place != open)
		place = &(*place)->chained;
	if (*place)
		*place = open->chained;
	profile_set_chain(p, &open->task->by_open, hash, first);
	*open->place = open->next;
	if (open->next)
		open->next->place = open->place;
	if (open->task->last_open == open)
		open->task->last_open = NULL;
	free(open);
}

/* Close the newest begin with this key. Returns its line; NULL: there is no such begin. */
static struct profile_line *end(struct profile *p, struct profile_task *task, const struct profile_kind *kind,
				uint64_t key, uint64_t ts)
{
	struct profile_open *open = kind ? profile_chain(&task->by_open, profile_hash(kind, key)) : NULL;
	struct profile_line *line;

	while (open && (open->kind != kind || open->key != key))
		open = open->chained;
	line = open ? profile_line(p, task, kind, open->value) : NULL;
	if (!line)
		return NULL;
	line->last = ts > open->ts ? ts - open->ts : 0;
	profile_add_time(&line->total, line->last, ts);
	if (open->stack)
		add_stack(p, line, open->stack, line->last, open->stack_ts);
	forget(p, open);
	return line;
}

void profile_lose(struct profile *p, uint32_t cpu)
{
	while (p->opens[p->nr_cpus])
		forget(p, p->opens[p->nr_cpus]);
	while (cpu < p->nr_cpus && p->opens[cpu])
		forget(p, p->opens[cpu]);
}

/* ---------------------------------------------------------------------------------------------------------- events */

/* The task to which a begin or an end belongs. */
static struct profile_task *owner(struct profile *p, struct profile_task *task, const struct profile_kind *kind,
				  const struct dat_event *event, const struct tep_record *record)
{
	if (kind->is_global)
		return &p->globals[kind->is_migrating || event->cpu >= p->nr_cpus ? 0 : event->cpu + 1];
	return kind->task ? task_of(p, (int32_t)number_of(kind->task, record)) : task;
}

/*
 * Handles a begin or an end. Returns the task for which the event was counted; NULL: it neither begins nor ends
 * anything.
 */
static struct profile_task *add_pair(struct profile *p, struct profile_task *task, const struct profile_kind *kind,
				     const struct dat_event *event, const struct tep_record *record)
{
	struct profile_task *of = kind->begin || kind->end ? owner(p, task, kind, event, record) : NULL;
	uint64_t key;

	if (of && kind->begin) {
		of->last_line = end(p, of, kind->begin, number_of(kind->as_end, record), event->ts);
		of->last_open = NULL;
	}
	if (of && kind->end) {
		key = number_of(kind->as_begin, record);
		of->last_open = begin(p, of, kind, key, key, event);
		of->last_line = NULL;
	}
	return of;
}

static void add_count(struct profile *p, struct profile_task *task, const struct profile_kind *kind,
		      const struct tep_record *record)
{
	struct profile_line *line = profile_line(p, task, kind, number_of(kind->value, record));

	if (line)
		line->total.count++;
	task->stack_of = NULL;
	task->last_open = NULL;
	task->last_line = line;
}

/* A switch: one task leaves the CPU, for the reason in its state; the wait of the next one ends. */
static void add_switch(struct profile *p, const struct profile_kind *kind, const struct dat_event *event,
		       const struct tep_record *record)
{
	enum { STATES = 1023 }; /* higher bits are not states */
	const uint64_t prev = number_of(kind->task, record), next = number_of(kind->as_begin, record);
	const uint64_t state = number_of(kind->value, record) & STATES;
	struct profile_task *task = task_of(p, (int32_t)prev);

	if (!task)
		return;
	name_task(p, task, kind->comms[0], record);
	task->is_sleeping = state != 0;
	task->last_open = begin(p, task, kind, prev, state, event);
	task->last_line = NULL;
	task = task_of(p, (int32_t)next);
	if (!task)
		return;
	name_task(p, task, kind->comms[1], record);
	end(p, task, kind->begin, next, event->ts);
	/* If it was not woken, it was preempted before. */
	end(p, task, kind, next, event->ts);
}

static void add_wake(struct profile *p, struct profile_task *waker, const struct profile_kind *kind,
		     const struct dat_event *event, const struct tep_record *record)
{
	const uint64_t tid = number_of(kind->task, record);
	struct profile_task *task;

	/* Old kernels also report failed wake-ups. */
	if (kind->value && !number_of(kind->value, record))
		return;
	task = task_of(p, (int32_t)tid);
	if (!task)
		return;
	name_task(p, task, kind->comms[0], record);
	if (!task->is_sleeping) {
		waker->stack_of = NULL;
		waker->last_open = NULL;
		waker->last_line = NULL;
		return;
	}
	task->is_sleeping = false;
	waker->stack_of = task;
	end(p, task, kind->begin, tid, event->ts);
	task->last_line = NULL;
	task->last_open = begin(p, task, kind, tid, tid, event);
}

/* Stacks come before the calls of functions, and after all other events. */
static void add_call(struct profile *p, struct profile_task *task, const struct profile_kind *kind,
		     const struct dat_event *event, const struct tep_record *record)
{
	task = add_pair(p, task, kind, event, record);
	if (!task)
		return;
	if (task->last_stack && task->last_open) {
		task->last_open->stack = task->last_stack;
		task->last_open->stack_ts = task->last_stack_ts;
		task->last_stack = NULL;
	}
	task->last_open = NULL;
}

static void take_stack(struct profile *p, struct profile_task *task, const struct profile_kind *kind,
		       const struct dat_event *event, const struct tep_record *record)
{
	const int offset = kind->value ? kind->value->offset : record->size;
	struct profile_task *of = task->stack_of ? task->stack_of : task;
	const struct pooled_text *stack;

	task->last_stack = NULL;
	task->stack_of = NULL;
	if (offset >= record->size)
		return;
	stack = text_pool_add(&p->pool, (const char *)record->data + offset, (size_t)(record->size - offset));
	if (!stack) {
		p->is_short_of_memory = true;
		return;
	}
	if (of->last_open) {
		of->last_open->stack = stack;
		of->last_open->stack_ts = event->ts;
	} else if (of->last_line) {
		add_stack(p, of->last_line, stack, of->last_line->last, event->ts);
	} else {
		task->last_stack = stack;
		task->last_stack_ts = event->ts;
	}
	of->last_open = NULL;
	of->last_line = NULL;
}

static void add_exec(struct profile *p, struct profile_task *task, const struct profile_kind *kind,
		     const struct tep_record *record)
{
	/* The event gives the task a new name. */
	task = kind->value ? task_of(p, (int32_t)number_of(kind->value, record)) : task;
	if (task) {
		free(task->comm);
		task->comm = NULL;
	}
}

void profile_add(struct profile *p, const struct dat_event *event, const struct tep_record *record)
{
	const int id = event_id(p->r->table, event->data, event->size);
	const struct profile_kind *kind = (void *)(uintptr_t)number_map_get(&p->by_id, (uint32_t)id);
	struct profile_task *task, *of;
	const struct pooled_text *stack;

	task = kind ? task_of(p, event_pid(p->r->table, event->data, event->size)) : NULL;
	if (!task)
		return;
	stack = task->last_stack;
	if (kind->act == PROFILE_SWITCH) {
		add_switch(p, kind, event, record);
	} else if (kind->act == PROFILE_WAKE) {
		add_wake(p, task, kind, event, record);
	} else if (kind->act == PROFILE_CALL) {
		add_call(p, task, kind, event, record);
	} else if (kind->act == PROFILE_STACK) {
		take_stack(p, task, kind, event, record);
	} else if (kind->act == PROFILE_EXEC) {
		add_exec(p, task, kind, record);
	} else {
		of = add_pair(p, task, kind, event, record);
		if (!of)
			add_count(p, task, kind, record);
		else if (kind->act == PROFILE_RETURN)
			of->last_line = NULL;
	}
	/* A waiting stack applies only to the next event. */
	if (stack && task->last_stack == stack && kind->act != PROFILE_STACK)
		task->last_stack = NULL;
}

/* ---------------------------------------------------------------------------------------------------- make and free */

int profile_tasks_make(struct profile *p, uint32_t nr_cpus)
{
	p->nr_cpus = nr_cpus;
	p->opens = calloc((size_t)nr_cpus + 1, sizeof(struct profile_open *));
	p->globals = calloc((size_t)nr_cpus + 1, sizeof(*p->globals));
	if (!p->opens || !p->globals)
		return -ENOMEM;
	for (uint32_t i = 0; i <= nr_cpus; i++)
		p->globals[i].tid = i ? -(int32_t)i : -1;
	return 0;
}

void profile_tasks_free(struct profile *p)
{
	for (uint32_t i = 0; p->opens && i <= p->nr_cpus; i++) {
		while (p->opens[i])
			forget(p, p->opens[i]);
	}
	for (uint32_t i = 0; p->globals && i <= p->nr_cpus; i++)
		profile_task_free(&p->globals[i]);
	for (size_t i = 0; i < p->nr_tasks; i++) {
		profile_task_free(p->tasks[i]);
		free(p->tasks[i]);
	}
	number_map_free(&p->by_tid);
	text_pool_close(&p->pool);
	free(p->tasks);
	free(p->globals);
	free(p->opens);
}
