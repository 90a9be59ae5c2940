/* SPDX-License-Identifier: MIT */
/* Measures the figures of expressions, and evaluates them. */
#include "cli/ask/assert_expr.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* -------------------------------------------------------------------------------------------------------- measuring */

/*
 * Inserts a point at its place; if the list is full, the last point is dropped. `sign` 1: the largest value is first;
 * -1: the smallest; 0: points stay in the order of their arrival.
 */
static void keep(struct assert_kept *kept, const struct series_point *point, int sign)
{
	unsigned int at = kept->nr;

	while (at && sign &&
	       (sign > 0 ? point->value > kept->points[at - 1].value : point->value < kept->points[at - 1].value))
		at--;
	if (at == ASSERT_KEPT)
		return;
	if (kept->nr < ASSERT_KEPT)
		kept->nr++;
	memmove(&kept->points[at + 1], &kept->points[at], (kept->nr - at - 1) * sizeof(kept->points[0]));
	kept->points[at] = *point;
}

static int take_point(void *arg, const struct series_point *point)
{
	struct assert_measure *measure = arg;

	keep(&measure->first, point, 0);
	keep(&measure->smallest, point, -1);
	keep(&measure->largest, point, 1);
	return hist_add(&measure->hist, point->value);
}

/* Add the series of a function. A name means an event in functions that count events, otherwise a span. */
static int add_series(struct assert_node *node, struct series_set *set, struct series_error *error)
{
	struct assert_measure *m = &node->measure;
	const bool counts = node->function == ASSERT_COUNT || node->function == ASSERT_RATE;
	int err;

	m->spec.name = m->words[SERIES_NAME];
	m->spec.to = m->words[SERIES_TO];
	m->spec.field = m->words[SERIES_FIELD_NAME];
	if (counts && !m->is_latency && m->spec.kind == SERIES_SPAN) {
		m->spec.kind = SERIES_EVENT;
		err = series_add(set, &m->spec, take_point, m, &m->series, error);
		if (err != -EINVAL)
			return err;
		m->spec.kind = SERIES_SPAN;
	}
	return series_add(set, &m->spec, take_point, m, &m->series, error);
}

int assert_prepare(struct assert_node *node, struct series_set *set, struct assert_error *ret_error)
{
	struct series_error error;
	int err = 0;

	if (!node)
		return 0;
	if (node->op == ASSERT_FUNCTION)
		err = add_series(node, set, &error);
	if (err) {
		ret_error->column = err == -EINVAL ? node->measure.columns[error.word] : 0;
		snprintf(ret_error->reason, sizeof(ret_error->reason), "%s",
			 err == -EINVAL ? error.reason : "not enough memory");
		return err;
	}
	err = assert_prepare(node->left, set, ret_error);
	return err ? err : assert_prepare(node->right, set, ret_error);
}

/* ---------------------------------------------------------------------------------------------------------- values */

static const struct assert_value unknown = { false, 0 };

static struct assert_value known(double number)
{
	return (struct assert_value){ true, number };
}

static struct assert_value function_value(const struct assert_node *node, const struct assert_trace *trace)
{
	const struct hist *hist = &node->measure.hist;
	int64_t sum;

	if (node->function == ASSERT_COUNT)
		return known((double)hist->count);
	if (node->function == ASSERT_RATE)
		return trace->seconds > 0 ? known((double)hist->count / trace->seconds) : unknown;
	if (node->function == ASSERT_SUM)
		return known(hist_sum(hist, &sum) ? (double)sum : hist_mean(hist) * (double)hist->count);
	if (!hist->count)
		return unknown;
	if (node->function == ASSERT_MEAN)
		return known(hist_mean(hist));
	if (node->function == ASSERT_MIN)
		return known((double)hist->min);
	if (node->function == ASSERT_MAX)
		return known((double)hist->max);
	return known((double)hist_percentile(hist, node->millionths));
}

/* The number of lost events. If it is unknown, for example because the file was cut off, it counts as at least one. */
static double lost_value(const struct assert_trace *trace)
{
	const struct dat_gaps *gaps = trace->gaps;
	const bool some = gaps->is_unknown || gaps->damaged || trace->is_cut;

	return gaps->lost ? (double)gaps->lost : some;
}

struct assert_value assert_apply(enum assert_op op, double a, double b)
{
	switch (op) {
	case ASSERT_ADD:
		return known(a + b);
	case ASSERT_SUBTRACT:
		return known(a - b);
	case ASSERT_MULTIPLY:
		return known(a * b);
	case ASSERT_DIVIDE:
		return b < 0 || b > 0 ? known(a / b) : unknown;
	case ASSERT_LESS:
		return known(a < b);
	case ASSERT_LESS_EQUAL:
		return known(a <= b);
	case ASSERT_GREATER:
		return known(a > b);
	case ASSERT_GREATER_EQUAL:
		return known(a >= b);
	case ASSERT_EQUAL:
		return known(a <= b && a >= b);
	default:
		return known(a < b || a > b);
	}
}

/* The result of && or ||, which one operand may decide even if the other one is unknown. */
static struct assert_value decide(struct assert_value left, struct assert_value right, bool decisive)
{
	const double truth = decisive ? 1 : 0;

	if ((left.is_known && (left.number > 0) == decisive) || (right.is_known && (right.number > 0) == decisive))
		return known(truth);
	return left.is_known && right.is_known ? known(1 - truth) : unknown;
}

struct assert_value assert_eval(const struct assert_node *node, const struct assert_trace *trace)
{
	struct assert_value left = node->left ? assert_eval(node->left, trace) : unknown;
	struct assert_value right = node->right ? assert_eval(node->right, trace) : unknown;

	switch (node->op) {
	case ASSERT_NUMBER:
		return known(node->number);
	case ASSERT_LOST:
		return known(lost_value(trace));
	case ASSERT_FUNCTION:
		return function_value(node, trace);
	case ASSERT_NEGATE:
		return left.is_known ? known(-left.number) : unknown;
	case ASSERT_NOT:
		return left.is_known ? known(left.number > 0 ? 0 : 1) : unknown;
	case ASSERT_AND:
		return decide(left, right, false);
	case ASSERT_OR:
		return decide(left, right, true);
	default:
		return left.is_known && right.is_known ? assert_apply(node->op, left.number, right.number) : unknown;
	}
}
