/* SPDX-License-Identifier: MIT */
/*
 * Which thread runs on a CPU, if a switch is missing: some hosts hide those to their own tasks, or from the idle task.
 * An event shows that its thread runs from then on, also if the switch to it is missing; and that the thread that ran
 * there before has left the CPU after its own last event. When the missing switch was is not known, so the time between
 * is unknown. A thread that comes and goes without any event is not noticed.
 */
#include "format/model/model_private.h"

void model_run_list(struct model_thread *thread)
{
	/* The state that the thread seemed to have until now may have been wrong. */
	if (!thread->is_listed)
		thread->has_state = false;
	thread->is_listed = true;
}

int model_run_unknown(const struct model *m, struct model_thread *thread, uint32_t cpu, uint64_t ts)
{
	const uint64_t shown_ts = m->cpus[cpu].shown_ts;
	int err = 0;

	if (!thread->has_state || thread->state.state == MODEL_DEAD)
		return 0;
	model_absent_doubt(m, thread);
	/* As long as another thread ran on that CPU, this one waited. */
	if (thread->state.state == MODEL_RUNNABLE && shown_ts > thread->state.begin) {
		thread->state.is_cut = true;
		err = model_state_give(m, thread, shown_ts, false);
		model_state_set(thread, MODEL_UNKNOWN, UINT32_MAX, shown_ts, thread->state.prio);
	}
	thread->state.state = MODEL_UNKNOWN;
	thread->state.is_preempted = false;
	return err ? err : model_state_give(m, thread, ts, false);
}

bool model_runs_on(const struct model_thread *thread, uint32_t cpu)
{
	return thread->has_state && thread->state.state == MODEL_RUNNING && thread->state.cpu == cpu;
}

bool model_run_may_have_left(const struct model *m, const struct model_thread *thread, const struct model_open *open)
{
	if (thread->tid == MODEL_IDLE)
		return false;
	return !m->has_switch || !model_scope_has(m->scope, thread) || !model_runs_on(thread, open->span.cpu) ||
	       thread->state.begin > open->span.begin;
}

int model_run_stop(struct model *m, uint32_t number)
{
	struct model_cpu *cpu = &m->cpus[number];
	struct model_thread *thread = cpu->is_running_known ? model_thread(m, cpu->running) : NULL;
	int err;

	cpu->is_running_known = false;
	cpu->is_switched = true;
	cpu->switch_ts = cpu->shown_ts;
	if (!thread || !model_runs_on(thread, number))
		return 0;
	/* Events on the CPU may be of threads whose switches were not recorded. */
	if (m->scope == MODEL_SOME) {
		thread->state.state = MODEL_UNKNOWN;
		return 0;
	}
	thread->state.is_cut = true;
	err = model_state_give(m, thread, later(cpu->shown_ts, thread->state.begin), false);
	model_state_set(thread, MODEL_UNKNOWN, UINT32_MAX, thread->state.end, thread->state.prio);
	return err;
}

int model_run_stop_elsewhere(struct model *m, struct model_thread *thread, uint32_t cpu)
{
	const uint32_t other = thread->state.cpu;

	if (!thread->has_state || thread->state.state != MODEL_RUNNING || other == cpu || m->scope == MODEL_SOME)
		return 0;
	return m->cpus[other].running == thread->tid ? model_run_stop(m, other) : 0;
}

/*
 * Whether a wake-up is all that is known of a thread. If the thread then writes an event without a switch to it, it was
 * already running.
 */
static bool is_woken(const struct model_thread *thread)
{
	return thread->has_state && !thread->settled && thread->state.state == MODEL_RUNNABLE &&
	       !thread->state.is_preempted;
}

/*
 * Whether an event shows that its thread runs, although the switch to it was not seen. The clocks of programs differ a
 * little from the kernel's: an event of a program does not count after a switch from the thread, only after a wake-up.
 * After sched_switch the kernel still has some work to do in the former thread, with interrupts off: such events do not
 * count.
 */
static bool shows_running(const struct model_step *step)
{
	const struct model_rule *rule = step->rule;

	if (!rule->type || rule->meaning == MODEL_SWITCH)
		return false;
	if (rule->is_program)
		return is_woken(step->thread) && !model_is_end_of_program(step);
	if (step->cpu->has_left && step->cpu->left == step->thread->tid)
		return rule->is_call || rule->is_of_cpu;
	return true;
}

/* An event in a listed thread, or one of the kernel that lists it, shows that the thread runs from then on. */
static int note_listed(const struct model *m, const struct model_step *step)
{
	struct model_thread *thread = step->thread;
	int err = 0;

	if (thread->tid == MODEL_IDLE || step->rule->meaning == MODEL_WAKE || !shows_running(step))
		return 0;
	if (m->by_number && !step->rule->is_program)
		model_run_list(thread);
	if (!thread->is_listed || (thread->has_state && thread->state.state == MODEL_RUNNING))
		return 0;
	err = model_run_unknown(m, thread, step->event->cpu, step->event->ts);
	model_state_set(thread, MODEL_RUNNING, step->event->cpu, step->event->ts, 0);
	return err;
}

static bool has_known_state(const struct model_thread *thread)
{
	return thread->has_state && !thread->settled && thread->state.state != MODEL_DEAD;
}

/*
 * Before the first switch of a CPU, or after a loss, an event shows which thread runs there: the thread of the event
 * has run since the beginning of the trace, or since the loss. Of the thread nothing is known, or only a wake-up.
 */
static int note_first(const struct model *m, const struct model_step *step)
{
	struct model_cpu *cpu = step->cpu;
	struct model_thread *thread = step->thread;
	uint64_t since = later(later(cpu->kernel_loss_ts, m->scope_ts), m->first_ts);
	int err = 0;

	cpu->is_running_known = true;
	cpu->running = thread->tid;
	cpu->shown_ts = step->event->ts;
	if (is_woken(thread))
		model_state_set(thread, MODEL_RUNNING, step->event->cpu, later(since, thread->state.begin),
				thread->state.prio);
	if (thread->tid == MODEL_IDLE || has_known_state(thread))
		return 0;
	/*
	 * A state that began later than `since`, such as that of a new thread with the number of one that ended, is not
	 * extended back.
	 */
	if (thread->has_state && thread->state.begin > since)
		since = thread->state.begin;
	if (thread->has_state)
		err = model_state_give(m, thread, since, false);
	model_state_set(thread, MODEL_RUNNING, step->event->cpu, since, thread->state.prio);
	return err;
}

/* The event is of another thread than the one that seemed to run, or nothing is known of the CPU. */
static int note_other(struct model *m, const struct model_step *step)
{
	struct model_cpu *cpu = step->cpu;
	struct model_thread *thread = step->thread;
	const bool is_shown = shows_running(step);
	int err;

	/* Of a CPU without switches, no clocks have to be compared. */
	if (!is_shown && (cpu->is_switched || step->rule->meaning == MODEL_SWITCH))
		return 0;
	err = model_run_stop(m, step->event->cpu);
	if (err || !is_shown)
		return err;
	if (thread->tid != MODEL_IDLE) {
		err = model_run_stop_elsewhere(m, thread, step->event->cpu);
		if (!err)
			err = model_run_unknown(m, thread, step->event->cpu, step->event->ts);
		model_state_set(thread, MODEL_RUNNING, step->event->cpu, step->event->ts, thread->state.prio);
	}
	cpu->is_running_known = true;
	cpu->running = thread->tid;
	cpu->shown_ts = step->event->ts;
	return err;
}

/* All switches are recorded. */
static int note_all(struct model *m, const struct model_step *step)
{
	struct model_cpu *cpu = step->cpu;

	if (!cpu->is_running_known && !cpu->is_switched) {
		if (!has_known_state(step->thread) || step->thread->is_only_woken)
			return note_first(m, step);
		/* The thread was seen elsewhere: a switch to it is missing. */
		return shows_running(step) ? note_other(m, step) : 0;
	}
	if (!cpu->is_running_known || cpu->running != step->thread->tid)
		return note_other(m, step);
	cpu->shown_ts = step->event->ts;
	return 0;
}

void model_run_forget(struct model_cpu *cpu)
{
	cpu->switch_ts = 0;
	cpu->is_running_known = cpu->is_switched = cpu->has_left = false;
}

/* A program's event shows that its thread was on a CPU that was not recorded. */
static void note_hidden(struct model_thread *thread, uint32_t cpu)
{
	const enum model_run state = thread->state.state;

	if (thread->has_state && state != MODEL_RUNNING && state != MODEL_UNKNOWN && state != MODEL_DEAD)
		model_absent_hide(thread, cpu);
}

int model_run_note(struct model *model, const struct model_step *step)
{
	struct model_cpu *cpu = step->cpu;
	int err = 0;

	/* The switches are of another thread. */
	if (step->rule->is_program && step->thread->is_ambiguous)
		return 0;
	if (dat_absent_has_cpu(model->absent, step->event->cpu) && !model_is_end_of_program(step))
		note_hidden(step->thread, step->event->cpu);
	else if (model->scope == MODEL_SOME)
		err = note_listed(model, step);
	else if (model->scope == MODEL_ALL)
		err = note_all(model, step);
	if (!step->rule->is_program && cpu->left != step->thread->tid)
		cpu->has_left = false;
	return err;
}
