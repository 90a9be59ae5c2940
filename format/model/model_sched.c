/* SPDX-License-Identifier: MIT */
/*
 * States of threads from sched_switch and the wake-ups. A state is given when it ends. What is before the first switch of a
 * CPU is known only for the thread that it switches away from: it was running.
 */
#include "format/model/model_private.h"

#include <errno.h>

/* prev_state: bits of the kernel's task states, the same since Linux 4.14 in what matters here. */
#define STATE_BITS	    0xffu
#define STATE_INTERRUPTIBLE 0x01u
#define STATE_BLOCKED	    0x02u
#define STATE_DEAD	    (0x10u | 0x20u)
#define STATE_IDLE	    0x80u

/* common_flags: in a hard or soft interrupt. */
#define FLAGS_INTERRUPT 0x18

/* The idle tasks of all CPUs have the number 0. */
#define IDLE 0

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

static int give(const struct model *m, struct model_thread *thread, uint64_t ts, bool is_open)
{
	thread->state.end = ts;
	thread->state.is_open = is_open;
	/* One that took no time follows from what is missing; it is no state. */
	if (!thread->has_state || !m->sink.thread_state || thread->state.state == MODEL_DEAD || ts <= thread->state.begin)
		return 0;
	return m->sink.thread_state(m->sink.arg, &thread->state);
}

static void set(struct model_thread *thread, enum model_run state, uint32_t cpu, uint64_t ts, uint32_t prio)
{
	thread->has_state = true;
	thread->state = (struct model_thread_state){
		.tid = thread->tid, .state = state, .cpu = cpu, .begin = ts, .prio = prio, .waker = -1, .waker_cpu = UINT32_MAX,
	};
}

static int64_t number(const struct model_step *step, enum model_sched_field which)
{
	const struct tep_format_field *field = step->rule->sched[which];

	return field ? model_number(field, &step->record) : 0;
}

/* The thread that leaves the CPU was running, since the last switch there if nothing says otherwise. */
static int leave(struct model *m, const struct model_step *step, struct model_thread *thread)
{
	const uint64_t ts = step->event->ts;
	const uint32_t cpu = step->event->cpu, prio = (uint32_t)number(step, MODEL_PREV_PRIO);
	const enum model_run next = run_of((uint64_t)number(step, MODEL_PREV_STATE));
	uint64_t since = step->cpu->switch_ts ? step->cpu->switch_ts : step->cpu->loss_ts;
	int err = 0;

	if (!thread->has_state || thread->state.state != MODEL_RUNNING || thread->state.cpu != cpu) {
		since = since > m->first_ts ? since : m->first_ts;
		if (thread->has_state && thread->state.begin > since)
			since = thread->state.begin;
		/* Its switch to this CPU is missing. */
		if (thread->has_state) {
			thread->state.state = MODEL_UNKNOWN;
			err = give(m, thread, since, false);
		}
		set(thread, MODEL_RUNNING, cpu, since, prio);
	}
	if (!err)
		err = give(m, thread, ts, false);
	set(thread, next, next == MODEL_RUNNABLE ? cpu : UINT32_MAX, ts, prio);
	thread->state.is_preempted = next == MODEL_RUNNABLE;
	if (!err && next == MODEL_DEAD) {
		err = model_spans_stop(m, &thread->stack, ts);
		if (!err)
			err = model_task_stop(m, thread, ts);
	}
	return err;
}

static int enter(struct model *m, const struct model_step *step, struct model_thread *thread)
{
	int err;

	/* A sleeping thread whose wake-up is lost slept until some time. */
	if (thread->has_state && thread->state.state != MODEL_RUNNABLE && m->loss_ts > thread->state.begin)
		thread->state.state = MODEL_UNKNOWN;
	err = give(m, thread, step->event->ts, false);
	set(thread, MODEL_RUNNING, step->event->cpu, step->event->ts, (uint32_t)number(step, MODEL_NEXT_PRIO));
	return err;
}

/*
 * Another thread leaves the CPU than the one that was switched to: a switch between them is not in the trace, as on hosts that
 * hide tasks of their own. It came after the CPU's last event.
 */
static int miss_switch(struct model *m, const struct model_step *step, int32_t from)
{
	int err;

	if (!step->cpu->is_running_known || step->cpu->running == from)
		return 0;
	err = model_sched_loss(m, step);
	step->cpu->switch_ts = step->cpu->last_ts;
	return err;
}

int model_switch_event(struct model *model, const struct model_step *step)
{
	const int32_t from = (int32_t)number(step, MODEL_PREV_PID), to = (int32_t)number(step, MODEL_NEXT_PID);
	struct model_thread *thread;
	int err = miss_switch(model, step, from);

	if (!err && from != IDLE) {
		thread = model_thread(model, from);
		err = thread ? leave(model, step, thread) : -ENOMEM;
	}
	if (!err && to != IDLE) {
		thread = model_thread(model, to);
		err = thread ? enter(model, step, thread) : -ENOMEM;
	}
	step->cpu->switch_ts = step->event->ts;
	step->cpu->is_running_known = true;
	step->cpu->running = to;
	return err;
}

int model_wake_event(struct model *model, const struct model_step *step)
{
	struct model_thread *thread = model_thread(model, (int32_t)number(step, MODEL_WOKEN_PID));
	const struct model_open *top = step->thread->stack.top;
	struct model_thread_state *state;
	int err = 0;

	if (!thread)
		return -ENOMEM;
	state = &thread->state;
	/* sched_wakeup follows sched_waking; and a thread that runs may be woken before it sleeps. */
	if (thread->tid == IDLE || (thread->has_state && (state->state == MODEL_RUNNABLE || state->state == MODEL_RUNNING)))
		return 0;
	if (thread->has_state) {
		state->waker = step->thread->tid;
		state->waker_cpu = step->event->cpu;
		state->waker_span = top ? top->span.id : 0;
		state->waker_irq = (number(step, MODEL_WOKEN_FLAGS) & FLAGS_INTERRUPT) != 0;
		err = give(model, thread, step->event->ts, false);
	}
	set(thread, MODEL_RUNNABLE, (uint32_t)number(step, MODEL_WOKEN_CPU), step->event->ts, (uint32_t)number(step, MODEL_WOKEN_PRIO));
	return err;
}

/* Who ran on the CPU ran until its last event at least; who runs there now is not known. */
int model_sched_loss(struct model *model, const struct model_step *step)
{
	const uint32_t cpu = step->event->cpu;
	int err = 0;

	for (size_t i = 0; !err && i < model->nr_list; i++) {
		struct model_thread *thread = model->list[i];

		if (!thread->has_state || thread->state.state != MODEL_RUNNING || thread->state.cpu != cpu)
			continue;
		err = give(model, thread, step->cpu->last_ts > thread->state.begin ? step->cpu->last_ts : thread->state.begin, false);
		set(thread, MODEL_UNKNOWN, UINT32_MAX, thread->state.end, thread->state.prio);
	}
	step->cpu->switch_ts = 0;
	step->cpu->is_running_known = false;
	return err;
}

int model_sched_stop(struct model *model, struct model_thread *thread, uint64_t ts)
{
	return give(model, thread, ts, true);
}
