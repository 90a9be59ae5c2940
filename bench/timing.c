/* SPDX-License-Identifier: MIT */
#include "bench/timing.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

struct worker {
	pthread_t thread;
	pthread_barrier_t *start;
	timing_loop loop;
	uint64_t n;
	unsigned int number;
	size_t cpu;
	double ns;
};

/* The CPU with this number among those we may run on; CPU_SETSIZE: there are not so many. */
static size_t nth_cpu(unsigned int n)
{
	cpu_set_t set;
	size_t cpu;

	sched_getaffinity(0, sizeof(set), &set);
	for (cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &set) && n-- == 0)
			break;
	return cpu;
}

/* The thread's own CPU time: what else runs on the machine takes no part in it, but for the caches. */
static double now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static void *work(void *arg)
{
	struct worker *worker = arg;
	double begin;
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(worker->cpu, &set);
	pthread_setaffinity_np(pthread_self(), sizeof(set), &set);
	worker->loop(worker->n / 10, worker->number);
	pthread_barrier_wait(worker->start);
	begin = now_ns();
	worker->loop(worker->n, worker->number);
	worker->ns = (now_ns() - begin) / (double)worker->n;
	return NULL;
}

double timing_run(timing_loop loop, uint64_t n, unsigned int threads)
{
	struct worker workers[TIMING_THREADS_MAX];
	pthread_barrier_t start;
	double sum = 0;

	if (nth_cpu(threads - 1) == CPU_SETSIZE)
		return -1;
	pthread_barrier_init(&start, NULL, threads);
	for (unsigned int i = 0; i < threads; i++) {
		workers[i] = (struct worker){ .start = &start, .loop = loop, .n = n, .number = i, .cpu = nth_cpu(i) };
		pthread_create(&workers[i].thread, NULL, work, &workers[i]);
	}
	for (unsigned int i = 0; i < threads; i++) {
		pthread_join(workers[i].thread, NULL);
		sum += workers[i].ns;
	}
	pthread_barrier_destroy(&start);
	return sum / threads;
}

static int compare(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

double timing_median(double *values, unsigned int n)
{
	qsort(values, n, sizeof(*values), compare);
	return values[n / 2];
}

static void print_value(const double *value, double floor)
{
	if (value && *value >= 0)
		printf("%9.2f %6.2f", *value, *value / floor);
	else
		printf("%9s %6s", "-", "-");
}

void timing_row(const char *name, const double *one, const double *two, double floor_one, double floor_two, const char *why)
{
	printf("%-34s", name);
	if (why) {
		printf("   not here: %s\n", why);
		return;
	}
	print_value(one, floor_one);
	print_value(two, floor_two);
	putchar('\n');
	fflush(stdout);
}

void timing_header(void)
{
	printf("%-34s%16s%16s\n", "", "one thread", "two threads");
	printf("%-34s%9s %6s%9s %6s\n", "", "ns", "floor", "ns", "floor");
}
