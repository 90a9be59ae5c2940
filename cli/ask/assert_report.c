/* SPDX-License-Identifier: MIT */
/* See assert_report.h. */
#include "cli/ask/assert_report.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/ask/hist_print.h"
#include "cli/base/xml.h"
#include "cli/common/result_file.h"
#include "cli/common/show_text.h"
#include "cli/common/terminal.h"

/* In ns: if all durations are longer, a bare number below this seems to lack its unit. */
#define NS_SHORT 1000

struct body {
	FILE *out;
	const struct assertion *assertion;
	const struct trace_input *input;
	const struct assert_trace *trace;
	const struct assert_losses *losses;
	int error;
};

/* ---------------------------------------------------------------------------------------------------------- figures */

/* Whether a result is a duration; counts, rates and fields are not. */
static bool is_ns(const struct assert_node *node, const struct assert_trace *trace)
{
	const enum series_kind kind = node->measure.spec.kind;

	return trace->has_ns && node->op == ASSERT_FUNCTION && node->function > ASSERT_RATE &&
	       (kind == SERIES_SPAN || kind == SERIES_PAIR);
}

/* Whether a side of a comparison is a duration, or the sum or difference of durations. */
static bool is_duration(const struct assert_node *node, const struct assert_trace *trace)
{
	if (node->op == ASSERT_NEGATE)
		return is_duration(node->left, trace);
	if (node->op == ASSERT_ADD || node->op == ASSERT_SUBTRACT)
		return is_duration(node->left, trace) || is_duration(node->right, trace);
	return is_ns(node, trace);
}

/*
 * The number that is compared with a duration, and is written without a unit; NULL: the node is not such a comparison.
 * 0 needs no unit.
 */
static const struct assert_node *bare_limit(const struct assert_node *node, const struct assert_trace *trace)
{
	const struct assert_node *limit = NULL;

	if (node->op < ASSERT_LESS || node->op > ASSERT_NOT_EQUAL)
		return NULL;
	if (is_duration(node->left, trace))
		limit = node->right;
	else if (is_duration(node->right, trace))
		limit = node->left;
	return limit && limit->op == ASSERT_NUMBER && !limit->has_unit && limit->number > 0 ? limit : NULL;
}

/* Whether a function has a value below NS_SHORT, or none. */
static bool has_short(const struct assert_node *node)
{
	if (!node)
		return false;
	if (node->op == ASSERT_FUNCTION && node->measure.hist.min < NS_SHORT)
		return true;
	return has_short(node->left) || has_short(node->right);
}

/* The first bare limit below NS_SHORT of a comparison whose durations are all longer; NULL: there is none. */
static const struct assert_node *find_unitless(const struct assert_node *node, const struct assert_trace *trace)
{
	const struct assert_node *limit = node ? bare_limit(node, trace) : NULL;

	if (!node || (limit && limit->number < NS_SHORT && !has_short(node)))
		return limit;
	limit = find_unitless(node->left, trace);
	return limit ? limit : find_unitless(node->right, trace);
}

static void put_limit(const struct body *b, const struct assert_node *limit)
{
	const double whole = limit->number < 9e18 ? (double)(int64_t)limit->number : 0;
	char text[HIST_TEXT_SIZE];

	fprintf(b->out, "  %.*s = ", (int)(limit->end - limit->begin), b->assertion->text + limit->begin);
	if (whole >= limit->number)
		fprintf(b->out, "%s\n", hist_text((int64_t)limit->number, true, text));
	else
		fprintf(b->out, "%.12g ns\n", limit->number);
}

static void put_figure(const struct body *b, const struct assert_node *node)
{
	const struct assert_value value = assert_eval(node, b->trace);
	const struct series_counts *counts = node->op == ASSERT_FUNCTION ? series_counts(node->measure.series) : NULL;
	char text[HIST_TEXT_SIZE];

	fprintf(b->out, "  %.*s = ", (int)(node->end - node->begin), b->assertion->text + node->begin);
	if (!value.is_known)
		fputs("unknown: there is nothing to measure", b->out);
	else if (is_ns(node, b->trace) && value.number < 9e18)
		fputs(hist_text((int64_t)value.number, true, text), b->out);
	else
		fprintf(b->out, "%.12g", value.number);
	if (counts && counts->no_begin + counts->no_end + counts->cut)
		fprintf(b->out, " (left out: %" PRIu64 " that are not whole)",
			counts->no_begin + counts->no_end + counts->cut);
	fputc('\n', b->out);
}

static void put_figures(const struct body *b, const struct assert_node *node)
{
	const struct assert_node *limit = node ? bare_limit(node, b->trace) : NULL;

	if (!node)
		return;
	if (node->op == ASSERT_FUNCTION || node->op == ASSERT_LOST)
		put_figure(b, node);
	put_figures(b, node->left);
	put_figures(b, node->right);
	if (limit)
		put_limit(b, limit);
}

/* -------------------------------------------------------------------------------------------------- what offends */

static void put_time(const struct body *b, uint64_t ts)
{
	if (b->trace->has_ns)
		fprintf(b->out, "%" PRIu64 ".%09" PRIu64, ts / 1000000000, ts % 1000000000);
	else
		fprintf(b->out, "%" PRIu64, ts);
}

static void put_point(struct body *b, const struct assert_node *node, const struct series_point *point)
{
	const struct assert_place place = { point->begin, point->end, point->tid, point->end_tid };
	const enum series_kind kind = node->measure.spec.kind;
	const bool has_ns = b->trace->has_ns && (kind == SERIES_SPAN || kind == SERIES_PAIR);
	char text[HIST_TEXT_SIZE];

	fprintf(b->out, "    %s", kind == SERIES_EVENT ? "event" : hist_text(point->value, has_ns, text));
	fputs(" at ", b->out);
	put_time(b, point->begin);
	fputc('\n', b->out);
	if (!b->error)
		b->error = assert_context_print(b->input, &place, b->out);
}

/* The comparison that holds if this one does not. */
static enum assert_op opposite(enum assert_op op)
{
	switch (op) {
	case ASSERT_LESS:
		return ASSERT_GREATER_EQUAL;
	case ASSERT_LESS_EQUAL:
		return ASSERT_GREATER;
	case ASSERT_GREATER:
		return ASSERT_LESS_EQUAL;
	case ASSERT_GREATER_EQUAL:
		return ASSERT_LESS;
	case ASSERT_EQUAL:
		return ASSERT_NOT_EQUAL;
	default:
		return ASSERT_EQUAL;
	}
}

static enum assert_op turned(enum assert_op op)
{
	switch (op) {
	case ASSERT_LESS:
		return ASSERT_GREATER;
	case ASSERT_LESS_EQUAL:
		return ASSERT_GREATER_EQUAL;
	case ASSERT_GREATER:
		return ASSERT_LESS;
	case ASSERT_GREATER_EQUAL:
		return ASSERT_LESS_EQUAL;
	default:
		return op;
	}
}

/* The list of kept points that includes the worst ones: those that violate the comparison by most. */
static const struct assert_kept *kept_for(const struct assert_node *node, enum assert_op op)
{
	const struct assert_measure *m = &node->measure;

	if (node->function == ASSERT_COUNT || node->function == ASSERT_RATE)
		return &m->first;
	if (op == ASSERT_LESS || op == ASSERT_LESS_EQUAL)
		return &m->largest;
	if (op == ASSERT_GREATER || op == ASSERT_GREATER_EQUAL)
		return &m->smallest;
	return node->function == ASSERT_MAX ? &m->largest : node->function == ASSERT_MIN ? &m->smallest : &m->first;
}

/* Print the points of a function for which the comparison with `limit` fails. */
static void put_points(struct body *b, const struct assert_node *node, enum assert_op op, double limit)
{
	const bool counts = node->function == ASSERT_COUNT || node->function == ASSERT_RATE;
	/* For a count, a rate or a sum, all values are shown: none of them breaks the limit on its own. */
	const bool takes_all = counts || node->function == ASSERT_SUM;
	const struct assert_kept *kept;
	bool has_head = false;

	if (op == ASSERT_EQUAL)
		op = assert_eval(node, b->trace).number > limit ? ASSERT_LESS_EQUAL : ASSERT_GREATER_EQUAL;
	/* If a count is too small, no single event is the cause. */
	if (counts && (op == ASSERT_GREATER || op == ASSERT_GREATER_EQUAL))
		return;
	kept = kept_for(node, op);
	for (unsigned int i = 0; i < kept->nr; i++) {
		if (!takes_all && assert_apply(op, (double)kept->points[i].value, limit).number > 0)
			continue;
		if (!has_head)
			fprintf(b->out, "  %s of %.*s:\n",
				kept == &node->measure.smallest	 ? "the smallest"
				: kept == &node->measure.largest ? "the largest"
								 : "the first",
				(int)(node->end - node->begin), b->assertion->text + node->begin);
		has_head = true;
		put_point(b, node, &kept->points[i]);
	}
}

static void put_losses(struct body *b)
{
	for (unsigned int i = 0; i < b->losses->nr; i++) {
		const uint64_t ts = b->losses->places[i].ts;
		const struct assert_place place = { ts, ts, ASSERT_ANY_THREAD, ASSERT_ANY_THREAD };

		if (b->losses->places[i].lost > 0)
			fprintf(b->out, "  %" PRId64 " events", b->losses->places[i].lost);
		else
			fputs("  an unknown number of events", b->out);
		fprintf(b->out, " lost on CPU %" PRIu32 " before ", b->losses->places[i].cpu);
		put_time(b, ts);
		fputc('\n', b->out);
		if (!b->error)
			b->error = assert_context_print(b->input, &place, b->out);
	}
}

static bool is_zero(double number)
{
	return !(number < 0 || number > 0);
}

/*
 * `node op *limit` holds if `operand op *limit` does, with the operator and the limit that are computed here; the other
 * operand has its value. False: no value of this operand changes the result, or the other one has no value.
 */
static bool solve(const struct body *b, const struct assert_node *node, const struct assert_node *operand,
		  enum assert_op *op, double *limit)
{
	const bool is_left = operand == node->left;
	const struct assert_value own = assert_eval(operand, b->trace);
	struct assert_value other = { true, -1 };
	double factor;

	if (node->op != ASSERT_NEGATE)
		other = assert_eval(is_left ? node->right : node->left, b->trace);
	factor = other.number;
	if (!other.is_known || !own.is_known)
		return false;
	if (node->op == ASSERT_ADD || (node->op == ASSERT_SUBTRACT && is_left)) {
		*limit += node->op == ASSERT_ADD ? -factor : factor;
		return true;
	}
	if (node->op == ASSERT_SUBTRACT) {
		*limit = factor - *limit;
		*op = turned(*op);
		return true;
	}
	if (is_zero(factor))
		return false;
	if (node->op == ASSERT_DIVIDE && is_left) {
		*limit *= factor;
	} else if (node->op == ASSERT_DIVIDE) {
		/* A / own op limit: A op limit * own, or turned if own is negative. */
		if (is_zero(*limit) || is_zero(own.number))
			return false;
		factor = *limit;
		*limit = other.number / *limit;
		*op = own.number > 0 ? turned(*op) : *op;
	} else {
		*limit /= factor;
	}
	*op = factor < 0 ? turned(*op) : *op;
	return true;
}

/* Print what offends in one side of a comparison: for each function, its points that do if the others stay the same. */
static void put_side(struct body *b, const struct assert_node *side, enum assert_op op, double limit)
{
	const struct assert_node *const operands[] = { side->left, side->right };

	if (side->op == ASSERT_LOST)
		put_losses(b);
	if (side->op == ASSERT_FUNCTION)
		put_points(b, side, op, limit);
	for (unsigned int i = 0; i < 2; i++) {
		enum assert_op inner_op = op;
		double inner = limit;

		if (operands[i] && solve(b, side, operands[i], &inner_op, &inner))
			put_side(b, operands[i], inner_op, inner);
	}
}

/* Print what offends in both sides of a comparison that should hold. */
static void put_sides(struct body *b, const struct assert_node *node, enum assert_op op)
{
	const struct assert_value left = assert_eval(node->left, b->trace), right = assert_eval(node->right, b->trace);

	if (right.is_known)
		put_side(b, node->left, op, right.number);
	if (left.is_known)
		put_side(b, node->right, turned(op), left.number);
}

/* Print the failed comparisons of an expression that should have the value `wanted`. */
static void put_offending(struct body *b, const struct assert_node *node, bool wanted)
{
	const struct assert_value value = assert_eval(node, b->trace);

	if (value.is_known && (value.number > 0) == wanted)
		return;
	if (node->op == ASSERT_AND || node->op == ASSERT_OR) {
		put_offending(b, node->left, wanted);
		put_offending(b, node->right, wanted);
	} else if (node->op == ASSERT_NOT) {
		put_offending(b, node->left, !wanted);
	} else {
		put_sides(b, node, wanted ? node->op : opposite(node->op));
	}
}

int assert_report(struct assertion *assertion, const struct trace_input *input, const struct assert_trace *trace,
		  const struct assert_losses *losses)
{
	const struct assert_value value = assert_eval(assertion->node, trace);
	struct body body = { .assertion = assertion, .input = input, .trace = trace, .losses = losses };

	body.out = open_memstream(&assertion->body, &assertion->size);
	if (!body.out)
		return -ENOMEM;
	assertion->verdict = !value.is_known ? ASSERT_UNDECIDED : value.number > 0 ? ASSERT_HOLDS : ASSERT_FAILS;
	assertion->unitless = find_unitless(assertion->node, trace);
	put_figures(&body, assertion->node);
	if (assertion->verdict == ASSERT_FAILS)
		put_offending(&body, assertion->node, true);
	if (fclose(body.out))
		return -ENOMEM;
	return body.error;
}

/* --------------------------------------------------------------------------------------------------------- printing */

static const char *const verdicts[] = {
	[ASSERT_HOLDS] = "ok", [ASSERT_FAILS] = "FAILED", [ASSERT_UNDECIDED] = "UNDECIDED"
};

void assert_print(const struct assertion *assertion)
{
	printf("%s%s%s: ", paint(assertion->verdict == ASSERT_HOLDS ? PAINT_GOOD : PAINT_BAD),
	       verdicts[assertion->verdict], paint_end());
	show_text(stdout, assertion->text, strlen(assertion->text), false);
	putchar('\n');
	show_text(stdout, assertion->body, assertion->size, true);
}

static void put_case(FILE *out, const char *trace, const struct assertion *assertion)
{
	fputs("  <testcase classname=\"", out);
	xml_text(out, trace, strlen(trace));
	fputs("\" name=\"", out);
	xml_text(out, assertion->text, strlen(assertion->text));
	fprintf(out, "\" time=\"%.6f\">\n", assertion->seconds);
	if (assertion->verdict == ASSERT_HOLDS) {
		fputs("    <system-out>", out);
		xml_text(out, assertion->body, assertion->size);
		fputs("</system-out>\n", out);
	} else if (assertion->verdict == ASSERT_UNREAD) {
		fputs("    <error message=\"was not decided: see the messages of recorder assert\"/>\n", out);
	} else {
		fprintf(out, "    <failure message=\"%s\">",
			assertion->verdict == ASSERT_FAILS ? "does not hold"
							   : "cannot be decided: a figure is unknown, or divided by 0");
		xml_text(out, assertion->body, assertion->size);
		fputs("</failure>\n", out);
	}
	fputs("  </testcase>\n", out);
}

static void put_missing(FILE *out, const struct assert_suite *suite)
{
	fputs("  <testcase classname=\"", out);
	xml_text(out, suite->trace, strlen(suite->trace));
	fputs("\" name=\"the trace is whole\">\n    <error message=\"", out);
	xml_text(out, suite->missing, strlen(suite->missing));
	fputs("\"/>\n  </testcase>\n", out);
}

static void put_suite(const void *arg, FILE *out)
{
	const struct assert_suite *suite = arg;
	const unsigned int is_cut = suite->missing[0] != 0;
	unsigned int failures = 0, errors = is_cut;

	for (unsigned int i = 0; i < suite->nr; i++) {
		errors += suite->assertions[i].verdict == ASSERT_UNREAD;
		failures += suite->assertions[i].verdict > ASSERT_HOLDS;
	}
	fprintf(out,
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"recorder assert\" tests=\"%u\" "
		"failures=\"%u\" "
		"errors=\"%u\" time=\"%.6f\">\n",
		suite->nr + is_cut, failures, errors, suite->seconds);
	for (unsigned int i = 0; i < suite->nr; i++)
		put_case(out, suite->trace, &suite->assertions[i]);
	if (is_cut)
		put_missing(out, suite);
	fputs("</testsuite>\n", out);
}

int assert_write_junit(const char *path, const struct assert_suite *suite)
{
	return result_file_write(path, put_suite, suite);
}
