/* SPDX-License-Identifier: MIT */
/*
 * bench_start: what a program pays for being linked with librecorder if nobody ever records it, from its start to its end.
 * Two programs that only allocate, of which one has an event, are run in turn; what counts is the CPU time that they took.
 */
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "timing.h"

#define RUNS 100u

extern char **environ;

static double children_us(void)
{
	struct rusage usage;

	getrusage(RUSAGE_CHILDREN, &usage);
	return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1e6 +
	       (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

/* Microseconds a run, or a negative number. */
static double run(const char *program)
{
	char *const arguments[] = { (char *)(uintptr_t)program, NULL };
	const double before = children_us();
	int status;
	pid_t pid;

	for (unsigned int i = 0; i < RUNS; i++)
		if (posix_spawn(&pid, program, NULL, NULL, arguments, environ) || waitpid(pid, &status, 0) != pid || status)
			return -1;
	return (children_us() - before) / RUNS;
}

int main(int argc, char **argv)
{
	double plain[TIMING_ROUNDS], linked[TIMING_ROUNDS], more[TIMING_ROUNDS], ratio[TIMING_ROUNDS];
	char paths[2][4096];
	const char *slash = strrchr(argv[0], '/');
	const int size = slash ? (int)(slash - argv[0]) + 1 : 0;

	(void)argc;
	snprintf(paths[0], sizeof(paths[0]), "%.*sstart_plain", size, argv[0]);
	snprintf(paths[1], sizeof(paths[1]), "%.*sstart_linked", size, argv[0]);
	for (unsigned int i = 0; i < TIMING_ROUNDS; i++) {
		plain[i] = run(paths[0]);
		linked[i] = run(paths[1]);
		if (plain[i] < 0 || linked[i] < 0) {
			fprintf(stderr, "bench_start: cannot run %s\n", paths[plain[i] < 0 ? 0 : 1]);
			return 1;
		}
		more[i] = linked[i] - plain[i];
		ratio[i] = linked[i] / plain[i];
	}
	printf("%-40s %10s %10s %8s\n", "start, us of CPU time, start to end", "us", "more", "ratio");
	printf("%-40s %10.0f\n", "a program that only allocates", timing_median(plain, TIMING_ROUNDS));
	printf("%-40s %10.0f %10.0f %8.2f\n", "the same, linked, with an event", timing_median(linked, TIMING_ROUNDS),
	       timing_median(more, TIMING_ROUNDS), timing_median(ratio, TIMING_ROUNDS));
	printf("target: at most 100 us more: %s\n", timing_median(more, TIMING_ROUNDS) <= 100 ? "met" : "missed");
	return 0;
}
