/* SPDX-License-Identifier: MIT */
/* The operands of a comparison: an event's fields, and values that a field can have. */
#include "librecorder/core/filter_private.h"

#include <stdio.h>
#include <string.h>

#include "librecorder/core/event_text_private.h"

/* Fields of any record. The CPU is not in the record, but known. */
static const struct common {
	const char *name;
	struct rec_operand operand;
} commons[] = {
	{ "common_type", { REC_OPERAND_NUMBER, 0, 2, 0, NULL } },
	{ "common_flags", { REC_OPERAND_NUMBER, 2, 1, 0, NULL } },
	{ "common_preempt_count", { REC_OPERAND_NUMBER, 3, 1, 0, NULL } },
	{ "common_pid", { REC_OPERAND_NUMBER, 4, 4, REC_TEST_SIGNED, NULL } },
	{ "CPU", { REC_OPERAND_NUMBER, 0, 4, REC_TEST_CPU, NULL } },
	{ "cpu", { REC_OPERAND_NUMBER, 0, 4, REC_TEST_CPU, NULL } },
	{ "common_cpu", { REC_OPERAND_NUMBER, 0, 4, REC_TEST_CPU, NULL } },
};

static bool words_are(const struct rec_words *words, const char *text)
{
	return words->size == strlen(text) && memcmp(words->text, text, words->size) == 0;
}

/* A word as an argument of "%.*s"; the limit is longer than any real word. */
#define WORD(w) (int)((w).size < 64 ? (w).size : 64), (w).text

static bool no_such_field(struct rec_scan *scan, const struct rec_words *name)
{
	const struct rec_event_info *info = scan->info;
	char *reason = scan->error->reason;
	const size_t size = sizeof(scan->error->reason);
	size_t used;

	rec_scan_wrong(scan, name->text, "no field '%.*s'%s", WORD(*name),
		       info->nr_fields ? "; its fields are " : "; it has only the common fields");
	used = strlen(reason);
	for (uint32_t i = 0; i < info->nr_fields; i++) {
		const struct rec_words *field = &info->fields[i].name;
		const int n = snprintf(reason + used, size - used, "%s%.*s", i ? ", " : "", WORD(*field));

		/* Room for a cut that is visible in the message. */
		if ((size_t)n + sizeof(", ...") >= size - used) {
			strcpy(reason + used, ", ...");
			break;
		}
		used += (size_t)n;
	}
	return false;
}

/* A field of the event's own, which takes precedence over the fields of any record. */
static bool use_field(struct rec_scan *scan, const char *at, const struct rec_field *field,
		      struct rec_operand *ret_operand)
{
	*ret_operand = (struct rec_operand){ REC_OPERAND_NUMBER, (uint16_t)field->offset, (uint8_t)field->element,
					     field->is_signed ? REC_TEST_SIGNED : 0, field };
	if (field->kind == REC_FIELD_STRING)
		ret_operand->kind = REC_OPERAND_STRING;
	if (field->kind == REC_FIELD_ARRAY || field->kind == REC_FIELD_BYTES)
		return rec_scan_wrong(scan, at, "field '%.*s' is %s, which filters cannot compare", WORD(field->name),
				      field->kind == REC_FIELD_ARRAY ? "an array" : "of bytes");
	return true;
}

bool rec_scan_field(struct rec_scan *scan, struct rec_operand *ret_operand)
{
	struct rec_words name;

	rec_scan_skip(scan);
	name = rec_scan_word(scan);
	if (!name.size)
		return rec_scan_wrong(scan, scan->at,
				      *scan->at ? "expected a field" : "a comparison is missing");
	if (!scan->info) {
		*ret_operand = (struct rec_operand){ REC_OPERAND_ANY, 0, 8, 0, NULL };
		return true;
	}
	for (uint32_t i = 0; i < scan->info->nr_fields; i++)
		if (scan->info->fields[i].name.size == name.size &&
		    memcmp(scan->info->fields[i].name.text, name.text, name.size) == 0)
			return use_field(scan, name.text, &scan->info->fields[i], ret_operand);
	for (size_t i = 0; i < sizeof(commons) / sizeof(commons[0]); i++)
		if (words_are(&name, commons[i].name)) {
			*ret_operand = commons[i].operand;
			return true;
		}
	return no_such_field(scan, &name);
}

static unsigned int digit_value(char c)
{
	if (rec_is_digit(c))
		return (unsigned int)(c - '0');
	if ((c | 0x20) >= 'a' && (c | 0x20) <= 'z')
		return (unsigned int)((c | 0x20) - 'a') + 10;
	return 99;
}

/*
 * Digits of a base, as many as there are. False: no digit, a digit followed by another character of a word, or too
 * large for 64 bits.
 */
static bool scan_digits(const char **at, unsigned int base, uint64_t *number)
{
	const char *start = *at;

	for (; rec_is_word(**at); ++*at) {
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
	while (rec_is_digit(**at)) {
		if (__builtin_mul_overflow(*ret_number, 10u, ret_number) ||
		    __builtin_add_overflow(*ret_number, (unsigned int)(**at - '0'), ret_number))
			return false;
		++*at;
	}
	if (**at == '.')
		++*at;
	for (uint32_t i = 0; i < decimals; i++) {
		const unsigned int digit = rec_is_digit(**at) ? (unsigned int)(*(*at)++ - '0') : 0;

		if (__builtin_mul_overflow(*ret_number, 10u, ret_number) ||
		    __builtin_add_overflow(*ret_number, digit, ret_number))
			return false;
	}
	return !rec_is_word(**at);
}

/* The number of digits after the decimal point. */
static uint32_t decimals_of(const char *at)
{
	static const char digits[] = "0123456789";

	at += strspn(at, digits);
	return *at == '.' ? (uint32_t)strspn(at + 1, digits) : 0;
}

/* Whether the field can hold the number; *ret_value is the value as held. */
static bool fits(const struct rec_operand *operand, bool is_negative, uint64_t number, uint64_t *ret_value)
{
	const unsigned int bits = operand->size * 8u;
	const uint64_t top = UINT64_C(1) << (bits - 1);

	*ret_value = is_negative ? 0 - number : number;
	if (operand->flags & REC_TEST_SIGNED)
		return number < top || (is_negative && number == top);
	return (!is_negative || !number) && (bits == 64 || number < top * 2);
}

bool rec_scan_number(struct rec_scan *scan, const struct rec_operand *operand, uint64_t *ret_value)
{
	const struct rec_field *field = operand->field;
	const bool is_real = field && field->kind == REC_FIELD_REAL;
	const bool is_negative = *scan->at == '-';
	const char *start = scan->at;
	uint64_t number;
	bool good;

	scan->at += is_negative;
	/* If the field is not known, both kinds of number are accepted. */
	if (is_real || operand->kind == REC_OPERAND_ANY) {
		good = rec_is_digit(*scan->at) &&
		       scan_real(&scan->at, is_real ? field->decimals : decimals_of(scan->at), &number);
		if (!good && operand->kind == REC_OPERAND_ANY) {
			scan->at = start + is_negative;
			good = scan_whole(&scan->at, &number);
		}
	} else {
		good = scan_whole(&scan->at, &number);
	}
	if (!good) {
		while (rec_is_word(*scan->at) || *scan->at == '.')
			scan->at++;
		return rec_scan_wrong(
			scan, start,
			is_real ? "'%.*s' is not a number with at most %u decimals" : "'%.*s' is not a whole number",
			(int)(scan->at - start > 64 ? 64 : scan->at - start), start, is_real ? field->decimals : 0);
	}
	if (operand->kind != REC_OPERAND_ANY && !fits(operand, is_negative, number, ret_value))
		return rec_scan_wrong(scan, start, "%.*s is out of range for %s of %u bits", (int)(scan->at - start),
				      start,
				      operand->flags & REC_TEST_SIGNED ? "a signed number" : "an unsigned number",
				      operand->size * 8u);
	return true;
}

/* A value by its name. */
bool rec_scan_name(struct rec_scan *scan, const struct rec_operand *operand, const struct rec_words *name,
		   uint64_t *ret_value)
{
	const struct rec_field *field = operand->field;
	const char *at, *end;

	if (operand->kind == REC_OPERAND_ANY)
		return true;
	if (!field || field->kind != REC_FIELD_NAMED)
		return rec_scan_wrong(scan, name->text,
				      operand->kind == REC_OPERAND_STRING ? "expected a text in quotes"
									  : "expected a number");
	at = field->value_names.text;
	end = at + field->value_names.size;
	for (uint32_t i = 0; i < field->nr_values; i++) {
		const struct rec_words known = rec_next_value_name(&at, end);

		if (known.size == name->size && memcmp(known.text, name->text, name->size) == 0) {
			const unsigned int unused = 64 - operand->size * 8u;

			/* As stored: narrowed, then extended by its sign. */
			*ret_value = (uint64_t)field->values[i] << unused >> unused;
			if (operand->flags & REC_TEST_SIGNED)
				*ret_value = (uint64_t)((int64_t)((uint64_t)field->values[i] << unused) >> unused);
			return true;
		}
	}
	return rec_scan_wrong(scan, name->text, "'%.*s' is not a value of '%.*s'; its values are %.*s", WORD(*name),
			      WORD(field->name), (int)(field->value_names.size < 120 ? field->value_names.size : 120),
			      field->value_names.text);
}
