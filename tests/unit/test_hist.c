/* SPDX-License-Identifier: MIT */
/* Histograms against the sorted values: every percentile within its bound, counts of buckets, parts merged. */
#include "format/hist/hist.h"

#include <criterion/criterion.h>
#include <stdlib.h>

#include "tests/unit/tell.h"

#define VALUES 3000u
#define ROUNDS 24u

static uint64_t state;

static uint64_t random_number(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

/* Numbers of each magnitude equally often; the kinds of a round. */
static int64_t random_value(unsigned int kind)
{
	const uint64_t number = random_number() >> random_number() % 64;

	switch (kind % 4) {
	case 0:
		return (int64_t)(number >> 1);
	case 1:
		return (int64_t)number;
	case 2:
		return (int64_t)(number % 5000) - 2500;
	default:
		return number & 1 ? INT64_MIN + (int64_t)(number % 3) : INT64_MAX - (int64_t)(number % 3);
	}
}

static int by_value(const void *a, const void *b)
{
	const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

/* The bound of hist.h: not below the exact value, and above it by less than a fixed fraction of its magnitude. */
static void check_bound(int64_t exact, int64_t answer)
{
	const uint64_t magnitude = exact < 0 ? 0 - (uint64_t)exact : (uint64_t)exact;

	cr_assert_geq(answer, exact);
	cr_assert((uint64_t)answer - (uint64_t)exact <= magnitude / HIST_PARTS, "%lld for %lld", (long long)answer,
		  (long long)exact);
}

static void check_percentiles(const struct hist *hist, const int64_t *sorted, unsigned int nr)
{
	for (unsigned int i = 0; i <= 500; i++) {
		const uint32_t millionths = i * 2000;
		const uint64_t rank = ((uint64_t)millionths * nr + 999999) / 1000000;

		check_bound(sorted[rank ? rank - 1 : 0], hist_percentile(hist, millionths));
	}
	cr_assert_eq(hist_percentile(hist, 0), sorted[0]);
	cr_assert_eq(hist_percentile(hist, 1000000), sorted[nr - 1]);
}

/* Each bucket has exactly the values between its bounds; no value is outside of all. */
static void check_buckets(const struct hist *hist, const int64_t *sorted, unsigned int nr)
{
	struct hist_bucket bucket;
	uint32_t place = 0;
	unsigned int at = 0;

	while (hist_next(hist, &place, &bucket)) {
		cr_assert_leq(bucket.low, bucket.high);
		check_bound(bucket.low, bucket.high);
		for (uint64_t i = 0; i < bucket.count; i++, at++) {
			cr_assert_lt(at, nr);
			cr_assert(sorted[at] >= bucket.low && sorted[at] <= bucket.high);
		}
	}
	cr_assert_eq(at, nr);
}

static void check(const struct hist *hist, const int64_t *sorted, unsigned int nr)
{
	cr_assert_eq(hist->count, nr);
	cr_assert_eq(hist->min, sorted[0]);
	cr_assert_eq(hist->max, sorted[nr - 1]);
	check_percentiles(hist, sorted, nr);
	check_buckets(hist, sorted, nr);
}

/* Values in two histograms, each by itself, and merged. */
static void round_of(unsigned int kind, unsigned int nr)
{
	static int64_t values[VALUES];
	struct hist all = HIST_INIT, part = HIST_INIT, other = HIST_INIT;

	for (unsigned int i = 0; i < nr; i++) {
		values[i] = random_value(kind);
		cr_assert_eq(hist_add(&all, values[i]), 0);
		cr_assert_eq(hist_add(random_number() & 1 ? &part : &other, values[i]), 0);
	}
	qsort(values, nr, sizeof(values[0]), by_value);
	check(&all, values, nr);
	cr_assert_eq(hist_merge(&part, &other), 0);
	check(&part, values, nr);
	cr_assert_eq(part.sum_low, all.sum_low);
	cr_assert_eq(part.sum_high, all.sum_high);
	hist_free(&all);
	hist_free(&part);
	hist_free(&other);
}

Test(hist, random_values)
{
	const char *seed = getenv("RECORDER_SEED");

	state = (seed ? strtoull(seed, NULL, 0) : 1) * UINT64_C(0x9e3779b97f4a7c15) | 1;
	for (unsigned int i = 0; i < ROUNDS; i++)
		round_of(i, i < 8 ? i + 1 : 1 + (unsigned int)(random_number() % VALUES));
	tell("# seed %s, %u rounds\n", seed ? seed : "1", ROUNDS);
}

/* Where buckets begin and end. */
Test(hist, edges)
{
	for (unsigned int bit = 0; bit < 63; bit++) {
		for (int64_t off = -2; off <= 2; off++) {
			const int64_t value = (INT64_C(1) << bit) + off;

			for (int sign = -1; sign <= 1; sign += 2) {
				struct hist hist = HIST_INIT;
				struct hist_bucket bucket;
				uint32_t place = 0;

				cr_assert_eq(hist_add(&hist, sign * value), 0);
				cr_assert(hist_next(&hist, &place, &bucket));
				cr_assert(sign * value >= bucket.low && sign * value <= bucket.high);
				cr_assert_eq(bucket.count, 1);
				cr_assert_not(hist_next(&hist, &place, &bucket));
				cr_assert_eq(hist_percentile(&hist, 500000), sign * value);
				hist_free(&hist);
			}
		}
	}
}

Test(hist, small_values_are_exact)
{
	struct hist hist = HIST_INIT;

	for (int64_t i = 1; i <= 2000; i++)
		cr_assert_eq(hist_add(&hist, i), 0);
	cr_assert_eq(hist_percentile(&hist, 500000), 1000);
	cr_assert_eq(hist_percentile(&hist, 900000), 1800);
	cr_assert_eq(hist_percentile(&hist, 999000), 1998);
	cr_assert_eq(hist_percentile(&hist, 999500), 1999);
	cr_assert_eq(hist_percentile(&hist, 1), 1);
	hist_free(&hist);
}

Test(hist, sums)
{
	struct hist hist = HIST_INIT;
	int64_t sum;

	cr_assert(hist_sum(&hist, &sum));
	cr_assert_eq(sum, 0);
	cr_assert_float_eq(hist_mean(&hist), 0, 0);
	cr_assert_eq(hist_percentile(&hist, 500000), 0);
	for (int i = 0; i < 3; i++)
		cr_assert_eq(hist_add(&hist, -7), 0);
	cr_assert(hist_sum(&hist, &sum));
	cr_assert_eq(sum, -21);
	cr_assert_float_eq(hist_mean(&hist), -7, 0);
	for (int i = 0; i < 4; i++)
		cr_assert_eq(hist_add(&hist, INT64_MAX), 0);
	cr_assert_not(hist_sum(&hist, &sum));
	cr_assert_eq(sum, INT64_MAX);
	cr_assert_float_eq(hist_mean(&hist), 4 * 9223372036854775807.0 / 7, 1e6);
	for (int i = 0; i < 9; i++)
		cr_assert_eq(hist_add(&hist, INT64_MIN), 0);
	cr_assert_not(hist_sum(&hist, &sum));
	cr_assert_eq(sum, INT64_MIN);
	hist_free(&hist);
	cr_assert_eq(hist.count, 0);
}
