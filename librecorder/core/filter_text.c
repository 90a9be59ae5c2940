/* SPDX-License-Identifier: MIT */
/*
 * A condition is a graph of tests, the steps. Each leads to a later step or to a result, "yes" or "no". A sequence of
 * steps is an expression if it leads to only two places outside of itself. So the steps from `first` to before `end`,
 * which lead to `yes` and `no`, are
 *
 *	one test			if there is one step
 *	part || rest			if the part leads to `yes` and to the first step of the rest
 *	part && rest			if the part leads to `no` and to the first step of the rest
 *
 * where the part is the shortest sequence that begins at `first` and leads to these two places.
 */
#include "librecorder/core/filter_text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "librecorder/core/event_text_private.h"
#include "librecorder/core/filter_private.h"

struct writer {
	const struct rec_condition *condition;
	size_t condition_size;
	const struct rec_condition_step *steps;
	const struct rec_event_info *info;
	char *text;
	size_t size, used;
	unsigned int depth; /* depth of open brackets */
	int err;
};

/* A part of the graph of steps, and the steps that follow it if it is true or false. */
struct part {
	uint32_t first, end; /* steps */
	uint32_t yes, no;
};

static __attribute__((format(printf, 2, 3))) void put(struct writer *writer, const char *format, ...)
{
	const size_t room = writer->size - writer->used;
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(writer->text + writer->used, room, format, args);
	va_end(args);
	if (n < 0 || (size_t)n >= room)
		writer->err = writer->err ? writer->err : -ENOSPC;
	else
		writer->used += (size_t)n;
}

/* ------------------------------------------------------------------------------------------------------- one test */

/* The field that a step tests, and which element of it; NULL: a common field. */
static const struct rec_field *find_field(const struct writer *writer, const struct rec_condition_step *step,
					  uint32_t *ret_element)
{
	const struct rec_event_info *info = writer->info;

	for (uint32_t i = 0; info && !(step->test & REC_TEST_CPU) && i < info->nr_fields; i++) {
		const struct rec_field *field = &info->fields[i];
		const uint32_t at = step->offset - field->offset;

		if (step->offset < field->offset || at >= (field->size ? field->size : 1))
			continue;
		*ret_element = field->kind == REC_FIELD_ARRAY && field->element ? at / field->element : 0;
		return field;
	}
	return NULL;
}

static void put_name(struct writer *writer, const struct rec_condition_step *step, const struct rec_field *field,
		     uint32_t element)
{
	static const char *const commons[] = { [0] = "common_type", [2] = "common_flags", [3] = "common_preempt_count",
					       [4] = "common_pid" };

	if (field)
		put(writer, "%.*s", (int)field->name.size, field->name.text);
	else if (step->test & REC_TEST_CPU)
		put(writer, "CPU");
	else if (step->offset < sizeof(commons) / sizeof(commons[0]) && commons[step->offset])
		put(writer, "%s", commons[step->offset]);
	else
		writer->err = -EBADMSG;
	if (field && field->kind == REC_FIELD_ARRAY)
		put(writer, "[%u]", element);
}

/* Put the name of the value of a `named` field; false: the value has no name. */
static bool put_value_name(struct writer *writer, const struct rec_field *field, uint64_t value)
{
	const char *at = field->value_names.text, *end = at + field->value_names.size;
	const unsigned int unused = field->element < 8 ? 64 - field->element * 8u : 0;

	for (uint32_t i = 0; i < field->nr_values; i++) {
		const struct rec_words name = rec_next_value_name(&at, end);

		if ((uint64_t)field->values[i] << unused != value << unused)
			continue;
		put(writer, "%.*s", (int)name.size, name.text);
		return true;
	}
	return false;
}

static void put_real(struct writer *writer, uint64_t value, uint32_t decimals)
{
	const bool is_negative = (int64_t)value < 0;
	uint64_t unit = 1, number = is_negative ? 0 - value : value;

	for (uint32_t i = 0; i < decimals && i < 19; i++)
		unit *= 10;
	put(writer, "%s%" PRIu64, is_negative ? "-" : "", number / unit);
	if (decimals)
		put(writer, ".%0*" PRIu64, (int)decimals, number % unit);
}

/* Prints the fewest digits that read as the same number. The locale may have another decimal point than ours. */
static void put_float(struct writer *writer, uint64_t bits, bool is_single)
{
	char text[64], *end;
	const char *at;
	double number, same;
	size_t length;

	memcpy(&number, &bits, sizeof(number));
	if (number != number) {
		writer->err = -EBADMSG;
		return;
	}
	if (number - number != 0) {
		put(writer, "%s1e999", number < 0 ? "-" : "");
		return;
	}
	for (int digits = is_single ? 6 : 15; digits <= 17; digits++) {
		snprintf(text, sizeof(text), "%.*g", digits, number);
		length = strspn(text, "-0123456789");
		end = text + length;
		if (*end && *end != 'e') {
			*end = '.';
			at = end + 1 + strcspn(end + 1, "0123456789");
			memmove(end + 1, at, strlen(at) + 1);
		}
		at = text + (*text == '-');
		if (!rec_scan_float(&at, &same))
			continue;
		same = is_single ? (float)same : same;
		if ((*text == '-' ? -same : same) == number)
			break;
	}
	put(writer, "%s", text);
}

static void put_number(struct writer *writer, const struct rec_condition_step *step, const struct rec_field *field)
{
	if (field && field->kind == REC_FIELD_NAMED && put_value_name(writer, field, step->value))
		return;
	if (field && field->kind == REC_FIELD_FLAG && step->value <= 1)
		put(writer, "%s", step->value ? "true" : "false");
	else if (field && field->kind == REC_FIELD_REAL)
		put_real(writer, step->value, field->decimals);
	else if ((step->test & REC_TEST_KIND) >= REC_TEST_FLOAT_EQUAL)
		put_float(writer, step->value, step->size == sizeof(float));
	else if (step->test & REC_TEST_SIGNED)
		put(writer, "%" PRId64, (int64_t)step->value);
	else if (field && field->is_hex)
		put(writer, "0x%" PRIx64, step->value);
	else
		put(writer, "%" PRIu64, step->value);
}

static void put_text(struct writer *writer, const struct rec_condition_step *step)
{
	const uint64_t offset = step->value & UINT32_MAX, size = step->value >> 32;
	const char *text = (const char *)writer->condition + offset;
	const bool is_glob = (step->test & REC_TEST_KIND) == REC_TEST_GLOB;
	char quote;

	if (offset > writer->condition_size || size > writer->condition_size - offset || size > REC_FILTER_TEXT_MAX) {
		writer->err = -EBADMSG;
		return;
	}
	quote = memchr(text, '"', (size_t)size) ? '\'' : '"';
	/* A filter's pattern that begins with ! is negated; one that begins with !! loses only its first !. */
	put(writer, "%c%s%.*s%c", quote, is_glob && size && *text == '!' ? "\\" : "", (int)size, text, quote);
}

/*
 * Put the test of a step. `is_negated`: the step leads to "yes" if its test is false. A comparison that has no opposite
 * operator is negated as !(...); without the parentheses if the compiler of filters would refuse one more level.
 */
static void put_test(struct writer *writer, const struct rec_condition_step *step, bool is_negated)
{
	static const char *const words[][2] = {
		[REC_TEST_EQUAL] = { "==", "!=" },     [REC_TEST_LESS] = { "<", ">=" },
		[REC_TEST_LESS_EQUAL] = { "<=", ">" }, [REC_TEST_BITS] = { "&", NULL },
		[REC_TEST_TEXT] = { "==", "!=" },      [REC_TEST_GLOB] = { "~", NULL },
		/* A comparison with NaN is false, and so is the opposite comparison. */
		[REC_TEST_FLOAT_EQUAL] = { "==", "!=" },
		[REC_TEST_FLOAT_LESS] = { "<", NULL },
		[REC_TEST_FLOAT_LESS_EQUAL] = { "<=", NULL },
		[REC_TEST_FLOAT_GREATER] = { ">", NULL },
		[REC_TEST_FLOAT_GREATER_EQUAL] = { ">=", NULL },
	};
	const unsigned int kind = step->test & REC_TEST_KIND;
	uint32_t element = 0;
	const struct rec_field *field = find_field(writer, step, &element);
	bool is_prefixed, in_brackets;

	if (kind < REC_TEST_EQUAL || kind > REC_TEST_FLOAT_GREATER_EQUAL) {
		writer->err = -EBADMSG;
		return;
	}
	is_prefixed = is_negated && !words[kind][1];
	in_brackets = is_prefixed && writer->depth < REC_FILTER_DEPTH_MAX;
	put(writer, "%s%s", is_prefixed ? "!" : "", in_brackets ? "(" : "");
	put_name(writer, step, field, element);
	put(writer, " %s ", words[kind][is_negated && !is_prefixed]);
	if (kind == REC_TEST_TEXT || kind == REC_TEST_GLOB)
		put_text(writer, step);
	else
		put_number(writer, step, field);
	put(writer, "%s", in_brackets ? ")" : "");
}

/* -------------------------------------------------------------------------------------------------------- the graph */

/* Whether the steps from first to before `end` lead only to each other, to `end` and to `exit`. */
static bool leads_to(const struct writer *writer, uint32_t first, uint32_t end, uint32_t exit)
{
	for (uint32_t i = first; i < end; i++) {
		const uint32_t to[] = { writer->steps[i].yes, writer->steps[i].no };

		for (unsigned int j = 0; j < 2; j++)
			if (to[j] != exit && (to[j] <= i || to[j] > end))
				return false;
	}
	return true;
}

static void put_part(struct writer *writer, const struct part *part);

/* The end of the shortest part that leads only to its end and to one of yes and no; 0: there is no such part. */
static uint32_t find_split(const struct writer *writer, const struct part *part, bool *ret_is_or)
{
	for (uint32_t at = part->first + 1; at < part->end; at++) {
		*ret_is_or = leads_to(writer, part->first, at, part->yes);
		if (*ret_is_or || leads_to(writer, part->first, at, part->no))
			return at;
	}
	return 0;
}

/* Put a side of && or ||. A side of && that is an || needs brackets. `is_or`: this is a side of ||. */
static void put_side(struct writer *writer, const struct part *part, bool is_or)
{
	bool has_or = false;
	const bool in_brackets = !is_or && find_split(writer, part, &has_or) && has_or;

	put(writer, "%s", in_brackets ? "(" : "");
	writer->depth += in_brackets;
	put_part(writer, part);
	writer->depth -= in_brackets;
	put(writer, "%s", in_brackets ? ")" : "");
}

/* Put a part. The recursion is at most as deep as the number of steps. */
static void put_part(struct writer *writer, const struct part *part)
{
	const struct rec_condition_step *step = &writer->steps[part->first];
	struct part left = *part, right = *part;
	bool is_or = false;

	if (writer->err)
		return;
	if (part->end - part->first == 1) {
		if (step->yes == part->yes && step->no == part->no)
			put_test(writer, step, false);
		else if (step->yes == part->no && step->no == part->yes)
			put_test(writer, step, true);
		else
			writer->err = -EBADMSG;
		return;
	}
	left.end = right.first = find_split(writer, part, &is_or);
	if (!left.end) {
		writer->err = -EBADMSG;
		return;
	}
	if (is_or)
		left.no = left.end;
	else
		left.yes = left.end;
	put_side(writer, &left, is_or);
	put(writer, "%s", is_or ? " || " : " && ");
	put_side(writer, &right, is_or);
}

int rec_filter_text(const struct rec_condition *condition, size_t condition_size, const struct rec_event_info *info,
		    char *text, size_t size)
{
	struct writer writer = {
		.condition = condition, .condition_size = condition_size, .info = info, .text = text, .size = size
	};
	const struct part whole = { 0, condition->nr_steps, REC_STEP_PASS, REC_STEP_DROP };

	if (!size)
		return -ENOSPC;
	text[0] = '\0';
	if (condition_size < sizeof(*condition) || condition->nr_steps > REC_STEPS_MAX ||
	    condition->nr_steps * sizeof(struct rec_condition_step) > condition_size - sizeof(*condition))
		return -EBADMSG;
	writer.steps = (const struct rec_condition_step *)(const void *)(condition + 1);
	if (condition->nr_steps)
		put_part(&writer, &whole);
	return writer.err ? writer.err : (int)writer.used;
}
