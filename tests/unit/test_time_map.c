/* SPDX-License-Identifier: MIT */
/*
 * Conversion of a clock to nanoseconds: the stated bound holds, time never goes back, and bad anchors have little
 * effect.
 */
#include "format/weave/time_map.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>

#define MS UINT64_C(1000000)
#define S  UINT64_C(1000000000)

static struct time_map map_of(const struct rec_anchor *anchors, unsigned int nr)
{
	struct time_map map;

	cr_assert_eq(time_map_init(&map, REC_CLOCK_TSC, anchors, nr), 0);
	return map;
}

static uint64_t ns_of(const struct time_map *map, uint64_t clock)
{
	unsigned int hint = 0;

	return time_map_ns(map, &hint, clock);
}

static uint64_t apart(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

Test(time_map, monotonic_is_itself)
{
	struct time_map map;

	cr_assert_eq(time_map_init(&map, REC_CLOCK_MONO, NULL, 0), 0);
	cr_assert_eq(ns_of(&map, 12345), 12345);
	cr_assert_eq(ns_of(&map, UINT64_MAX), UINT64_MAX);
	cr_assert_eq(time_map_error(&map, 12345), 0);
	time_map_free(&map);
	cr_assert_eq(time_map_init(&map, 77, NULL, 0), -EINVAL);
}

Test(time_map, few_anchors)
{
	const struct rec_anchor one = { 1000, 5000, 0, 10 };
	/* A program of 2 ms is shorter than the grain, and its rate is still known. */
	const struct rec_anchor two[] = { { 10 * MS, 100 * MS, 0, 20 }, { 16 * MS, 102 * MS, 0, 20 } };
	struct time_map map = map_of(NULL, 0);

	cr_assert_eq(time_map_error(&map, 5), UINT64_MAX);
	cr_assert_eq(ns_of(&map, 5), 5);
	time_map_free(&map);
	map = map_of(&one, 1);
	cr_assert_eq(time_map_error(&map, 1000), UINT64_MAX);
	cr_assert_eq(ns_of(&map, 1100), 5100);
	cr_assert_eq(ns_of(&map, 900), 4900);
	time_map_free(&map);
	map = map_of(two, 2);
	cr_assert_leq(apart(ns_of(&map, 13 * MS), 101 * MS), 1);
	cr_assert_leq(apart(ns_of(&map, 19 * MS), 103 * MS), 1);
	cr_assert_leq(apart(ns_of(&map, 7 * MS), 99 * MS), 1);
	cr_assert_leq(time_map_error(&map, 13 * MS), 22);
	/*
	 * A millisecond outside of two anchors: if each is off by 20 ns in opposite directions, the slope adds 20 ns
	 * more.
	 */
	cr_assert_geq(time_map_error(&map, 19 * MS), 40);
	cr_assert_leq(time_map_error(&map, 19 * MS), 100);
	time_map_free(&map);
}

/* A true clock of 2.5 GHz whose rate drifts as under NTP; anchors with errors of their own, some of them large. */
static double true_ns(double clock)
{
	const double t = clock / 2.5;

	return 7e12 + t + 4e-6 * t * t / 60e9;
}

#define NR_ANCHORS 200

static void make_anchors(struct rec_anchor *anchors, unsigned int *seed, bool wild)
{
	unsigned int i;

	for (i = 0; i < NR_ANCHORS; i++) {
		const uint64_t clock = (uint64_t)((double)i * 60e9 / NR_ANCHORS * 2.5) + (uint64_t)rand_r(seed) % 1000;
		const uint64_t error = wild && i % 7 == 3 ? 50000 : 20 + (uint64_t)rand_r(seed) % 30;
		const int64_t off = (int64_t)((uint64_t)rand_r(seed) % (2 * error)) - (int64_t)error;

		anchors[i] = (struct rec_anchor){ clock, (uint64_t)true_ns((double)clock) + (uint64_t)off, 0, error };
	}
}

static void check_bound(const struct time_map *map, uint64_t bound_max)
{
	const uint64_t last = (uint64_t)(60e9 * 2.5 * 1.2);
	unsigned int hint = 0;
	uint64_t before = 0;
	uint64_t clock;

	for (clock = 0; clock < last; clock += 9999991) {
		const uint64_t ns = time_map_ns(map, &hint, clock);
		const uint64_t bound = time_map_error(map, clock);

		cr_assert_geq(ns, before);
		cr_assert_leq(bound, bound_max + (clock > (uint64_t)(59e9 * 2.5) ? 1000000 : 0));
		if (clock < (uint64_t)(59.6e9 * 2.5))
			cr_assert_leq(apart(ns, (uint64_t)true_ns((double)clock)), bound + 2, "clock %lu", clock);
		before = ns;
	}
}

Test(time_map, the_bound_holds)
{
	struct rec_anchor anchors[NR_ANCHORS];
	unsigned int seed;

	for (seed = 1; seed < 20; seed++) {
		unsigned int state = seed;
		struct time_map map;
		unsigned int i;

		make_anchors(anchors, &state, seed % 2);
		/* The result does not depend on the order of the anchors. */
		for (i = 0; i < NR_ANCHORS; i++) {
			const unsigned int j = (unsigned int)rand_r(&state) % NR_ANCHORS;
			const struct rec_anchor anchor = anchors[i];

			anchors[i] = anchors[j];
			anchors[j] = anchor;
		}
		map = map_of(anchors, NR_ANCHORS);
		/* 50 ns each plus the clock's drift in 300 ms: far less than the 50 us of the wrong anchors. */
		check_bound(&map, 300);
		time_map_free(&map);
	}
}

Test(time_map, anchors_that_contradict_each_other)
{
	const struct rec_anchor anchors[] = {
		{ 1 * S, 10 * S, 0, 10 },
		{ 2 * S, 11 * S, 0, 10 },
		{ 2 * S + 100, 10 * S, 0, 10 }, /* the time goes back */
		{ 3 * S, 12 * S, 0, 10 },
		{ 3 * S, 13 * S, 0, 5 }, /* the clock has this value twice */
		{ UINT64_MAX, 14 * S, 0, UINT64_MAX },
		{ 4 * S, 13 * S, 0, 10 },
	};
	struct time_map map = map_of(anchors, sizeof(anchors) / sizeof(anchors[0]));
	unsigned int hint = 0;
	uint64_t before = 0;
	uint64_t clock;

	for (clock = 0; clock < 6 * S; clock += 12345678) {
		const uint64_t ns = time_map_ns(&map, &hint, clock);

		cr_assert_geq(ns, before);
		before = ns;
	}
	/* Contradictions between anchors increase the bound. */
	cr_assert_geq(time_map_error(&map, 2 * S), S / 2);
	time_map_free(&map);
}

/*
 * The conversion by TSC2NSEC in trace-cmd 3.1.6: an int as multiplier, two products of 32 bits, and no shift above 32.
 */
static uint64_t multiply_as_viewers(uint64_t ts, uint32_t mult, uint32_t shift)
{
	const uint64_t low = (uint32_t)ts;
	const uint64_t high = ts >> 32;

	cr_assert_leq(mult, INT32_MAX);
	cr_assert_leq(shift, 32);
	return ((low * mult) >> shift) + ((high * mult) << (32 - shift));
}

Test(time_map, one_line_for_viewers)
{
	struct rec_anchor anchors[NR_ANCHORS];
	unsigned int state = 5;
	const uint64_t from = (uint64_t)(10e9 * 2.5);
	const uint64_t to = (uint64_t)(11e9 * 2.5);
	struct time_line line;
	struct time_map map;
	uint64_t error, clock;

	make_anchors(anchors, &state, false);
	map = map_of(anchors, NR_ANCHORS);
	time_map_line(&map, from, to, &line);
	error = time_map_line_error(&map, &line, from, to);
	cr_assert_leq(error, 300);
	for (clock = from; clock <= to; clock += 1234567) {
		const uint64_t shown = multiply_as_viewers(clock, line.mult, line.shift) + (uint64_t)line.offset;

		/* The viewers compute two halves, and round each down. */
		cr_assert_leq(apart(shown, ns_of(&map, clock)), error + 1);
	}
	time_map_free(&map);
}

/* The multiplier is 2^32 divided by the clock's GHz: below 2 GHz it does not fit an int without a smaller shift. */
Test(time_map, one_line_for_viewers_of_slow_clocks)
{
	uint64_t mhz;

	for (mhz = 100; mhz <= 4000; mhz += 100) {
		const uint64_t ticks = mhz * UINT64_C(1000000); /* in a second */
		const struct rec_anchor anchors[] = { { 10 * ticks, 3 * S, 0, 10 }, { 20 * ticks, 13 * S, 0, 10 } };
		struct time_map map = map_of(anchors, 2);
		struct time_line line;
		uint64_t error, clock;

		time_map_line(&map, 10 * ticks, 20 * ticks, &line);
		error = time_map_line_error(&map, &line, 10 * ticks, 20 * ticks);
		cr_assert_leq(error, 10);
		for (clock = 10 * ticks; clock <= 20 * ticks; clock += ticks / 7) {
			const uint64_t scaled = multiply_as_viewers(clock, line.mult, line.shift);

			cr_assert_leq(apart(scaled + (uint64_t)line.offset, ns_of(&map, clock)), error + 1);
		}
		time_map_free(&map);
	}
}

/* A clock that changes its rate half-way is farthest from its chord there. */
Test(time_map, one_line_has_its_error)
{
	const struct rec_anchor anchors[] = { { 0, 0, 0, 10 }, { S, S, 0, 10 }, { 2 * S, 2 * S + 1000, 0, 10 } };
	struct time_map map = map_of(anchors, 3);
	struct time_line line;

	time_map_line(&map, 0, 2 * S, &line);
	/* The middle of both is the same; the ends are 500 off. */
	cr_assert_leq(apart(time_map_line_error(&map, &line, 0, 2 * S), 500), 2);
	time_map_line(&map, 0, S, &line);
	cr_assert_leq(time_map_line_error(&map, &line, 0, S), 2);
	time_map_free(&map);
}
