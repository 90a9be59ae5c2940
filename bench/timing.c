/* SPDX-License-Identifier: MIT */
#include "bench/timing.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

/* CPU number n of those on which we may run; CPU_SETSIZE: there are fewer. */
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

double timing_cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static void pin(size_t cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	pthread_setaffinity_np(pthread_self(), sizeof(set), &set);
}

int timing_cpu(unsigned int n)
{
	const size_t cpu = nth_cpu(n);

	return cpu == CPU_SETSIZE ? -1 : (int)cpu;
}

void timing_pin(unsigned int n)
{
	const int cpu = timing_cpu(n);

	if (cpu >= 0)
		pin((size_t)cpu);
}

double timing_ns_per_tick(void)
{
	struct timespec begin, now;
	uint64_t ticks;
	double ns;

	clock_gettime(CLOCK_MONOTONIC, &begin);
	ticks = timing_ticks();
	do {
		clock_gettime(CLOCK_MONOTONIC, &now);
		ns = (double)(now.tv_sec - begin.tv_sec) * 1e9 + (double)(now.tv_nsec - begin.tv_nsec);
	} while (ns < 5e7);
	return ns / (double)(timing_ticks() - ticks);
}

static void *work(void *arg)
{
	struct worker *worker = arg;
	double begin;

	pin(worker->cpu);
	worker->loop(worker->n / 10, worker->number);
	pthread_barrier_wait(worker->start);
	begin = timing_cpu_ns();
	worker->loop(worker->n, worker->number);
	worker->ns = (timing_cpu_ns() - begin) / (double)worker->n;
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

double timing_median(const double *values, unsigned int n)
{
	double *sorted = malloc(n * sizeof(*sorted)), median;

	if (!sorted)
		abort();
	memcpy(sorted, values, n * sizeof(*sorted));
	qsort(sorted, n, sizeof(*sorted), compare);
	median = sorted[n / 2];
	free(sorted);
	return median;
}

static void print_value(const double *value, double floor)
{
	if (value && *value >= 0)
		printf("%9.2f %6.2f", *value, *value / floor);
	else
		printf("%9s %6s", "-", "-");
}

void timing_row(const char *name, const double *one, const double *two, double floor_one, double floor_two,
		const char *why)
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
