/* SPDX-License-Identifier: MIT */
/*
 * The compiler of filters: one pass from left to right, without a tree.
 *
 * Each comparison becomes a step. What is not decided yet, where a step goes on to, is kept as two lists for each
 * part of the text, of the ways out by which it holds and by which it does not; && and || give one of them the next
 * step as its end and join the others, ! exchanges them. The lists are threaded through the very words that wait to
 * be filled in. So every way leads forward, and no operator needs a step of its own.
 */
#include <librecorder/filter.h>

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "event_text_private.h"

/* Parentheses within parentheses. */
#define DEPTH_MAX 32u

enum field_kind {
	NUMBER,
	STRING,
	ANY, /* when only the grammar is checked */
};

/* What stands in front of an operator. */
struct operand {
	enum field_kind kind;
	uint16_t offset;
	uint8_t size;
	uint8_t flags;		       /* REC_TEST_SIGNED, REC_TEST_CPU */
	const struct rec_field *field; /* NULL: none of the event's own */
};

/* How an operator is tested: a kind of test, and whether it must fail. */
struct operator {
	const char *word;
	uint8_t test;
	bool is_negated;
};

/* Longer ones before those that they begin with. */
static const struct operator operators[] = {
	{ "==", REC_TEST_EQUAL, false }, { "!=", REC_TEST_EQUAL, true }, { "<=", REC_TEST_LESS_EQUAL, false },
	{ ">=", REC_TEST_LESS, true },	 { "<", REC_TEST_LESS, false },	 { ">", REC_TEST_LESS_EQUAL, true },
	{ "&", REC_TEST_BITS, false },	 { "~", REC_TEST_GLOB, false },
};

/* What any record has; the CPU is not in it, but known. */
static const struct common {
	const char *name;
	struct operand operand;
} commons[] = {
	{ "common_type", { NUMBER, 0, 2, 0, NULL } },
	{ "common_flags", { NUMBER, 2, 1, 0, NULL } },
	{ "common_preempt_count", { NUMBER, 3, 1, 0, NULL } },
	{ "common_pid", { NUMBER, 4, 4, REC_TEST_SIGNED, NULL } },
	{ "CPU", { NUMBER, 0, 4, REC_TEST_CPU, NULL } },
	{ "cpu", { NUMBER, 0, 4, REC_TEST_CPU, NULL } },
	{ "common_cpu", { NUMBER, 0, 4, REC_TEST_CPU, NULL } },
};

#define NR(array) (sizeof(array) / sizeof((array)[0]))

struct compiler {
	const char *text;
	const char *at;
	const struct rec_event_info *info; /* NULL: only the grammar is checked */
	unsigned int depth;
	uint16_t nr_steps;
	uint32_t texts_size;
	struct rec_filter_error *error;
	struct rec_condition_step steps[REC_STEPS_MAX];
	char texts[REC_CONDITION_MAX];
};

/* The ways out of a part of the text, lists of places (see place_of()) ended by 0. */
struct exits {
	uint16_t yes;
	uint16_t no;
};

static bool wrong(struct compiler *c, const char *at, const char *format, ...) __attribute__((format(printf, 3, 4)));

static bool wrong(struct compiler *c, const char *at, const char *format, ...)
{
	va_list args;

	c->error->column = (uint32_t)(at - c->text) + 1;
	va_start(args, format);
	vsnprintf(c->error->reason, sizeof(c->error->reason), format, args);
	va_end(args);
	return false;
}

static bool is_blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_word(char c)
{
	return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static void skip_blanks(struct compiler *c)
{
	while (is_blank(*c->at))
		c->at++;
}

static bool take(struct compiler *c, const char *word)
{
	skip_blanks(c);
	if (strncmp(c->at, word, strlen(word)) != 0)
		return false;
	c->at += strlen(word);
	return true;
}

static struct rec_words take_word(struct compiler *c)
{
	const char *start = c->at;

	while (is_word(*c->at))
		c->at++;
	return (struct rec_words){ start, (uint32_t)(c->at - start) };
}

static bool words_are(const struct rec_words *words, const char *text)
{
	return words->size == strlen(text) && memcmp(words->text, text, words->size) == 0;
}

/* A word as an argument of "%.*s"; nobody's is as long as that. */
#define WORD(w) (int)((w).size < 64 ? (w).size : 64), (w).text

/* ------------------------------------------------------------------------------------------------------- ways out */

/* The word of a way out that waits to be filled in: 1 + 2 * step for yes, one more for no. */
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
		return wrong(c, at, "more than %u comparisons", REC_STEPS_MAX);
	c->steps[c->nr_steps] = *step;
	c->steps[c->nr_steps].yes = 0;
	c->steps[c->nr_steps].no = 0;
	ret_exits->yes = (uint16_t)(1 + 2 * c->nr_steps);
	ret_exits->no = (uint16_t)(2 + 2 * c->nr_steps);
	c->nr_steps++;
	return true;
}

/* ------------------------------------------------------------------------------------------------------- fields */

static bool no_such_field(struct compiler *c, const struct rec_words *name)
{
	const struct rec_event_info *info = c->info;
	char *reason = c->error->reason;
	const size_t size = sizeof(c->error->reason);
	size_t used;

	wrong(c, name->text, "no field '%.*s'%s", WORD(*name),
	      info->nr_fields ? "; its fields are " : "; it has common ones only");
	used = strlen(reason);
	for (uint32_t i = 0; i < info->nr_fields; i++) {
		const struct rec_words *field = &info->fields[i].name;
		const int n = snprintf(reason + used, size - used, "%s%.*s", i ? ", " : "", WORD(*field));

		/* Room for the rest to be cut visibly. */
		if ((size_t)n + sizeof(", ...") >= size - used) {
			strcpy(reason + used, ", ...");
			break;
		}
		used += (size_t)n;
	}
	return false;
}

/* A field of the event's own, which goes before what any record has. */
static bool use_field(struct compiler *c, const char *at, const struct rec_field *field, struct operand *ret_operand)
{
	*ret_operand = (struct operand){ NUMBER, (uint16_t)field->offset, (uint8_t)field->element,
					 field->is_signed ? REC_TEST_SIGNED : 0, field };
	if (field->kind == REC_FIELD_STRING)
		ret_operand->kind = STRING;
	if (field->kind == REC_FIELD_ARRAY || field->kind == REC_FIELD_BYTES)
		return wrong(c, at, "field '%.*s' is %s, which no filter compares", WORD(field->name),
			     field->kind == REC_FIELD_ARRAY ? "an array" : "of bytes");
	return true;
}

static bool take_field(struct compiler *c, struct operand *ret_operand)
{
	struct rec_words name;

	skip_blanks(c);
	name = take_word(c);
	if (!name.size)
		return wrong(c, c->at, *c->at ? "a field must stand here" : "a comparison is missing");
	if (!c->info) {
		*ret_operand = (struct operand){ ANY, 0, 8, 0, NULL };
		return true;
	}
	for (uint32_t i = 0; i < c->info->nr_fields; i++)
		if (c->info->fields[i].name.size == name.size &&
		    memcmp(c->info->fields[i].name.text, name.text, name.size) == 0)
			return use_field(c, name.text, &c->info->fields[i], ret_operand);
	for (size_t i = 0; i < NR(commons); i++)
		if (words_are(&name, commons[i].name)) {
			*ret_operand = commons[i].operand;
			return true;
		}
	return no_such_field(c, &name);
}

static const struct operator *take_operator(struct compiler *c)
{
	skip_blanks(c);
	for (size_t i = 0; i < NR(operators); i++)
		/* && would be & and a value that begins with &. */
		if (strncmp(c->at, "&&", 2) != 0 && take(c, operators[i].word))
			return &operators[i];
	wrong(c, c->at, "one of == != < <= > >= & ~ must stand here");
	return NULL;
}

/* ------------------------------------------------------------------------------------------------------- numbers */

static unsigned int digit_value(char c)
{
	if (is_digit(c))
		return (unsigned int)(c - '0');
	if ((c | 0x20) >= 'a' && (c | 0x20) <= 'z')
		return (unsigned int)((c | 0x20) - 'a') + 10;
	return 99;
}

/* Digits of a base, as many as there are; false: none, another character that is a word's, or too large for 64 bits. */
static bool scan_digits(const char **at, unsigned int base, uint64_t *number)
{
	const char *start = *at;

	for (; is_word(**at); ++*at) {
		const unsigned int digit = digit_value(**at);

		if (digit >= base || __builtin_mul_overflow(*number, base, number) ||
		    __builtin_add_overflow(*number, digit, number))
			return false;
	}
	return *at > start;
}

/* A whole number as C writes it, without its sign. */
static bool scan_whole(const char **at, uint64_t *ret_number)
{
	unsigned int base = 10;

	*ret_number = 0;
	if (**at == '0' && ((*at)[1] | 0x20) == 'x') {
		base = 16;
		*at += 2;
	} else if (**at == '0') {
		base = 8;
	}
	return scan_digits(at, base, ret_number) && **at != '.';
}

/* A decimal number, times ten to the power of `decimals`. */
static bool scan_real(const char **at, uint32_t decimals, uint64_t *ret_number)
{
	*ret_number = 0;
	while (is_digit(**at)) {
		if (__builtin_mul_overflow(*ret_number, 10u, ret_number) ||
		    __builtin_add_overflow(*ret_number, (unsigned int)(**at - '0'), ret_number))
			return false;
		++*at;
	}
	if (**at == '.')
		++*at;
	for (uint32_t i = 0; i < decimals; i++) {
		const unsigned int digit = is_digit(**at) ? (unsigned int)(*(*at)++ - '0') : 0;

		if (__builtin_mul_overflow(*ret_number, 10u, ret_number) ||
		    __builtin_add_overflow(*ret_number, digit, ret_number))
			return false;
	}
	return !is_word(**at);
}

/* Whether the field can hold the number; what it holds is *ret_value. */
static bool fits(const struct operand *operand, bool is_negative, uint64_t number, uint64_t *ret_value)
{
	const unsigned int bits = operand->size * 8u;
	const uint64_t top = UINT64_C(1) << (bits - 1);

	*ret_value = is_negative ? 0 - number : number;
	if (operand->flags & REC_TEST_SIGNED)
		return number < top || (is_negative && number == top);
	return (!is_negative || !number) && (bits == 64 || number < top * 2);
}

static bool take_number(struct compiler *c, const struct operand *operand, uint64_t *ret_value)
{
	const struct rec_field *field = operand->field;
	const bool is_real = field && field->kind == REC_FIELD_REAL;
	const bool is_negative = *c->at == '-';
	const char *start = c->at;
	uint64_t number;
	bool good;

	c->at += is_negative;
	/* Where the field is not known, the number may be either. */
	if (is_real || operand->kind == ANY) {
		good = is_digit(*c->at) && scan_real(&c->at, is_real ? field->decimals : 18, &number);
		if (!good && operand->kind == ANY) {
			c->at = start + is_negative;
			good = scan_whole(&c->at, &number);
		}
	} else {
		good = scan_whole(&c->at, &number);
	}
	if (!good) {
		while (is_word(*c->at) || *c->at == '.')
			c->at++;
		return wrong(c, start,
			     is_real ? "'%.*s' is no number with at most %u decimals" : "'%.*s' is no whole number",
			     (int)(c->at - start > 64 ? 64 : c->at - start), start, is_real ? field->decimals : 0);
	}
	if (operand->kind != ANY && !fits(operand, is_negative, number, ret_value))
		return wrong(c, start, "%.*s is no value that %s of %u bits has", (int)(c->at - start), start,
			     operand->flags & REC_TEST_SIGNED ? "a signed number" : "an unsigned number",
			     operand->size * 8u);
	return true;
}

/* A value by its name. */
static bool use_name(struct compiler *c, const struct operand *operand, const struct rec_words *name,
		     uint64_t *ret_value)
{
	const struct rec_field *field = operand->field;
	const char *at, *end;

	if (operand->kind == ANY)
		return true;
	if (!field || field->kind != REC_FIELD_NAMED)
		return wrong(c, name->text,
			     operand->kind == STRING ? "a text in quotes must stand here" : "a number must stand here");
	at = field->value_names.text;
	end = at + field->value_names.size;
	for (uint32_t i = 0; i < field->nr_values; i++) {
		const struct rec_words known = rec_next_value_name(&at, end);

		if (known.size == name->size && memcmp(known.text, name->text, name->size) == 0) {
			const unsigned int unused = 64 - operand->size * 8u;

			/* As it is stored: narrowed, then widened by its sign. */
			*ret_value = (uint64_t)field->values[i] << unused >> unused;
			if (operand->flags & REC_TEST_SIGNED)
				*ret_value = (uint64_t)((int64_t)((uint64_t)field->values[i] << unused) >> unused);
			return true;
		}
	}
	return wrong(c, name->text, "'%.*s' is no value of '%.*s'; they are %.*s", WORD(*name), WORD(field->name),
		     (int)(field->value_names.size < 120 ? field->value_names.size : 120), field->value_names.text);
}

/* -------------------------------------------------------------------------------------------------------- texts */

static bool take_quoted(struct compiler *c, struct rec_words *ret_words)
{
	const char *start = c->at, *end = strchr(start + 1, *start);

	if (!end)
		return wrong(c, start, "the quote is not closed");
	*ret_words = (struct rec_words){ start + 1, (uint32_t)(end - start - 1) };
	if (ret_words->size > REC_FILTER_TEXT_MAX)
		return wrong(c, start, "a text has at most %u characters", REC_FILTER_TEXT_MAX);
	c->at = end + 1;
	return true;
}

/* Put a text behind the others. A pattern's leading ! is for the caller. */
static bool keep_text(struct compiler *c, const struct rec_words *words, uint64_t *ret_value)
{
	if (words->size > sizeof(c->texts) - c->texts_size)
		return wrong(c, words->text, "the texts are too long together");
	memcpy(c->texts + c->texts_size, words->text, words->size);
	*ret_value = c->texts_size | (uint64_t)words->size << 32;
	c->texts_size += words->size;
	return true;
}

static bool compare_text(struct compiler *c, const struct operand *operand, const struct operator *operator,
			 const char *at, struct exits *ret_exits)
{
	struct rec_condition_step step = { .test = REC_TEST_TEXT, .size = 4, .offset = operand->offset };
	bool is_negated = operator->is_negated;
	struct rec_words words;

	if (operator->test != REC_TEST_EQUAL && operator->test != REC_TEST_GLOB)
		return wrong(c, at, "a text is compared by ==, != or ~, not by %s", operator->word);
	if (!take_quoted(c, &words))
		return false;
	if (operator->test == REC_TEST_GLOB) {
		step.test = REC_TEST_GLOB;
		if (words.size && words.text[0] == '!') {
			is_negated = true;
			words.text++;
			words.size--;
		}
	}
	if (!keep_text(c, &words, &step.value) || !add_step(c, at, &step, ret_exits))
		return false;
	if (is_negated)
		negate(ret_exits);
	return true;
}

/* -------------------------------------------------------------------------------------------------------- grammar */

static bool compare_number(struct compiler *c, const struct operand *operand, const struct operator *operator,
			   const char *at, struct exits *ret_exits)
{
	struct rec_condition_step step = { .test = operator->test | operand->flags,
					   .size = operand->size,
					   .offset = operand->offset };
	const bool is_quoted = *c->at == '"' || *c->at == '\'';
	struct rec_words word;

	if (operator->test == REC_TEST_GLOB)
		return wrong(c, at, "~ is for texts");
	if (operator->test == REC_TEST_BITS && operand->field && operand->field->kind == REC_FIELD_REAL)
		return wrong(c, at, "a real has no bits");
	if (is_digit(*c->at) || *c->at == '-') {
		if (!take_number(c, operand, &step.value))
			return false;
	} else if (is_word(*c->at) || (is_quoted && operand->field && operand->field->kind == REC_FIELD_NAMED)) {
		if (is_quoted && !take_quoted(c, &word))
			return false;
		if (!is_quoted)
			word = take_word(c);
		if (!use_name(c, operand, &word, &step.value))
			return false;
	} else {
		return wrong(c, c->at, *c->at && !is_quoted ? "a value must stand here" : "a number must stand here");
	}
	if (!add_step(c, at, &step, ret_exits))
		return false;
	if (operator->is_negated)
		negate(ret_exits);
	return true;
}

/* FIELD OPERATOR VALUE */
static bool comparison(struct compiler *c, struct exits *ret_exits)
{
	struct operand operand = { .kind = ANY };
	const struct operator *operator;
	const char *at;

	if (!take_field(c, &operand))
		return false;
	operator = take_operator(c);
	if (!operator)
		return false;
	at = c->at - strlen(operator->word);
	skip_blanks(c);
	if (operand.kind == STRING || (operand.kind == ANY && (*c->at == '"' || *c->at == '\''))) {
		if (*c->at == '"' || *c->at == '\'')
			return compare_text(c, &operand, operator, at, ret_exits);
		return wrong(c, c->at, "a text in quotes must stand here");
	}
	return compare_number(c, &operand, operator, at, ret_exits);
}

static bool alternatives(struct compiler *c, struct exits *ret_exits);

/* A comparison or a parenthesis, with any number of ! in front. */
static bool factor(struct compiler *c, struct exits *ret_exits)
{
	bool is_negated = false;
	const char *open;

	while (take(c, "!"))
		is_negated = !is_negated;
	open = c->at;
	if (!take(c, "(")) {
		if (!comparison(c, ret_exits))
			return false;
	} else {
		if (++c->depth > DEPTH_MAX)
			return wrong(c, open, "more than %u parentheses within each other", DEPTH_MAX);
		if (!alternatives(c, ret_exits))
			return false;
		if (!take(c, ")"))
			return wrong(c, *c->at ? c->at : open,
				     *c->at ? "&&, || or ) must stand here" : "the ( is not closed");
		c->depth--;
	}
	if (is_negated)
		negate(ret_exits);
	return true;
}

/* factor && factor ... */
static bool conjunction(struct compiler *c, struct exits *ret_exits)
{
	struct exits next;

	if (!factor(c, ret_exits))
		return false;
	while (take(c, "&&")) {
		fill_in(c, ret_exits->yes, c->nr_steps);
		if (!factor(c, &next))
			return false;
		ret_exits->yes = next.yes;
		ret_exits->no = join(c, ret_exits->no, next.no);
	}
	return true;
}

/* conjunction || conjunction ... */
static bool alternatives(struct compiler *c, struct exits *ret_exits)
{
	struct exits next;

	if (!conjunction(c, ret_exits))
		return false;
	while (take(c, "||")) {
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
	skip_blanks(c);
	if (*c->at)
		return wrong(c, c->at, *c->at == ')' ? "no ( stands before this )" : "&& or || must stand here");
	fill_in(c, exits.yes, REC_STEP_PASS);
	fill_in(c, exits.no, REC_STEP_DROP);
	return true;
}

/* Head, steps, texts, zeros. */
static int write_condition(struct compiler *c, struct rec_condition *condition, size_t size)
{
	const size_t steps = c->nr_steps * sizeof(c->steps[0]);
	const size_t texts = sizeof(*condition) + steps;
	const size_t total = (texts + c->texts_size + REC_CONDITION_UNIT - 1) / REC_CONDITION_UNIT * REC_CONDITION_UNIT;

	if (total > REC_CONDITION_MAX) {
		wrong(c, c->text, "too many comparisons and texts");
		return -EINVAL;
	}
	if (total > size)
		return -ENOSPC;
	for (uint16_t i = 0; i < c->nr_steps; i++)
		if (c->steps[i].test == REC_TEST_TEXT || c->steps[i].test == REC_TEST_GLOB)
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
	c->text = text;
	c->at = text;
	c->info = info;
	c->depth = 0;
	c->nr_steps = 0;
	c->texts_size = 0;
	c->error = error;
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
