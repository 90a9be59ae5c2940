/* SPDX-License-Identifier: MIT */
/* The stacks of open spans of a thread or a CPU, the spans that ended on them, and the memory of open spans. */
#include "format/model/model_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct model_open *model_open_take(struct model *m)
{
	struct model_open *open = m->unused;

	if (!open)
		return calloc(1, sizeof(*open));
	m->unused = open->outer;
	return open;
}

void model_open_give(struct model *m, struct model_open *open)
{
	/* Records are small. Many large ones must not be kept with the unused spans. */
	if (open->room > 256) {
		free(open->bytes);
		open->bytes = NULL;
		open->room = 0;
	}
	open->outer = m->unused;
	m->unused = open;
}

bool model_open_fits(const struct model_open *open, const struct model_step *step)
{
	const struct model_rule *begin = open->span.rule, *end = step->rule;
	int64_t number;

	if (begin->pair != end->pair)
		return false;
	if (begin->depth && end->depth &&
	    model_number(begin->depth, &open->span.first) != model_number(end->depth, &step->record))
		return false;
	if (!begin->same || !end->same)
		return true;
	number = model_number(end->same, &step->record);
	/* At the end of some calls, such as rt_sigreturn, the kernel no longer knows the number of the call. */
	return number == model_number(begin->same, &open->span.first) || (end->is_call && number == -1);
}

bool model_has_program_inside(const struct model_open *open)
{
	while (open && !open->span.rule->is_program)
		open = open->child;
	return open != NULL;
}

int model_open_end(struct model *m, struct model_open *open, uint64_t ts, unsigned int flags)
{
	struct model_span *span = &open->span;
	const uint64_t duration = ts - span->begin;
	int err;

	span->end = ts;
	span->flags |= flags;
	span->own = duration > open->inner ? duration - open->inner : 0;
	err = m->sink.span ? m->sink.span(m->sink.arg, span) : 0;
	model_open_give(m, open);
	return err;
}

/* ------------------------------------------------------------------------------------------- spans that have ended */

/* Join the older half in pairs. The newest ones stay separate, and each one is joined only a few times. */
static void join_ended(struct model_stack *stack)
{
	const unsigned int nr = stack->nr_ended / 4;

	for (unsigned int i = 0; i < nr; i++) {
		const struct model_ended *two = &stack->ended[2 * i];

		stack->ended[i] = (struct model_ended){ two[0].begin, two[0].sum + two[1].sum };
	}
	stack->nr_ended -= nr;
	memmove(&stack->ended[nr], &stack->ended[2 * nr], (stack->nr_ended - nr) * sizeof(*stack->ended));
}

/* A span has ended: it stands for those inside it. Returns their time through *ret_inner. 0; -ENOMEM. */
static int add_ended(struct model_stack *stack, uint64_t begin, uint64_t end, uint64_t *ret_inner)
{
	*ret_inner = 0;
	while (stack->nr_ended && stack->ended[stack->nr_ended - 1].begin >= begin)
		*ret_inner += stack->ended[--stack->nr_ended].sum;
	if (stack->nr_ended == MODEL_ENDED_MAX)
		join_ended(stack);
	if (stack->nr_ended == stack->room_ended) {
		const unsigned int room = stack->room_ended ? 2 * stack->room_ended : 8;
		struct model_ended *more = reallocarray(stack->ended, room, sizeof(*more));

		if (!more)
			return -ENOMEM;
		stack->ended = more;
		stack->room_ended = room;
	}
	stack->ended[stack->nr_ended++] = (struct model_ended){ begin, end - begin };
	return 0;
}

int model_stack_timed(struct model_stack *stack, struct model_span *span)
{
	const uint64_t duration = span->end - span->begin;
	uint64_t inner;

	span->own = duration;
	/* A span that began before the open one does not nest. */
	if (stack->top && stack->top->span.begin > span->begin)
		return 0;
	if (add_ended(stack, span->begin, span->end, &inner))
		return -ENOMEM;
	span->own = duration > inner ? duration - inner : 0;
	if (stack->top)
		stack->top->inner += span->own;
	return 0;
}

/* ------------------------------------------------------------------------------------------------------------ ends */

static int pop(struct model *m, struct model_stack *stack, uint64_t ts, unsigned int flags)
{
	struct model_open *open = stack->top;
	uint64_t inner;

	if (m->has_timed && !open->span.rule->is_of_cpu && add_ended(stack, open->span.begin, ts, &inner))
		return -ENOMEM;
	stack->top = open->outer;
	*(stack->top ? &stack->top->child : &stack->bottom) = NULL;
	stack->depth--;
	if (stack->single == open)
		stack->single = NULL;
	if (stack->top) {
		stack->top->inner += ts - open->span.begin;
		stack->top->inner_until = ts;
	}
	return model_open_end(m, open, ts, flags);
}

int model_stack_pop(struct model *m, struct model_stack *stack, uint64_t ts, unsigned int flags)
{
	int err = pop(m, stack, ts, flags);

	while (!err && stack->top && stack->top->is_over)
		err = pop(m, stack, ts, MODEL_CUT);
	return err;
}

/* The outermost span is given up: its end will not be recognised. */
static int give_up(struct model *m, struct model_stack *stack, uint64_t ts)
{
	struct model_open *open = stack->bottom;

	stack->bottom = open->child;
	stack->bottom->outer = NULL;
	stack->depth--;
	if (stack->single == open)
		stack->single = NULL;
	model_count_given_up(m);
	open->span.is_given_up = true;
	return model_open_end(m, open, ts, MODEL_CUT);
}

int model_stack_push(struct model *m, struct model_stack *stack, struct model_open *open)
{
	open->outer = stack->top;
	open->child = NULL;
	*(stack->top ? &stack->top->child : &stack->bottom) = open;
	stack->top = open;
	stack->depth++;
	if (open->span.rule->is_single)
		stack->single = open;
	return stack->depth > MODEL_DEPTH_MAX ? give_up(m, stack, open->span.begin) : 0;
}

int model_spans_stop(struct model *model, struct model_stack *stack, uint64_t ts, unsigned int flags)
{
	int err = 0;

	while (!err && stack->top)
		err = model_stack_pop(model, stack, ts, MODEL_NO_END | flags);
	return err;
}

static void free_chain(struct model_open *open)
{
	while (open) {
		struct model_open *outer = open->outer;

		free(open->bytes);
		free(open);
		open = outer;
	}
}

void model_spans_free(struct model *model)
{
	for (size_t i = 0; i < model->nr_list; i++) {
		struct model_open *beside = model->list[i]->beside;

		free_chain(model->list[i]->stack.top);
		free(model->list[i]->stack.ended);
		if (beside)
			beside->outer = NULL;
		free_chain(beside);
	}
	for (uint32_t i = 0; i < model->nr_cpus; i++) {
		free_chain(model->cpus[i].stack.top);
		free_chain(model->cpus[i].idle.top);
		free(model->cpus[i].stack.ended);
		free(model->cpus[i].idle.ended);
	}
	for (size_t i = 0; i < model->keyed.nr_chains; i++)
		free_chain(model->keyed.chains[i]);
	free(model->keyed.chains);
	free_chain(model->unused);
}
