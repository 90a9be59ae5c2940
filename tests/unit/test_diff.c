/* SPDX-License-Identifier: MIT */
/*
 * recorder diff over simulated runs of a program with a hundred spans. Durations are skewed and depend on the ones
 * before; a run as a whole is faster or slower than others, and so is each of its spans. If the programs are equal, at
 * most 5 % of the pairs give an alarm. If one span is slowed down by 5 %, it is found, and listed first.
 *
 * RECORDER_DIFF_PAIRS=N compares N pairs of each kind, and finds N / 5 changes, instead of 20 and 4.
 */
#include "cli/ask/diff_sides.h"
#include "cli/common/opts.h"
#include "format/diff/diff.h"

#include "repeat.h"
#include "tell.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define NR_SPANS   100u
#define VALUES_MAX 600u
#define RUNS_MAX   12u

static unsigned long long pairs = 20;
static uint64_t state;
static char names[NR_SPANS][32];
static struct diff_series series[NR_SPANS];
static struct blob values[NR_SPANS][RUNS_MAX];

static double uniform(void)
{
	state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return ((double)(state >> 11) + 0.5) / 9007199254740992.0;
}

static double normal(void)
{
	return sqrt(-2 * log(uniform())) * cos(2 * acos(-1) * uniform());
}

/* The differences between runs of one program, as standard deviations of logarithms. */
struct world {
	double of_run;	/* common to all spans of a run */
	double of_span; /* of each span of a run */
	double memory;	/* correlation of a duration with the previous one */
};

static const struct world still = { 0, 0, 0 }, usual = { 0.02, 0.003, 0.3 };
static const struct world calm = { 0.005, 0.003, 0.3 }, rough = { 0.05, 0.02, 0.8 };

/* Noise in time order: each span of a run gets a piece that begins at a random place. */
#define NR_NOISE (1u << 20)
static double noise[NR_NOISE + VALUES_MAX];

static void make_noise(const struct world *world)
{
	const double rest = sqrt(1 - world->memory * world->memory);

	noise[0] = normal();
	for (unsigned int i = 1; i < NR_NOISE + VALUES_MAX; i++)
		noise[i] = world->memory * noise[i - 1] + rest * normal();
}

static void make_run(const struct world *world, unsigned int run, unsigned int nr_values, unsigned int slowed,
		     double by)
{
	const double all = world->of_run * normal();

	for (unsigned int i = 0; i < NR_SPANS; i++) {
		const double shift = all + world->of_span * normal() + (i == slowed ? log(by) : 0);
		const double sigma = 0.02 + 0.0004 * i;
		const double *from = noise + (size_t)(uniform() * NR_NOISE);

		for (unsigned int k = 0; k < nr_values; k++) {
			const double ns = rint(1000.0 * (i + 1) * exp(shift + sigma * from[k]));

			blob_put(&values[i][run], &ns, sizeof(ns));
		}
		cr_assert_eq(values[i][run].error, 0);
	}
}

static void forget(void)
{
	for (unsigned int i = 0; i < NR_SPANS; i++) {
		for (unsigned int run = 0; run < RUNS_MAX; run++)
			values[i][run].size = 0;
	}
}

static struct diff_result compare(const struct world *world, unsigned int runs_a, unsigned int runs_b,
				  unsigned int slowed, double by, double threshold)
{
	const struct diff_options options = { .threshold = threshold };
	struct diff_result result;

	/* The comparison uses one value of each run, or 12 parts of each. */
	const unsigned int nr_values = runs_a + runs_b < DIFF_RUNS_ENOUGH ? VALUES_MAX : 300;

	forget();
	for (unsigned int run = 0; run < runs_a + runs_b; run++)
		make_run(world, run, nr_values, run < runs_a ? NR_SPANS : slowed, by);
	cr_assert_eq(diff_compare(series, NR_SPANS, runs_a, runs_b, &options, &result), 0);
	cr_assert_gt(result.nr_rows, NR_SPANS);
	return result;
}

static void setup(void)
{
	unsigned long long seed = 1;

	repeat_numbers("RECORDER_SEED", &seed, 1);
	repeat_numbers("RECORDER_DIFF_PAIRS", &pairs, 1);
	repeat_by("RECORDER_SEED=%llu RECORDER_DIFF_PAIRS=%llu", seed, pairs);
	tell("seed %llu", seed);
	state = seed * UINT64_C(0x9e3779b97f4a7c15);
	for (unsigned int i = 0; i < NR_SPANS; i++) {
		snprintf(names[i], sizeof(names[i]), "work:step%u", i);
		series[i] = (struct diff_series){ .kind = DIFF_SPAN, .name = names[i], .class = "", .runs = values[i] };
	}
}

static void teardown(void)
{
	for (unsigned int i = 0; i < NR_SPANS; i++) {
		for (unsigned int run = 0; run < RUNS_MAX; run++)
			blob_free(&values[i][run]);
	}
}

TestSuite(diff, .init = setup, .fini = teardown, .timeout = 300);

/*
 * ------------------------------------------------------------------------------------------------------ false alarms
 */

/* 5 % of the pairs; if there are few, two standard deviations more. */
static double alarms_max(void)
{
	const double nr = (double)pairs;

	return 0.05 * nr + (pairs < 200 ? 2 * sqrt(0.05 * 0.95 * nr) : 0);
}

static void equal_programs(const char *what, const struct world *world, unsigned int runs_a, unsigned int runs_b,
			   double threshold)
{
	unsigned int alarms = 0;

	make_noise(world);
	for (unsigned int pair = 0; pair < pairs; pair++) {
		struct diff_result result = compare(world, runs_a, runs_b, NR_SPANS, 1, threshold);

		alarms += result.nr_changed > 0;
		diff_result_free(&result);
	}
	tell("%s, %u runs against %u: %u of %llu pairs of equal programs give an alarm", what, runs_a, runs_b, alarms,
	     pairs);
	cr_assert(alarms <= alarms_max(), "%s, %u runs against %u: %u alarms", what, runs_a, runs_b, alarms);
}

/* Without a threshold, so that only the tests decide. */
Test(diff, equal_programs_in_a_still_world)
{
	equal_programs("still", &still, 1, 1, 0);
}

Test(diff, equal_programs_one_run)
{
	equal_programs("usual", &usual, 1, 1, -1);
	equal_programs("rough", &rough, 1, 1, -1);
}

Test(diff, equal_programs_several_runs)
{
	equal_programs("usual", &usual, 3, 3, -1);
	equal_programs("rough", &rough, 5, 1, -1);
}

/*
 * ------------------------------------------------------------------------------------------------------------ changes
 */

/* The number of `rounds` in which the slowed span was found first. */
static unsigned int found_first(const struct world *world, unsigned int runs_a, unsigned int runs_b, double by,
				unsigned int rounds)
{
	unsigned int found = 0;

	make_noise(world);
	for (unsigned int round = 0; round < rounds; round++) {
		const unsigned int slowed = (unsigned int)(uniform() * NR_SPANS);
		struct diff_result result = compare(world, runs_a, runs_b, slowed, by, -1);
		const struct diff_row *first = result.rows;

		if (result.nr_changed && first->series == &series[slowed]) {
			found++;
			cr_assert(first->low <= first->change && first->change <= first->high);
			cr_assert(runs_a == 1 || (first->effect > 0) == (by > 1));
		}
		diff_result_free(&result);
	}
	tell("changed by %g, %u runs against %u: found first in %u of %u", by, runs_a, runs_b, found, rounds);
	return found;
}

Test(diff, a_change_of_five_percent_is_found_first)
{
	const unsigned int rounds = (unsigned int)pairs / 5;

	cr_assert_eq(found_first(&usual, 1, 1, 1.05, rounds), rounds);
	cr_assert_eq(found_first(&calm, 6, 6, 1.05, rounds), rounds);
	cr_assert_eq(found_first(&calm, 6, 6, 1 / 1.05, rounds), rounds);
}

/* If all spans take 50 % longer, none differs from the others, but the change is still reported. */
Test(diff, what_all_have_in_common)
{
	const struct diff_options options = { .threshold = -1 };
	struct diff_result result;

	make_noise(&usual);
	make_run(&usual, 0, VALUES_MAX, NR_SPANS, 1);
	for (unsigned int i = 0; i < NR_SPANS; i++) {
		for (unsigned int k = 0; k < VALUES_MAX; k++) {
			const double ns = ((double *)(void *)values[i][0].data)[k] * 1.5;

			blob_put(&values[i][1], &ns, sizeof(ns));
		}
	}
	cr_assert_eq(diff_compare(series, NR_SPANS, 1, 1, &options, &result), 0);
	cr_assert_eq(result.nr_changed, 1);
	cr_assert_null(result.rows[0].series);
	cr_assert_float_eq(result.rows[0].change, 0.5, 0.01);
	diff_result_free(&result);
}

/*
 * ------------------------------------------------------------------------------------------------------- other kinds
 */

static void put(unsigned int place, unsigned int run, double value)
{
	blob_put(&values[place][run], &value, sizeof(value));
	cr_assert_eq(values[place][run].error, 0);
}

/* 12 parts of a run, 3 more events of the second kind in each part of side B; a third kind that only side B has. */
Test(diff, numbers_of_events)
{
	const struct diff_options options = { .threshold = -1 };
	struct diff_result result;

	for (unsigned int i = 0; i < 3; i++)
		series[i].kind = DIFF_COUNT;
	for (unsigned int run = 0; run < 2; run++) {
		for (unsigned int part = 0; part < DIFF_PARTS; part++) {
			put(0, run, 50 + part % 3);
			put(1, run, 10 + part % 3 + 3 * run);
			put(2, run, 7 * run);
		}
	}
	cr_assert_eq(diff_compare(series, 3, 1, 1, &options, &result), 0);
	cr_assert_eq(result.nr_rows, 3);
	cr_assert_eq(result.nr_changed, 2);
	cr_assert_eq(result.rows[0].series, &series[2]);
	cr_assert(isinf(result.rows[0].change) && result.rows[0].change > 0);
	cr_assert_float_eq(result.rows[0].b, 84, 1e-9);
	cr_assert_eq(result.rows[1].series, &series[1]);
	cr_assert_float_eq(result.rows[1].change, 36.0 / 132, 1e-9);
	diff_result_free(&result);
}

/* The span takes as long as before, but half of it is now spent waiting. */
Test(diff, classes)
{
	const struct diff_options options = { .threshold = -1 };
	struct diff_result result;

	series[1] = (struct diff_series){ DIFF_CLASS, false, "work:step0", "running", 0, values[1] };
	series[2] = (struct diff_series){ DIFF_CLASS, false, "work:step0", "blocked", 0, values[2] };
	for (unsigned int run = 0; run < 2; run++) {
		for (unsigned int k = 0; k < 400; k++) {
			const double ns = 1000 + k * 7 % 100;

			put(0, run, ns);
			put(1, run, run ? ns / 2 : ns);
			put(2, run, run ? ns / 2 : 0);
		}
	}
	cr_assert_eq(diff_compare(series, 3, 1, 1, &options, &result), 0);
	cr_assert_eq(result.nr_changed, 2);
	for (unsigned int i = 0; i < 2; i++) {
		const struct diff_row *row = &result.rows[i];

		cr_assert_eq(row->kind, DIFF_CLASS);
		cr_assert_float_eq(row->change, row->series == &series[2] ? 0.5 : -0.5, 1e-3);
		cr_assert_float_eq(row->effect, row->series == &series[2] ? 1 : -1, 1e-9);
	}
	diff_result_free(&result);
}

/* One side has no values, or neither has. */
Test(diff, nothing_to_compare)
{
	const struct diff_options options = { .threshold = -1 };
	struct diff_result result;

	cr_assert_eq(diff_compare(series, 0, 1, 1, &options, &result), 0);
	cr_assert_eq(result.nr_rows, 0);
	diff_result_free(&result);
	put(0, 1, 5);
	put(1, 0, 5);
	put(1, 1, 9);
	cr_assert_eq(diff_compare(series, 3, 1, 1, &options, &result), 0);
	cr_assert_eq(result.nr_changed, 0);
	diff_result_free(&result);
}

/*
 * ---------------------------------------------------------------------------------------- events of one side alone
 */

#define MANY 10000u

static char said[1024]; /* the last message */
static unsigned int nr_said;

/* diff_sides_report() prints by this function. */
void complain(const char *command, const char *format, ...)
{
	va_list args;

	cr_assert_str_eq(command, "diff");
	va_start(args, format);
	vsnprintf(said, sizeof(said), format, args);
	va_end(args);
	nr_said++;
}

/* Comparing each event with all changed rows and all other events would take far longer than the limit. */
Test(diff_sides, very_many_events_of_one_side, .timeout = 100)
{
	static char texts[MANY][32];
	static struct diff_series many[MANY];
	static struct diff_row rows[MANY];
	static struct blob numbers[MANY][2];
	const unsigned int runs[2] = { 1, 1 };
	const double one = 1;
	struct diff_result result = { .rows = rows, .nr_rows = MANY, .nr_changed = MANY };

	for (unsigned int i = 0; i < MANY; i++) {
		snprintf(texts[i], sizeof(texts[i]), "app:event%u", i);
		many[i] = (struct diff_series){ DIFF_COUNT, false, texts[i], "", 0, numbers[i] };
		rows[i].series = &many[i];
		blob_put(&numbers[i][1], &one, sizeof(one));
		cr_assert_eq(numbers[i][1].error, 0);
	}
	cr_assert_eq(diff_sides_report("diff", many, MANY, runs, &result), 0);
	cr_expect_eq(nr_said, 0, "all of them are changes");
	result.nr_changed = 1;
	cr_assert_eq(diff_sides_report("diff", many, MANY, runs, &result), 0);
	cr_expect_eq(nr_said, 0, "a change names the system");
	result.nr_changed = 0;
	cr_assert_eq(diff_sides_report("diff", many, MANY, runs, &result), 0);
	cr_expect_eq(nr_said, 1);
	cr_expect_str_eq(said, "side B has events that side A lacks: app:*");
	/* Both sides have one event of the system. */
	blob_put(&numbers[0][0], &one, sizeof(one));
	cr_assert_eq(diff_sides_report("diff", many, MANY, runs, &result), 0);
	cr_expect_eq(nr_said, 2);
	cr_expect_str_eq(said, "side B has events that side A lacks: app:event1, app:event2, app:event3, app:event4, "
			       "app:event5, app:event6, app:event7, app:event8 and 9991 more");
	for (unsigned int i = 0; i < MANY; i++) {
		blob_free(&numbers[i][0]);
		blob_free(&numbers[i][1]);
	}
}
