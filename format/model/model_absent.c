/* SPDX-License-Identifier: MIT */
/*
 * What was not recorded, as the file's notes have it (dat_absent.h).
 *
 * At some times of a merged file no switches were recorded, or only those of some threads: no file that has switches
 * covers these times. There, states are unknown. A state ends where the time begins; after it, a thread is in one state
 * again, as after a loss. If no file with events of the kernel covers a time, open spans of the kernel may have ended
 * there; the same holds for programs and their spans.
 *
 * If a file was merged from files of several machines, a record does not show the machine of a thread's id or a CPU's
 * number: no state is known.
 *
 * If a CPU was not recorded, a thread that waits for another CPU may be moved to the unrecorded one, run there, sleep
 * and come back without an event. So only a thread that runs on a recorded CPU, or that sleeps until a recorded
 * wake-up, is known. A thread that sleeps, and then runs without having been woken, was woken on such a CPU; it may
 * have run there before.
 */
#include "format/model/model_private.h"

#include <errno.h>
#include <stdlib.h>

static bool has_time(const struct dat_losses *times, uint64_t raw)
{
	return dat_losses_between(times, raw ? raw - 1 : 0, raw < UINT64_MAX ? raw + 1 : raw);
}

static enum model_scope scope_at(const struct dat_absent *absent, uint64_t raw)
{
	if (has_time(&absent->no_kernel, raw))
		return MODEL_NO_KERNEL;
	if (absent->several_machines || has_time(&absent->no_switches, raw))
		return MODEL_NO_SWITCHES;
	if (absent->some_threads && (!absent->some_times.nr || has_time(&absent->some_times, raw)))
		return MODEL_SOME;
	return MODEL_ALL;
}

static int by_time(const void *a, const void *b)
{
	const struct model_change *x = a, *y = b;

	return (x->raw > y->raw) - (x->raw < y->raw);
}

int model_absent_open(struct model *model)
{
	const struct dat_absent *absent = &model_rules_table(model->rules)->absent;
	const struct dat_losses *const lists[] = { &absent->some_times, &absent->no_switches, &absent->no_kernel,
						   &absent->no_programs };
	size_t nr = 0;

	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
		nr += 2 * lists[i]->nr;
	model->changes = calloc(nr + 1, sizeof(*model->changes));
	if (!model->changes)
		return -ENOMEM;
	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		for (size_t j = 0; j < lists[i]->nr; j++) {
			model->changes[model->nr_changes++].raw = lists[i]->all[j].since;
			if (lists[i]->all[j].until != DAT_LOSS_NO_END)
				model->changes[model->nr_changes++].raw = lists[i]->all[j].until + 1;
		}
	}
	qsort(model->changes, model->nr_changes, sizeof(*model->changes), by_time);
	for (size_t i = 0; i < model->nr_changes; i++) {
		model->changes[i].scope = scope_at(absent, model->changes[i].raw);
		model->changes[i].no_programs = has_time(&absent->no_programs, model->changes[i].raw);
	}
	model->absent = absent;
	model->scope = scope_at(absent, 0);
	model->no_programs = has_time(&absent->no_programs, 0);
	return 0;
}

/* ------------------------------------------------------------------------------------------------------------ times */

/* What the change of the scope means for the state of a thread. */
static int change_thread(struct model *m, struct model_thread *thread, enum model_scope scope, uint64_t ts)
{
	const bool was_known = model_scope_has(m->scope, thread);
	const struct model_thread_state *state = &thread->state;

	if (was_known && !model_scope_has(scope, thread))
		return model_sched_forget(m, thread, ts);
	if (was_known || !model_scope_has(scope, thread) || !thread->has_state || state->state == MODEL_DEAD)
		return 0;
	/*
	 * Any other state was derived while only the switches of other threads were recorded, and may be wrong: drop
	 * it.
	 */
	if (state->state == MODEL_UNKNOWN && state->absent == MODEL_NO_TIME)
		thread->settled = ts;
	else
		thread->has_state = false;
	return 0;
}

/* All events of the kernel until `ts` may be missing. */
static void lose_kernel(struct model *m, uint64_t ts)
{
	m->kernel_loss_ts = ts;
	for (size_t i = 0; i < m->nr_list; i++)
		m->list[i]->kernel_loss_ts = ts;
	for (uint32_t i = 0; i < m->nr_cpus; i++)
		m->cpus[i].kernel_loss_ts = ts;
}

/* The same for those of programs. */
static void lose_programs(struct model *m, uint64_t ts)
{
	m->program_loss_ts = ts;
	for (size_t i = 0; i < m->nr_list; i++)
		m->list[i]->program_loss_ts = ts;
	for (uint32_t i = 0; i < m->nr_cpus; i++)
		m->cpus[i].program_loss_ts = ts;
}

/* The scope changes: the states of threads, and what runs on each CPU, begin anew. */
static int change(struct model *m, enum model_scope scope, uint64_t ts)
{
	int err = 0;

	for (size_t i = 0; !err && i < m->nr_list; i++)
		err = change_thread(m, m->list[i], scope, ts);
	for (uint32_t i = 0; !err && i < m->nr_cpus; i++) {
		model_run_forget(&m->cpus[i]);
		if (scope == MODEL_NO_KERNEL)
			err = model_spans_stop(m, &m->cpus[i].stack, ts, MODEL_CUT);
		if (!err && scope == MODEL_NO_KERNEL)
			err = model_spans_stop(m, &m->cpus[i].idle, ts, MODEL_CUT);
	}
	if (m->scope == MODEL_NO_KERNEL)
		lose_kernel(m, ts);
	m->scope = scope;
	m->scope_ts = ts;
	return err;
}

int model_absent_pass(struct model *model, const struct dat_event *event)
{
	int err = 0;

	while (!err && model->at < model->nr_changes && model->changes[model->at].raw <= event->raw) {
		const struct model_change *next = &model->changes[model->at++];
		const uint64_t before = event->raw - next->raw;
		const uint64_t ts = later(before < event->ts ? event->ts - before : 0, model->last_ts);

		if (next->scope != model->scope)
			err = change(model, next->scope, ts);
		if (model->no_programs && !next->no_programs)
			lose_programs(model, ts);
		model->no_programs = next->no_programs;
	}
	return err;
}

/* ------------------------------------------------------------------------------------------------------------- CPUs */

void model_absent_hide(struct model_thread *thread, uint32_t cpu)
{
	thread->state.state = MODEL_UNKNOWN;
	thread->state.absent = MODEL_NO_CPU;
	thread->state.cpu = cpu;
	thread->state.is_preempted = false;
}

void model_absent_doubt(const struct model *model, struct model_thread *thread)
{
	const struct model_thread_state *state = &thread->state;

	if (model->absent->nr_no_cpus && thread->has_state && state->state == MODEL_RUNNABLE)
		model_absent_hide(thread, dat_absent_has_cpu(model->absent, state->cpu) ? state->cpu : UINT32_MAX);
}
