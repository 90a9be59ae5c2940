/* SPDX-License-Identifier: MIT */
/* See view_sched.h. A thread's state is known from the first event that mentions it, never before. */
#include "format/view/view_sched.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/view/view_rows.h"

#define CPUS_MAX 65536u

/* sched_switch.prev_state: the lowest bits of the kernel's task states. */
#define STATE_SLEEPING	   1u
#define STATE_BLOCKED	   2u
#define STATE_DEAD	   (16u | 32u)
#define STATE_BITS	   255u

static struct view_thread *thread_of(struct view_sched *sched, int32_t tid)
{
	uint64_t known = number_map_get(&sched->thread_of, (uint32_t)tid);
	struct view_thread *threads;

	if (known)
		return &sched->threads[known - 1];
	threads = reallocarray(sched->threads, sched->nr_threads + 1, sizeof(*threads));
	if (threads)
		sched->threads = threads;
	if (!threads || number_map_set(&sched->thread_of, (uint32_t)tid, sched->nr_threads + 1)) {
		sched->trace->error = -ENOMEM;
		return NULL;
	}
	threads[sched->nr_threads] = (struct view_thread){
		.tid = tid,
		.state = VIEW_UNKNOWN,
		.row = view_thread_row(sched->trace, sched->table, tid),
	};
	return &threads[sched->nr_threads++];
}

static struct view_running *cpu_of(struct view_sched *sched, uint32_t cpu)
{
	struct view_running *cpus;

	if (cpu < sched->nr_cpus)
		return &sched->cpus[cpu];
	cpus = cpu < CPUS_MAX ? reallocarray(sched->cpus, cpu + 1, sizeof(*cpus)) : NULL;
	if (!cpus) {
		sched->trace->error = -ENOMEM;
		return NULL;
	}
	for (; sched->nr_cpus <= cpu; sched->nr_cpus++)
		cpus[sched->nr_cpus] = (struct view_running){ .tid = -1 };
	sched->cpus = cpus;
	return &sched->cpus[cpu];
}

/* The thread is in another state from now on. */
static void change(struct view_sched *sched, int32_t tid, enum view_run state, uint64_t ts, uint32_t cpu, uint16_t flags)
{
	struct view_thread *thread = tid > 0 ? thread_of(sched, tid) : NULL;
	struct view_item item;

	if (!thread)
		return;
	item = (struct view_item){ .begin = thread->since, .end = ts, .name = thread->state, .event = VIEW_NO_EVENT,
				   .cpu = (uint16_t)thread->cpu, .flags = thread->flags };
	if (thread->state != VIEW_UNKNOWN && thread->state != VIEW_DEAD && ts > thread->since)
		view_add(sched->trace, thread->row, VIEW_STATES, 0, &item);
	*thread = (struct view_thread){ .tid = tid, .state = state, .since = ts, .row = thread->row, .cpu = cpu, .flags = flags };
}

static void leave(struct view_sched *sched, uint32_t cpu, uint64_t ts)
{
	struct view_running *running = cpu_of(sched, cpu);
	struct view_item item = { .end = ts, .event = VIEW_NO_EVENT, .cpu = (uint16_t)cpu };

	if (!running || running->tid <= 0)
		return;
	item.begin = running->since;
	item.name = view_thread_name(sched->trace, sched->table, running->tid);
	view_add(sched->trace, view_cpu_row(sched->trace, cpu), VIEW_SPANS, 0, &item);
}

/* A number field of a record whose fixed fields are all there. */
static uint64_t number(const struct event_type *type, const struct dat_event *event, const char *name)
{
	struct tep_format_field *field = tep_find_field(type->event, name);
	unsigned long long value = 0;

	if (field && event->size >= type->need)
		tep_read_number_field(field, event->data, &value);
	return value;
}

static enum view_run state_of(uint64_t prev_state)
{
	const uint64_t bits = prev_state & STATE_BITS;

	if (!bits)
		return VIEW_RUNNABLE;
	return bits & STATE_BLOCKED ? VIEW_BLOCKED : bits & STATE_SLEEPING ? VIEW_SLEEPING : bits & STATE_DEAD ? VIEW_DEAD : VIEW_STOPPED;
}

static void switched(struct view_sched *sched, const struct event_type *type, const struct dat_event *event)
{
	const int32_t prev = (int32_t)number(type, event, "prev_pid"), next = (int32_t)number(type, event, "next_pid");
	const enum view_run state = state_of(number(type, event, "prev_state"));
	struct view_running *running;

	leave(sched, event->cpu, event->ts);
	running = cpu_of(sched, event->cpu);
	/* Some hosts hide switches to tasks of their own: the thread that was seen last ended unseen. */
	if (running && running->tid != prev)
		change(sched, running->tid, VIEW_UNKNOWN, event->ts, event->cpu, 0);
	change(sched, prev, state, event->ts, event->cpu, state == VIEW_RUNNABLE ? VIEW_PREEMPTED : 0);
	change(sched, next, VIEW_RUNNING, event->ts, event->cpu, 0);
	if (running)
		*running = (struct view_running){ .tid = next, .since = event->ts };
}

static void woken(struct view_sched *sched, const struct event_type *type, const struct dat_event *event, int32_t waker)
{
	const int32_t tid = (int32_t)number(type, event, "pid");
	const struct view_thread *thread = tid > 0 ? thread_of(sched, tid) : NULL;
	struct view_arrow arrow = { .from = event->ts, .to = event->ts, .kind = VIEW_WAKE, .event = VIEW_NO_EVENT };

	/* sched_wakeup follows sched_waking, which is the earlier one. */
	if (!thread || thread->state == VIEW_RUNNING || thread->state == VIEW_RUNNABLE)
		return;
	arrow.to_row = thread->row;
	change(sched, tid, VIEW_RUNNABLE, event->ts, event->cpu, 0);
	if (waker <= 0 || waker == tid)
		return;
	arrow.from_row = view_thread_row(sched->trace, sched->table, waker);
	view_add_arrow(sched->trace, &arrow);
}

bool view_sched_event(struct view_sched *sched, const struct event_type *type, const struct dat_event *event, int32_t tid)
{
	const char *name = type->event->name;

	if (strcmp(type->event->system, "sched"))
		return false;
	if (!strcmp(name, "sched_switch"))
		switched(sched, type, event);
	else if (!strcmp(name, "sched_waking") || !strcmp(name, "sched_wakeup") || !strcmp(name, "sched_wakeup_new"))
		woken(sched, type, event, tid);
	else
		return false;
	return true;
}

void view_sched_lost(struct view_sched *sched, uint32_t cpu, uint64_t ts)
{
	struct view_running *running = cpu_of(sched, cpu);

	if (!running || running->tid < 0)
		return;
	leave(sched, cpu, ts);
	change(sched, running->tid, VIEW_UNKNOWN, ts, cpu, 0);
	running->tid = -1;
}

void view_sched_close(struct view_sched *sched, uint64_t ts)
{
	for (uint32_t cpu = 0; cpu < sched->nr_cpus; cpu++)
		leave(sched, cpu, ts);
	for (size_t i = 0; i < sched->nr_threads; i++)
		change(sched, sched->threads[i].tid, VIEW_UNKNOWN, ts, 0, 0);
	number_map_free(&sched->thread_of);
	free(sched->threads);
	free(sched->cpus);
}
