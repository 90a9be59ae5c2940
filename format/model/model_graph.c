/* SPDX-License-Identifier: MIT */
/*
 * Functions of the function graph. Each event has the depth of its function: the number of functions around it. So an
 * event at some depth shows that functions which are open at this depth, or deeper, have ended unseen.
 */
#include "format/model/model_private.h"

static bool is_function(const struct model_open *open)
{
	return open && open->span.rule->depth;
}

static int64_t depth_of(const struct model_open *open)
{
	return model_number(open->span.rule->depth, &open->span.first);
}

int model_graph_cut(struct model *m, const struct model_step *step, struct model_stack *stack, uint64_t loss)
{
	const int64_t depth = model_number(step->rule->depth, &step->record);
	int err = 0;

	while (!err && is_function(stack->top) && depth_of(stack->top) >= depth) {
		const struct model_open *top = stack->top;
		uint64_t ts = step->event->ts;

		/* It ended before the loss that hides its end, but not before the functions inside it. */
		if (loss > top->span.begin)
			ts = later(loss, top->inner_until);
		err = model_stack_pop(m, stack, ts, MODEL_CUT);
	}
	/* What has begun since then ends first, because spans nest. */
	for (struct model_open *open = stack->top; open; open = open->outer) {
		if (is_function(open) && depth_of(open) < depth)
			break;
		open->is_over |= is_function(open);
	}
	return err;
}
