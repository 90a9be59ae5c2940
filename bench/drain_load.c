/* SPDX-License-Identifier: MIT */
/*
 * drain_load THREADS RATE SECONDS [PID]
 *
 * The load of bench/drain.sh: THREADS threads write events of one u64 for SECONDS, together RATE events a second, or
 * with RATE 0 as many as they can. Prints the number of events written, and the CPU time in ns that all threads of the
 * process PID (by default the parent: the recorder) have used meanwhile and for a moment afterwards, so that the last
 * events are included.
 */
#ifdef WITH_LTTNG
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "bench_lttng_tp.h"
#define WRITE(number) lttng_ust_tracepoint(bench, u64, number)
#else
#include <librecorder/event.h>
REC_EVENT(drain, load, u64(number));
#define WRITE(number) REC(drain, load, number)
#endif

#include <dirent.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define THREADS_MAX 64u
#define NS_PER_S    UINT64_C(1000000000)

/* Events between two readings of the clock. */
#define BATCH 256u

/*
 * A thread sleeps during pauses that are longer than SLEEP_NS, and spins during shorter ones. If it is late by more
 * than LATE_NS, its schedule begins anew.
 */
#define SLEEP_NS 200000u
#define LATE_NS	 100000u

/* The time that the reader has to take the last pages after the last event. */
#define SETTLE_US 300000u

struct writer {
	pthread_t thread;
	uint64_t rate; /* events per second of this thread; 0: as many as it can */
	uint64_t end;
	uint64_t events;
};

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * NS_PER_S + (uint64_t)ts.tv_nsec;
}

static void sleep_until(uint64_t time)
{
	const struct timespec ts = { (time_t)(time / NS_PER_S), (long)(time % NS_PER_S) };

	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL);
}

/* A thread is never faster than its rate: if it was off its CPU, it does not write the missed events later. */
static void *write_events(void *arg)
{
	struct writer *writer = arg;
	uint64_t now = now_ns(), next = now;

	while (now < writer->end) {
		for (unsigned int i = 0; i < BATCH; i++)
			WRITE(writer->events + i);
		writer->events += BATCH;
		now = now_ns();
		if (!writer->rate)
			continue;
		next += BATCH * NS_PER_S / writer->rate;
		if (next > now + SLEEP_NS)
			sleep_until(next);
		while (now < next)
			now = now_ns();
		next = next + LATE_NS < now ? now : next;
	}
	return NULL;
}

/* The CPU time of all present threads of a process. */
static uint64_t cpu_ns(pid_t pid)
{
	const struct dirent *entry;
	uint64_t sum = 0, ns;
	char path[320];
	FILE *file;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	dir = opendir(path);
	while (dir && (entry = readdir(dir))) {
		snprintf(path, sizeof(path), "/proc/%d/task/%s/schedstat", pid, entry->d_name);
		file = entry->d_name[0] == '.' ? NULL : fopen(path, "r");
		if (file && fscanf(file, "%" SCNu64, &ns) == 1)
			sum += ns;
		if (file)
			fclose(file);
	}
	if (dir)
		closedir(dir);
	return sum;
}

int main(int argc, char **argv)
{
	const unsigned int threads = argc > 3 ? (unsigned int)atoi(argv[1]) : 0;
	const pid_t pid = argc > 4 ? atoi(argv[4]) : getppid();
	static struct writer writers[THREADS_MAX];
	uint64_t events = 0, start, before;

	if (!threads || threads > THREADS_MAX)
		return 2;
	before = cpu_ns(pid);
	start = now_ns();
	for (unsigned int i = 0; i < threads; i++) {
		writers[i].rate = strtoull(argv[2], NULL, 10) / threads;
		writers[i].end = start + strtoull(argv[3], NULL, 10) * NS_PER_S;
		if (pthread_create(&writers[i].thread, NULL, write_events, &writers[i]))
			return 1;
	}
	for (unsigned int i = 0; i < threads; i++) {
		pthread_join(writers[i].thread, NULL);
		events += writers[i].events;
	}
	usleep(SETTLE_US);
	printf("events %" PRIu64 " recorder_ns %" PRIu64 "\n", events, cpu_ns(pid) - before);
	return 0;
}
