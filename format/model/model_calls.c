/* SPDX-License-Identifier: MIT */
/*
 * System calls and works: a thread is in one of them at a time. If another one begins or ends, the one that was open
 * has ended unseen: its end was lost, or not recorded, or the kernel does not write it, as for rt_sigreturn. It is cut.
 * So calls never nest in one another, and an end never belongs to the begin of another call.
 *
 * If both raw_syscalls and syscalls are recorded, a call begins with two events and ends with two, and the kernel may
 * write them in the same order at both ends. So the second one does not nest in the first one, nor the other way round:
 * its span is beside the stack.
 */
#include "format/model/model_private.h"

#include <string.h>

int model_beside_end(struct model *m, struct model_thread *thread, uint64_t ts, unsigned int flags)
{
	struct model_open *open = thread->beside;

	thread->beside = NULL;
	return model_open_end(m, open, ts, flags);
}

int model_beside_leave(struct model *m, struct model_thread *thread, uint64_t ts, unsigned int flags)
{
	if (!thread->beside)
		return 0;
	/* For some calls the kernel does not write this end: then the span ended with the other span of the call. */
	if (thread->beside_until)
		return model_beside_end(m, thread, thread->beside_until, MODEL_CUT);
	return model_beside_end(m, thread, ts, flags);
}

/*
 * The call or work that is open has ended unseen: before a loss that may hide its end, otherwise at an unknown time
 * before the event at `ts`. Returns that time in *ret_since. If a program's span seems to be inside it, that span began
 * after it, and both end together, because spans nest.
 */
static int cut_single(struct model *m, struct model_thread *thread, uint64_t ts, uint64_t *ret_since)
{
	struct model_stack *stack = &thread->stack;
	const struct model_open *top = stack->top;
	struct model_open *open = stack->single ? stack->single : thread->beside;
	int err = 0;

	/* Spans that have begun and ended since the loss seem to be inside it: it ends no earlier than these. */
	if (open && thread->kernel_loss_ts > open->span.begin)
		ts = later(thread->kernel_loss_ts, stack->single ? later(top->span.begin, top->inner_until) : 0);
	*ret_since = ts;
	if (stack->single && model_has_program_inside(open)) {
		open->is_over = true;
		stack->single = NULL;
		/* The loss is not reported yet. */
		if (thread->kernel_loss_ts <= open->span.begin)
			*ret_since = top->span.begin;
	}
	while (!err && stack->single)
		err = model_stack_pop(m, stack, ts, MODEL_CUT);
	return err ? err : model_beside_leave(m, thread, ts, MODEL_CUT);
}

/* Whether a begin is the second one of the call that is open. */
static bool is_second_of_call(const struct model_step *step)
{
	const struct model_thread *thread = step->thread;
	const struct model_open *open = thread->stack.single;

	return step->rule->is_call && open && open->span.rule->is_call && !open->has_second &&
	       thread->kernel_loss_ts <= open->span.begin && strcmp(open->span.rule->system, step->rule->system) != 0;
}

int model_single_begin(struct model *m, const struct model_step *step, struct model_open *open)
{
	struct model_thread *thread = step->thread;
	uint64_t since;
	int err;

	if (!is_second_of_call(step)) {
		err = cut_single(m, thread, step->event->ts, &since);
		if (err) {
			model_open_give(m, open);
			return err;
		}
		/* cut_single() may have ended the span that was its parent. */
		open->span.parent = thread->stack.top ? thread->stack.top->span.id : 0;
		open->span.depth = thread->stack.depth;
		return model_stack_push(m, &thread->stack, open);
	}
	thread->stack.single->has_second = true;
	open->span.is_beside = true;
	thread->beside = open;
	thread->beside_until = 0;
	return 0;
}

/*
 * The open call that an end belongs to: on the stack, or beside it; NULL: none. If events were lost, and a program's
 * span seems to have begun inside the call, the call ended before, and this end is that of a later one.
 */
static struct model_open *find(const struct model *m, const struct model_step *step)
{
	const struct model_thread *thread = step->thread;
	const struct model_open *single = thread->stack.single;

	if (single && model_has_program_inside(single) && model_span_has_loss(m, step, single))
		return NULL;
	if (thread->beside && model_open_fits(thread->beside, step))
		return thread->beside;
	return thread->stack.single && model_open_fits(thread->stack.single, step) ? thread->stack.single : NULL;
}

/* Whether another call, or work, of the same system is open. */
static bool is_other_open(const struct model_step *step)
{
	const struct model_open *open[] = { step->thread->stack.single, step->thread->beside };

	for (unsigned int i = 0; i < 2; i++) {
		if (open[i] && !strcmp(open[i]->span.rule->system, step->rule->system))
			return true;
	}
	return false;
}

int model_single_end(struct model *m, const struct model_step *step, struct model_open **ret_open, uint64_t *ret_since)
{
	struct model_thread *thread = step->thread;
	int err = 0;

	/* The call of that span has ended, and events were lost afterwards: this is the end of a later call. */
	if (thread->beside && thread->beside_until && thread->kernel_loss_ts > thread->beside_until)
		err = model_beside_leave(m, thread, step->event->ts, MODEL_CUT);
	*ret_open = err ? NULL : find(m, step);
	*ret_since = 0;
	if (err || *ret_open || !is_other_open(step))
		return err;
	return cut_single(m, thread, step->event->ts, ret_since);
}
