/* SPDX-License-Identifier: MIT */
/*
 * producer THREADS EVENTS [fork|exec PROCESSES]
 *
 * Writes EVENTS events from each of THREADS threads, in this process, or in PROCESSES processes
 * that are its children by fork, or by fork and exec. Each event carries the number that it has in
 * its thread. Prints how many were produced.
 */
#include <librecorder/event.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

REC_EVENT(test, count, u32(thread), u64(number));

static unsigned long events;

static void *produce(void *arg)
{
	const unsigned int thread = (unsigned int)(size_t)arg;

	for (unsigned long i = 0; i < events; i++)
		REC(test, count, thread, i);
	return NULL;
}

static int produce_all(unsigned int threads)
{
	pthread_t ids[64];

	for (unsigned int i = 0; i < threads; i++)
		if (pthread_create(&ids[i], NULL, produce, (void *)(size_t)i))
			return 1;
	for (unsigned int i = 0; i < threads; i++)
		pthread_join(ids[i], NULL);
	return 0;
}

int main(int argc, char **argv)
{
	const unsigned int threads = argc > 2 ? (unsigned int)atoi(argv[1]) : 0;
	const int processes = argc > 4 ? atoi(argv[4]) : 0;
	int status, failed = 0;

	if (!threads || threads > 64 || (argc > 3 && !processes))
		return 2;
	events = strtoul(argv[2], NULL, 10);
	if (!processes)
		failed = produce_all(threads);
	for (int i = 0; i < processes; i++) {
		const pid_t child = fork();

		if (child < 0)
			return 1;
		if (child)
			continue;
		if (!strcmp(argv[3], "fork"))
			/* exit() and not _exit(): the child exits normally. */
			exit(produce_all(threads));
		setenv("PRODUCER_CHILD", "1", 1);
		execl("/proc/self/exe", argv[0], argv[1], argv[2], (char *)NULL);
		_exit(1);
	}
	while (wait(&status) > 0)
		failed |= status;
	/* A child by exec prints nothing: its parent knows the number. */
	if (!getenv("PRODUCER_CHILD"))
		printf("produced %lu\n", events * threads * (unsigned int)(processes ? processes : 1));
	return failed != 0;
}
