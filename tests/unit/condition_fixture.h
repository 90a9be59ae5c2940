/* SPDX-License-Identifier: MIT */
/*
 * A program with an event that has conditions, and the clock of their rates. For inclusion in one source file, linked
 * with --wrap=rec_clock_mono.
 */
#ifndef CONDITION_FIXTURE_H
#define CONDITION_FIXTURE_H

#include "tests/unit/lane_fixture.h"

#include <criterion/criterion.h>
#include <librecorder/event.h>
#include <librecorder/filter.h>
#include <string.h>

REC_EVENT(cond, one, u32(n), string(text));

#define ONE rec_event_cond__one

/* The clock of rates, stopped; 0: it runs. */
static uint64_t clock_ns;
uint64_t __real_rec_clock_mono(void);
uint64_t __wrap_rec_clock_mono(void);

uint64_t __wrap_rec_clock_mono(void)
{
	const uint64_t now = rec_load_relaxed(&clock_ns);

	return now ? now : __real_rec_clock_mono();
}

static inline void begin(void)
{
	view_begin(64);
}

/* Writes events 0 to nr - 1. Returns how many of them are in the lane since the last call, and their sum. */
static inline unsigned int write_some(unsigned int nr, uint64_t *ret_sum)
{
	struct rec_view_event event;
	unsigned int count = 0;

	*ret_sum = 0;
	for (unsigned int i = 0; i < nr; i++)
		REC(cond, one, i, i % 2 ? "odd" : "even");
	while (rec_view_consume(view, REC_ALL_LANES, &event) == 1) {
		uint32_t n;

		cr_assert_eq(event.lost, 0);
		memcpy(&n, (const char *)event.record.payload + REC_EVENT_COMMON_SIZE, sizeof(n));
		*ret_sum += n;
		count++;
	}
	return count;
}

static inline void expect(unsigned int count, uint64_t sum)
{
	uint64_t seen;

	cr_expect_eq(write_some(10, &seen), count);
	cr_expect_eq(seen, sum);
}

#endif
