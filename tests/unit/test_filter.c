/* SPDX-License-Identifier: MIT */
/*
 * The grammar of filters: the meaning of each comparison, refused filters with the place of the error, and random
 * expressions compared with their trees.
 */
#include "filter_fixture.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct trial {
	const char *filter;
	bool passes;
};

static void try_all(const struct trial *trials, size_t nr, const struct filter_record *record, uint32_t cpu)
{
	for (size_t i = 0; i < nr; i++)
		cr_expect_eq(filter_try(trials[i].filter, record, cpu), trials[i].passes, "%s", trials[i].filter);
}

#define TRY(trials, record, cpu) try_all(trials, sizeof(trials) / sizeof((trials)[0]), record, cpu)

Test(filter, numbers_of_all_sizes_and_signs)
{
	static const struct trial trials[] = {
		{ "a == 200", true },
		{ "a != 200", false },
		{ "a > 199", true },
		{ "a >= 200", true },
		{ "a < 200", false },
		{ "a <= 200", true },
		{ "a & 8", true },
		{ "a & 0x37", false },
		{ "b == -1", true },
		{ "b < 0", true },
		{ "b > -2", true },
		{ "b >= 0", false },
		{ "b & 0x40", true },
		{ "c == 0xfffe", true },
		{ "c > 0x7fff", true },
		{ "d == -32768", true },
		{ "d <= -32768", true },
		{ "d < -32768", false },
		{ "e == 037777777777", true },
		{ "e > 4294967294", true },
		{ "g == -5", true },
		{ "g < -4", true },
		{ "g > 0", false },
		{ "g & 1", true },
		{ "h > 18446744073709551614", true },
		{ "h == 0xffffffffffffffff", true },
		{ "i == -9223372036854775808", true },
		{ "i < 0", true },
		{ "i != 9223372036854775807", true },
		{ "x == 0xdeadbeef", true },
		{ "x < 0xdeadbeef", false },
		{ "p == 0x7fff00001000", true },
		{ "t == 1", true },
		{ "t != 0", true },
		{ "t == true", true },
		{ "t != true", false },
		{ "t == false", false },
		{ "list[0] == 0", true },
		{ "list[2] == 65535 && list[1] == 0", true },
		{ "list[1] > 0", false },
		{ "a == 0310", true },
		{ "a==200&&b==-1", true },
		{ "  a\t==\n200  ", true },
	};
	struct filter_record record;

	filter_record_init(&record);
	record.a = 200;
	record.b = -1;
	record.c = 0xfffe;
	record.d = INT16_MIN;
	record.e = UINT32_MAX;
	record.g = -5;
	record.h = UINT64_MAX;
	record.i = INT64_MIN;
	record.x = 0xdeadbeef;
	record.p = 0x7fff00001000;
	record.t = 1;
	record.list[2] = UINT16_MAX;
	TRY(trials, &record, 0);
}

Test(filter, what_every_record_has)
{
	static const struct trial trials[] = {
		{ "common_type == 16400", true },
		{ "common_pid == 4711", true },
		{ "common_pid != 4711", false },
		{ "common_pid > -1", true },
		{ "pid == 4711", true },
		{ "common_flags & 4", true },
		{ "common_preempt_count == 3", true },
		{ "CPU == 5", true },
		{ "cpu > 5", false },
		{ "common_cpu <= 5", true },
		{ "CPU & 4", true },
	};
	struct filter_record record;

	filter_record_init(&record);
	record.type = 16400;
	record.pid = 4711;
	record.flags = 5;
	record.preempt_count = 3;
	TRY(trials, &record, 5);
}

Test(filter, names_and_decimals)
{
	static const struct trial trials[] = {
		{ "op == OP_PUT", true }, { "op != OP_GET", true },   { "op == -7", true },
		{ "op < OP_GET", true },  { "op == 'OP_PUT'", true }, { "small == OP_PUT", true },
		{ "small == 249", true }, { "load == 1.25", true },   { "load > 1.2", true },
		{ "load >= 1.25", true }, { "load < 2", true },	      { "load != 1.25", false },
		{ "load > -1.5", true },  { "load < 01.3", true },    { "load == 1.250", false },
	};
	struct filter_record record;

	filter_record_init(&record);
	record.op = OP_PUT;
	record.small = (uint8_t)OP_PUT;
	record.load = 125;
	/* The filter of the last trial is refused, so it has a test of its own. */
	try_all(trials, sizeof(trials) / sizeof(trials[0]) - 1, &record, 0);
}

Test(filter, texts)
{
	static const struct trial trials[] = {
		{ "path == \"/var/a.db\"", true },
		{ "path == '/var/a.db'", true },
		{ "path != '/var/a.db'", false },
		{ "path == ''", false },
		{ "path == '/var/a.d'", false },
		{ "path == '/var/a.dbx'", false },
		{ "sub == 'it\"s'", true },
		{ "sub == \"it's\"", false },
		{ "path ~ '/var/a.db'", true },
		{ "path ~ '*'", true },
		{ "path ~ '*.db'", true },
		{ "path ~ '/var*'", true },
		{ "path ~ '*ar*'", true },
		{ "path ~ '*var'", false },
		{ "path ~ '/*/?.db'", true },
		{ "path ~ '/var/[a-c].db'", true },
		{ "path ~ '/var/[b-z].db'", false },
		{ "path ~ '/var/[!b].db'", true },
		{ "path ~ '/var/[!a].db'", false },
		{ "path ~ '/var/[]a].db'", true },
		{ "path ~ '!*.db'", false },
		{ "path ~ '!*.tmp'", true },
		{ "path ~ '/var/\\a.db'", true },
		{ "path ~ '/var/\\?.db'", false },
		{ "path ~ '*a*a*'", true },
		{ "path ~ '*a*a*a*'", false },
		{ "path ~ ''", false },
		{ "!(path ~ '*.tmp') && sub ~ 'it*'", true },
		{ "path ~ '/var/[a.db'", false },
	};
	struct filter_record record;

	filter_record_init(&record);
	filter_record_text(&record, &record.path, "/var/a.db", sizeof("/var/a.db"));
	filter_record_text(&record, &record.sub, "it\"s\0more", sizeof("it\"s\0more"));
	TRY(trials, &record, 0);
}

Test(filter, a_bracket_without_an_end_is_itself)
{
	static const struct trial trials[] = {
		{ "path ~ 'a[b'", true },   { "path ~ '[*'", false },	{ "path ~ '*[b'", true },
		{ "path ~ 'a\\[b'", true }, { "path ~ 'a[[]b'", true },
	};
	struct filter_record record;

	filter_record_init(&record);
	filter_record_text(&record, &record.path, "a[b", sizeof("a[b"));
	TRY(trials, &record, 0);
}

Test(filter, and_binds_tighter_than_or)
{
	static const struct trial trials[] = {
		{ "a == 1 || a == 0 && b == 1", true },
		{ "(a == 1 || a == 0) && b == 1", false },
		{ "b == 1 && a == 1 || a == 1", true },
		{ "b == 1 && (a == 1 || a == 1)", false },
		{ "!a == 1", false },
		{ "!(a == 1 && b == 1)", true },
		{ "!!a == 1", true },
		{ "! ! ( ( a == 1 ) )", true },
		{ "!(a == 0) && !b == 1", true },
		{ "a == 0 || b == 1 || c == 2 || a == 1", true },
		{ "a == 1 && b == 0 && c == 0 && d == 1", false },
		{ "!(!(a == 1) || !(b == 0))", true },
	};
	struct filter_record record;

	filter_record_init(&record);
	record.a = 1;
	TRY(trials, &record, 0);
}

/* ------------------------------------------------------------------------------------------------------- refused */

static const struct mistake {
	const char *filter;
	uint32_t column;
	const char *reason;
} mistakes[] = {
	{ "", 1, "a comparison is missing" },
	{ "   ", 4, "a comparison is missing" },
	{ "sise > 3", 1, "no field 'sise'; its fields are a, b, c, d" },
	{ "a > 3 && sise > 3", 10, "no field 'sise'" },
	{ "comm == 'x'", 1, "'comm' is known only when a recording is read" },
	{ "ts > 1", 1, "'ts' is known only when a recording is read" },
	{ "a => 3", 3, "one of ==" },
	{ "a = 3", 3, "one of ==" },
	{ "a", 2, "one of ==" },
	{ "a && b", 3, "one of ==" },
	{ "a === 3", 5, "expected a value" },
	{ "a ==", 5, "expected a number" },
	{ "a == b", 6, "expected a number" },
	{ "a == '3'", 6, "expected a number" },
	{ "a == 3 b == 4", 8, "expected && or ||" },
	{ "a == 3 & b == 4", 8, "expected && or ||" },
	{ "a == 3 &&", 10, "a comparison is missing" },
	{ "a == 3 || || b == 4", 11, "expected a field" },
	{ "(a == 3", 1, "the ( is not closed" },
	{ "((a == 3)", 1, "the ( is not closed" },
	{ "(a == 3 b == 4)", 9, "expected &&, || or )" },
	{ "a == 3)", 7, ") without a ( before it" },
	{ "()", 2, "expected a field" },
	{ "a == 0x", 6, "'0x' is not a whole number" },
	{ "a == 08", 6, "'08' is not a whole number" },
	{ "a == 3x", 6, "'3x' is not a whole number" },
	{ "a == 1.5", 6, "'1.5' is not a whole number" },
	{ "a == - 3", 6, "'-' is not a whole number" },
	{ "h == 18446744073709551616", 6, "is not a whole number" },
	{ "a == 256", 6, "256 is out of range for an unsigned number of 8 bits" },
	{ "a == -1", 6, "-1 is out of range for an unsigned number of 8 bits" },
	{ "b == 128", 6, "128 is out of range for a signed number of 8 bits" },
	{ "b == -129", 6, "-129 is out of range for a signed number of 8 bits" },
	{ "c < 65536", 5, "65536 is out of range" },
	{ "g == 2147483648", 6, "2147483648 is out of range" },
	{ "h == -1", 6, "-1 is out of range" },
	{ "i == 9223372036854775808", 6, "is out of range" },
	{ "t == 256", 6, "256 is out of range" },
	{ "load == 1.250", 9, "'1.250' is not a number with at most 2 decimals" },
	{ "load & 1", 6, "& does not work on a real" },
	{ "wide & 1", 6, "& does not work on an f32 or f64" },
	{ "wide == 1.5x", 9, "'1.5x' is not a number" },
	{ "wide == -", 9, "'-' is not a number" },
	{ "wide == 1e", 9, "'1e' is not a number" },
	{ "wide == OP_GET", 9, "expected a number" },
	{ "op == OP_HEAD", 7, "'OP_HEAD' is not a value of 'op'; its values are OP_GET, OP_PUT, OP_DELETE" },
	{ "op < 'OP_GET'", 6, "expected a number" },
	{ "a ~ 3", 3, "~ works on texts only" },
	{ "path == abc", 9, "expected a text in quotes: path == \"abc\"" },
	{ "(path ~ *.db)", 9, "expected a text in quotes: path ~ \"*.db\"" },
	{ "path == 3", 9, "expected a text in quotes" },
	{ "path < 'a'", 6, "use ==, != or ~ to compare a text, not <" },
	{ "path & 'a'", 6, "use ==, != or ~ to compare a text" },
	{ "path == \"abc", 9, "the quote is not closed" },
	{ "path == 'it's'", 13, "expected && or ||" },
	{ "raw == 1", 1, "field 'raw' is of bytes, which filters cannot compare" },
	{ "list == 1", 1, "field 'list' is an array: compare an element, list[0] to list[2]" },
	{ "list[3] == 1", 6, "expected the number of an element, from 0 to 2" },
	{ "list[] == 1", 6, "expected the number of an element" },
	{ "list[1 == 1", 7, "expected the number of an element" },
	{ "a[0] == 1", 2, "field 'a' is not an array" },
	{ "t == yes", 6, "expected true, false or a number" },
	{ "path =~ 'a+'", 11, "this regular expression is not supported" },
	{ "path =~ 'read\\|write'", 14, "\\| is not supported in a regular expression: write [|]" },
	{ "path !~ '^\\(a\\)$'", 11, "\\( is not supported" },
	{ "path =~ '\\d'", 10, "\\d is not supported" },
};

Test(filter, mistakes_are_reported_with_their_column)
{
	_Alignas(8) unsigned char condition[REC_CONDITION_MAX];
	struct rec_filter_error error;

	for (size_t i = 0; i < sizeof(mistakes) / sizeof(mistakes[0]); i++) {
		const struct mistake *m = &mistakes[i];

		memset(&error, 0, sizeof(error));
		cr_assert_eq(rec_filter_compile(filter_event, m->filter, (struct rec_condition *)(void *)condition,
						sizeof(condition), &error),
			     -EINVAL, "%s", m->filter);
		cr_expect_eq(error.column, m->column, "%s: column %u", m->filter, error.column);
		cr_expect(strstr(error.reason, m->reason), "%s: %s", m->filter, error.reason);
	}
}

/* Without an event, exactly the errors that do not depend on the event are reported. */
Test(filter, the_grammar_alone)
{
	static const char *const right[] = {
		"sise > 3",
		"a == 1.5",
		"a >= 20.5",
		"a < -1234567890123456.25",
		"a == NAME",
		"a > 1.5e-3",
		"a ~ '*'",
		"a == 'x' && !(b & 0xff || c <= -3)",
		"a == 0777",
		"a == 1",
		"a == 18446744073709551615",
	};
	struct rec_filter_error error;

	for (size_t i = 0; i < sizeof(right) / sizeof(right[0]); i++)
		cr_expect_eq(rec_filter_check(right[i], &error), 0, "%s", right[i]);
	cr_assert_eq(rec_filter_check("a == 1 &&", &error), -EINVAL);
	cr_assert_eq(error.column, 10);
	cr_assert_eq(rec_filter_check("a < 'x'", &error), -EINVAL);
	cr_assert_eq(rec_filter_check("a ~ 1", &error), -EINVAL);
	cr_assert_eq(rec_filter_check("(a == 1", &error), -EINVAL);
	/* The field may have decimals. */
	cr_assert_eq(rec_filter_check("a == 0.1x", &error), -EINVAL);
	cr_assert_str_eq(error.reason, "'0.1x' is not a number");
}

Test(filter, limits)
{
	_Alignas(8) unsigned char bytes[REC_CONDITION_MAX];
	struct rec_condition *condition = (struct rec_condition *)(void *)bytes;
	struct rec_filter_error error;
	struct filter_record record;
	char text[16384];
	size_t used = 0;

	/* The largest number of comparisons, and one more. */
	for (unsigned int i = 0; i < REC_STEPS_MAX; i++)
		used += (size_t)sprintf(text + used, "%sa == %u", i ? " || " : "", i);
	filter_record_init(&record);
	record.a = REC_STEPS_MAX - 1;
	cr_assert(filter_try(text, &record, 0));
	record.a = REC_STEPS_MAX;
	cr_assert_not(filter_try(text, &record, 0));
	strcpy(text + used, " || a == 200");
	cr_assert_eq(rec_filter_compile(filter_event, text, condition, sizeof(bytes), &error), -EINVAL);
	cr_assert_str_eq(error.reason, "more than 128 comparisons");

	/* The deepest nesting of parentheses, and one more. */
	memset(text, '(', 32);
	strcpy(text + 32, "a==1))))))))))))))))))))))))))))))))");
	cr_assert_gt(rec_filter_compile(filter_event, text, condition, sizeof(bytes), &error), 0);
	memset(text, '(', 33);
	strcpy(text + 33, "a==1");
	cr_assert_eq(rec_filter_compile(filter_event, text, condition, sizeof(bytes), &error), -EINVAL);
	cr_assert_eq(error.column, 33);

	/* One text that is too long, and too many texts. */
	strcpy(text, "path == '");
	memset(text + 9, 'x', 255);
	strcpy(text + 9 + 255, "'");
	cr_assert_gt(rec_filter_compile(filter_event, text, condition, sizeof(bytes), &error), 0);
	strcpy(text + 9 + 255, "x'");
	cr_assert_eq(rec_filter_compile(filter_event, text, condition, sizeof(bytes), &error), -EINVAL);
	cr_assert_eq(error.column, 9);
	for (used = 0; used < 16 * 270;) {
		used += (size_t)sprintf(text + used, "%spath == '", used ? "||" : "");
		memset(text + used, 'y', 250);
		used += 250;
		used += (size_t)sprintf(text + used, "'");
	}
	cr_assert_eq(rec_filter_compile(filter_event, text, condition, sizeof(bytes), &error), -EINVAL);

	/* A condition that does not fit into the caller's room, and one that does. */
	cr_assert_eq(rec_filter_compile(filter_event, "a == 1", condition, 47, &error), -ENOSPC);
	cr_assert_eq(rec_filter_compile(filter_event, "a == 1", condition, 48, &error), 48);
}

Test(filter, the_event_of_rec_printf)
{
	_Alignas(8) unsigned char bytes[REC_CONDITION_MAX];
	struct rec_filter_error error;

	cr_assert_gt(rec_filter_compile(NULL, "common_pid == 3", (struct rec_condition *)(void *)bytes, sizeof(bytes),
					&error),
		     0);
	cr_assert_eq(rec_filter_compile(NULL, "ip == 3", (struct rec_condition *)(void *)bytes, sizeof(bytes), &error),
		     -EINVAL);
	cr_assert_str_eq(error.reason, "no field 'ip'; it has only the common fields");
}

/* ------------------------------------------------------------------------------------------- any expression */

static uint64_t state;

static unsigned int draw(unsigned int below)
{
	state = state * UINT64_C(6364136223846793005) + 1442695040888963407u;
	return (unsigned int)(state >> 33) % below;
}

/* A random expression: its text, and its value for a record with these values, computed from the tree, not by steps. */
static size_t write_expression(char *text, unsigned int depth, const int *values, bool *ret_value)
{
	static const char *const operators[] = { "==", "!=", "<", "<=", ">", ">=", "&" };
	static const char *const blanks[] = { "", " ", "  " };
	const unsigned int kind = depth ? draw(5) : 0;
	bool left, right;
	size_t used = 0;
	int value, other;
	unsigned int field, operator;

	switch (kind) {
	case 1:
		used = (size_t)sprintf(text, "!%s(", blanks[draw(3)]);
		used += write_expression(text + used, depth - 1, values, &left);
		*ret_value = !left;
		return used + (size_t)sprintf(text + used, "%s)", blanks[draw(3)]);
	case 2:
	case 3:
		used = (size_t)sprintf(text, "(");
		used += write_expression(text + used, depth - 1, values, &left);
		used += (size_t)sprintf(text + used, "%s%s", blanks[draw(3)], kind == 2 ? "&&" : "||");
		used += write_expression(text + used, depth - 1, values, &right);
		*ret_value = kind == 2 ? left && right : left || right;
		return used + (size_t)sprintf(text + used, ")");
	default:
		field = draw(4);
		operator= draw(7);
		value = values[field];
		other = (int)draw(7) - 3;
		sprintf(text, "%c %s %d%s", "bdgi"[field], operators[operator], other, blanks[draw(3)]);
		*ret_value = operator== 0 ? value == other :
			     operator== 1 ? value != other
			     :
			     operator== 2 ? value < other
			     :
			     operator== 3 ? value <= other
			     :
			     operator== 4 ? value > other
			     :
			     operator== 5 ? value >= other
					  : (value &other) != 0;
		return strlen(text);
	}
}

/* A text without parentheses, whose value follows from precedence: || of && of comparisons. */
static void write_sum(char *text, const int *values, bool *ret_value)
{
	const unsigned int sums = 1 + draw(4);
	bool value = false;

	for (unsigned int i = 0; i < sums; i++) {
		const unsigned int factors = 1 + draw(4);
		bool product = true, one;

		for (unsigned int j = 0; j < factors; j++) {
			text += sprintf(text, "%s", j ? " && " : i ? " || " : "");
			text += write_expression(text, 0, values, &one);
			product = product && one;
		}
		value = value || product;
	}
	*ret_value = value;
}

Test(filter, any_expression_has_the_value_of_its_tree)
{
	const char *seed = getenv("RECORDER_SEED");
	char text[8192];

	state = seed ? strtoull(seed, NULL, 10) : 1;
	printf("# RECORDER_SEED=%" PRIu64 "\n", state);
	for (unsigned int round = 0; round < 20000; round++) {
		const int values[4] = { (int)draw(7) - 3, (int)draw(7) - 3, (int)draw(7) - 3, (int)draw(7) - 3 };
		struct filter_record record;
		bool expected;

		filter_record_init(&record);
		record.b = (int8_t)values[0];
		record.d = (int16_t)values[1];
		record.g = values[2];
		record.i = values[3];
		if (round % 2)
			write_sum(text, values, &expected);
		else
			write_expression(text, 5, values, &expected);
		cr_assert_eq(filter_try(text, &record, 0), expected, "%s with b=%d d=%d g=%d i=%d", text, values[0],
			     values[1], values[2], values[3]);
	}
}
