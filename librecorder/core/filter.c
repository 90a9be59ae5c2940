/* SPDX-License-Identifier: MIT */
/*
 * The compiler of filters: one pass from left to right, without a tree.
 *
 * Each comparison becomes a step. The targets that are not known yet are kept in two lists for each part of the text:
 * the exits by which the part is true, and those by which it is false. && and || give one of the lists the next step
 * as its target and join the others; ! exchanges them. The lists are threaded through the very words that are still to
 * be filled in. So every target is a later step, and no operator needs a step of its own.
 */
#include "librecorder/core/filter_private.h"

#include <errno.h>
#include <string.h>

struct compiler {
	struct rec_scan scan;
	unsigned int depth;
	uint16_t nr_steps;
	uint32_t texts_size;
	struct rec_condition_step steps[REC_STEPS_MAX];
	char texts[REC_CONDITION_MAX];
};

/* The exits of a part of the text: lists of places (see place_of()) ended by 0. */
struct exits {
	uint16_t yes;
	uint16_t no;
};

/* ------------------------------------------------------------------------------------------------------- ways out */

/* The word of an exit that is still to be filled in: 1 + 2 * step for yes, one more for no. */
static uint16_t *place_of(struct compiler *c, uint16_t place)
{
	struct rec_condition_step *step = &c->steps[(place - 1) / 2];

	return (place - 1) % 2 ? &step->no : &step->yes;
}

static void fill_in(struct compiler *c, uint16_t list, uint16_t value)
{
	while (list) {
		uint16_t *word = place_of(c, list);

		list = *word;
		*word = value;
	}
}

static uint16_t join(struct compiler *c, uint16_t a, uint16_t b)
{
	uint16_t place = a;

	if (!a)
		return b;
	while (*place_of(c, place))
		place = *place_of(c, place);
	*place_of(c, place) = b;
	return a;
}

static void negate(struct exits *exits)
{
	const uint16_t yes = exits->yes;

	exits->yes = exits->no;
	exits->no = yes;
}

static bool add_step(struct compiler *c, const char *at, const struct rec_condition_step *step, struct exits *ret_exits)
{
	if (c->nr_steps == REC_STEPS_MAX)
		return rec_scan_wrong(&c->scan, at, "more than %u comparisons", REC_STEPS_MAX);
	c->steps[c->nr_steps] = *step;
	c->steps[c->nr_steps].yes = 0;
	c->steps[c->nr_steps].no = 0;
	ret_exits->yes = (uint16_t)(1 + 2 * c->nr_steps);
	ret_exits->no = (uint16_t)(2 + 2 * c->nr_steps);
	c->nr_steps++;
	return true;
}

/* -------------------------------------------------------------------------------------------------------- texts */

/* Append a text. The caller handles a pattern's leading !. */
static bool keep_text(struct compiler *c, const struct rec_words *words, uint64_t *ret_value)
{
	if (words->size > sizeof(c->texts) - c->texts_size)
		return rec_scan_wrong(&c->scan, words->text, "the texts are too long in total");
	memcpy(c->texts + c->texts_size, words->text, words->size);
	*ret_value = c->texts_size | (uint64_t)words->size << 32;
	c->texts_size += words->size;
	return true;
}

/*
 * Take the text that the field is compared with. It begins at the present position, and is a pattern if the operator
 * takes one.
 */
static bool take_text(struct compiler *c, const struct rec_operator *operator, bool *is_negated, uint64_t *ret_value)
{
	char pattern[2 * REC_FILTER_TEXT_MAX + 2];
	struct rec_words words;

	if (!rec_scan_quoted(&c->scan, &words))
		return false;
	if (operator->is_regex) {
		if (!rec_scan_regex(&c->scan, &words, pattern, sizeof(pattern), &words.size))
			return false;
		if (words.size > REC_FILTER_TEXT_MAX)
			return rec_scan_wrong(&c->scan, words.text, "the regular expression is too long");
		words.text = pattern;
	} else if (operator->test == REC_TEST_GLOB && words.size && words.text[0] == '!') {
		*is_negated = !*is_negated;
		words.text++;
		words.size--;
	}
	return keep_text(c, &words, ret_value);
}

static bool compare_text(struct compiler *c, const struct rec_operand *operand, const struct rec_operator *operator,
			 const char *at, struct exits *ret_exits)
{
	struct rec_condition_step step = { .test = operator->test | operand->flags,
					   .size = operand->size,
					   .offset = operand->offset };
	bool is_negated = operator->is_negated;

	if (operator->test != REC_TEST_EQUAL && operator->test != REC_TEST_GLOB)
		return rec_scan_wrong(&c->scan, at, "use ==, != or ~ to compare a text, not %s", operator->word);
	if (operator->test == REC_TEST_EQUAL)
		step.test = REC_TEST_TEXT | operand->flags;
	if (!take_text(c, operator, &is_negated, &step.value) || !add_step(c, at, &step, ret_exits))
		return false;
	if (is_negated)
		negate(ret_exits);
	return true;
}

/* -------------------------------------------------------------------------------------------------------- grammar */

/*
 * The test of a float for an operator. > and >= have tests of their own, because a NaN is neither less nor greater than
 * a number.
 */
static uint8_t float_test(const struct rec_operator *operator)
{
	if (operator->test == REC_TEST_LESS)
		return operator->is_negated ? REC_TEST_FLOAT_GREATER_EQUAL : REC_TEST_FLOAT_LESS;
	if (operator->test == REC_TEST_LESS_EQUAL)
		return operator->is_negated ? REC_TEST_FLOAT_GREATER : REC_TEST_FLOAT_LESS_EQUAL;
	return REC_TEST_FLOAT_EQUAL;
}

static bool compare_number(struct compiler *c, const struct rec_operand *operand, const struct rec_operator *operator,
			   const char *at, struct exits *ret_exits)
{
	struct rec_condition_step step = { .test = operator->test | operand->flags,
					   .size = operand->size,
					   .offset = operand->offset };
	const bool is_quoted = *c->scan.at == '"' || *c->scan.at == '\'';
	const bool is_float = operand->field && operand->field->kind == REC_FIELD_FLOAT;
	struct rec_words word;

	if (operator->test == REC_TEST_GLOB && operand->kind == REC_OPERAND_ANY)
		return rec_scan_unquoted(&c->scan, &operand->name, operator->word);
	if (operator->test == REC_TEST_GLOB)
		return rec_scan_wrong(&c->scan, at, "%s works on texts only", operator->word);
	if (operator->test == REC_TEST_BITS && operand->field && operand->field->kind == REC_FIELD_REAL)
		return rec_scan_wrong(&c->scan, at, "& does not work on a real");
	if (operator->test == REC_TEST_BITS && is_float)
		return rec_scan_wrong(&c->scan, at, "& does not work on an f32 or f64");
	if (is_float)
		step.test = float_test(operator);
	if (rec_is_digit(*c->scan.at) || *c->scan.at == '-') {
		if (!rec_scan_number(&c->scan, operand, &step.value))
			return false;
	} else if (rec_is_word(*c->scan.at) || (is_quoted && operator->test == REC_TEST_EQUAL && operand->field &&
						operand->field->kind == REC_FIELD_NAMED)) {
		if (is_quoted && !rec_scan_quoted(&c->scan, &word))
			return false;
		if (!is_quoted)
			word = rec_scan_word(&c->scan);
		if (!is_quoted && operand->kind == REC_OPERAND_ANY && *c->scan.at &&
		    strchr("./*?:+[@%-", *c->scan.at)) {
			c->scan.at = word.text;
			return rec_scan_unquoted(&c->scan, &operand->name, operator->word);
		}
		if (!rec_scan_name(&c->scan, operand, &word, &step.value))
			return false;
	} else if (operand->kind == REC_OPERAND_ANY && *c->scan.at && !strchr("=<>&|)(!~", *c->scan.at)) {
		return rec_scan_unquoted(&c->scan, &operand->name, operator->word);
	} else {
		return rec_scan_wrong(&c->scan, c->scan.at,
				      *c->scan.at && !is_quoted ? "expected a value"
								: "expected a number");
	}
	if (!add_step(c, at, &step, ret_exits))
		return false;
	if (operator->is_negated && !(is_float && step.test != REC_TEST_FLOAT_EQUAL))
		negate(ret_exits);
	return true;
}

/* Compile a comparison of a field that the record does not have: skip the value; the step is false. */
static bool compare_absent(struct compiler *c, const struct rec_operand *operand, const struct rec_operator *operator,
			   const char *at, struct exits *ret_exits)
{
	const size_t column = (size_t)(operand->name.text - c->scan.text) + 1;
	const struct rec_condition_step step = { .test = REC_TEST_BITS | REC_TEST_CPU,
						 .offset = (uint16_t)(column < UINT16_MAX ? column : UINT16_MAX) };
	const struct rec_operand any = { .kind = REC_OPERAND_ANY, .size = 8, .name = operand->name };
	const uint32_t texts = c->texts_size;
	bool good;

	if (*c->scan.at == '"' || *c->scan.at == '\'')
		good = compare_text(c, &any, operator, at, ret_exits);
	else
		good = compare_number(c, &any, operator, at, ret_exits);
	if (!good)
		return false;
	/* The text of the value is not needed. */
	c->texts_size = texts;
	c->steps[c->nr_steps - 1] = step;
	ret_exits->yes = (uint16_t)(2 * c->nr_steps - 1);
	ret_exits->no = (uint16_t)(2 * c->nr_steps);
	return true;
}

/* Compile FIELD OPERATOR VALUE. */
static bool comparison(struct compiler *c, struct exits *ret_exits)
{
	struct rec_operand operand = { .kind = REC_OPERAND_ANY };
	const struct rec_operator *operator;
	const char *at;

	if (!rec_scan_field(&c->scan, &operand))
		return false;
	operator= rec_scan_operator(&c->scan);
	if (!operator)
		return false;
	at = c->scan.at - strlen(operator->word);
	rec_scan_skip(&c->scan);
	if (operand.kind == REC_OPERAND_ABSENT)
		return compare_absent(c, &operand, operator, at, ret_exits);
	if (operand.kind == REC_OPERAND_STRING ||
	    (operand.kind == REC_OPERAND_ANY && (*c->scan.at == '"' || *c->scan.at == '\''))) {
		if (*c->scan.at == '"' || *c->scan.at == '\'')
			return compare_text(c, &operand, operator, at, ret_exits);
		return rec_scan_unquoted(&c->scan, &operand.name, operator->word);
	}
	return compare_number(c, &operand, operator, at, ret_exits);
}

static bool alternatives(struct compiler *c, struct exits *ret_exits);

/* Compile a comparison or a parenthesis, with any number of ! in front. */
static bool factor(struct compiler *c, struct exits *ret_exits)
{
	bool is_negated = false;
	const char *open;

	while (rec_scan_take(&c->scan, "!"))
		is_negated = !is_negated;
	open = c->scan.at;
	if (!rec_scan_take(&c->scan, "(")) {
		if (!comparison(c, ret_exits))
			return false;
	} else {
		if (++c->depth > REC_FILTER_DEPTH_MAX)
			return rec_scan_wrong(&c->scan, open, "parentheses nested deeper than %u",
					      REC_FILTER_DEPTH_MAX);
		if (!alternatives(c, ret_exits))
			return false;
		if (!rec_scan_take(&c->scan, ")"))
			return rec_scan_wrong(&c->scan, *c->scan.at ? c->scan.at : open,
					      *c->scan.at ? "expected &&, || or )" : "the ( is not closed");
		c->depth--;
	}
	if (is_negated)
		negate(ret_exits);
	return true;
}

/* Compile factor && factor ... */
static bool conjunction(struct compiler *c, struct exits *ret_exits)
{
	struct exits next;

	if (!factor(c, ret_exits))
		return false;
	while (rec_scan_take(&c->scan, "&&")) {
		fill_in(c, ret_exits->yes, c->nr_steps);
		if (!factor(c, &next))
			return false;
		ret_exits->yes = next.yes;
		ret_exits->no = join(c, ret_exits->no, next.no);
	}
	return true;
}

/* Compile conjunction || conjunction ... */
static bool alternatives(struct compiler *c, struct exits *ret_exits)
{
	struct exits next;

	if (!conjunction(c, ret_exits))
		return false;
	while (rec_scan_take(&c->scan, "||")) {
		fill_in(c, ret_exits->no, c->nr_steps);
		if (!conjunction(c, &next))
			return false;
		ret_exits->no = next.no;
		ret_exits->yes = join(c, ret_exits->yes, next.yes);
	}
	return true;
}

static bool compile(struct compiler *c)
{
	struct exits exits;

	if (!alternatives(c, &exits))
		return false;
	rec_scan_skip(&c->scan);
	if (*c->scan.at)
		return rec_scan_wrong(&c->scan, c->scan.at,
				      *c->scan.at == ')' ? ") without a ( before it" : "expected && or ||");
	fill_in(c, exits.yes, REC_STEP_PASS);
	fill_in(c, exits.no, REC_STEP_DROP);
	return true;
}

/* Write the condition: head, steps, texts, zeros. */
static int write_condition(struct compiler *c, struct rec_condition *condition, size_t size)
{
	const size_t steps = c->nr_steps * sizeof(c->steps[0]);
	const size_t texts = sizeof(*condition) + steps;
	const size_t total = (texts + c->texts_size + REC_CONDITION_UNIT - 1) / REC_CONDITION_UNIT * REC_CONDITION_UNIT;

	if (total > REC_CONDITION_MAX) {
		rec_scan_wrong(&c->scan, c->scan.text, "too many comparisons and texts");
		return -EINVAL;
	}
	if (total > size)
		return -ENOSPC;
	for (uint16_t i = 0; i < c->nr_steps; i++)
		if ((c->steps[i].test & REC_TEST_KIND) == REC_TEST_TEXT ||
		    (c->steps[i].test & REC_TEST_KIND) == REC_TEST_GLOB)
			c->steps[i].value += texts;
	memset(condition, 0, total);
	condition->size = (uint32_t)total;
	condition->nr_steps = c->nr_steps;
	memcpy(condition + 1, c->steps, steps);
	memcpy((unsigned char *)condition + texts, c->texts, c->texts_size);
	return (int)total;
}

static void start(struct compiler *c, const char *text, const struct rec_event_info *info,
		  struct rec_filter_error *error)
{
	c->scan.text = text;
	c->scan.at = text;
	c->scan.info = info;
	c->scan.reading = false;
	c->scan.flags = 0;
	c->depth = 0;
	c->nr_steps = 0;
	c->texts_size = 0;
	c->scan.error = error;
}

int rec_filter_check(const char *text, struct rec_filter_error *ret_error)
{
	struct rec_filter_error error;
	struct compiler c;

	start(&c, text, NULL, &error);
	if (compile(&c))
		return 0;
	*ret_error = error;
	return -EINVAL;
}

int rec_filter_compile(const struct rec_log_event *event, const char *text, struct rec_condition *ret_condition,
		       size_t size, struct rec_filter_error *ret_error)
{
	struct rec_filter_error error;
	struct rec_event_info info;
	struct compiler c;
	int r = -EINVAL;

	if (!event)
		info.nr_fields = 0;
	else if (rec_event_parse(event, &info) < 0)
		return -EBADMSG;
	start(&c, text, &info, &error);
	if (compile(&c))
		r = write_condition(&c, ret_condition, size);
	if (r == -EINVAL)
		*ret_error = error;
	return r;
}

int rec_filter_compile_fields(const struct rec_event_info *info, unsigned int flags, const char *text,
			      struct rec_condition *ret_condition, size_t size, struct rec_filter_error *ret_error)
{
	struct rec_filter_error error;
	struct compiler c;
	int r = -EINVAL;

	start(&c, text, info, &error);
	c.scan.reading = true;
	c.scan.flags = flags;
	if (compile(&c))
		r = write_condition(&c, ret_condition, size);
	if (r == -EINVAL)
		*ret_error = error;
	return r;
}

int rec_filter_absent(const struct rec_condition *condition, unsigned int number)
{
	const struct rec_condition_step *step = (const struct rec_condition_step *)(condition + 1) + number;

	if (number >= condition->nr_steps)
		return -EINVAL;
	return !step->size && step->test == (REC_TEST_BITS | REC_TEST_CPU) ? step->offset : 0;
}
