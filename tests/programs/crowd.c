/* SPDX-License-Identifier: MIT */
/*
 * crowd THREADS AT_A_TIME EVENTS [PAUSE_US [FIRST]]
 *
 * Runs THREADS threads, AT_A_TIME of them at a time. Each gives itself a name, t and its number, and writes numbered
 * events, with a pause before each. The first FIRST threads begin one after the other: each is made when the thread
 * before it has written its first event. Prints how many events were produced, and the shared memory of the process in
 * KiB when all threads are gone.
 */
#include <librecorder/event.h>

#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

REC_EVENT(test, crowd, u32(thread), u32(number));

static unsigned long events;
static struct timespec pause_time;
static unsigned int first;
static sem_t places, written;

static void *live(void *arg)
{
	const unsigned int number = (unsigned int)(uintptr_t)arg;
	char name[16];

	snprintf(name, sizeof(name), "t%u", number);
	pthread_setname_np(pthread_self(), name);
	for (unsigned int i = 0; i < events; i++) {
		const bool others_wait = number < first && i == 0;

		if (pause_time.tv_nsec && !others_wait)
			nanosleep(&pause_time, NULL);
		REC(test, crowd, number, i);
		if (others_wait)
			sem_post(&written);
	}
	sem_post(&places);
	return NULL;
}

static long shared_kb(void)
{
	FILE *status = fopen("/proc/self/status", "re");
	char line[256];
	long kb = -1;

	while (status && fgets(line, sizeof(line), status))
		if (!strncmp(line, "RssShmem:", 9) || !strncmp(line, "RssFile:", 8))
			kb += atol(strchr(line, ':') + 1);
	if (status)
		fclose(status);
	return kb;
}

int main(int argc, char **argv)
{
	const unsigned int threads = argc > 3 ? (unsigned int)atoi(argv[1]) : 0;
	const unsigned int at_a_time = argc > 3 ? (unsigned int)atoi(argv[2]) : 0;
	pthread_t *ids = calloc(threads, sizeof(*ids));
	pthread_attr_t attr;

	if (!threads || !at_a_time || !ids)
		return 2;
	events = strtoul(argv[3], NULL, 10);
	pause_time.tv_nsec = argc > 4 ? atol(argv[4]) * 1000 : 0;
	first = argc > 5 ? (unsigned int)atoi(argv[5]) : 0;
	sem_init(&places, 0, at_a_time);
	sem_init(&written, 0, 0);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 128 * 1024);
	for (unsigned int i = 0; i < threads; i++) {
		while (sem_wait(&places))
			;
		/* The threads of the previous round are finished and about to end. */
		if (i >= at_a_time)
			pthread_join(ids[i - at_a_time], NULL);
		if (pthread_create(&ids[i], &attr, live, (void *)(uintptr_t)i))
			return 1;
		while (i < first && sem_wait(&written))
			;
	}
	for (unsigned int i = threads > at_a_time ? threads - at_a_time : 0; i < threads; i++)
		pthread_join(ids[i], NULL);
	printf("produced %lu shared %ld\n", events * threads, shared_kb());
	return 0;
}
