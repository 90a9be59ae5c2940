/* SPDX-License-Identifier: MIT */
/* Intervals from resampled samples: Efron's percentile method. */
#include "format/stats/stats.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#define ROUNDS 1000u

/* The next number of a linear congruential generator, its high bits scaled to 0 ... nr - 1. */
static size_t below(uint64_t *state, size_t nr)
{
	*state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (size_t)(((*state >> 32) * (uint64_t)nr) >> 32);
}

struct sample {
	const double *values;
	size_t nr;   /* number of values to draw from */
	double mean; /* mean of the values */
	double widen;
	size_t drawn; /* number of values that are drawn for a mean */
};

static double mean_of(const double *values, size_t nr)
{
	double sum = 0;

	for (size_t i = 0; i < nr; i++)
		sum += values[i];
	return sum / (double)nr;
}

static struct sample sample_of(const double *values, size_t nr, size_t drawn)
{
	return (struct sample){ values, nr, mean_of(values, nr), nr > 1 ? sqrt((double)nr / (double)(nr - 1)) : 1,
				drawn };
}

/* Draw values, and return the deviation of their mean from the sample's mean. */
static double deviation(const struct sample *s, uint64_t *state)
{
	double sum = 0;

	for (size_t i = 0; i < s->drawn; i++)
		sum += s->values[below(state, s->nr)] - s->mean;
	return s->widen * sum / (double)s->drawn;
}

int stats_bootstrap(const double *a, size_t nr_a, const double *b, size_t nr_b, double confidence, uint64_t seed,
		    struct stats_interval *ret_interval)
{
	double *differences = calloc(ROUNDS, sizeof(*differences));
	const double difference = mean_of(b, nr_b) - mean_of(a, nr_a);
	const struct sample left = nr_a == 1 ? sample_of(b, nr_b, 1) : sample_of(a, nr_a, nr_a);
	const struct sample right = nr_b == 1 ? sample_of(a, nr_a, 1) : sample_of(b, nr_b, nr_b);
	uint64_t state = seed;

	if (!differences)
		return -ENOMEM;
	for (unsigned int i = 0; i < ROUNDS; i++)
		differences[i] = difference + deviation(&right, &state) - deviation(&left, &state);
	stats_sort(differences, ROUNDS);
	ret_interval->low = stats_quantile(differences, ROUNDS, (1 - confidence) / 2);
	ret_interval->high = stats_quantile(differences, ROUNDS, (1 + confidence) / 2);
	free(differences);
	return 0;
}
