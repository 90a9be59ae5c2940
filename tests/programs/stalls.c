/* SPDX-License-Identifier: MIT */
/*
 * stalls KIND: one request, a span io:request with id 42, that takes long for a known reason:
 *	work	it computes, with an inner span io:step
 *	sleep	it sleeps 7 ms
 *	lock	another thread, called holder, holds a lock for 7 ms, in a span io:commit
 *	preempt	a thread called hog runs on the same CPU for 7 ms
 *	disk	it writes a file, to the disk
 *	chain	it waits for a process, which waits for another one, which sleeps 7 ms
 */
#include <librecorder/event.h>

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

REC_EVENT(io, request_begin, u64(id));
REC_EVENT(io, request_end, s32(result));
REC_EVENT(io, step_begin);
REC_EVENT(io, step_end);
REC_EVENT(io, commit_begin);
REC_EVENT(io, commit_end);

#define STALL_NS 7000000

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t ready;
static sem_t begun;

static uint64_t now(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

/* Uses this much of a CPU. */
static void burn(uint64_t ns)
{
	const uint64_t end = now(CLOCK_THREAD_CPUTIME_ID) + ns;

	while (now(CLOCK_THREAD_CPUTIME_ID) < end)
		;
}

static void doze(void)
{
	const struct timespec ts = { 0, STALL_NS };

	nanosleep(&ts, NULL);
}

static void *hold(void *arg)
{
	(void)arg;
	rec_thread_name("holder");
	pthread_mutex_lock(&lock);
	pthread_barrier_wait(&ready);
	sem_wait(&begun);
	REC(io, commit_begin);
	burn(STALL_NS);
	REC(io, commit_end);
	pthread_mutex_unlock(&lock);
	return NULL;
}

static void pin(void)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(0, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

/* Runs as long as it has to, at a priority that nothing else has. */
static void *hog(void *arg)
{
	const struct sched_param param = { .sched_priority = 1 };

	(void)arg;
	rec_thread_name("hog");
	pthread_barrier_wait(&ready);
	/* From here on nobody else runs on this CPU. */
	pthread_setschedparam(pthread_self(), SCHED_FIFO, &param);
	burn(STALL_NS);
	return NULL;
}

static void lock_stall(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, hold, NULL);
	pthread_barrier_wait(&ready);
	REC(io, request_begin, 42);
	sem_post(&begun);
	pthread_mutex_lock(&lock);
	pthread_mutex_unlock(&lock);
	REC(io, request_end, 0);
	pthread_join(thread, NULL);
}

static void preempt_stall(void)
{
	pthread_t thread;

	pin();
	pthread_create(&thread, NULL, hog, NULL);
	REC(io, request_begin, 42);
	pthread_barrier_wait(&ready);
	burn(5 * STALL_NS);
	REC(io, request_end, 0);
	pthread_join(thread, NULL);
}

static void disk_stall(void)
{
	char name[] = "stalls.XXXXXX", data[65536];
	const int fd = mkstemp(name);

	memset(data, 1, sizeof(data));
	REC(io, request_begin, 42);
	if (write(fd, data, sizeof(data)) != sizeof(data) || fsync(fd))
		exit(1);
	REC(io, request_end, 0);
	unlink(name);
}

static void wait_for(int fd)
{
	char byte;

	if (read(fd, &byte, 1) != 1)
		exit(1);
}

static void tell(int fd)
{
	if (write(fd, "", 1) != 1)
		exit(1);
}

static void chain_stall(void)
{
	int first[2], second[2], start[2];

	if (pipe(first) || pipe(second) || pipe(start))
		exit(1);
	if (!fork()) {
		rec_thread_name("middle");
		wait_for(second[0]);
		tell(first[1]);
		_exit(0);
	}
	if (!fork()) {
		rec_thread_name("last");
		wait_for(start[0]);
		doze();
		tell(second[1]);
		_exit(0);
	}
	REC(io, request_begin, 42);
	tell(start[1]);
	wait_for(first[0]);
	REC(io, request_end, 0);
	while (wait(NULL) > 0)
		;
}

int main(int argc, char **argv)
{
	const char *kind = argc > 1 ? argv[1] : "";

	pthread_barrier_init(&ready, NULL, 2);
	sem_init(&begun, 0, 0);
	if (!strcmp(kind, "work")) {
		REC(io, request_begin, 42);
		burn(STALL_NS / 7);
		REC(io, step_begin);
		burn(STALL_NS);
		REC(io, step_end);
		REC(io, request_end, 0);
	} else if (!strcmp(kind, "sleep")) {
		REC(io, request_begin, 42);
		doze();
		REC(io, request_end, 0);
	} else if (!strcmp(kind, "lock")) {
		lock_stall();
	} else if (!strcmp(kind, "preempt")) {
		preempt_stall();
	} else if (!strcmp(kind, "disk")) {
		disk_stall();
	} else if (!strcmp(kind, "chain")) {
		chain_stall();
	} else {
		fprintf(stderr, "usage: stalls work|sleep|lock|preempt|disk|chain\n");
		return 2;
	}
	return 0;
}
