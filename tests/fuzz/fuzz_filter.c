/* SPDX-License-Identifier: MIT */
/*
 * Filters from untrusted sources: any text is compiled, or refused with a position in it; any bytes as condition and
 * record are evaluated without a read outside of them. Each is at the end of its memory, after which nothing is
 * accessible, so this finds errors without a sanitizer, too.
 */
#include "tests/unit/filter_fixture.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define PAGE 4096u

static uint64_t state;

static unsigned int draw(unsigned int below)
{
	state = state * UINT64_C(6364136223846793005) + 1442695040888963407u;
	return (unsigned int)(state >> 33) % below;
}

static unsigned int begin(void)
{
	const char *seed = getenv("RECORDER_SEED"), *rounds = getenv("RECORDER_FUZZ_ROUNDS");

	state = seed ? strtoull(seed, NULL, 10) : 1;
	printf("# RECORDER_SEED=%" PRIu64 "\n", state);
	return rounds ? (unsigned int)strtoul(rounds, NULL, 10) : 200000;
}

/* The end of a page before an inaccessible one. */
static unsigned char *end_of_memory(void)
{
	unsigned char *map = mmap(NULL, 2 * (size_t)PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	cr_assert_neq(map, MAP_FAILED);
	cr_assert_eq(mprotect(map + PAGE, PAGE, PROT_NONE), 0);
	return map + PAGE;
}

static void fill(unsigned char *at, size_t size)
{
	for (size_t i = 0; i < size; i++)
		at[i] = (unsigned char)(draw(3) ? draw(256) : draw(3) * 0x7f);
}

/* The condition begins with a valid string; a step may compare any part of the condition with it. */
static void put_string(unsigned char *record, size_t size)
{
	const uint32_t location = 4 | (uint32_t)(size - 4) << 16;

	memcpy(record, &location, sizeof(location));
}

/*
 * Random bytes would not make a valid step. So heads, kinds and jumps are mostly chosen so that evaluation continues.
 */
static void make_condition(unsigned char *at, size_t size)
{
	struct rec_condition head;
	const size_t steps = size < sizeof(head) ? 0 : (size - sizeof(head)) / sizeof(struct rec_condition_step);

	fill(at, size);
	if (size < sizeof(head) || !draw(20))
		return;
	memcpy(&head, at, sizeof(head));
	head.size = (uint32_t)size;
	head.nr_steps = draw(10) ? (uint16_t)(steps ? draw((unsigned int)steps) + 1 : 0) : (uint16_t)draw(UINT16_MAX);
	memcpy(at, &head, sizeof(head));
	for (size_t i = 0; i < steps; i++) {
		struct rec_condition_step step = {
			.test = (uint8_t)((draw(3) ? 1 + draw(4) : draw(8)) | (draw(4) ? 0 : REC_TEST_SIGNED) |
					  (draw(8) ? 0 : REC_TEST_CPU)),
			.size = (uint8_t)(draw(10) ? 1u << draw(4) : draw(256)),
			.offset = (uint16_t)draw(draw(3)   ? 1
						 : draw(8) ? 40
							   : UINT16_MAX),
			.yes = (uint16_t)(draw(4) ? i + 1 : draw(UINT16_MAX)),
			.no = (uint16_t)(draw(2)   ? REC_STEP_DROP
					 : draw(2) ? i + 1 + draw(3)
						   : REC_STEP_PASS),
			.value = draw(2) ? draw((unsigned int)size + 9) | (uint64_t)draw((unsigned int)size + 9) << 32
					 : state,
		};

		if (draw(20))
			memcpy(at + sizeof(head) + i * sizeof(step), &step, sizeof(step));
	}
}

Test(filter, no_condition_leads_outside)
{
	unsigned char *const condition_end = end_of_memory(), *const record_end = end_of_memory();
	const unsigned int rounds = begin();
	unsigned int passed = 0;

	for (unsigned int round = 0; round < rounds; round++) {
		/* Conditions are aligned to 16. */
		const size_t size = draw(20) * 16, record_size = draw(80);

		make_condition(condition_end - size, size);
		fill(record_end - record_size, record_size);
		if (record_size > 4 && draw(2))
			put_string(record_end - record_size, record_size);
		passed += rec_filter_match((const struct rec_condition *)(const void *)(condition_end - size), size,
					   record_end - record_size, record_size, draw(8));
	}
	/* Some records passed their filter, and some did not. */
	cr_assert_gt(passed, rounds / 100);
	cr_assert_lt(passed, rounds - rounds / 100);
}

/* Words of the grammar. */
static const char *const words[] = {
	"a", "b", "g", "h", "path", "sub", "op", "load", "raw", "list", "CPU", "common_pid", "none", "OP_GET", "==",
	"!=", "<", "<=", ">", ">=", "&", "~", "&&", "||", "!", "(", ")", "'x*'", "\"[a-\"", "'", "\"", "0", "-1",
	"0x1f", "077", "1.25", "99999999999999999999", " ", "  ", "\t", "5", "200",
};

/* Words and characters, combined at random. */
static size_t make_text(char *text, size_t max)
{
	const unsigned int nr = draw(24);
	size_t used = 0;

	for (unsigned int i = 0; i < nr; i++) {
		char c[2] = { (char)(1 + draw(255)), '\0' };
		const char *word = draw(12) ? words[draw(sizeof(words) / sizeof(words[0]))] : c;

		if (used + strlen(word) + 2 > max)
			break;
		strcpy(text + used, word);
		used += strlen(word);
		if (draw(2))
			text[used++] = ' ';
	}
	text[used] = '\0';
	return used;
}

/*
 * A record that has all fields of compiled conditions, so that none of these passes an event as an invalid condition.
 */
Test(filter, any_text_is_compiled_or_refused)
{
	_Alignas(8) unsigned char bytes[REC_CONDITION_MAX];
	struct rec_condition *condition = (struct rec_condition *)(void *)bytes;
	unsigned char *const text_end = end_of_memory();
	const unsigned int rounds = begin();
	struct rec_filter_error error;
	struct filter_record record;
	unsigned int compiled = 0;
	char text[256];

	filter_record_init(&record);
	filter_record_text(&record, &record.path, "xyz", 4);
	for (unsigned int round = 0; round < rounds; round++) {
		const size_t size = make_text(text, sizeof(text));
		char *const at = (char *)text_end - size - 1;
		int r, grammar;

		memcpy(at, text, size + 1);
		memset(&error, 0, sizeof(error));
		grammar = rec_filter_check(at, &error);
		r = rec_filter_compile(filter_event, at, condition, sizeof(bytes), &error);
		if (r < 0) {
			cr_assert_eq(r, -EINVAL);
			cr_assert(error.column >= 1 && error.column <= size + 1, "column %u of '%s'", error.column, at);
			cr_assert(error.reason[0] && memchr(error.reason, '\0', sizeof(error.reason)));
			continue;
		}
		/* A text that compiles for an event also passes the check without an event. */
		cr_assert_eq(grammar, 0, "%s", at);
		cr_assert_eq((uint32_t)r, condition->size);
		(void)rec_filter_match(condition, (size_t)r, &record, sizeof(record), 0);
		compiled++;
	}
	cr_assert_gt(compiled, 0);
}
