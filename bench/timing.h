/* SPDX-License-Identifier: MIT */
/* Measures nanoseconds per call of a loop, on one or two pinned threads; and medians of rounds. */
#ifndef BENCH_TIMING_H
#define BENCH_TIMING_H

#include <librecorder/lane.h>
#include <stdint.h>

#define TIMING_ROUNDS 15u
#define TIMING_THREADS_MAX 2u

/* Do the measured work `n` times. `thread` is 0 or 1. */
typedef void (*timing_loop)(uint64_t n, unsigned int thread);

/*
 * The mean of the threads' nanoseconds per call. Each thread is pinned to a CPU of its own, and first makes a tenth of
 * the calls without measuring them. Negative: there are fewer CPUs than threads.
 */
double timing_run(timing_loop loop, uint64_t n, unsigned int threads);

/*
 * The thread's own CPU time in ns. It does not include other programs on the machine, except the effect of their use of
 * the caches.
 */
double timing_cpu_ns(void);

/* The number of the CPU that is the n-th, counted from 0, of those on which the calling thread may run; -1: none. */
int timing_cpu(unsigned int n);

/* Pin the calling thread to that CPU, if there is one. */
void timing_pin(unsigned int n);

/* The fastest clock, and the length of its tick in ns; measuring that takes 50 ms. */
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

/* Prints a line of the table. NULL: the column has no value. `why` is printed instead of all columns. */
void timing_row(const char *name, const double *one, const double *two, double floor_one, double floor_two,
		const char *why);
void timing_header(void);

#endif
