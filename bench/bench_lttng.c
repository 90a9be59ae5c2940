/* SPDX-License-Identifier: MIT */
/*
 * The rows of bench_events.c with LTTng-UST; run.sh compiles and runs it where LTTng is installed, inside a session in
 * which bench:* except bench:off is enabled. Prints a line for each row: name, ns of one thread, ns of two threads,
 * separated by tabs.
 */
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "bench_lttng_tp.h"

#include "timing.h"

#include <stdio.h>
#include <string.h>

#define NOINLINE __attribute__((noinline))

static NOINLINE void write_u64(uint64_t n)
{
	lttng_ust_tracepoint(bench, u64, n);
}

static NOINLINE void write_ints(uint64_t n)
{
	lttng_ust_tracepoint(bench, ints, n, n, 1, 2, 3, 4, 5);
}

static NOINLINE void write_text(const char *text)
{
	lttng_ust_tracepoint(bench, text, text);
}

static NOINLINE void write_off(uint64_t n)
{
	lttng_ust_tracepoint(bench, off, n);
}

static void loop_u64(uint64_t n, unsigned int thread)
{
	(void)thread;
	for (uint64_t i = 0; i < n; i++)
		write_u64(i);
}

static void loop_ints(uint64_t n, unsigned int thread)
{
	(void)thread;
	for (uint64_t i = 0; i < n; i++)
		write_ints(i);
}

static void loop_text(uint64_t n, unsigned int thread)
{
	static char text[] = "/usr/share/doc/recorder.";

	(void)thread;
	for (uint64_t i = 0; i < n; i++)
		write_text(text);
}

static void loop_off(uint64_t n, unsigned int thread)
{
	(void)thread;
	for (uint64_t i = 0; i < n; i++)
		write_off(i);
}

static const struct {
	const char *name;
	timing_loop loop;
	uint64_t n;
} rows[] = {
	{ "u64", loop_u64, 200000 },
	{ "seven integers, 32 bytes", loop_ints, 200000 },
	{ "string of 24 characters", loop_text, 200000 },
	{ "off", loop_off, 4000000 },
	{ "dropped", loop_u64, 200000 },
};

#define NR_ROWS (sizeof(rows) / sizeof(rows[0]))

/* bench_lttng overwrite: all rows except the last; bench_lttng discard: the last row. */
int main(int argc, char **argv)
{
	const int discard = argc > 1 && strcmp(argv[1], "discard") == 0;
	double ns[TIMING_THREADS_MAX][TIMING_ROUNDS];

	for (unsigned int row = discard ? NR_ROWS - 1 : 0; row < (discard ? NR_ROWS : NR_ROWS - 1); row++) {
		for (unsigned int threads = 1; threads <= TIMING_THREADS_MAX; threads++)
			for (unsigned int round = 0; round < TIMING_ROUNDS; round++)
				ns[threads - 1][round] = timing_run(rows[row].loop, rows[row].n, threads);
		printf("LTTng-UST: %s\t%.2f\t%.2f\n", rows[row].name, timing_median(ns[0], TIMING_ROUNDS),
		       timing_median(ns[1], TIMING_ROUNDS));
	}
	return 0;
}
