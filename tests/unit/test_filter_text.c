/* SPDX-License-Identifier: MIT */
/*
 * Compiled filters as text: the texts are the expected ones, compiling a text gives the same condition again for any
 * expression, and damaged conditions are refused.
 */
#include "filter_fixture.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <librecorder/event_text.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "librecorder/core/filter_text.h"

union condition {
	struct rec_condition head;
	unsigned char bytes[REC_CONDITION_MAX];
};

static size_t compile(const char *text, union condition *ret_condition)
{
	struct rec_filter_error error;
	const int size = rec_filter_compile(filter_event, text, &ret_condition->head, sizeof(*ret_condition), &error);

	cr_assert_gt(size, 0, "%s: %s", text, error.reason);
	return (size_t)size;
}

static int text_of(const union condition *condition, size_t size, char *text, size_t room)
{
	struct rec_event_info info;

	cr_assert_eq(rec_event_parse(filter_event, &info), 0);
	return rec_filter_text(&condition->head, size, &info, text, room);
}

Test(filter_text, as_it_was_given)
{
	static const char *const filters[] = {
		"a == 200",
		"b != -1",
		"c < 3",
		"d <= -32768",
		"e > 4294967294",
		"i >= -5",
		"c & 6",
		"!(c & 6)",
		"x == 0xdeadbeef",
		"t == true",
		"t != false",
		"load >= -0.75",
		"load < 12.05",
		"ratio < 0.5",
		"ratio != 0.1",
		"ratio > -1e999",
		"!(ratio >= 2)",
		"wide <= 1e+300",
		"wide == -0.30000000000000004",
		"op == OP_PUT",
		"op != OP_DELETE",
		"path == \"a text\"",
		"path != 'with \"quotes\"'",
		"path ~ \"*.db\"",
		"!(path ~ \"*.db\")",
		"list[2] == 7",
		"common_pid == 4711",
		"common_type == 1",
		"CPU != 3",
		"a == 1 && b == 2 && c == 3",
		"a == 1 || b == 2 || c == 3",
		"a == 1 && b == 2 || c == 3 && d == 4",
		"(a == 1 || b == 2) && (c == 3 || d == 4)",
		"a == 1 && (b == 2 || c == 3 && (d == 4 || e == 5)) || g == 6",
	};

	for (size_t i = 0; i < sizeof(filters) / sizeof(filters[0]); i++) {
		union condition condition;
		const size_t size = compile(filters[i], &condition);
		char text[1024];

		cr_expect_eq(text_of(&condition, size, text, sizeof(text)), (int)strlen(filters[i]), "%s", filters[i]);
		cr_expect_str_eq(text, filters[i]);
	}
}

Test(filter_text, negations_move_inwards)
{
	static const char *const filters[][2] = {
		{ "!(a == 1 && b < 2)", "a != 1 || b >= 2" },
		{ "!(a == 1 || !(b > 2 && path ~ '*x'))", "a != 1 && b > 2 && path ~ \"*x\"" },
		{ "!(op == OP_GET)", "op != OP_GET" },
		{ "((a == 1))", "a == 1" },
		/* Only the first ! of a pattern negates. */
		{ "path ~ '!!a*'", "!(path ~ \"\\!a*\")" },
		{ "!(path ~ '!!a*')", "path ~ \"\\!a*\"" },
	};

	for (size_t i = 0; i < sizeof(filters) / sizeof(filters[0]); i++) {
		union condition condition;
		const size_t size = compile(filters[i][0], &condition);
		char text[1024];

		cr_expect_geq(text_of(&condition, size, text, sizeof(text)), 0);
		cr_expect_str_eq(text, filters[i][1]);
	}
}

/* A random expression; every comparison has a number of its own, so that none can stand for another. */
static size_t put_random(char *text, size_t at, unsigned int depth, unsigned int *seed, unsigned int *number)
{
	const unsigned int what = depth ? (unsigned int)rand_r(seed) % 5 : 0;

	if (!what)
		return at + (size_t)sprintf(text + at, "h %s %u", rand_r(seed) % 2 ? "==" : ">", ++*number);
	at += (size_t)sprintf(text + at, what > 3 ? "!(" : "(");
	at = put_random(text, at, depth - 1, seed, number);
	at += (size_t)sprintf(text + at, what & 1 ? " && " : " || ");
	at = put_random(text, at, depth - 1, seed, number);
	return at + (size_t)sprintf(text + at, ")");
}

Test(filter_text, any_expression_compiles_to_the_same_condition)
{
	unsigned int seed = 1;

	for (unsigned int i = 0; i < 2000; i++) {
		union condition condition = { .bytes = { 0 } }, again = { .bytes = { 0 } };
		char filter[8192], text[8192];
		unsigned int number = 0;
		size_t size;

		put_random(filter, 0, i % 6, &seed, &number);
		size = compile(filter, &condition);
		cr_assert_gt(text_of(&condition, size, text, sizeof(text)), 0, "%s", filter);
		cr_assert_eq(compile(text, &again), size, "%s: %s", filter, text);
		cr_assert_eq(memcmp(&condition, &again, size), 0, "%s: %s", filter, text);
	}
}

/* A pattern that begins with a ! survives writing and compiling. */
Test(filter_text, patterns_stay_the_same)
{
	static const char *const texts[] = { "", "!", "a", "!a", "!!a" };
	static const char *const filters[] = { "path ~ '!!'", "path ~ '!!a'", "path ~ '!a'", "path ~ '!!!a'",
					       "path =~ '^!a$'", "path !~ '^!'" };
	struct filter_record record;

	for (size_t i = 0; i < sizeof(filters) / sizeof(filters[0]); i++) {
		union condition condition;
		const size_t size = compile(filters[i], &condition);
		char text[64];

		cr_assert_gt(text_of(&condition, size, text, sizeof(text)), 0);
		for (size_t j = 0; j < sizeof(texts) / sizeof(texts[0]); j++) {
			filter_record_init(&record);
			filter_record_text(&record, &record.path, texts[j], strlen(texts[j]) + 1);
			cr_expect_eq(filter_try(filters[i], &record, 0), filter_try(text, &record, 0), "%s, %s: '%s'",
				     filters[i], text, texts[j]);
		}
	}
}

/* The text has brackets as deep as the compiler accepts, and so the compiler accepts the text that is written. */
Test(filter_text, the_deepest_filter)
{
	union condition condition, again;
	char filter[1024] = "", text[1024];
	size_t size;

	for (unsigned int i = 0; i < 32; i++)
		strcat(filter, "(a == 1 || b == 2 && ");
	strcat(filter, "!c & 6");
	for (unsigned int i = 0; i < 32; i++)
		strcat(filter, ")");
	strcat(filter, " && d == 3");
	size = compile(filter, &condition);
	cr_assert_gt(text_of(&condition, size, text, sizeof(text)), 0);
	cr_expect(strstr(text, "&& !c & 6)"), "%s", text);
	cr_expect_eq(compile(text, &again), size);
	cr_expect_eq(memcmp(&condition, &again, size), 0, "%s", text);
}

Test(filter_text, too_little_room)
{
	union condition condition;
	const size_t size = compile("a == 1 && b == 2", &condition);
	char text[32];

	for (size_t room = 0; room <= strlen("a == 1 && b == 2"); room++)
		cr_expect_eq(text_of(&condition, size, text, room), -ENOSPC);
	cr_expect_eq(text_of(&condition, size, text, strlen("a == 1 && b == 2") + 1), (int)strlen("a == 1 && b == 2"));
}

Test(filter_text, without_a_filter_there_is_no_text)
{
	union condition condition = { .head = { .size = sizeof(struct rec_condition), .rate = 5 } };
	char text[8] = "x";

	cr_expect_eq(text_of(&condition, sizeof(struct rec_condition), text, sizeof(text)), 0);
	cr_expect_str_eq(text, "");
}

/* After a change of any byte, the result is a text or an error, with work in proportion to the condition. */
Test(filter_text, damaged_conditions)
{
	union condition condition;
	const size_t size = compile("a == 1 && (b == 2 || path == 'text') || op != OP_GET", &condition);
	unsigned int refused = 0;
	char text[1024];

	for (size_t at = 0; at < size; at++)
		for (unsigned int bit = 0; bit < 8; bit++) {
			unsigned char *exact = malloc(size);
			union condition *damaged = (union condition *)(void *)exact;
			int r;

			memcpy(exact, &condition, size);
			exact[at] ^= (unsigned char)(1u << bit);
			r = text_of(damaged, size, text, sizeof(text));
			cr_assert(r >= 0 || r == -EBADMSG);
			refused += r < 0;
			free(exact);
		}
	cr_expect_gt(refused, 100u);
}
