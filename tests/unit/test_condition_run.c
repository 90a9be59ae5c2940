/* SPDX-License-Identifier: MIT */
/*
 * The program and a reader decide alike. rec_event_offer() runs most conditions by code of its own, so it is compared
 * with rec_filter_match() here, over random conditions: those that the compiler of filters writes, and damaged ones.
 */
#include "librecorder/core/conditions.h"
#include "librecorder/process/event_private.h"
#include "tests/unit/lane_fixture.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <librecorder/event.h>
#include <librecorder/filter.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STEPS_MAX 4u

/* The record is as long as an event of the short forms of rec_write(), or longer. */
#define RECORD_MAX 72u

static void begin(void)
{
	view_begin(64);
}

TestSuite(condition_run, .init = begin, .fini = lane_end);

static uint64_t state;

static unsigned int draw(unsigned int below)
{
	state = state * UINT64_C(6364136223846793005) + 1442695040888963407u;
	return (unsigned int)(state >> 33) % below;
}

static uint16_t draw_target(unsigned int at)
{
	static const uint16_t results[] = { REC_STEP_PASS, REC_STEP_DROP };

	/* Seldom a step that does not exist, or is not ahead. */
	return draw(3) ? results[draw(2)] : draw(8) ? (uint16_t)(at + 1) : (uint16_t)draw(STEPS_MAX + 2);
}

static struct rec_condition_step draw_step(unsigned int at, size_t record_size)
{
	static const uint8_t sizes[] = { 1, 2, 4, 8 };
	struct rec_condition_step step = { .value = draw(3) - (uint64_t)1 };

	/* Seldom a kind or size that is damaged, or for readers alone, or a field outside of the record. */
	step.test = draw(16) ? (uint8_t)(1 + draw(4)) : (uint8_t)draw(256);
	if (draw(2))
		step.test |= REC_TEST_SIGNED;
	if (!draw(8))
		step.test |= REC_TEST_CPU;
	step.size = draw(16) ? sizes[draw(4)] : (uint8_t)draw(256);
	step.offset = (uint16_t)draw((unsigned int)record_size - 7);
	if (!draw(8))
		step.offset = (uint16_t)(record_size - draw(10));
	else if (!draw(16))
		step.offset = (uint16_t)draw(UINT16_MAX + 1);
	step.yes = draw_target(at);
	step.no = draw_target(at);
	return step;
}

/* Bytes of which most are equal, so that fields of all sizes equal small numbers, and small negative ones. */
static void draw_record(unsigned char *record, size_t size)
{
	const unsigned char usual = draw(2) ? 0 : 0xff;

	for (size_t i = 0; i < size; i++)
		record[i] = draw(8) ? usual : (unsigned char)draw(3);
}

/* The places where a condition may begin: anywhere, and where the conditions end. */
static uint32_t draw_place(unsigned int nr_steps)
{
	const size_t size = sizeof(struct rec_condition) + nr_steps * sizeof(struct rec_condition_step);
	const uint32_t last = (uint32_t)(REC_CONDITIONS_SIZE - size) / REC_CONDITION_UNIT;

	return (draw(2) ? 1 + draw(last) : last - draw(200)) * REC_CONDITION_UNIT;
}

Test(condition_run, the_program_decides_as_a_reader)
{
	struct rec_handle *handle = rec_handle_get();
	static const uint32_t cpu = 1;
	const char *seed = getenv("RECORDER_SEED");
	unsigned int nr_passed = 0, nr_dropped = 0;

	cr_assert_not_null(handle);
	/* Both look at the CPU number, which must not change in between. */
	handle->cpu = &cpu;
	state = seed ? strtoull(seed, NULL, 10) : 1;
	printf("# RECORDER_SEED=%" PRIu64 "\n", state);
	for (unsigned int round = 0; round < 200000; round++) {
		const unsigned int nr_steps = 1 + draw(STEPS_MAX);
		const size_t size = 16 + draw(RECORD_MAX - 16 + 1);
		const uint32_t place = draw_place(nr_steps);
		struct rec_condition *condition = (struct rec_condition *)(void *)(rec_event_conditions + place);
		struct rec_condition_step *steps = (struct rec_condition_step *)(condition + 1);
		/* A block of exactly its length, so that tools see a read after it. */
		unsigned char *record = malloc(size);
		uint64_t before;
		int expected;

		*condition = (struct rec_condition){ .nr_steps = (uint16_t)(draw(64) ? nr_steps : draw(256)) };
		for (unsigned int i = 0; i < nr_steps; i++)
			steps[i] = draw_step(i, size);
		cr_assert_not_null(record);
		draw_record(record, size);
		before = handle->lane->tail;
		expected = rec_filter_match(condition, REC_CONDITIONS_SIZE - place, record, size,
					    cpu);
		cr_assert_eq(rec_event_offer(place / REC_CONDITION_UNIT << REC_ENABLE_CONDITION_SHIFT | REC_ENABLE_ON,
					     handle, record, size),
			     expected, "round %u: first step: test %x, size %u, offset %u, value %" PRIx64, round,
			     steps[0].test, steps[0].size, steps[0].offset, steps[0].value);
		cr_assert_eq(handle->lane->tail != before, expected, "round %u", round);
		free(record);
		nr_passed += expected == 1;
		nr_dropped += expected == 0;
	}
	/* Neither answer is rare. */
	cr_assert_gt(nr_passed, 40000);
	cr_assert_gt(nr_dropped, 40000);
}
