/* SPDX-License-Identifier: MIT */
/* Distributions, and summaries of one sample. */
#include "format/stats/stats.h"

#include <math.h>
#include <stdlib.h>

double stats_normal_p(double z)
{
	return erfc(fabs(z) / sqrt(2));
}

/*
 * The continued fraction of the incomplete beta function, evaluated from its front by Lentz's method as Thompson and
 * Barnett modified it. It converges in some tens of steps for x < (a + 1) / (a + b + 2).
 */
static double beta_fraction(double a, double b, double x)
{
	enum { STEPS_MAX = 1000 };
	const double tiny = 1e-300, precision = 1e-15;
	double c = 1, d = 1 - (a + b) * x / (a + 1), result;

	d = 1 / (fabs(d) < tiny ? tiny : d);
	result = d;
	for (int i = 1; i < STEPS_MAX; i++) {
		const double m = i;
		const double terms[2] = { m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
					  -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)) };
		double change = 1;

		for (int k = 0; k < 2; k++) {
			d = 1 + terms[k] * d;
			c = 1 + terms[k] / c;
			d = 1 / (fabs(d) < tiny ? tiny : d);
			c = fabs(c) < tiny ? tiny : c;
			change = c * d;
			result *= change;
		}
		if (fabs(change - 1) < precision)
			break;
	}
	return result;
}

/* The regularized incomplete beta function; x from 0 to 1. */
static double beta_part(double a, double b, double x)
{
	double front;

	if (x <= 0 || x >= 1)
		return x <= 0 ? 0 : 1;
	front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
	if (x < (a + 1) / (a + b + 2))
		return front * beta_fraction(a, b, x) / a;
	return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

double stats_student_p(double t, double df)
{
	return isinf(t) ? 0 : beta_part(df / 2, 0.5, df / (df + t * t));
}

/* ------------------------------------------------------------------------------------------------------- summaries */

static int by_value(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

void stats_sort(double *values, size_t nr)
{
	if (nr)
		qsort(values, nr, sizeof(*values), by_value);
}

double stats_quantile(const double *sorted, size_t nr, double q)
{
	const double place = nr ? q * (double)(nr - 1) : 0;
	const size_t before = (size_t)place;

	if (!nr)
		return 0;
	if (before + 1 >= nr)
		return sorted[nr - 1];
	return sorted[before] + (place - (double)before) * (sorted[before + 1] - sorted[before]);
}

void stats_median_spread(double *values, size_t nr, double *ret_median, double *ret_spread)
{
	const double to_deviation = 1.4826; /* 1 / the upper quartile of the normal distribution */
	double median;

	stats_sort(values, nr);
	median = stats_quantile(values, nr, 0.5);
	for (size_t i = 0; i < nr; i++)
		values[i] = fabs(values[i] - median);
	stats_sort(values, nr);
	*ret_median = median;
	*ret_spread = to_deviation * stats_quantile(values, nr, 0.5);
}
