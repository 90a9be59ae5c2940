/* SPDX-License-Identifier: MIT */
/*
 * pinned ROUNDS EVENTS
 *
 * Two threads move themselves from CPU to CPU, ROUNDS times, and on each CPU write EVENTS events that carry its number:
 * while a thread is pinned to one CPU, every instruction of it runs there. Prints the number of CPUs used.
 */
#include <librecorder/event.h>

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

REC_EVENT(test, place, u32(cpu), u32(round));

static unsigned int rounds, events, nr_cpus;
static unsigned int cpus[CPU_SETSIZE];

static void *move(void *arg)
{
	const unsigned int start = (unsigned int)(size_t)arg;
	cpu_set_t set;

	for (unsigned int round = 0; round < rounds; round++) {
		const unsigned int cpu = cpus[(start + round) % nr_cpus];

		CPU_ZERO(&set);
		CPU_SET(cpu, &set);
		if (sched_setaffinity(0, sizeof(set), &set))
			return cpus;
		for (unsigned int i = 0; i < events; i++)
			REC(test, place, cpu, round);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[2];
	void *failed[2];
	cpu_set_t all;

	if (argc != 3 || sched_getaffinity(0, sizeof(all), &all))
		return 2;
	rounds = (unsigned int)atoi(argv[1]);
	events = (unsigned int)atoi(argv[2]);
	for (unsigned int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &all))
			cpus[nr_cpus++] = cpu;
	for (size_t i = 0; i < 2; i++)
		if (pthread_create(&threads[i], NULL, move, (void *)i))
			return 1;
	for (size_t i = 0; i < 2; i++)
		pthread_join(threads[i], &failed[i]);
	printf("cpus %u\n", nr_cpus);
	return failed[0] || failed[1];
}
