/* SPDX-License-Identifier: MIT */
/*
 * stalls KIND: one request, a span io:request with id 42, that takes long for a known reason:
 *	work	it computes, with an inner span io:step
 *	sleep	it sleeps 7 ms
 *	lock	another thread, called holder, holds a lock for 7 ms, in a span io:commit
 *	preempt	a thread called hog runs on the same CPU for 7 ms
 *	disk	it writes a file, to the disk
 *	chain	it waits for a process, which waits for another one, which sleeps 7 ms
 *	storm	it computes, while 200 timers expire one by one
 *	inversion it waits for a lock of a thread called low, which a thread called medium keeps from running for 7 ms
 *	late	it sleeps 1 ms, and then a thread called hog has its CPU for some more
 *	moved	as span co:request: a thread called second computes it for 7 ms, and one called third ends it
 * If an order must be certain, the threads are on one CPU and have real-time priorities.
 */
#include <librecorder/event.h>
#include <librecorder/span.h>

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

REC_EVENT(io, request_begin, u64(id));
REC_EVENT(io, request_end, s32(result));
REC_EVENT(io, step_begin);
REC_EVENT(io, step_end);
REC_EVENT(io, commit_begin);
REC_EVENT(io, commit_end);
REC_SPAN_KEYED(co, request, key(u64(id)));

#define STALL_NS 7000000

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t ready;
static sem_t begun, held, handed;

static uint64_t now(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

/* Uses a CPU for this time. */
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

static void set_priority(int priority)
{
	const struct sched_param param = { .sched_priority = priority };

	pthread_setschedparam(pthread_self(), SCHED_FIFO, &param);
}

/* Runs for the whole time, at a higher priority than all other threads. */
static void *hog(void *arg)
{
	(void)arg;
	rec_thread_name("hog");
	pthread_barrier_wait(&ready);
	/* From here on no other thread runs on this CPU. */
	set_priority(1);
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

#define TIMERS 200u

/* Set the timers to expire 10 us after each other, from `at` on. Returns the time after the last one. */
static uint64_t set_timers(const int fds[TIMERS], uint64_t at)
{
	for (unsigned int i = 0; i < TIMERS; i++, at += 10000) {
		const struct itimerspec when = { .it_value = { (time_t)(at / 1000000000), (long)(at % 1000000000) } };

		if (timerfd_settime(fds[i], TFD_TIMER_ABSTIME, &when, NULL))
			exit(1);
	}
	return at;
}

/*
 * Whether the thread was on its CPU all the time while the timers expired: the threads that drain the rings may take
 * the CPU for long.
 */
static bool storm(const int fds[TIMERS])
{
	const uint64_t first = now(CLOCK_MONOTONIC) + 20000000, at = set_timers(fds, first);
	uint64_t before = now(CLOCK_MONOTONIC), here;
	bool stayed = before < first;

	for (; before < at; before = here) {
		here = now(CLOCK_MONOTONIC);
		stayed = stayed && here - before < 1000000;
	}
	return stayed;
}

/* The timers expire on the CPU on which they are set. */
static void storm_stall(void)
{
	int fds[TIMERS];

	pin();
	set_priority(1);
	for (unsigned int i = 0; i < TIMERS; i++) {
		fds[i] = timerfd_create(CLOCK_MONOTONIC, 0);
		if (fds[i] < 0)
			exit(1);
	}
	REC(io, request_begin, 42);
	while (!storm(fds))
		;
	REC(io, request_end, 0);
}

static void *low(void *arg)
{
	(void)arg;
	rec_thread_name("low");
	pthread_mutex_lock(&lock);
	sem_post(&held);
	burn(STALL_NS / 7);
	pthread_mutex_unlock(&lock);
	return NULL;
}

static void *medium(void *arg)
{
	(void)arg;
	rec_thread_name("medium");
	set_priority(1);
	sem_post(&held);
	sem_wait(&begun);
	burn(STALL_NS);
	return NULL;
}

static void inversion_stall(void)
{
	const struct sched_param other = { .sched_priority = 0 };
	pthread_attr_t attr;
	pthread_t threads[2];

	pin();
	set_priority(2);
	pthread_attr_init(&attr);
	pthread_attr_setinheritsched(&attr, PTHREAD_EXPLICIT_SCHED);
	pthread_attr_setschedpolicy(&attr, SCHED_OTHER);
	pthread_attr_setschedparam(&attr, &other);
	/* Before low takes the lock, medium has its priority. */
	pthread_create(&threads[0], &attr, medium, NULL);
	sem_wait(&held);
	pthread_create(&threads[1], &attr, low, NULL);
	sem_wait(&held);
	REC(io, request_begin, 42);
	sem_post(&begun);
	pthread_mutex_lock(&lock);
	pthread_mutex_unlock(&lock);
	REC(io, request_end, 0);
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
}

static void *late_hog(void *arg)
{
	const struct timespec before = { 0, 500000 };

	(void)arg;
	rec_thread_name("hog");
	set_priority(1);
	sem_post(&held);
	sem_wait(&begun);
	nanosleep(&before, NULL);
	burn(STALL_NS);
	return NULL;
}

static void late_stall(void)
{
	const struct timespec ts = { 0, 1000000 };
	pthread_t thread;

	pin();
	pthread_create(&thread, NULL, late_hog, NULL);
	sem_wait(&held);
	REC(io, request_begin, 42);
	/* The hog's timer is set before this thread continues. */
	sem_post(&begun);
	nanosleep(&ts, NULL);
	REC(io, request_end, 0);
	pthread_join(thread, NULL);
}

static pid_t helper;

/* Wait until the thread sleeps: only then is it woken by the intended event. */
static void wait_asleep(void)
{
	char path[64], text[256], *end;
	FILE *file;

	sem_wait(&held);
	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", (int)helper);
	do {
		file = fopen(path, "r");
		if (!file || !fgets(text, sizeof(text), file))
			exit(1);
		fclose(file);
		end = strrchr(text, ')');
	} while (!end || end[2] != 'S');
}

static void wait_as_helper(const char *name, sem_t *sem)
{
	rec_thread_name(name);
	helper = (pid_t)syscall(SYS_gettid);
	sem_post(&held);
	while (sem_wait(sem))
		;
}

static void *second(void *arg)
{
	(void)arg;
	wait_as_helper("second", &begun);
	burn(STALL_NS);
	sem_post(&handed);
	return NULL;
}

static void *third(void *arg)
{
	(void)arg;
	wait_as_helper("third", &handed);
	REC_END(co, request, 42);
	return NULL;
}

static void moved_stall(void)
{
	pthread_t threads[2];

	pthread_create(&threads[0], NULL, second, NULL);
	wait_asleep();
	pthread_create(&threads[1], NULL, third, NULL);
	wait_asleep();
	REC_BEGIN(co, request, 42);
	burn(STALL_NS / 7);
	sem_post(&begun);
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
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

	/* Wait, so that each process waits for the next one and not for a CPU. */
	set_priority(1);
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

static void work_stall(void)
{
	REC(io, request_begin, 42);
	burn(STALL_NS / 7);
	REC(io, step_begin);
	burn(STALL_NS);
	REC(io, step_end);
	REC(io, request_end, 0);
}

static void sleep_stall(void)
{
	REC(io, request_begin, 42);
	doze();
	REC(io, request_end, 0);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} kinds[] = {
		{ "work", work_stall },	  { "sleep", sleep_stall }, { "lock", lock_stall },
		{ "preempt", preempt_stall }, { "disk", disk_stall },	{ "chain", chain_stall },
		{ "storm", storm_stall }, { "inversion", inversion_stall }, { "late", late_stall },
		{ "moved", moved_stall },
	};

	pthread_barrier_init(&ready, NULL, 2);
	sem_init(&begun, 0, 0);
	sem_init(&held, 0, 0);
	sem_init(&handed, 0, 0);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (argc > 1 && !strcmp(argv[1], kinds[i].name)) {
			kinds[i].run();
			return 0;
		}
	}
	fprintf(stderr, "usage: stalls work|sleep|lock|preempt|disk|chain|storm|inversion|late|moved\n");
	return 2;
}
