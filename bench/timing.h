/* SPDX-License-Identifier: MIT */
/* Nanoseconds per call of a loop, on one or two pinned threads; medians of rounds. */
#ifndef BENCH_TIMING_H
#define BENCH_TIMING_H

#include <stdint.h>

#define TIMING_ROUNDS 15u
#define TIMING_THREADS_MAX 2u

/* Do the thing `n` times. `thread` is 0 or 1. */
typedef void (*timing_loop)(uint64_t n, unsigned int thread);

/*
 * The mean of the threads' nanoseconds per call, each thread pinned to a CPU of its own; a tenth of the calls goes before,
 * unmeasured. Negative: there are fewer CPUs than threads.
 */
double timing_run(timing_loop loop, uint64_t n, unsigned int threads);

double timing_median(double *values, unsigned int n);

/* A line of the table; NULL for a column without a value. `why` stands in place of all of them. */
void timing_row(const char *name, const double *one, const double *two, double floor_one, double floor_two, const char *why);
void timing_header(void);

#endif
