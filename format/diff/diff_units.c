/* SPDX-License-Identifier: MIT */
/* Values of a series become values of units: of runs, or of parts of runs with the same number of values each. */
#include "format/diff/diff_private.h"

#include "format/stats/stats.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *diff_statistic_name(enum diff_statistic statistic)
{
	static const char *const names[] = { "median", "p95", "p99", "mean", "count" };

	return names[statistic];
}

/* The number of units of a run. */
static size_t units_of_run(size_t nr_values, unsigned int runs, bool by_runs)
{
	const size_t parts = by_runs ? 1 : runs < DIFF_PARTS ? DIFF_PARTS / runs : 1;

	return nr_values < parts ? nr_values : parts;
}

/* A time of 0 has no logarithm; clocks do not measure less than a nanosecond. */
static double log_of(double ns)
{
	return log(fmax(ns, 0.5));
}

/* The value of a unit, from its values; `room` has space for a copy of them. */
static double unit_value(enum diff_statistic statistic, const double *values, size_t nr, double *room)
{
	double sum = 0;

	if (diff_is_log(statistic)) {
		memcpy(room, values, nr * sizeof(*values));
		stats_sort(room, nr);
		return log_of(stats_quantile(room, nr,
					     statistic == DIFF_MEDIAN ? 0.5
					     : statistic == DIFF_P95  ? 0.95
								      : 0.99));
	}
	for (size_t i = 0; i < nr; i++)
		sum += values[i];
	return statistic == DIFF_MEAN ? sum / (double)nr : sum;
}

int diff_units_make(const struct diff_series *series, struct diff_side side, bool by_runs,
		    enum diff_statistic statistic, struct diff_units *ret_units)
{
	size_t nr_all = 0, most = 0, nr;
	double *all, *room;

	for (unsigned int run = side.first; run < side.first + side.nr; run++) {
		(void)diff_values(&series->runs[run], nr);
		nr_all += units_of_run(nr, side.nr, by_runs);
		most = nr > most ? nr : most;
	}
	all = calloc(nr_all + 1, sizeof(*all));
	room = calloc(most + 1, sizeof(*room));
	if (!all || !room) {
		free(all);
		free(room);
		return -ENOMEM;
	}
	nr_all = 0;
	for (unsigned int run = side.first; run < side.first + side.nr; run++) {
		const double *values = diff_values(&series->runs[run], nr);
		const size_t units = units_of_run(nr, side.nr, by_runs);

		for (size_t i = 0; i < units; i++) {
			const size_t from = i * nr / units, to = (i + 1) * nr / units;

			all[nr_all++] = unit_value(statistic, values + from, to - from, room);
		}
	}
	free(room);
	*ret_units = (struct diff_units){ all, nr_all };
	return 0;
}

double diff_units_mean(const struct diff_units *units)
{
	double sum = 0;

	for (size_t i = 0; i < units->nr; i++)
		sum += units->values[i];
	return sum / (double)units->nr;
}

size_t diff_units_least(const struct diff_series *series, const struct diff_side sides[2], bool by_runs)
{
	size_t least = SIZE_MAX, nr;

	for (unsigned int s = 0; s < 2; s++) {
		bool has_any = false;

		for (unsigned int run = sides[s].first; run < sides[s].first + sides[s].nr; run++) {
			size_t units;

			(void)diff_values(&series->runs[run], nr);
			units = units_of_run(nr, sides[s].nr, by_runs);
			if (!units)
				continue;
			has_any = true;
			least = nr / units < least ? nr / units : least;
		}
		if (!has_any)
			return 0;
	}
	return least;
}
