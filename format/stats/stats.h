/* SPDX-License-Identifier: MIT */
/*
 * Statistics: pure functions of numbers. Nothing here knows what the numbers mean. A probability p is two-sided: it is
 * the probability of a result that is at least this far from "no difference", in either direction, if there is no
 * difference.
 */
#ifndef FORMAT_STATS_H
#define FORMAT_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* -------------------------------------------------------------------------------------------------- distributions */

/* The probability of |z| or more in a standard normal distribution. */
double stats_normal_p(double z);

/*
 * The probability of |t| or more in Student's distribution with df degrees of freedom, which need not be a whole
 * number.
 */
double stats_student_p(double t, double df);

/* ------------------------------------------------------------------------------------------------------- summaries */

void stats_sort(double *values, size_t nr);

/* The quantile q, 0 to 1, of sorted values, between two of them by linear interpolation. 0 without values. */
double stats_quantile(const double *sorted, size_t nr, double q);

/*
 * The median, and the spread around it: the median of the distances from it, times 1.4826, which makes it the standard
 * deviation of a normal distribution. Sorts the values, and overwrites them.
 */
void stats_median_spread(double *values, size_t nr, double *ret_median, double *ret_spread);

/* ----------------------------------------------------------------------------------------------------------- tests */

struct stats_rank {
	double u;     /* number of pairs in which the value of b is greater than that of a; equal values count half */
	double delta; /* Cliff's delta: (greater - less) / pairs. -1: all values of b are less; 1: all are greater */
	double p;
	/*
	 * p is exact, because the samples are small and no two values are equal; otherwise it is from the normal
	 * distribution
	 */
	bool is_exact;
};

/*
 * Mann and Whitney's rank test, also known as Wilcoxon's. Exact for up to 25 values a side without ties; otherwise by
 * the normal distribution, corrected for ties and for continuity. Sorts both samples. p is 1 if one of them is empty.
 */
void stats_mann_whitney(double *a, size_t nr_a, double *b, size_t nr_b, struct stats_rank *ret_rank);

/* The least p that the exact rank test can give for samples of these sizes. */
double stats_rank_least_p(size_t nr_a, size_t nr_b);

/*
 * Welch's t test of two means. If a sample has one value, the variance of the other is assumed for both. p is 1 if
 * nothing shows the variance, and 0 if the means differ and nothing varies.
 */
double stats_welch_p(const double *a, size_t nr_a, const double *b, size_t nr_b);

/*
 * Holm's correction for many comparisons: each value of `ret_adjusted` can be compared with the level, as the p of a
 * single comparison. The probability that any positive result is wrong stays below the level, however the comparisons
 * depend on each other. 0; -ENOMEM. Both arrays may be the same.
 */
int stats_holm(const double *p, size_t nr, double *ret_adjusted);

/* ------------------------------------------------------------------------------------------------------- bootstrap */

struct stats_interval {
	double low, high;
};

/*
 * The interval that contains the difference of the means, b - a, with this confidence: computed from resampled samples.
 * Their deviations are widened by sqrt(n / (n - 1)), because n resampled values vary less than n new ones. A side with
 * one value gets the deviations of the other. The same seed gives the same interval. 0; -ENOMEM.
 */
int stats_bootstrap(const double *a, size_t nr_a, const double *b, size_t nr_b, double confidence, uint64_t seed,
		    struct stats_interval *ret_interval);

#endif
