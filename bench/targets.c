/* SPDX-License-Identifier: MIT */
#include "bench/targets.h"

#include "bench/timing.h"

#include <stdio.h>

void target_header(void)
{
	printf("\n%-52s%10s%10s\n", "targets, medians of what each round gives", "here", "target");
}

static void show(const char *name, double value, double bound, bool at_least, const char *unit)
{
	const bool met = at_least ? value >= bound : value <= bound;

	printf("%-52s%10.2f%s%s%7.2f%s%s\n", name, value, unit, at_least ? " >=" : " <=", bound, unit,
	       met ? "" : "   MISSED");
}

void target_show(const char *name, double value, double bound, bool at_least)
{
	show(name, value, bound, at_least, "   ");
}

static double median_ratio(const double *value, const double *base)
{
	double ratio[TIMING_ROUNDS];

	for (unsigned int i = 0; i < TIMING_ROUNDS; i++)
		ratio[i] = value[i] / base[i];
	return timing_median(ratio, TIMING_ROUNDS);
}

void target_ratio(const char *name, const double *value, const double *base, double most)
{
	target_show(name, median_ratio(value, base), most, false);
}

void target_times(const char *name, const double *value, const double *base, double least)
{
	target_show(name, median_ratio(value, base), least, true);
}

void target_beyond(const char *name, const double *value, const double *base, double most)
{
	double beyond[TIMING_ROUNDS];

	for (unsigned int i = 0; i < TIMING_ROUNDS; i++)
		beyond[i] = value[i] - base[i];
	show(name, timing_median(beyond, TIMING_ROUNDS), most, false, " ns");
}
