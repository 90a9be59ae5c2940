/* SPDX-License-Identifier: MIT */
/*
 * What was promised, and what came out: a line each. Values are those of each
 * round; what is shown is a median of rounds.
 */
#ifndef BENCH_TARGETS_H
#define BENCH_TARGETS_H

#include <stdbool.h>

void target_header(void);

/* value / base of each round; at most, or at least, this factor. */
void target_ratio(const char *name, const double *value, const double *base, double most);
void target_times(const char *name, const double *value, const double *base, double least);

/* value - base of each round, in ns. */
void target_beyond(const char *name, const double *value, const double *base, double most);

/* A figure that is one already. */
void target_show(const char *name, double value, double bound, bool at_least);

#endif
