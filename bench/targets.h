/* SPDX-License-Identifier: MIT */
/*
 * Prints each target and its result on a line. The arguments have the values of each round; the result is the median of
 * the rounds.
 */
#ifndef BENCH_TARGETS_H
#define BENCH_TARGETS_H

#include <stdbool.h>

void target_header(void);

/* The result is value / base of each round. The target: at most, or at least, this factor. */
void target_ratio(const char *name, const double *value, const double *base, double most);
void target_times(const char *name, const double *value, const double *base, double least);

/* The result is value - base of each round, in ns. */
void target_beyond(const char *name, const double *value, const double *base, double most);

/* The result is a single figure. */
void target_show(const char *name, double value, double bound, bool at_least);

#endif
