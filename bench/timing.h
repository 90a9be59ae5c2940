/* SPDX-License-Identifier: MIT */
/* Nanoseconds per call of a loop, on one or two pinned threads; medians of rounds. */
#ifndef BENCH_TIMING_H
#define BENCH_TIMING_H

#include <librecorder/lane.h>
#include <stdint.h>

#define TIMING_ROUNDS 15u
#define TIMING_THREADS_MAX 2u

/* Do the thing `n` times. `thread` is 0 or 1. */
typedef void (*timing_loop)(uint64_t n, unsigned int thread);

/*
 * The mean of the threads' nanoseconds per call, each thread pinned to a CPU of its own; a tenth of the calls goes
 * before, unmeasured. Negative: there are fewer CPUs than threads.
 */
double timing_run(timing_loop loop, uint64_t n, unsigned int threads);

/* The thread's own CPU time in ns: other programs on the machine do not count, except for their use of the caches. */
double timing_cpu_ns(void);

/* Pin the calling thread to the n-th CPU that it may run on, if there are that many. */
void timing_pin(unsigned int n);

/* The quickest clock there is, and what a tick of it is in ns; finding out takes 50 ms. */
static inline uint64_t timing_ticks(void)
{
#if defined(__x86_64__)
	return rec_clock_read(REC_CLOCK_TSC);
#else
	return rec_clock_read(REC_CLOCK_MONO);
#endif
}
double timing_ns_per_tick(void);

double timing_median(const double *values, unsigned int n);

/* A line of the table; NULL for a column without a value. `why` stands in place of all of them. */
void timing_row(const char *name, const double *one, const double *two, double floor_one, double floor_two,
		const char *why);
void timing_header(void);

#endif
