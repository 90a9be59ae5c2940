/* SPDX-License-Identifier: MIT */
/* See assert_expr.h. There is one function for each level of precedence. */
#include "cli/ask/assert_expr.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Deeper expressions are refused: each level of parentheses takes some of the stack. */
#define DEPTH_MAX 200u

struct parser {
	const char *text, *at;
	struct assert_error *error;
	unsigned int depth;
	bool is_wrong;
};

static struct assert_node *parse_or(struct parser *p);

static struct assert_node *wrong(struct parser *p, const char *at, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Stores an error, unless there is one already. Returns NULL. */
static struct assert_node *wrong(struct parser *p, const char *at, const char *format, ...)
{
	va_list args;

	if (p->is_wrong)
		return NULL;
	p->is_wrong = true;
	p->error->column = (size_t)(at - p->text) + 1;
	va_start(args, format);
	vsnprintf(p->error->reason, sizeof(p->error->reason), format, args);
	va_end(args);
	return NULL;
}

static void skip(struct parser *p)
{
	p->at += strspn(p->at, " \t\n");
}

static bool take(struct parser *p, const char *word)
{
	skip(p);
	if (strncmp(p->at, word, strlen(word)) != 0)
		return false;
	p->at += strlen(word);
	return true;
}

static struct assert_node *node_at(struct parser *p, const char *begin, enum assert_op op)
{
	struct assert_node *node = calloc(1, sizeof(*node));

	if (!node && !p->is_wrong) {
		p->is_wrong = true;
		p->error->column = 0;
		snprintf(p->error->reason, sizeof(p->error->reason), "not enough memory");
	}
	if (node) {
		node->op = op;
		node->begin = (size_t)(begin - p->text);
		node->end = (size_t)(p->at - p->text);
	}
	return node;
}

struct assert_node *assert_free(struct assert_node *node)
{
	if (!node)
		return NULL;
	assert_free(node->left);
	assert_free(node->right);
	for (unsigned int i = 0; i < 3; i++)
		free(node->measure.words[i]);
	hist_free(&node->measure.hist);
	free(node);
	return NULL;
}

static bool is_truth(const struct assert_node *node)
{
	return node->op >= ASSERT_LESS;
}

/* Takes ownership of both operands, also on failure. */
static struct assert_node *join(struct parser *p, enum assert_op op, struct assert_node *left,
				struct assert_node *right)
{
	const bool wants_truth = op == ASSERT_AND || op == ASSERT_OR;
	struct assert_node *odd = !left || !right		   ? NULL
				  : is_truth(left) != wants_truth  ? left
				  : is_truth(right) != wants_truth ? right
								   : NULL;
	struct assert_node *node = NULL;

	if (odd)
		wrong(p, p->text + odd->begin,
		      wants_truth ? "expected a comparison, such as p99(io:request) < 5ms"
				  : "expected a number, not a comparison");
	if (left && right && !p->is_wrong)
		node = node_at(p, p->text + left->begin, op);
	if (!node) {
		assert_free(left);
		assert_free(right);
		return NULL;
	}
	node->left = left;
	node->right = right;
	return node;
}

/* -------------------------------------------------------------------------------------------------------- functions */

/* Read "p99.9" and the like, as a percentile in millionths. False: the word is something else. */
static bool read_percent(const char *text, size_t size, uint32_t *ret_millionths)
{
	char room[24], *end;
	double percent;

	if (!size || size >= sizeof(room) || strspn(text, "0123456789.") < size)
		return false;
	memcpy(room, text, size);
	room[size] = '\0';
	percent = strtod(room, &end);
	if (end != room + size || !(percent >= 0 && percent <= 100))
		return false;
	*ret_millionths = (uint32_t)(percent * 10000 + 0.5);
	return true;
}

static bool find_function(const char *word, size_t size, struct assert_node *node)
{
	static const struct {
		const char *name;
		enum assert_function function;
	} functions[] = {
		{ "count", ASSERT_COUNT },
		{ "rate", ASSERT_RATE },
		{ "sum", ASSERT_SUM },
		{ "mean", ASSERT_MEAN },
		{ "min", ASSERT_MIN },
		{ "max", ASSERT_MAX },
		{ "percentile", ASSERT_PERCENTILE },
	};

	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		if (strlen(functions[i].name) == size && !strncmp(functions[i].name, word, size)) {
			node->function = functions[i].function;
			return true;
		}
	}
	node->function = ASSERT_PERCENTILE;
	return *word == 'p' && read_percent(word + 1, size - 1, &node->millionths);
}

/* Read a name of the trace, which may have any characters except those that end it. */
static bool read_name(struct parser *p, struct assert_measure *measure, unsigned int which)
{
	size_t size;

	skip(p);
	size = strcspn(p->at, ",() \t\n");
	if (!size) {
		wrong(p, p->at, "expected the name of a span, an event or a field");
		return false;
	}
	measure->columns[which] = (size_t)(p->at - p->text) + 1;
	measure->words[which] = strndup(p->at, size);
	p->at += size;
	return measure->words[which] != NULL;
}

/* Read the arguments of latency(): "SPAN)" or "A, B[, KEY])". */
static bool read_latency(struct parser *p, struct assert_measure *measure)
{
	measure->is_latency = true;
	if (!read_name(p, measure, SERIES_NAME))
		return false;
	if (take(p, ",")) {
		measure->spec.kind = SERIES_PAIR;
		if (!read_name(p, measure, SERIES_TO) || (take(p, ",") && !read_name(p, measure, SERIES_FIELD_NAME)))
			return false;
	}
	if (!take(p, ")"))
		wrong(p, p->at, "expected , or )");
	return !p->is_wrong;
}

/* Read the subject of a function: latency(...), SPAN, EVENT, or EVENT.FIELD. */
static bool read_measure(struct parser *p, struct assert_measure *measure)
{
	const char *begin;
	char *dot;

	skip(p);
	begin = p->at;
	if (!strncmp(p->at, "latency", 7) && p->at[7 + strspn(p->at + 7, " ")] == '(') {
		p->at += 7;
		return take(p, "(") && read_latency(p, measure);
	}
	if (!read_name(p, measure, SERIES_NAME))
		return false;
	dot = strchr(measure->words[SERIES_NAME], '.');
	if (!dot)
		return true;
	measure->spec.kind = SERIES_FIELD;
	measure->columns[SERIES_FIELD_NAME] =
		(size_t)(begin - p->text) + (size_t)(dot - measure->words[SERIES_NAME]) + 2;
	measure->words[SERIES_FIELD_NAME] = strdup(dot + 1);
	*dot = '\0';
	return measure->words[SERIES_FIELD_NAME] != NULL;
}

static bool read_arguments(struct parser *p, const char *word, struct assert_node *node)
{
	size_t size;

	if (!take(p, "(")) {
		wrong(p, p->at, "expected (");
		return false;
	}
	if (!strncmp(word, "percentile", 10)) {
		skip(p);
		size = strspn(p->at, "0123456789.");
		if (!read_percent(p->at, size, &node->millionths)) {
			wrong(p, p->at, "expected a percentile from 0 to 100");
			return false;
		}
		p->at += size;
		if (!take(p, ",")) {
			wrong(p, p->at, "expected ,");
			return false;
		}
	}
	if (!read_measure(p, &node->measure))
		return false;
	if (!take(p, ")"))
		wrong(p, p->at, "expected )");
	return !p->is_wrong;
}

static struct assert_node *parse_function(struct parser *p)
{
	const char *word = p->at;
	const size_t size = strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.");
	struct assert_node *node;

	if (!size)
		return wrong(p, word, "expected a number, a duration, lost, or a function such as p99(...)");
	p->at += size;
	if (size == 4 && !strncmp(word, "lost", 4))
		return node_at(p, word, ASSERT_LOST);
	node = node_at(p, word, ASSERT_FUNCTION);
	if (node && !find_function(word, size, node))
		wrong(p, word,
		      "unknown function '%.*s'; count, rate, sum, mean, min, max, p50, p99.9 or percentile expected",
		      (int)size, word);
	else if (node && read_arguments(p, word, node))
		node->end = (size_t)(p->at - p->text);
	else if (!p->is_wrong)
		wrong(p, word, "not enough memory");
	return p->is_wrong ? assert_free(node) : node;
}

/* ---------------------------------------------------------------------------------------------------------- numbers */

static struct assert_node *parse_number(struct parser *p)
{
	/* Not those of duration_read_ns(): here a number may be any value, and a unit ends where the word does. */
	static const struct {
		const char *name;
		double ns;
	} units[] = { { "", 1 }, { "ns", 1 }, { "us", 1e3 }, { "ms", 1e6 }, { "s", 1e9 }, { "m", 60e9 } };
	const char *begin = p->at;
	const size_t size = strspn(begin, "0123456789.");
	const size_t unit = strspn(begin + size, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_");
	char *end;
	const double number = strtod(begin, &end);
	struct assert_node *node;

	/*
	 * strtod() must take all digits and points, unlike those of "1.2.3" and ".". If it takes more, the unit is
	 * unknown.
	 */
	if (end < begin + size || end == begin)
		return wrong(p, begin, "expected a number or a duration such as 200us");
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (strlen(units[i].name) != unit || strncmp(units[i].name, begin + size, unit) != 0)
			continue;
		p->at += size + unit;
		node = node_at(p, begin, ASSERT_NUMBER);
		if (node) {
			node->number = number * units[i].ns;
			node->has_unit = unit > 0;
		}
		return node;
	}
	return wrong(p, begin + size, "unknown unit; ns, us, ms, s or m expected");
}

/* ----------------------------------------------------------------------------------------------------------- levels */

static struct assert_node *parse_factor(struct parser *p)
{
	struct assert_node *node, *inner;
	const char *begin;

	skip(p);
	begin = p->at;
	if (++p->depth > DEPTH_MAX)
		return wrong(p, begin, "too many levels");
	if (take(p, "(")) {
		node = parse_or(p);
		if (node && !take(p, ")")) {
			wrong(p, p->at, "expected )");
			node = assert_free(node);
		}
	} else if (take(p, "-")) {
		inner = parse_factor(p);
		node = inner && is_truth(inner) ? wrong(p, begin, "expected a number, not a comparison")
		       : inner			? node_at(p, begin, ASSERT_NEGATE)
						: NULL;
		if (node)
			node->left = inner;
		else
			assert_free(inner);
	} else if (isdigit((unsigned char)*p->at) || *p->at == '.') {
		node = parse_number(p);
	} else {
		node = parse_function(p);
	}
	p->depth--;
	return node;
}

static struct assert_node *parse_product(struct parser *p)
{
	struct assert_node *node = parse_factor(p);

	while (node) {
		if (take(p, "*"))
			node = join(p, ASSERT_MULTIPLY, node, parse_factor(p));
		else if (take(p, "/"))
			node = join(p, ASSERT_DIVIDE, node, parse_factor(p));
		else
			break;
	}
	return node;
}

static struct assert_node *parse_sum(struct parser *p)
{
	struct assert_node *node = parse_product(p);

	while (node) {
		if (take(p, "+"))
			node = join(p, ASSERT_ADD, node, parse_product(p));
		else if (take(p, "-"))
			node = join(p, ASSERT_SUBTRACT, node, parse_product(p));
		else
			break;
	}
	return node;
}

static struct assert_node *parse_comparison(struct parser *p)
{
	static const struct {
		const char *word;
		enum assert_op op;
	} comparisons[] = {
		{ "<=", ASSERT_LESS_EQUAL }, { ">=", ASSERT_GREATER_EQUAL }, { "==", ASSERT_EQUAL },
		{ "!=", ASSERT_NOT_EQUAL },  { "<", ASSERT_LESS },	     { ">", ASSERT_GREATER },
	};
	struct assert_node *node = parse_sum(p);

	for (size_t i = 0; node && i < sizeof(comparisons) / sizeof(comparisons[0]); i++)
		if (take(p, comparisons[i].word))
			return join(p, comparisons[i].op, node, parse_sum(p));
	return node;
}

static struct assert_node *parse_not(struct parser *p)
{
	struct assert_node *node = NULL, *inner;
	const char *begin;

	skip(p);
	begin = p->at;
	if (*begin != '!' || begin[1] == '=')
		return parse_comparison(p);
	p->at++;
	if (++p->depth > DEPTH_MAX)
		return wrong(p, begin, "too many levels");
	inner = parse_not(p);
	p->depth--;
	if (inner && !is_truth(inner))
		wrong(p, p->text + inner->begin, "expected a comparison, such as p99(io:request) < 5ms");
	else if (inner)
		node = node_at(p, begin, ASSERT_NOT);
	if (node)
		node->left = inner;
	else
		assert_free(inner);
	return node;
}

static struct assert_node *parse_and(struct parser *p)
{
	struct assert_node *node = parse_not(p);

	while (node && take(p, "&&"))
		node = join(p, ASSERT_AND, node, parse_not(p));
	return node;
}

static struct assert_node *parse_or(struct parser *p)
{
	struct assert_node *node = parse_and(p);

	while (node && take(p, "||"))
		node = join(p, ASSERT_OR, node, parse_and(p));
	return node;
}

int assert_parse(const char *text, struct assert_node **ret_node, struct assert_error *ret_error)
{
	struct parser p = { .text = text, .at = text, .error = ret_error };
	struct assert_node *node = parse_or(&p);

	skip(&p);
	if (node && *p.at)
		wrong(&p, p.at, "expected an operator, or the end");
	else if (node && !is_truth(node))
		wrong(&p, p.at, "expected a comparison, such as < 5ms");
	if (p.is_wrong) {
		assert_free(node);
		return ret_error->column ? -EINVAL : -ENOMEM;
	}
	*ret_node = node;
	return 0;
}
