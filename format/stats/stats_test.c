/* SPDX-License-Identifier: MIT */
/* Tests of two samples, and the correction for many of them. */
#include "format/stats/stats.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

/*
 * If a side has more values than this, the normal distribution is used. Up to this, the numbers of orders fit into a
 * double exactly.
 */
#define EXACT_MAX 25u

/* ------------------------------------------------------------------------------------------------------------ ranks */

/*
 * For each u, the number of orders of a and b that have U = u: the coefficients of a Gaussian binomial, the product of
 * (1 - q^(nr_b + i)) / (1 - q^i) for i from 1 to nr_a. Each factor is multiplied and divided in place.
 */
static void count_orders(size_t nr_a, size_t nr_b, double counts[EXACT_MAX * EXACT_MAX + 1])
{
	const size_t most = nr_a * nr_b;

	counts[0] = 1;
	for (size_t u = 1; u <= most; u++)
		counts[u] = 0;
	for (size_t i = 1; i <= nr_a; i++) {
		for (size_t u = most; u >= nr_b + i; u--)
			counts[u] -= counts[u - nr_b - i];
		for (size_t u = i; u <= most; u++)
			counts[u] += counts[u - i];
	}
}

static double exact_p(double u, size_t nr_a, size_t nr_b)
{
	double counts[EXACT_MAX * EXACT_MAX + 1];
	const size_t most = nr_a * nr_b;
	const double mirrored = (double)most - u;
	const size_t least = (size_t)(u < mirrored ? u : mirrored);
	double tail = 0, all = 0;

	count_orders(nr_a, nr_b, counts);
	for (size_t i = 0; i <= most; i++) {
		all += counts[i];
		tail += i <= least ? counts[i] : 0;
	}
	return fmin(1, 2 * tail / all);
}

static double normal_p(double u, size_t nr_a, size_t nr_b, double ties)
{
	const double a = (double)nr_a, b = (double)nr_b, all = a + b;
	const double variance = a * b / 12 * (all + 1 - ties / (all * (all - 1)));
	const double distance = fmax(0, fabs(u - a * b / 2) - 0.5);

	return variance > 0 ? stats_normal_p(distance / sqrt(variance)) : 1;
}

/* Compute U of two sorted samples, and the sum of t^3 - t over the groups of t equal values. */
static double count_greater(const double *a, size_t nr_a, const double *b, size_t nr_b, double *ret_ties)
{
	size_t i = 0, k = 0;
	double u = 0, ties = 0;

	while (i < nr_a || k < nr_b) {
		const double value = k == nr_b || (i < nr_a && a[i] < b[k]) ? a[i] : b[k];
		const size_t less = i, from_k = k;
		double group;

		while (i < nr_a && a[i] <= value)
			i++;
		while (k < nr_b && b[k] <= value)
			k++;
		group = (double)(i - less + k - from_k);
		u += (double)(k - from_k) * ((double)less + (double)(i - less) / 2);
		ties += group * group * group - group;
	}
	*ret_ties = ties;
	return u;
}

void stats_mann_whitney(double *a, size_t nr_a, double *b, size_t nr_b, struct stats_rank *ret_rank)
{
	const double pairs = (double)nr_a * (double)nr_b;
	double ties;

	*ret_rank = (struct stats_rank){ .p = 1 };
	if (!nr_a || !nr_b)
		return;
	stats_sort(a, nr_a);
	stats_sort(b, nr_b);
	ret_rank->u = count_greater(a, nr_a, b, nr_b, &ties);
	ret_rank->delta = 2 * ret_rank->u / pairs - 1;
	ret_rank->is_exact = !(ties > 0) && nr_a <= EXACT_MAX && nr_b <= EXACT_MAX;
	ret_rank->p = ret_rank->is_exact ? exact_p(ret_rank->u, nr_a, nr_b) : normal_p(ret_rank->u, nr_a, nr_b, ties);
}

double stats_rank_least_p(size_t nr_a, size_t nr_b)
{
	const double a = (double)nr_a, b = (double)nr_b;

	return fmin(1, 2 * exp(lgamma(a + 1) + lgamma(b + 1) - lgamma(a + b + 1)));
}

/* ------------------------------------------------------------------------------------------------------------ means */

static double mean_of(const double *values, size_t nr)
{
	double sum = 0;

	for (size_t i = 0; i < nr; i++)
		sum += values[i];
	return sum / (double)nr;
}

/* The sum of the squared distances from the mean. */
static double squares_of(const double *values, size_t nr, double mean)
{
	double sum = 0;

	for (size_t i = 0; i < nr; i++)
		sum += (values[i] - mean) * (values[i] - mean);
	return sum;
}

double stats_welch_p(const double *a, size_t nr_a, const double *b, size_t nr_b)
{
	const double n = (double)nr_a, m = (double)nr_b;
	double mean_a, mean_b, squares_a, squares_b, part_a, part_b, df;

	if (!nr_a || !nr_b || nr_a + nr_b < 3)
		return 1;
	mean_a = mean_of(a, nr_a);
	mean_b = mean_of(b, nr_b);
	squares_a = squares_of(a, nr_a, mean_a);
	squares_b = squares_of(b, nr_b, mean_b);
	if (nr_a == 1 || nr_b == 1) {
		df = n + m - 2;
		part_a = (squares_a + squares_b) / df / n;
		part_b = (squares_a + squares_b) / df / m;
	} else {
		part_a = squares_a / (n - 1) / n;
		part_b = squares_b / (m - 1) / m;
		df = (part_a + part_b) * (part_a + part_b) / (part_a * part_a / (n - 1) + part_b * part_b / (m - 1));
	}
	if (!(part_a + part_b > 0))
		return mean_a < mean_b || mean_a > mean_b ? 0 : 1;
	return stats_student_p((mean_b - mean_a) / sqrt(part_a + part_b), df);
}

/* ----------------------------------------------------------------------------------------------- many comparisons */

struct place {
	double p;
	size_t index;
};

static int by_p(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	return x->p < y->p || x->p > y->p ? (x->p > y->p) - (x->p < y->p)
					  : (x->index > y->index) - (x->index < y->index);
}

int stats_holm(const double *p, size_t nr, double *ret_adjusted)
{
	struct place *places = calloc(nr + 1, sizeof(*places));
	double most = 0;

	if (!places)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++)
		places[i] = (struct place){ p[i], i };
	if (nr)
		qsort(places, nr, sizeof(*places), by_p);
	/* The lowest p is multiplied by nr, the next one by nr - 1, and so on; the order of the values is kept. */
	for (size_t i = 0; i < nr; i++) {
		most = fmax(most, fmin(1, places[i].p * (double)(nr - i)));
		ret_adjusted[places[i].index] = most;
	}
	free(places);
	return 0;
}
