/* SPDX-License-Identifier: MIT */
/*
 * Copies of a process: by fork, by a raw clone that comes past none of fork's handlers, by vfork. Neither a sanitizer nor an
 * emulator makes them as the kernel does.
 */
#include "tests/unit/beside.h"
#include "tests/unit/reader_fixture.h"

#include <criterion/criterion.h>
#include <librecorder/lane.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void begin(void)
{
	reader_begin(4, false);
}

TestSuite(copies, .init = begin, .fini = reader_end);

static void lease(void)
{
	if (rec_thread_attach() < 0)
		_exit(2);
}

/* Everything that fork's handlers do is left out. */
static pid_t raw_fork(void)
{
	return (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
}

static bool ends_well(pid_t pid)
{
	int status = -1;

	return waitpid(pid, &status, 0) == pid && status == 0;
}

static void *hold_lock(void *arg)
{
	pthread_barrier_t *turns = arg;
	const bool locked = rec_process_lock();

	pthread_barrier_wait(turns);
	pthread_barrier_wait(turns);
	if (locked)
		rec_process_unlock();
	return locked ? arg : NULL;
}

/* Its holder is no thread of the copy. A fork waits for it instead. */
Test(copies, a_copy_takes_the_lock_over)
{
	pthread_barrier_t turns;
	pthread_t holder;
	void *held;
	pid_t pid;

	pthread_barrier_init(&turns, NULL, 2);
	cr_assert_eq(pthread_create(&holder, NULL, hold_lock, &turns), 0);
	pthread_barrier_wait(&turns);
	pid = raw_fork();
	if (pid == 0) {
		lease();
		_exit(!rec_thread_handle->lane || rec_process.header->pid != (uint32_t)getpid());
	}
	cr_assert(ends_well(pid));
	pthread_barrier_wait(&turns);
	cr_assert_eq(pthread_join(holder, &held), 0);
	cr_assert_not_null(held);
	cr_assert(rec_process_lock(), "the parent's is free as well");
	rec_process_unlock();
}

struct seen {
	unsigned int lanes;
	uint32_t pid;
	bool had_lane, gets_lane;
	char path[PATH_MAX];
};

/* A copy of a process that has a lane: it has none, and its first event makes it a buffer of its own. */
Test(copies, a_raw_copy_has_a_buffer_of_its_own)
{
	struct seen *seen = beside_memory(sizeof(*seen));
	pid_t pid;

	lease();
	pid = raw_fork();
	if (pid == 0) {
		seen->had_lane = rec_thread_handle->lane != NULL;
		seen->gets_lane = rec_lane_lease() != NULL;
		seen->lanes = rec_process.header->nr_lanes;
		seen->pid = rec_process.header->pid;
		strcpy(seen->path, rec_process.path);
		_exit(0);
	}
	cr_assert(ends_well(pid));
	cr_assert_not(seen->had_lane);
	cr_assert(seen->gets_lane);
	cr_assert_eq(seen->lanes, 1);
	cr_assert_eq(seen->pid, (uint32_t)pid);
	cr_assert_str_neq(seen->path, rec_process.path);
	cr_assert_eq(access(seen->path, F_OK), 0);
	cr_assert_eq(rec_process.header->nr_lanes, 1);
}

/* Nobody may need the heap there: in the copy of a process with threads it may be locked for good. */
static bool heap_is_forbidden;
void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);
void *__real_calloc(size_t nr, size_t size);
void *__wrap_calloc(size_t nr, size_t size);

void *__wrap_malloc(size_t size)
{
	if (heap_is_forbidden)
		_exit(99);
	return __real_malloc(size);
}

void *__wrap_calloc(size_t nr, size_t size)
{
	if (heap_is_forbidden)
		_exit(99);
	return __real_calloc(nr, size);
}

Test(copies, a_raw_copy_takes_no_heap)
{
	pid_t pid;

	cr_assert_geq(rec_enable("*"), 0);
	pid = raw_fork();
	if (pid == 0) {
		heap_is_forbidden = true;
		lease();
		_exit(rec_process.header->pid != (uint32_t)getpid());
	}
	cr_assert(ends_well(pid));
}

/* The child of vfork has its parent's memory and must leave it as it is: in all it could change, it is a guest. */
Test(copies, a_child_of_vfork_changes_nothing)
{
	const struct rec_process before = rec_process;
	struct seen *seen = beside_memory(sizeof(*seen));
	const uint64_t lost = rec_process.header->lost_no_lane;
	pid_t pid;

	pid = raw_fork();
	if (pid == 0)
		_exit(rec_process_is_guest() || !rec_process_is_own());
	cr_assert(ends_well(pid), "a copy is none");
	pid = vfork();
	if (pid == 0) {
		seen->had_lane = rec_process_lock() || rec_process_is_own();
		seen->gets_lane = rec_lane_lease() != NULL;
		_exit(0);
	}
	cr_assert(ends_well(pid));
	cr_assert_not(seen->had_lane);
	cr_assert_not(seen->gets_lane);
	cr_assert_eq(rec_process.header->lost_no_lane, lost + 1);
	cr_assert_eq(memcmp(&before, &rec_process, sizeof(before)), 0);
	cr_assert(rec_process_lock());
	rec_process_unlock();
	cr_assert_not_null(rec_lane_lease());
}

/* An event that fork interrupted is finished in the child, on memory that is nobody's. */
Test(copies, an_interrupted_event_ends_in_the_child)
{
	struct rec_slot slot;
	unsigned char *payload;
	uint64_t commit;
	pid_t pid;
	int raw;

	lease();
	for (raw = 0; raw < 2; raw++) {
		payload = rec_reserve(rec_thread_handle, 64, &slot);
		cr_assert_not_null(payload);
		commit = slot.lane->commit;
		pid = raw ? raw_fork() : fork();
		if (pid == 0) {
			struct rec_handle *const handle = slot.handle;

			lease();
			memset(payload, 0xff, 64);
			rec_commit(&slot);
			/* It had only just begun, and goes on in every way there is. */
			for (unsigned int i = 0; i < 2000; i++) {
				payload = rec_reserve(handle, 16 + i % 200, &slot);
				if (payload && i % 3)
					rec_commit(&slot);
				else if (payload)
					rec_discard(&slot, payload);
			}
			_exit(0);
		}
		cr_assert(ends_well(pid), "%s", raw ? "clone" : "fork");
		cr_assert_eq(slot.lane->commit, commit);
		cr_assert_eq(payload[63], 0);
		memset(payload, 0, 64);
		rec_commit(&slot);
	}
}
