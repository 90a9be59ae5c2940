/* SPDX-License-Identifier: MIT */
/*
 * bench_start: measures what linking with librecorder costs a program that is never recorded, from its start to its
 * end. Programs that only allocate are run in turn: one without an event, one with an event, and one without an event
 * that makes the system calls that a buffer needs. The figures are their CPU time, and how often another program took
 * their CPU: on a busy machine, a user waits for that.
 */
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "timing.h"

#define RUNS 100u

enum { PLAIN, LINKED, FLOOR, PROGRAMS };

static const char *const names[PROGRAMS] = { "start_plain", "start_linked", "start_floor" };
static const char *const texts[PROGRAMS] = { "a program that only allocates", "the same, linked, with an event",
					     "the first, and bare system calls" };

extern char **environ;

/* The cost of a program: microseconds of CPU time, and how often it lost its CPU. */
struct cost {
	double us;
	double lost;
};

/* Add the share of this run to the mean of RUNS runs. Returns 0 or -1. */
static int run(const char *program, struct cost *cost)
{
	char *const arguments[] = { (char *)(uintptr_t)program, NULL };
	struct rusage usage;
	int status;
	pid_t pid;

	if (posix_spawn(&pid, program, NULL, NULL, arguments, environ) || wait4(pid, &status, 0, &usage) != pid ||
	    status)
		return -1;
	cost->us += ((double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1e6 +
		     (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec)) /
		    RUNS;
	cost->lost += (double)usage.ru_nivcsw / RUNS;
	return 0;
}

/*
 * The mean of RUNS runs of each program. The programs take turns, so that other activity of the machine affects all in
 * the same way.
 */
static int round_of(char paths[PROGRAMS][4096], struct cost costs[PROGRAMS])
{
	memset(costs, 0, PROGRAMS * sizeof(costs[0]));
	for (unsigned int i = 0; i < RUNS * PROGRAMS; i++) {
		if (run(paths[i % PROGRAMS], &costs[i % PROGRAMS]) < 0) {
			fprintf(stderr, "bench_start: cannot run %s\n", paths[i % PROGRAMS]);
			return -1;
		}
	}
	return 0;
}

int main(int argc, char **argv)
{
	double us[PROGRAMS][TIMING_ROUNDS], more[PROGRAMS][TIMING_ROUNDS], ratio[PROGRAMS][TIMING_ROUNDS];
	double lost[PROGRAMS][TIMING_ROUNDS];
	const char *slash = strrchr(argv[0], '/');
	const int size = slash ? (int)(slash - argv[0]) + 1 : 0;
	struct cost costs[PROGRAMS];
	char paths[PROGRAMS][4096];

	(void)argc;
	for (unsigned int i = 0; i < PROGRAMS; i++)
		snprintf(paths[i], sizeof(paths[i]), "%.*s%s", size, argv[0], names[i]);
	for (unsigned int i = 0; i < TIMING_ROUNDS; i++) {
		if (round_of(paths, costs) < 0)
			return 1;
		for (unsigned int j = 0; j < PROGRAMS; j++) {
			us[j][i] = costs[j].us;
			more[j][i] = costs[j].us - costs[PLAIN].us;
			ratio[j][i] = costs[j].us / costs[PLAIN].us;
			lost[j][i] = costs[j].lost;
		}
	}
	printf("%-40s %10s %10s %8s %10s\n", "start, us of CPU time, start to end", "us", "more", "ratio", "CPU lost");
	for (unsigned int j = 0; j < PROGRAMS; j++)
		printf("%-40s %10.0f %10.0f %8.2f %10.2f\n", texts[j], timing_median(us[j], TIMING_ROUNDS),
		       timing_median(more[j], TIMING_ROUNDS), timing_median(ratio[j], TIMING_ROUNDS),
		       timing_median(lost[j], TIMING_ROUNDS));
	printf("target: at most 100 us more: %s\n",
	       timing_median(more[LINKED], TIMING_ROUNDS) <= 100 ? "met" : "missed");
	return 0;
}
