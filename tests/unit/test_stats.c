/* SPDX-License-Identifier: MIT */
/*
 * Statistics: compared with values from tables and textbooks, and with those of tests/unit/stats_values.py, which
 * computes them in another way; and rules that hold for any values.
 */
#include "format/stats/stats.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void near(double got, double expected)
{
	cr_assert(fabs(got - expected) <= 1e-9 * fmax(1e-3, fabs(expected)), "%.15g, not %.15g", got, expected);
}

/* ---------------------------------------------------------------------------------------------------- distributions */

Test(stats, normal_distribution)
{
	/* Quantiles that any table has. */
	cr_assert_float_eq(stats_normal_p(1.959963985), 0.05, 1e-9);
	cr_assert_float_eq(stats_normal_p(-2.575829304), 0.01, 1e-9);
	cr_assert_float_eq(stats_normal_p(0), 1, 1e-12);
}

Test(stats, students_distribution)
{
	/* Values from tables. */
	cr_assert_float_eq(stats_student_p(2.228138852, 10), 0.05, 1e-9);
	cr_assert_float_eq(stats_student_p(-63.65674116, 1), 0.01, 1e-9);
	/* Values from stats_values.py. */
	near(stats_student_p(2.0, 3.7), 0.121817201905);
	near(stats_student_p(5.5, 8.25), 0.000515598083914);
	near(stats_student_p(1.3, 40), 0.201042514992);
	near(stats_student_p(12, 4), 0.000276428548503);
	/* For one and two degrees of freedom there is a closed form. */
	for (double t = 0; t < 50; t += 0.37) {
		near(stats_student_p(t, 1), 1 - atan(t) * 2 / acos(-1));
		near(stats_student_p(t, 2), 1 - t / sqrt(2 + t * t));
	}
	/* For very many degrees of freedom it is the normal distribution. */
	cr_assert_float_eq(stats_student_p(1.5, 1e6), stats_normal_p(1.5), 1e-6);
	cr_assert_eq(stats_student_p(INFINITY, 3), 0);
}

Test(stats, quantiles)
{
	const double ten[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 };
	double some[] = { 7, 1, 3, 100, 2 };
	double median, spread;

	near(stats_quantile(ten, 10, 0.25), 3.25);
	near(stats_quantile(ten, 10, 0.5), 5.5);
	near(stats_quantile(ten, 10, 0), 1);
	near(stats_quantile(ten, 10, 1), 10);
	near(stats_quantile(ten, 1, 0.7), 1);
	cr_assert_eq(stats_quantile(ten, 0, 0.5), 0);
	/* The distances from the median, 3, are 4, 2, 0, 97, 1. */
	stats_median_spread(some, 5, &median, &spread);
	near(median, 3);
	near(spread, 2 * 1.4826);
}

/* ------------------------------------------------------------------------------------------------------------ ranks */

static struct stats_rank rank_of(const double *a, size_t nr_a, const double *b, size_t nr_b)
{
	double left[64], right[64];
	struct stats_rank rank;

	memcpy(left, a, nr_a * sizeof(*a));
	memcpy(right, b, nr_b * sizeof(*b));
	stats_mann_whitney(left, nr_a, right, nr_b, &rank);
	return rank;
}

/* The exact p of a sample of nr_a of the numbers 1 to nr_a + nr_b, if the U of the other numbers is u. */
static double p_of(size_t nr_a, size_t nr_b, size_t u)
{
	double a[64], b[64];
	struct stats_rank rank;
	size_t at = 0, left = u;

	/* Each value of a moves up by as many places as values of b can be below it. */
	for (size_t i = 0; i < nr_a; i++) {
		const size_t room = left < nr_b ? left : nr_b;

		a[nr_a - 1 - i] = (double)(nr_a - i + room);
		left -= room;
	}
	for (size_t value = 1; value <= nr_a + nr_b; value++) {
		bool is_of_a = false;

		for (size_t i = 0; i < nr_a; i++)
			is_of_a = is_of_a || (size_t)a[i] == value;
		if (!is_of_a)
			b[at++] = (double)value;
	}
	cr_assert_eq(at, nr_b);
	rank = rank_of(a, nr_a, b, nr_b);
	cr_assert_float_eq(rank.u, (double)(nr_a * nr_b - u), 1e-9);
	cr_assert(rank.is_exact);
	return rank.p;
}

Test(stats, exact_ranks)
{
	/* Values from stats_values.py, which lists all orders. */
	near(p_of(6, 6, 11), 0.309523809523809);
	near(p_of(5, 7, 4), 0.030303030303030);
	near(p_of(3, 9, 2), 0.036363636363636);
	near(p_of(5, 5, 2), 0.031746031746031);
	/* The critical values of the usual table, two-sided 5 %: the greatest U that is significant. */
	cr_assert(p_of(10, 10, 23) <= 0.05 && p_of(10, 10, 24) > 0.05);
	cr_assert(p_of(20, 20, 127) <= 0.05 && p_of(20, 20, 128) > 0.05);
	cr_assert(p_of(7, 15, 24) <= 0.05 && p_of(7, 15, 25) > 0.05);
	cr_assert(p_of(8, 8, 7) <= 0.01 && p_of(8, 8, 8) > 0.01);
	near(p_of(5, 5, 0), stats_rank_least_p(5, 5));
	near(p_of(25, 25, 0), stats_rank_least_p(25, 25));
	/* The distribution is symmetric. */
	near(p_of(5, 7, 31), p_of(5, 7, 4));
	near(p_of(4, 4, 8), 1);
}

Test(stats, ranks_with_ties)
{
	/* The tortoises and the hares: T H H H H H T T T T T H, places in the race. */
	const double tortoises[] = { 1, 7, 8, 9, 10, 11 }, hares[] = { 2, 3, 4, 5, 6, 12 };
	const double a[] = { 1, 2, 2, 3, 5, 5, 7 }, b[] = { 2, 4, 5, 6, 7, 8, 9, 9, 9 };
	const double same[] = { 3, 3, 3 };
	struct stats_rank rank = rank_of(tortoises, 6, hares, 6);

	cr_assert_float_eq(rank.u, 11, 1e-12);
	near(rank.p, 0.309523809523809);
	rank = rank_of(a, 7, b, 9);
	near(rank.u, 51.5);
	near(rank.p, 0.037149551274830);
	near(rank.delta, 2 * 51.5 / 63 - 1);
	cr_assert(!rank.is_exact);
	rank = rank_of(same, 3, same, 2);
	cr_assert(rank.p >= 1 && rank.delta == 0.0);
	rank = rank_of(a, 0, b, 9);
	cr_assert(rank.p >= 1);
}

/* ------------------------------------------------------------------------------------------------------------ means */

Test(stats, means)
{
	const double a[] = { 27.5, 21.0, 19.0, 23.6, 17.0, 17.9, 16.9, 20.1, 21.9, 22.6, 23.1, 19.6, 19.0, 21.7, 21.4 };
	const double b[] = { 27.1, 22.0, 20.8, 23.4, 23.4, 23.5, 25.8, 22.0, 24.8, 20.2, 21.9, 22.1, 22.9, 30.5 };
	const double few[] = { 1, 2, 4, 3.5, 2.5 }, six[] = { 6 }, same[] = { 2, 2, 2 }, three[] = { 3, 3 };

	near(stats_welch_p(a, 15, b, 14), 0.011616192002631);
	near(stats_welch_p(few, 5, six, 1), 0.060045289215592);
	near(stats_welch_p(six, 1, few, 5), 0.060045289215592);
	cr_assert(stats_welch_p(same, 3, same, 3) >= 1);
	cr_assert(stats_welch_p(same, 3, three, 2) <= 0);
	cr_assert(stats_welch_p(same, 1, three, 1) >= 1);
	cr_assert(stats_welch_p(same, 0, three, 2) >= 1);
}

Test(stats, many_comparisons)
{
	const double p[] = { 0.01, 0.04, 0.03, 0.005 }, expected[] = { 0.03, 0.06, 0.06, 0.02 };
	double adjusted[4], large[] = { 0.9, 0.7 };

	cr_assert_eq(stats_holm(p, 4, adjusted), 0);
	for (int i = 0; i < 4; i++)
		near(adjusted[i], expected[i]);
	cr_assert_eq(stats_holm(large, 2, large), 0);
	cr_assert(large[0] >= 1 && large[0] <= 1 && large[1] >= 1 && large[1] <= 1);
	cr_assert_eq(stats_holm(p, 0, adjusted), 0);
}

/* -------------------------------------------------------------------------------------------------------- bootstrap */

static uint64_t state = 1;

/* Normal, by the sum of twelve uniform numbers. */
static double normal(void)
{
	double sum = -6;

	for (int i = 0; i < 12; i++) {
		state = state * UINT64_C(6364136223846793005) + 1;
		sum += (double)(state >> 11) / 9007199254740992.0;
	}
	return sum;
}

/* The number of 1000 intervals that contain the true difference, 0.5. */
static unsigned int covered(size_t nr_a, size_t nr_b)
{
	unsigned int nr = 0;

	for (int round = 0; round < 1000; round++) {
		double a[20], b[20];
		struct stats_interval interval;

		for (size_t i = 0; i < nr_a; i++)
			a[i] = normal();
		for (size_t i = 0; i < nr_b; i++)
			b[i] = normal() + 0.5;
		cr_assert_eq(stats_bootstrap(a, nr_a, b, nr_b, 0.95, 7, &interval), 0);
		cr_assert(interval.low <= interval.high);
		nr += interval.low <= 0.5 && interval.high >= 0.5;
	}
	return nr;
}

Test(stats, intervals)
{
	const double a[] = { 1, 2, 3 }, same[] = { 5, 5, 5 };
	struct stats_interval first, second;

	/* About 950 intervals should contain the value. Percentiles of few values are known to be somewhat narrow. */
	const unsigned int many = covered(20, 20), few = covered(5, 5), one = covered(5, 1);

	cr_assert(many >= 925 && many <= 970, "%u of 1000", many);
	cr_assert(few >= 880 && few <= 970, "%u of 1000", few);
	cr_assert(one >= 800 && one <= 970, "%u of 1000", one);
	cr_assert_eq(stats_bootstrap(a, 3, same, 3, 0.95, 3, &first), 0);
	cr_assert_eq(stats_bootstrap(a, 3, same, 3, 0.95, 3, &second), 0);
	cr_assert(first.low >= second.low && first.low <= second.low && first.high >= second.high &&
		  first.high <= second.high);
	cr_assert(first.low < 3 && first.high > 3);
	cr_assert_eq(stats_bootstrap(same, 3, same, 2, 0.95, 3, &first), 0);
	cr_assert(fabs(first.low) <= 0 && fabs(first.high) <= 0);
}
