/* SPDX-License-Identifier: MIT */
/*
 * States of threads from sched_switch and the wake-ups. A state is given when it ends. Before the first switch of a
 * CPU, the thread whose events are seen there was running.
 *
 * Lost events may have been switches and wake-ups of any thread that was not running on another CPU. Such a thread is
 * in an unknown state from the last event before the loss until its next event. If that is a switch to it, it has
 * waited for a CPU since the first event after the loss: from then on nothing was missing.
 *
 * If the kernel recorded only the switches of some threads (recorder record -F, -P, or a filter), the states of the
 * other threads are not known: a switch away from a recorded thread begins a state whose end is not in the trace. So
 * only the states of listed threads are given: those that the file lists; those that the kernel switched to or from the
 * idle task, because the idle task is not recorded for its own sake; and, if threads were chosen by their numbers,
 * those in which the kernel recorded any other event. Their states are known from the first such event on. But if a
 * switch contradicts a state, the state is unknown from its begin.
 */
#include "format/model/model_private.h"

#include <errno.h>
#include <string.h>

/* prev_state: bits of the kernel's task states. Those that matter here are the same since Linux 4.14. */
#define STATE_BITS	    0xffu
#define STATE_INTERRUPTIBLE 0x01u
#define STATE_BLOCKED	    0x02u
#define STATE_DEAD	    (0x10u | 0x20u)
#define STATE_IDLE	    0x80u

static enum model_run run_of(uint64_t prev_state)
{
	const uint64_t bits = prev_state & STATE_BITS;

	if (!bits)
		return MODEL_RUNNABLE;
	if (bits & STATE_DEAD)
		return MODEL_DEAD;
	if (bits & STATE_BLOCKED)
		return MODEL_BLOCKED;
	return bits & (STATE_INTERRUPTIBLE | STATE_IDLE) ? MODEL_SLEEPING : MODEL_STOPPED;
}

/* The state of the kernel's thread if it may not be taken for that of a program's thread of this id. */
static struct model_thread_state hide(const struct model_thread_state *state)
{
	return (struct model_thread_state){
		.tid = state->tid,
		.state = MODEL_UNKNOWN,
		.absent = MODEL_OTHER_IDS,
		.cpu = state->state == MODEL_RUNNING ? state->cpu : UINT32_MAX,
		.begin = state->begin,
		.end = state->end,
		.is_open = state->is_open,
		.prio = state->prio,
		.waker = -1,
		.waker_cpu = UINT32_MAX,
	};
}

int model_state_give(const struct model *m, struct model_thread *thread, uint64_t ts, bool is_open)
{
	struct model_thread_state hidden;

	thread->state.end = ts;
	thread->state.is_open = is_open;
	/*
	 * A state that took no time results from missing events, and is not reported. Without switches no state is
	 * known.
	 */
	if (!thread->has_state || !m->sink.thread_state || thread->state.state == MODEL_DEAD ||
	    ts <= thread->state.begin || !m->has_switch || (m->scope == MODEL_SOME && !thread->is_listed))
		return 0;
	if (!thread->is_ambiguous)
		return m->sink.thread_state(m->sink.arg, &thread->state);
	hidden = hide(&thread->state);
	return m->sink.thread_state(m->sink.arg, &hidden);
}

void model_state_set(struct model_thread *thread, enum model_run state, uint32_t cpu, uint64_t ts, uint32_t prio)
{
	thread->has_state = true;
	thread->is_only_woken = false;
	thread->settled = 0;
	if (state == MODEL_RUNNING || state == MODEL_UNKNOWN)
		thread->early.is_known = false;
	thread->state = (struct model_thread_state){
		.tid = thread->tid,
		.state = state,
		.cpu = cpu,
		.begin = ts,
		.prio = prio,
		.waker = -1,
		.waker_cpu = UINT32_MAX,
	};
}

/* An event shows that the thread has waited for a CPU since the first event after a loss. */
static int settle(const struct model *m, struct model_thread *thread, uint32_t cpu, uint64_t ts)
{
	const uint64_t since = thread->settled;
	int err;

	if (!since)
		return 0;
	err = model_state_give(m, thread, since, false);
	model_state_set(thread, MODEL_RUNNABLE, cpu, since, thread->state.prio);
	thread->state.is_inferred = true;
	if (!err)
		err = model_state_give(m, thread, ts, false);
	model_state_set(thread, MODEL_RUNNABLE, cpu, ts, thread->state.prio);
	return err;
}

int model_sched_open(struct model *model)
{
	const struct dat_absent *absent = &model_rules_table(model->rules)->absent;

	model->by_number = absent->nr_listed > 0 && !absent->is_listed_only;
	for (size_t i = 0; i < absent->nr_listed; i++) {
		struct model_thread *thread = model_thread(model, absent->listed[i]);

		if (!thread)
			return -ENOMEM;
		thread->is_listed = true;
	}
	return 0;
}

static int64_t number(const struct model_step *step, enum model_sched_field which)
{
	const struct tep_format_field *field = step->rule->sched[which];

	return field ? model_number(field, &step->record) : 0;
}

/* A thread leaves the CPU. The switch to it, or its events, show when it began to run. */
static int leave(struct model *m, const struct model_step *step, struct model_thread *thread)
{
	const uint64_t ts = step->event->ts;
	const uint32_t cpu = step->event->cpu, prio = (uint32_t)number(step, MODEL_PREV_PRIO);
	const enum model_run next = run_of((uint64_t)number(step, MODEL_PREV_STATE));
	int err = 0;

	if (model_runs_on(thread, cpu)) {
		err = model_state_give(m, thread, ts, false);
	} else {
		/* The switch to this thread is missing. */
		thread->early.is_known = false;
		err = model_run_stop_elsewhere(m, thread, cpu);
		if (!err)
			err = model_run_unknown(m, thread, cpu, ts);
	}
	model_state_set(thread, next, next == MODEL_RUNNABLE ? cpu : UINT32_MAX, ts, prio);
	thread->state.is_preempted = next == MODEL_RUNNABLE;
	if (!err && next == MODEL_DEAD) {
		err = model_thread_stop(m, thread, ts);
		if (!err)
			err = model_task_stop(m, thread, ts);
	}
	return err;
}

/* A thread enters the CPU. */
static int enter(struct model *m, const struct model_step *step, struct model_thread *thread)
{
	int err = settle(m, thread, step->event->cpu, step->event->ts);

	if (!err)
		err = model_run_stop_elsewhere(m, thread, step->event->cpu);
	model_absent_doubt(m, thread);
	/* The wake-up is missing. */
	if (m->absent->nr_no_cpus && thread->has_state &&
	    (thread->state.state == MODEL_SLEEPING || thread->state.state == MODEL_BLOCKED))
		model_absent_hide(thread, UINT32_MAX);
	/* A switch from this thread is missing. */
	if (thread->has_state && thread->state.state == MODEL_RUNNING)
		thread->state.state = MODEL_UNKNOWN;
	if (thread->has_state && thread->state.state == MODEL_RUNNABLE && thread->state.cpu == UINT32_MAX)
		thread->state.cpu = step->event->cpu;
	if (!err)
		err = model_state_give(m, thread, step->event->ts, false);
	model_state_set(thread, MODEL_RUNNING, step->event->cpu, step->event->ts,
			(uint32_t)number(step, MODEL_NEXT_PRIO));
	return err;
}

/* The thread that leaves the CPU is not the one that was switched to. So a switch between them is missing. */
static int miss_switch(struct model *m, const struct model_step *step, int32_t from)
{
	if (!step->cpu->is_running_known || step->cpu->running == from)
		return 0;
	return model_run_stop(m, step->event->cpu);
}

int model_switch_event(struct model *model, const struct model_step *step)
{
	const int32_t from = (int32_t)number(step, MODEL_PREV_PID), to = (int32_t)number(step, MODEL_NEXT_PID);
	struct model_thread *thread;
	int err;

	model->has_switch = true;
	if (model->scope >= MODEL_NO_SWITCHES)
		return 0;
	if (model->scope == MODEL_SOME && (from == MODEL_IDLE) != (to == MODEL_IDLE)) {
		thread = model_thread(model, from == MODEL_IDLE ? to : from);
		if (!thread)
			return -ENOMEM;
		model_run_list(thread);
	}
	err = miss_switch(model, step, from);
	if (!err && from != MODEL_IDLE) {
		thread = model_thread(model, from);
		err = thread ? leave(model, step, thread) : -ENOMEM;
	}
	if (!err && to != MODEL_IDLE) {
		thread = model_thread(model, to);
		err = thread ? enter(model, step, thread) : -ENOMEM;
	}
	step->cpu->switch_ts = step->cpu->shown_ts = step->event->ts;
	step->cpu->is_running_known = step->cpu->is_switched = step->cpu->has_left = true;
	step->cpu->running = to;
	step->cpu->left = from;
	return err;
}

/*
 * A wake-up is two events. The waker writes sched_waking. Any CPU writes sched_wakeup, possibly later, when it is known
 * for which CPU the thread waits.
 */
static bool is_first_half(const struct model_step *step)
{
	return !strcmp(step->rule->name, "sched_waking");
}

static struct model_waker waker_of(const struct model_step *step)
{
	const struct model_open *top = model_thread_stack(step)->top;

	return (struct model_waker){
		.is_known = true,
		.tid = step->thread->tid,
		.cpu = step->event->cpu,
		.span = top ? top->span.id : 0,
		.irq = (number(step, MODEL_WOKEN_FLAGS) & EVENT_IN_INTERRUPT) != 0,
	};
}

/* A sleep ends; sched_waking, now or just before the sleep, shows who ended it. */
static int end_sleep(struct model *m, const struct model_step *step, struct model_thread *thread)
{
	const bool is_first = is_first_half(step);
	const struct model_waker waker = is_first ? waker_of(step) : thread->early;
	struct model_thread_state *state = &thread->state;

	if (waker.is_known) {
		state->waker = waker.tid;
		state->waker_cpu = waker.cpu;
		state->waker_span = waker.span;
		state->waker_irq = waker.irq;
		state->waker_early = !is_first;
	}
	thread->early.is_known = false;
	return model_state_give(m, thread, step->event->ts, false);
}

int model_wake_event(struct model *model, const struct model_step *step)
{
	struct model_thread *thread = model_thread(model, (int32_t)number(step, MODEL_WOKEN_PID));
	const bool is_first = is_first_half(step), is_new = thread && (!thread->has_state || thread->settled);
	const uint64_t ts = step->event->ts;
	const uint32_t cpu = is_first ? UINT32_MAX : (uint32_t)number(step, MODEL_WOKEN_CPU);
	int err = 0;

	if (!thread)
		return -ENOMEM;
	if (step->rule->is_birth)
		thread->born_ts = ts;
	if (thread->tid == MODEL_IDLE || model->scope >= MODEL_NO_SWITCHES)
		return 0;
	model->has_waking |= is_first;
	/*
	 * After a loss, a second half alone shows that the first one was lost. A first half shows nothing: a thread
	 * that was preempted before it slept may be woken as well.
	 */
	if (!is_first && model->has_waking)
		err = settle(model, thread, cpu, ts);
	if (!err && thread->has_state && thread->state.state == MODEL_RUNNABLE) {
		if (thread->state.cpu == UINT32_MAX || dat_absent_has_cpu(model->absent, cpu))
			thread->state.cpu = cpu;
		/* If a CPU was not recorded, it may have slept there. */
		if (!is_first || !model->absent->nr_no_cpus)
			return 0;
		model_absent_doubt(model, thread);
	}
	/*
	 * A thread that runs may be woken before it sleeps. If the second half comes before it has left the CPU, it
	 * does not sleep; otherwise the first half has ended the sleep that follows.
	 */
	if (!err && thread->has_state && thread->state.state == MODEL_RUNNING) {
		thread->early = is_first ? waker_of(step) : (struct model_waker){ 0 };
		return 0;
	}
	if (err)
		return err;
	if (thread->has_state)
		err = end_sleep(model, step, thread);
	model_state_set(thread, MODEL_RUNNABLE, cpu, ts, (uint32_t)number(step, MODEL_WOKEN_PRIO));
	thread->is_only_woken = is_new;
	return err;
}

/* Events that may concern the thread were lost since a time. Its state is unknown from then until its next event. */
static int lose(const struct model *m, const struct model_step *step, struct model_thread *thread, uint64_t since)
{
	int err = 0;

	since = later(since, thread->state.begin);
	if (thread->state.state != MODEL_UNKNOWN) {
		thread->state.is_cut = true;
		err = model_state_give(m, thread, since, false);
		model_state_set(thread, MODEL_UNKNOWN, step->event->cpu, since, thread->state.prio);
		thread->state.is_lost = true;
	}
	thread->settled = step->event->ts;
	return err;
}

/*
 * Take the threads that have no state, or have ended, out of the list, and forget the wake-ups that have begun. The
 * step may still give its thread a state.
 */
static void prune_live(struct model *m, const struct model_step *step)
{
	size_t nr = 0;

	for (size_t i = 0; i < m->nr_live; i++) {
		struct model_thread *thread = m->live[i];

		thread->early.is_known = false;
		thread->is_live = thread == step->thread || (thread->has_state && thread->state.state != MODEL_DEAD);
		if (thread->is_live)
			m->live[nr++] = thread;
	}
	m->nr_live = nr;
}

int model_sched_loss(struct model *model, const struct model_step *step, uint64_t since)
{
	const uint32_t cpu = step->event->cpu;
	int err = 0;

	prune_live(model, step);
	for (size_t i = 0; !err && i < model->nr_live; i++) {
		struct model_thread *thread = model->live[i];
		const enum model_run state = thread->state.state;

		/* The lost events cannot have changed a thread that runs on another CPU. */
		if (thread->has_state && state != MODEL_DEAD && (state != MODEL_RUNNING || thread->state.cpu == cpu))
			err = lose(model, step, thread, since);
	}
	model_run_forget(step->cpu);
	return err;
}

int model_sched_forget(struct model *model, struct model_thread *thread, uint64_t ts)
{
	int err;

	if (!thread->has_state || thread->state.state == MODEL_DEAD)
		return 0;
	model_absent_doubt(model, thread);
	thread->state.is_cut = true;
	err = model_state_give(model, thread, ts, false);
	model_state_set(thread, MODEL_UNKNOWN, UINT32_MAX, ts, thread->state.prio);
	thread->state.absent = MODEL_NO_TIME;
	return err;
}

int model_sched_stop(struct model *model, struct model_thread *thread, uint64_t ts)
{
	model_absent_doubt(model, thread);
	return model_state_give(model, thread, ts, true);
}
