/* SPDX-License-Identifier: MIT */
/*
 * Threads over all CPUs: a thread is on one of them at a time, and a sleeping one is woken before it runs. Both checks
 * compare times of different CPUs. The kernel orders them: a thread is switched in on another CPU only after the first
 * one released it; and it is queued, and its sched_wakeup recorded, under the lock of the queue that the switch takes
 * it from.
 *
 * A gap is seen only at the events after it, so events of other CPUs from within the gap are read first. So a
 * suspicion waits until every CPU is past its time, and is dropped if one of the CPUs turns out to have a gap there.
 *
 * Virtual machines may hide what certain tasks do: the idle tasks, or those of the host's operators. Then switches from
 * these tasks are missing, and so is sched_wakeup if an idle CPU does the second half of a wake-up. So sched_waking,
 * which the waking CPU records, is decisive.
 */
#include "format/verify/verify_private.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* More suspicions than this can only come from a gap in the trace, so the oldest may be dropped. */
#define PENDING_MAX 4096u

/* prev_state: asleep, stopped or traced, idle. Dead threads are not woken, and R and R+ have none of these. */
#define STATE_SLEEPS 0x8f

static struct verify_thread *get_thread(struct verify *v, int32_t tid)
{
	const uint64_t place = number_map_get(&v->thread_places, (uint32_t)tid);
	struct verify_thread *thread;

	if (place)
		return &v->threads[place - 1];
	if (v->nr_threads == v->thread_room) {
		const size_t room = v->thread_room ? 2 * v->thread_room : 64;
		struct verify_thread *threads = realloc(v->threads, room * sizeof(*threads));

		if (!threads)
			return NULL;
		v->threads = threads;
		v->thread_room = room;
	}
	if (number_map_set(&v->thread_places, (uint32_t)tid, v->nr_threads + 1))
		return NULL;
	thread = &v->threads[v->nr_threads++];
	*thread = (struct verify_thread){ .tid = tid };
	return thread;
}

static enum thread_state state_of(const struct verify *v, const struct verify_thread *thread)
{
	return thread->epoch == v->epoch ? thread->state : THREAD_UNKNOWN;
}

static void set_state(const struct verify *v, struct verify_thread *thread, enum thread_state state, uint32_t cpu)
{
	thread->state = v->all_begun ? state : THREAD_UNKNOWN;
	thread->epoch = v->epoch;
	thread->cpu = cpu;
	thread->is_new = false;
}

/*
 * If a kernel records only some threads, it records a switch if one of its two threads is among them; the idle task
 * never is. So a thread is among them if the trace has a switch between it and the idle task, or any other event of its
 * own.
 */
static bool is_followed(const struct verify *v, const struct verify_thread *thread)
{
	return !v->is_foreign || thread->is_followed;
}

int verify_thread_follow(struct verify *v, int32_t tid)
{
	struct verify_thread *thread = get_thread(v, tid);

	if (thread)
		thread->is_followed = true;
	return thread ? 0 : -ENOMEM;
}

bool verify_thread_is_followed(const struct verify *v, int32_t tid)
{
	const uint64_t place = number_map_get(&v->thread_places, (uint32_t)tid);

	return !v->is_foreign || (place && is_followed(v, &v->threads[place - 1]));
}

/* ----------------------------------------------------------------------------------------------------- what waits */

/* The suspicion with this number, which is between pending_begin and pending_end. */
static struct verify_pending *pending_at(const struct verify *v, uint64_t number)
{
	return &v->pending[number % PENDING_MAX];
}

static void say_pending(struct verify *v, const struct verify_pending *pending)
{
	const struct dat_event *before = verify_kept_event(&pending->before);
	char text[160];

	if (pending->kind == VERIFY_TWO_CPUS)
		snprintf(text, sizeof(text),
			 "thread %" PRId32 " on CPU %" PRIu32 " while it still ran on CPU %" PRIu32, pending->tid,
			 pending->event.event.cpu, before ? before->cpu : 0);
	else
		snprintf(text, sizeof(text), "thread %" PRId32 " %s", pending->tid,
			 pending->kind == VERIFY_NOT_WOKEN ? "ran without having been woken"
							   : "was woken after it already ran");
	verify_say(v, &(struct verify_violation){ pending->kind, 1, text, before, &pending->event.event,
						  verify_kept_event(&pending->after) });
}

void verify_thread_decide(struct verify *v, uint64_t ts)
{
	for (; v->pending_begin != v->pending_end; v->pending_begin++) {
		const struct verify_pending *oldest = pending_at(v, v->pending_begin);

		if (oldest->event.event.ts > ts)
			break;
		if (!oldest->is_dropped)
			say_pending(v, oldest);
	}
}

static int suspect(struct verify *v, enum verify_kind kind, struct verify_thread *thread,
		   const struct dat_event *event)
{
	struct verify_pending *pending;
	int err = 0;

	if (!is_followed(v, thread))
		return 0;
	if (!v->pending) {
		v->pending = calloc(PENDING_MAX, sizeof(*v->pending));
		v->pending_begin = v->pending_end = 1;
	}
	if (!v->pending)
		return -ENOMEM;
	if (v->pending_end - v->pending_begin == PENDING_MAX)
		v->pending_begin++;
	pending = pending_at(v, v->pending_end);
	pending->kind = kind;
	pending->tid = thread->tid;
	pending->is_dropped = false;
	pending->unheard = thread->unheard;
	thread->unheard = v->pending_end++;
	pending->before.event.data = pending->after.event.data = NULL;
	if (thread->last_switch.event.data)
		err = verify_keep(&pending->before, &thread->last_switch.event);
	return err ? err : verify_keep(&pending->event, event);
}

/* Take the next sched event of a suspected thread. Its suspicions are chained, so the others are not visited. */
static int hear(struct verify *v, struct verify_thread *thread, const struct dat_event *event)
{
	int err = 0;

	while (!err && thread->unheard && thread->unheard >= v->pending_begin) {
		struct verify_pending *pending = pending_at(v, thread->unheard);

		thread->unheard = pending->unheard;
		if (event->ts == pending->event.event.ts)
			pending->is_dropped = true;
		else
			err = verify_keep(&pending->after, event);
	}
	thread->unheard = 0;
	return err;
}

void verify_thread_lost(struct verify *v, uint64_t since)
{
	v->epoch++;
	for (uint64_t number = v->pending_begin; number != v->pending_end; number++) {
		struct verify_pending *pending = pending_at(v, number);

		if (pending->event.event.ts > since)
			pending->is_dropped = true;
	}
}

/* -------------------------------------------------------------------------------------------------------- events */

/*
 * Whether a thread asleep should have been woken. Filters may suppress its wake-ups, so one must have been seen; and
 * sched_waking may come before the switch that puts the thread to sleep, because the thread sets its state earlier.
 */
static bool lacks_wake(const struct verify *v, const struct verify_thread *thread)
{
	if (thread->is_hidden)
		return false;
	return thread->is_new ? v->new_are_seen : thread->wakings_are_seen && !thread->waking;
}

/* The event shows that the thread runs on its CPU. */
static int runs(struct verify *v, struct verify_thread *thread, const struct dat_event *event)
{
	const enum thread_state state = state_of(v, thread);

	if (state == THREAD_RUNS && thread->cpu != event->cpu) {
		thread->is_double = true;
		thread->left_cpu = thread->cpu;
		return suspect(v, VERIFY_TWO_CPUS, thread, event);
	}
	thread->is_double = false;
	if (state == THREAD_RUNS)
		return 0;
	if (state == THREAD_SLEEPS && lacks_wake(v, thread))
		return suspect(v, VERIFY_NOT_WOKEN, thread, event);
	if ((state == THREAD_WOKEN || (state == THREAD_SLEEPS && thread->waking)) && is_followed(v, thread))
		v->figures.woken++;
	if (state != THREAD_UNKNOWN && thread->cpu != event->cpu && !thread->is_new)
		v->figures.migrations++;
	return 0;
}

static int switched_out(struct verify *v, const struct dat_event *event, const struct verify_switch *now)
{
	struct verify_thread *thread = get_thread(v, now->prev);
	int err;

	if (!thread)
		return -ENOMEM;
	thread->is_followed = thread->is_followed || !now->next;
	err = hear(v, thread, event);
	if (thread->is_double && thread->left_cpu == event->cpu) {
		thread->is_double = false;
		return err;
	}
	if (!err)
		err = runs(v, thread, event);
	set_state(v, thread, now->prev_state & STATE_SLEEPS ? THREAD_SLEEPS : THREAD_WAITS, event->cpu);
	return err ? err : verify_keep(&thread->last_switch, event);
}

static int switched_in(struct verify *v, const struct dat_event *event, const struct verify_switch *now)
{
	struct verify_thread *thread = get_thread(v, now->next);
	int err;

	if (!thread)
		return -ENOMEM;
	thread->is_followed = thread->is_followed || !now->prev;
	err = hear(v, thread, event);
	if (!err)
		err = runs(v, thread, event);
	thread->is_owed = state_of(v, thread) == THREAD_SLEEPS && thread->waking && !thread->is_hidden;
	set_state(v, thread, THREAD_RUNS, event->cpu);
	thread->waking = false;
	return err ? err : verify_keep(&thread->last_switch, event);
}

int verify_thread_switch(struct verify *v, const struct dat_event *event, const struct verify_switch *now)
{
	int err = 0;

	/* All idle threads have number 0. */
	if (now->prev)
		err = switched_out(v, event, now);
	if (!err && now->next)
		err = switched_in(v, event, now);
	return err;
}

int verify_thread_wake(struct verify *v, const struct dat_event *event, int32_t tid, enum verify_event_kind kind)
{
	struct verify_thread *thread = get_thread(v, tid);
	int err;

	if (!thread)
		return -ENOMEM;
	v->figures.wakeups++;
	err = hear(v, thread, event);
	if (kind == EVENT_WAKING) {
		thread->waking = true;
		/* Before the first switch, the event may be from another buffer. */
		thread->wakings_are_seen |= v->sched != NULL;
	} else {
		if (state_of(v, thread) == THREAD_SLEEPS)
			thread->state = THREAD_WOKEN;
		if (!err && thread->is_owed && state_of(v, thread) == THREAD_RUNS &&
		    event->ts != thread->last_switch.event.ts)
			err = suspect(v, VERIFY_WOKEN_LATE, thread, event);
		v->new_are_seen |= v->sched && kind == EVENT_WAKEUP_NEW;
	}
	thread->is_owed = false;
	return err;
}

int verify_thread_hide(struct verify *v, int32_t tid)
{
	struct verify_thread *thread = get_thread(v, tid);

	if (thread)
		thread->is_hidden = true;
	return thread ? 0 : -ENOMEM;
}

int verify_thread_fork(struct verify *v, const struct dat_event *event, int32_t tid)
{
	struct verify_thread *thread = get_thread(v, tid);

	if (!thread)
		return -ENOMEM;
	set_state(v, thread, THREAD_SLEEPS, event->cpu);
	thread->is_new = true;
	thread->waking = false;
	return verify_keep(&thread->last_switch, event);
}

void verify_thread_free(struct verify *v)
{
	for (size_t i = 0; i < v->nr_threads; i++)
		verify_drop(&v->threads[i].last_switch);
	for (uint32_t i = 0; v->pending && i < PENDING_MAX; i++) {
		verify_drop(&v->pending[i].before);
		verify_drop(&v->pending[i].event);
		verify_drop(&v->pending[i].after);
	}
	free(v->threads);
	free(v->pending);
	number_map_free(&v->thread_places);
}
