/* SPDX-License-Identifier: MIT */
/*
 * The recorder's side of the drain: threads are started, supervised and ended. A thread's own work is in kernel_ring.c.
 */
#include "cli/kernel/kernel_drain.h"

#include <errno.h>
#include <librecorder/clock.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "cli/base/file_limit.h"
#include "cli/kernel/kernel_clock.h"
#include "cli/kernel/kernel_limit.h"
#include "cli/kernel/kernel_ring.h"
#include "cli/kernel/kernel_texts.h"
#include "cli/base/now.h"
#include "cli/base/message.h"

/*
 * The lowest real-time priority is above all threads that are not real-time; a higher one would displace real-time
 * threads of the traced program.
 */
#define DEFAULT_PRIORITY 1

/*
 * All rings together grow to at most a 16th of the free memory, and one ring to a size beyond which there is no
 * benefit: the ring of a busy CPU (50 MB of events a second) then bridges five seconds in which the disk accepts
 * nothing.
 */
#define GROWN_MAX_KB (256u * 1024u)
#define MEMORY_SHARE 16u

#define ANCHOR_PERIOD_MS 1000u

struct kernel_drain {
	struct kernel_drain_request request;
	struct kernel *kernel;
	struct spool *spool;
	unsigned int process; /* the kernel's number in the spool */
	struct kernel_ring *rings;
	unsigned int nr;
	int stop; /* eventfd that all threads watch */
	struct kernel_grower grower;
	const struct kernel_ring *failed; /* the first thread that failed */
	int priority; /* real-time priority of the threads; 0: none */
	int priority_errno;
	uint64_t anchored_ms;
	bool is_noted; /* our threads were noted after all of them had begun */
	uint64_t first_kb; /* the rings' size at the start */
	uint32_t clock;
};

/* The size in KB to which each of `nr` rings may grow. */
static uint64_t grown_max(unsigned int nr)
{
	const long pages = sysconf(_SC_AVPHYS_PAGES), size = sysconf(_SC_PAGESIZE);
	const uint64_t share = pages > 0 ? (uint64_t)pages * (uint64_t)size / 1024u / MEMORY_SHARE / nr : 0;

	return share < GROWN_MAX_KB ? share : GROWN_MAX_KB;
}

static bool cannot(const struct kernel_drain *drain, const char *what, int err)
{
	message(drain->request.sink, "cannot drain the kernel's events: %s: %s", what, strerror(-err));
	return false;
}

/*
 * Move a ring's thread to another CPU, where it may run as well. Its own CPU may be occupied by a real-time thread that
 * does not sleep. The mask without that CPU moves the thread at once; the second one lets the kernel choose.
 */
static void leave_cpu(const struct kernel_ring *ring)
{
	cpu_set_t all, others;

	if (ring->cpu >= CPU_SETSIZE || sched_getaffinity(0, sizeof(all), &all) < 0)
		return;
	others = all;
	CPU_CLR(ring->cpu, &others);
	if (pthread_setaffinity_np(ring->thread, sizeof(others), &others) == 0)
		pthread_setaffinity_np(ring->thread, sizeof(all), &all);
}

static void join(const struct kernel_ring *ring)
{
	struct timespec until;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec++;
	while (pthread_clockjoin_np(ring->thread, NULL, CLOCK_MONOTONIC, &until) == ETIMEDOUT) {
		leave_cpu(ring);
		until.tv_sec++;
	}
}

/* End the threads, by the eventfd, and wait for them. */
static void end_threads(struct kernel_drain *drain, enum kernel_ring_end how)
{
	const uint64_t one = 1;
	bool woken = false;

	for (unsigned int i = 0; i < drain->nr; i++)
		atomic_store(&drain->rings[i].end, how);
	while (!woken && drain->stop >= 0)
		woken = write(drain->stop, &one, sizeof(one)) == sizeof(one) || errno != EINTR;
	for (unsigned int i = 0; i < drain->nr; i++) {
		if (drain->rings[i].started)
			join(&drain->rings[i]);
		drain->rings[i].started = false;
	}
	if (drain->grower.started) {
		kernel_grower_wake(&drain->grower);
		pthread_join(drain->grower.thread, NULL);
	}
	drain->grower.started = false;
}

struct kernel_drain *kernel_drain_close(struct kernel_drain *drain)
{
	if (!drain)
		return NULL;
	end_threads(drain, KERNEL_RING_LEAVE);
	for (unsigned int i = 0; i < drain->nr; i++)
		kernel_ring_close(&drain->rings[i]);
	if (drain->stop >= 0)
		close(drain->stop);
	free(drain->rings);
	free(drain);
	return NULL;
}

/* ------------------------------------------------------------------------------------------------------ the start */

/* Add the kernel's entry to the spool. */
static int add_process(struct kernel_drain *drain)
{
	struct spool_process process = {
		.info = { .clock = drain->clock, .subbuf_size = kernel_page_size(drain->kernel), .comm = "kernel" },
	};
	int number;

	if (drain->request.buffer)
		snprintf(process.info.exe, sizeof(process.info.exe), "%s", drain->request.buffer);
	number = spool_add_process(drain->spool, &process);
	drain->process = number < 0 ? 0 : (unsigned int)number;
	return number < 0 ? number : 0;
}

/*
 * Add an anchor of the TSC, by which times of x86-tsc are converted to CLOCK_MONOTONIC; times of the kernel's other
 * clocks are used unchanged.
 */
static int add_anchor(struct kernel_drain *drain)
{
	struct rec_anchor anchor;

	drain->anchored_ms = now_ms();
	/* The first drain writes the spool's texts. */
	if (drain->clock != REC_CLOCK_TSC || drain->request.buffer || rec_clock_anchor(drain->clock, &anchor))
		return 0;
	return spool_add_anchor(drain->spool, drain->clock, &anchor);
}

static bool open_rings(struct kernel_drain *drain)
{
	const char *dir = kernel_dir(drain->kernel);
	unsigned int nr, all;
	const unsigned int *cpus = kernel_cpus(drain->kernel, &nr);
	char what[PATH_MAX];

	drain->rings = calloc(nr + 1, sizeof(*drain->rings));
	if (!drain->rings)
		return cannot(drain, "memory", -ENOMEM);
	drain->first_kb = kernel_buffer_kb(drain->kernel);
	all = nr * (drain->request.buffers ? drain->request.buffers : 1);
	file_limit_raise();
	for (unsigned int i = 0; i < nr; i++) {
		struct kernel_ring *ring = &drain->rings[drain->nr];
		int err = kernel_ring_open(ring, dir, cpus[i], kernel_page_size(drain->kernel), drain->request.way);

		/* A CPU that is offline has no ring. */
		if (err == -ENXIO)
			continue;
		if (err == -ENODEV && drain->request.way == KERNEL_DRAIN_MMAP) {
			message(drain->request.sink, "this kernel cannot map its rings%s: Linux can since 6.10",
				message_remark(drain->request.sink, WORD_DRAIN_BY_MAPPING).text);
			return false;
		}
		snprintf(what, sizeof(what), "the ring of CPU %u", cpus[i]);
		if (err)
			return cannot(drain, what, err);
		ring->stop = drain->stop;
		ring->wait_us = drain->request.wait_us;
		ring->kb = drain->first_kb;
		ring->max_kb = drain->request.grow && ring->way != KERNEL_DRAIN_MMAP ? grown_max(all) : 0;
		ring->side = spool_side_create(drain->spool, drain->process, ring->cpu);
		if (ring->side < 0) {
			err = ring->side;
			spool_side_path(drain->spool, drain->process, ring->cpu, what, sizeof(what));
			kernel_ring_close(ring);
			if (err != -EEXIST)
				return cannot(drain, what, err);
			message(drain->request.sink, "'%s' exists already; remove it or choose another output%s",
				what, message_remark(drain->request.sink, WORD_OUTPUT).text);
			return false;
		}
		drain->nr++;
		err = drain->request.limit_kb ? kernel_limit_begin(ring, drain->request.limit_kb) : 0;
		if (err) {
			spool_side_path(drain->spool, drain->process, ring->cpu, what, sizeof(what));
			return cannot(drain, what, err);
		}
	}
	return true;
}

bool kernel_drain_open(struct kernel *kernel, struct spool *spool, const struct kernel_drain_request *request,
		       struct kernel_drain **ret_drain)
{
	struct kernel_drain *drain = calloc(1, sizeof(*drain));
	bool good = false;
	int err;

	if (!drain) {
		message(request->sink, "out of memory");
		return false;
	}
	drain->request = *request;
	drain->kernel = kernel;
	drain->spool = spool;
	drain->clock = kernel_clock_program(kernel_clock(kernel));
	drain->stop = eventfd(0, EFD_CLOEXEC);
	err = drain->stop < 0 ? -errno : add_process(drain);
	if (!err)
		err = kernel_texts_begin(kernel, spool, drain->process);
	if (!err)
		err = add_anchor(drain);
	if (err)
		cannot(drain, spool->path, err);
	else
		good = open_rings(drain);
	if (!good)
		kernel_drain_close(drain);
	else
		*ret_drain = drain;
	return good;
}

/* If the priority is refused for one thread, it is not tried for the others. */
static void set_priority(struct kernel_drain *drain, pthread_t thread)
{
	const int priority = drain->request.priority ? (int)drain->request.priority : DEFAULT_PRIORITY;
	const struct sched_param param = { .sched_priority = priority };

	if (drain->priority_errno)
		return;
	drain->priority_errno = pthread_setschedparam(thread, SCHED_FIFO, &param);
	drain->priority = drain->priority_errno ? 0 : priority;
	if (drain->priority_errno && !drain->request.quiet)
		message(drain->request.sink,
			"no real-time priority for the drain (%s): the kernel's events may be lost on a busy "
			"machine; be root, or raise the limit ('ulimit -r %d')",
			strerror(drain->priority_errno), priority);
}

/* 0 or pthread_create()'s error. */
static int start_thread(struct kernel_drain *drain, pthread_t *ret_thread, void *(*function)(void *), void *arg)
{
	const int err = pthread_create(ret_thread, NULL, function, arg);

	if (!err)
		set_priority(drain, *ret_thread);
	return err;
}

/* Call it before the rings' threads start. 0 or pthread_create()'s error. */
static int start_grower(struct kernel_drain *drain)
{
	struct kernel_grower *grower = &drain->grower;
	bool may_grow = false;
	int err;

	for (unsigned int i = 0; i < drain->nr; i++)
		may_grow |= drain->rings[i].max_kb >= drain->rings[i].kb * 2;
	if (!may_grow)
		return 0;
	*grower = (struct kernel_grower){ .rings = drain->rings, .nr = drain->nr, .stop = drain->stop };
	sem_init(&grower->wake, 0, 0);
	err = start_thread(drain, &grower->thread, kernel_grower_main, grower);
	grower->started = !err;
	for (unsigned int i = 0; i < drain->nr && !err; i++)
		drain->rings[i].grower = grower;
	return err;
}

/*
 * The events of our own threads are left out of the file, unless requested. The threads are noted repeatedly, because
 * the drain of programs starts threads later. The first drain notes the threads of all drains. 0 or as
 * kernel_texts_own_threads().
 */
static int note_threads(const struct kernel_drain *drain)
{
	if (drain->request.keep_own || drain->request.buffer)
		return 0;
	return kernel_texts_own_threads(drain->spool, drain->process);
}

bool kernel_drain_start(struct kernel_drain *drain)
{
	sigset_t all, before;
	int err = kernel_texts_some(drain->kernel, drain->spool, drain->process);

	if (err)
		return cannot(drain, drain->spool->path, err);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = start_grower(drain);
	for (unsigned int i = 0; i < drain->nr && !err; i++) {
		struct kernel_ring *ring = &drain->rings[i];

		err = start_thread(drain, &ring->thread, kernel_ring_main, ring);
		ring->started = !err;
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (err)
		return cannot(drain, "a thread", -err);
	err = note_threads(drain);
	return !err || cannot(drain, drain->spool->path, err);
}

/* -------------------------------------------------------------------------------------------------- the recording */

/* Returns the first error of a ring or a side file since the last call. */
static int take_errors(struct kernel_drain *drain)
{
	int err = 0;

	for (unsigned int i = 0; i < drain->nr; i++) {
		struct kernel_ring *ring = &drain->rings[i];
		const int one = atomic_exchange(&ring->err, 0);

		if (!one)
			continue;
		ring->failed = one;
		err = err ? err : one;
		if (!drain->failed)
			drain->failed = ring;
	}
	return err;
}

/* Move the threads that have not run since the last check, a second ago, although they wait for less time (-s). */
static void free_late_threads(struct kernel_drain *drain)
{
	for (unsigned int i = 0; i < drain->nr; i++) {
		struct kernel_ring *ring = &drain->rings[i];
		const unsigned int turns = atomic_load(&ring->turns);
		const uint64_t bytes = atomic_load(&ring->bytes);
		const bool has_run = turns != ring->turns_seen || bytes != ring->bytes_seen;

		/* A thread that failed has ended. */
		if (!has_run && !ring->failed && ring->wait_us < ANCHOR_PERIOD_MS * 1000u)
			leave_cpu(ring);
		ring->turns_seen = turns;
		ring->bytes_seen = bytes;
	}
}

int kernel_drain_run(struct kernel_drain *drain)
{
	int err = take_errors(drain);

	if (drain->is_noted && now_ms() - drain->anchored_ms >= ANCHOR_PERIOD_MS)
		free_late_threads(drain);
	if (!err && (!drain->is_noted || now_ms() - drain->anchored_ms >= ANCHOR_PERIOD_MS)) {
		drain->is_noted = true;
		err = note_threads(drain);
		if (!err)
			err = add_anchor(drain);
	}
	return err;
}

int kernel_drain_finish(struct kernel_drain *drain)
{
	int err, one;

	err = note_threads(drain);
	end_threads(drain, KERNEL_RING_FINISH);
	if (!err)
		err = add_anchor(drain);
	if (!err)
		err = kernel_texts_end(drain->kernel, drain->spool, drain->process);
	one = take_errors(drain);
	return err ? err : one;
}

int kernel_drain_failed(const struct kernel_drain *drain, char *text, size_t size)
{
	const struct kernel_ring *ring = drain->failed;
	char path[PATH_MAX];

	if (!ring)
		return 0;
	if (ring->ring_failed)
		snprintf(text, size, "read the kernel's ring of CPU %u", ring->cpu);
	else if (!spool_side_path(drain->spool, drain->process, ring->cpu, path, sizeof(path)))
		snprintf(text, size, "write '%s'", path);
	return ring->failed;
}

/* --------------------------------------------------------------------------------------------------- what it does */

uint64_t kernel_drain_bytes(const struct kernel_drain *drain)
{
	uint64_t bytes = 0;

	for (unsigned int i = 0; i < drain->nr; i++)
		bytes += atomic_load(&drain->rings[i].bytes);
	return bytes;
}

uint64_t kernel_drain_lost(const struct kernel_drain *drain)
{
	uint64_t lost = 0;

	for (unsigned int i = 0; i < drain->nr; i++)
		lost += kernel_ring_lost(&drain->rings[i]);
	return lost;
}

const char *kernel_drain_about(const struct kernel_drain *drain, char *text, size_t size)
{
	static const char *const ways[] = { "splice", "mmap", "splice", "read" };
	uint64_t kb = 0;
	char priority[48] = "", rings[48] = "";

	for (unsigned int i = 0; i < drain->nr; i++)
		kb = drain->rings[i].kb > kb ? drain->rings[i].kb : kb;
	if (drain->priority)
		snprintf(priority, sizeof(priority), ", real-time priority %d", drain->priority);
	if (kb > drain->first_kb)
		snprintf(rings, sizeof(rings), ", rings grown to %llu KB", (unsigned long long)kb);
	snprintf(text, size, "%s%s%s", ways[drain->nr ? drain->rings[0].way : 0], priority, rings);
	return text;
}
