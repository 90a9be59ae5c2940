/* SPDX-License-Identifier: MIT */
/* The operands of a comparison: an event's fields, and values that a field can have. */
#include "librecorder/core/filter_private.h"

#include <stdio.h>
#include <string.h>

#include "librecorder/core/event_text_private.h"

/* These exist only for records in a file. The time is in seconds with nine decimals. */
static const struct rec_field seconds = { .kind = REC_FIELD_REAL, .element = 8, .decimals = 9 };

/* Fields of any record. The CPU is not stored in the record; the caller passes it. */
static const struct common {
	const char *name;
	enum rec_operand_kind kind;
	uint8_t offset, size, flags;
} commons[] = {
	{ "common_type", REC_OPERAND_NUMBER, 0, 2, 0 },
	{ "common_flags", REC_OPERAND_NUMBER, 2, 1, 0 },
	{ "common_preempt_count", REC_OPERAND_NUMBER, 3, 1, 0 },
	{ "common_pid", REC_OPERAND_NUMBER, 4, 4, REC_TEST_SIGNED },
	{ "pid", REC_OPERAND_NUMBER, 4, 4, REC_TEST_SIGNED },
	{ "CPU", REC_OPERAND_NUMBER, 0, 4, REC_TEST_CPU },
	{ "cpu", REC_OPERAND_NUMBER, 0, 4, REC_TEST_CPU },
	{ "common_cpu", REC_OPERAND_NUMBER, 0, 4, REC_TEST_CPU },
	{ "ts", REC_OPERAND_NUMBER, 0, 8, REC_TEST_READING },
	{ "TIMESTAMP", REC_OPERAND_NUMBER, 0, 8, REC_TEST_READING },
	{ "comm", REC_OPERAND_STRING, 0, 4, REC_TEST_READING },
	{ "COMM", REC_OPERAND_STRING, 0, 4, REC_TEST_READING },
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

		/* Keep room for the ellipsis that shows that the list was cut. */
		if ((size_t)n + sizeof(", ...") >= size - used) {
			strcpy(reason + used, ", ...");
			break;
		}
		used += (size_t)n;
	}
	return false;
}

/* Take the index, if the field is an array. */
static bool use_element(struct rec_scan *scan, const char *at, const struct rec_field *field, uint32_t *ret_offset)
{
	const bool has_index = *scan->at == '[';
	uint32_t index = 0;

	if (field->kind != REC_FIELD_ARRAY)
		return !has_index ||
		       rec_scan_wrong(scan, scan->at, "field '%.*s' is not an array", WORD(field->name));
	if (!has_index)
		return rec_scan_wrong(scan, at, "field '%.*s' is an array: compare an element, %.*s[0] to %.*s[%u]",
				      WORD(field->name), WORD(field->name), WORD(field->name), field->length - 1);
	for (scan->at++; rec_is_digit(*scan->at) && index < field->length; scan->at++)
		index = 10 * index + (uint32_t)(*scan->at - '0');
	if (*scan->at != ']' || scan->at[-1] == '[' || index >= field->length)
		return rec_scan_wrong(scan, scan->at - (*scan->at == ']' && scan->at[-1] != '['),
				      "expected the number of an element, from 0 to %u, and ]", field->length - 1);
	scan->at++;
	*ret_offset += index * field->element;
	return true;
}

/* Use a field of the event's own, which takes precedence over the fields of any record. */
static bool use_field(struct rec_scan *scan, const char *at, const struct rec_field *field,
		      struct rec_operand *ret_operand)
{
	uint32_t offset = field->offset;

	if (field->kind == REC_FIELD_BYTES)
		return rec_scan_wrong(scan, at, "field '%.*s' is of bytes, which filters cannot compare",
				      WORD(field->name));
	if (!use_element(scan, at, field, &offset))
		return false;
	if (offset > UINT16_MAX)
		return rec_scan_wrong(scan, at, "'%.*s' is too far from the start of the record", WORD(field->name));
	*ret_operand = (struct rec_operand){ .offset = (uint16_t)offset,
					     .size = (uint8_t)field->element,
					     .flags = field->is_signed ? REC_TEST_SIGNED : 0,
					     .field = field };
	if (field->kind == REC_FIELD_STRING) {
		ret_operand->kind = REC_OPERAND_STRING;
		ret_operand->flags = 0;
		ret_operand->size = 4;
	}
	if (field->kind == REC_FIELD_STRING && field->element == 1) {
		ret_operand->flags = REC_TEST_IN_PLACE;
		ret_operand->size = (uint8_t)(field->length < UINT8_MAX ? field->length : UINT8_MAX);
	}
	return true;
}

static bool use_common(struct rec_scan *scan, const struct rec_words *name, const struct common *common,
		       struct rec_operand *ret_operand)
{
	*ret_operand = (struct rec_operand){
		.kind = common->kind, .offset = common->offset, .size = common->size, .flags = common->flags
	};
	if (common->flags & REC_TEST_READING && !scan->reading)
		return rec_scan_wrong(scan, name->text,
				      "'%.*s' is known only when a recording is read: use it in 'recorder report -F'",
				      WORD(*name));
	if (common->flags & REC_TEST_READING && common->size == 8 && !(scan->flags & REC_FILTER_COUNTS))
		ret_operand->field = &seconds;
	return true;
}

static bool find_operand(struct rec_scan *scan, const struct rec_words *name, struct rec_operand *ret_operand)
{
	for (uint32_t i = 0; i < scan->info->nr_fields; i++)
		if (scan->info->fields[i].name.size == name->size &&
		    memcmp(scan->info->fields[i].name.text, name->text, name->size) == 0)
			return use_field(scan, name->text, &scan->info->fields[i], ret_operand);
	for (size_t i = 0; i < sizeof(commons) / sizeof(commons[0]); i++)
		if (words_are(name, commons[i].name))
			return use_common(scan, name, &commons[i], ret_operand);
	if (!(scan->flags & REC_FILTER_ABSENT_IS_FALSE))
		return no_such_field(scan, name);
	ret_operand->kind = REC_OPERAND_ABSENT;
	return true;
}

/* Skip an index, also if the field is not known. */
static void skip_index(struct rec_scan *scan)
{
	const char *at = scan->at;

	if (*at != '[')
		return;
	for (at++; rec_is_digit(*at); at++)
		;
	if (*at == ']' && at > scan->at + 1)
		scan->at = at + 1;
}

bool rec_scan_field(struct rec_scan *scan, struct rec_operand *ret_operand)
{
	struct rec_words name;

	rec_scan_skip(scan);
	name = rec_scan_word(scan);
	if (!name.size)
		return rec_scan_wrong(scan, scan->at,
				      *scan->at ? "expected a field" : "a comparison is missing");
	*ret_operand = (struct rec_operand){ .kind = REC_OPERAND_ANY, .size = 8 };
	if (scan->info && !find_operand(scan, &name, ret_operand))
		return false;
	ret_operand->name = name;
	if (!scan->info || ret_operand->kind == REC_OPERAND_ABSENT)
		skip_index(scan);
	return true;
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
 * Read all digits of a number in this base. False: there is no digit, another character of a word follows the digits,
 * or the number is too large for 64 bits.
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

/* Scan a whole number as in C, without its sign. */
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

/* Scan a decimal number, and multiply it by ten to the power of `decimals`. */
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

bool rec_scan_float(const char **at, double *ret_number)
{
	long double ten = 1, number;
	bool has_digit = false, has_point = false, is_small;
	uint64_t digits = 0;
	int power = 0, exponent = 0;

	for (; rec_is_digit(**at) || (**at == '.' && !has_point); ++*at) {
		if (**at == '.') {
			has_point = true;
			continue;
		}
		has_digit = true;
		if (digits < UINT64_MAX / 10 - 1) {
			digits = 10 * digits + (uint64_t)(**at - '0');
			power -= has_point;
		} else {
			power += !has_point;
		}
	}
	if (has_digit && (**at | 0x20) == 'e') {
		++*at;
		is_small = **at == '-';
		if (**at == '-' || **at == '+')
			++*at;
		for (has_digit = false; rec_is_digit(**at); ++*at, has_digit = true)
			if (exponent < 10000)
				exponent = 10 * exponent + (**at - '0');
		power += is_small ? -exponent : exponent;
	}
	for (int i = 0; i < (power < 0 ? -power : power) && i < 4900; i++)
		ten *= 10;
	number = power < 0 ? (long double)digits / ten : digits ? (long double)digits * ten : 0;
	*ret_number = (double)number;
	return has_digit && !rec_is_word(**at);
}

/* Take the number with which the field is compared: the bits of a double, even if the field is a float. */
static bool take_float(struct rec_scan *scan, const struct rec_operand *operand, uint64_t *ret_value)
{
	const char *start = scan->at;
	double number;

	scan->at += *scan->at == '-';
	if (!rec_scan_float(&scan->at, &number)) {
		while (rec_is_word(*scan->at) || *scan->at == '.')
			scan->at++;
		return rec_scan_wrong(scan, start, "'%.*s' is not a number",
				      (int)(scan->at - start > 64 ? 64 : scan->at - start), start);
	}
	if (operand->size == sizeof(float))
		number = (float)number;
	if (*start == '-')
		number = -number;
	memcpy(ret_value, &number, sizeof(number));
	return true;
}

/* The number of digits after the decimal point. */
static uint32_t decimals_of(const char *at)
{
	static const char digits[] = "0123456789";

	at += strspn(at, digits);
	return *at == '.' ? (uint32_t)strspn(at + 1, digits) : 0;
}

/* Whether the field can hold the number; *ret_value is the value as the field holds it. */
static bool fits(const struct rec_operand *operand, bool is_negative, uint64_t number, uint64_t *ret_value)
{
	const unsigned int bits = operand->size * 8u;
	const uint64_t top = UINT64_C(1) << (bits - 1);

	*ret_value = is_negative ? 0 - number : number;
	if (operand->flags & REC_TEST_SIGNED)
		return number < top || (is_negative && number == top);
	return (!is_negative || !number) && (bits == 64 || number < top * 2);
}

/* Report that what begins at `start` is not a number that can be compared with the operand. Returns false. */
static bool no_number(struct rec_scan *scan, const char *start, const struct rec_operand *operand)
{
	const struct rec_field *field = operand->field;
	int size;

	while (rec_is_word(*scan->at) || *scan->at == '.')
		scan->at++;
	size = (int)(scan->at - start > 64 ? 64 : scan->at - start);
	if (field && field->kind == REC_FIELD_REAL)
		return rec_scan_wrong(scan, start, "'%.*s' is not a number with at most %u decimals", size, start,
				      field->decimals);
	return rec_scan_wrong(scan, start,
			      operand->kind == REC_OPERAND_ANY ? "'%.*s' is not a number"
							       : "'%.*s' is not a whole number",
			      size, start);
}

bool rec_scan_number(struct rec_scan *scan, const struct rec_operand *operand, uint64_t *ret_value)
{
	const struct rec_field *field = operand->field;
	const bool is_real = field && field->kind == REC_FIELD_REAL;
	const bool is_negative = *scan->at == '-';
	const char *start = scan->at;
	uint64_t number;
	double fraction;
	bool good;

	if (field && field->kind == REC_FIELD_FLOAT)
		return take_float(scan, operand, ret_value);
	scan->at += is_negative;
	/* If the field is not known, all kinds of number are accepted. */
	if (is_real || operand->kind == REC_OPERAND_ANY) {
		good = rec_is_digit(*scan->at) &&
		       scan_real(&scan->at, is_real ? field->decimals : decimals_of(scan->at), &number);
		if (!good && operand->kind == REC_OPERAND_ANY) {
			scan->at = start + is_negative;
			good = scan_whole(&scan->at, &number);
		}
		if (!good && operand->kind == REC_OPERAND_ANY) {
			scan->at = start + is_negative;
			good = rec_scan_float(&scan->at, &fraction);
		}
	} else {
		good = scan_whole(&scan->at, &number);
	}
	if (!good)
		return no_number(scan, start, operand);
	if (operand->kind != REC_OPERAND_ANY && !fits(operand, is_negative, number, ret_value))
		return rec_scan_wrong(scan, start, "%.*s is out of range for %s of %u bits", (int)(scan->at - start),
				      start,
				      operand->flags & REC_TEST_SIGNED ? "a signed number" : "an unsigned number",
				      operand->size * 8u);
	return true;
}

/* Find a value by its name. */
bool rec_scan_name(struct rec_scan *scan, const struct rec_operand *operand, const struct rec_words *name,
		   uint64_t *ret_value)
{
	const struct rec_field *field = operand->field;
	const char *at, *end;

	if (operand->kind == REC_OPERAND_ANY)
		return true;
	if (field && field->kind == REC_FIELD_FLAG && (words_are(name, "true") || words_are(name, "false"))) {
		*ret_value = words_are(name, "true");
		return true;
	}
	if (!field || field->kind != REC_FIELD_NAMED)
		return rec_scan_wrong(scan, name->text,
				      field && field->kind == REC_FIELD_FLAG ? "expected true, false or a number"
									     : "expected a number");
	at = field->value_names.text;
	end = at + field->value_names.size;
	for (uint32_t i = 0; i < field->nr_values; i++) {
		const struct rec_words known = rec_next_value_name(&at, end);

		if (known.size == name->size && memcmp(known.text, name->text, name->size) == 0) {
			const unsigned int unused = 64 - operand->size * 8u;

			/* The value is compared as it is stored: narrowed, then extended by its sign. */
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
