/* SPDX-License-Identifier: MIT */
/*
 * More threads than lanes: they share. Every event is read, or counted as lost; each carries its own thread's id,
 * whichever thread wrote to the lane before.
 */
#include "share_fixture.h"
#include "librecorder/process/lane_private.h"
#include "librecorder/ring/ring_private.h"

#include <criterion/criterion.h>
#include <librecorder/event.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

Test(share, nothing_is_lost_by_turns)
{
	struct sums sums;
	unsigned int i, round;

	share_begin(8);
	for (i = 0; i < WORKERS_MAX; i++)
		worker_start(i);
	for (round = 1; round < 50; round++)
		for (i = 0; i < WORKERS_MAX; i++)
			worker_do(i, worker_write, round * WORKERS_MAX + i);
	cr_assert_eq(rec_pool.nr_shared, 2);
	cr_assert(!worker_is_sharing(0));
	cr_assert(worker_is_sharing(WORKERS_MAX - 1));
	sums = numbered_read();
	cr_assert_eq(sums.events, 50 * WORKERS_MAX);
	cr_assert_eq(sums.lost + sums.torn + sums.no_lane, 0);
	for (i = 0; i < 50 * WORKERS_MAX; i++)
		cr_assert_eq(seen_tids[i], workers[i % WORKERS_MAX].tid, "event %u", i);
}

#define STORM_EVENTS 2000u

static pthread_barrier_t barrier;

static void *write_many(void *arg)
{
	const uint64_t base = (uint64_t)(uintptr_t)arg * STORM_EVENTS;
	uint64_t i;

	pthread_barrier_wait(&barrier);
	for (i = 0; i < STORM_EVENTS; i++)
		numbered_write(base + i);
	return NULL;
}

/* All threads write at once: a missing event is counted. */
Test(share, a_storm_is_accounted_for)
{
	pthread_t threads[WORKERS_MAX];
	struct sums sums;
	uintptr_t i;

	share_begin(8);
	pthread_barrier_init(&barrier, NULL, WORKERS_MAX);
	for (i = 0; i < WORKERS_MAX; i++)
		cr_assert_eq(pthread_create(&threads[i], NULL, write_many, (void *)i), 0);
	for (i = 0; i < WORKERS_MAX; i++)
		pthread_join(threads[i], NULL);
	sums = numbered_read();
	cr_assert_eq(sums.torn, 0);
	cr_assert_eq(sums.events + sums.lost + sums.no_lane, WORKERS_MAX * STORM_EVENTS);
	numbered_expect_no_owner();
}

/* The last thread gets the lane of a thread that ends. */
Test(share, an_own_lane_as_soon_as_there_is_one)
{
	unsigned int n;

	share_begin(8);
	n = workers_until_one_shares();
	worker_stop(0);
	worker_do(n - 1, worker_write, 100);
	cr_assert(!worker_is_sharing(n - 1));
	cr_assert_eq(numbered_read().events, n + 1);
	cr_assert_eq(seen_tids[100], workers[n - 1].tid);
}

/* The program's only lane is not shared, and there is no lane to share: events without a lane are counted. */
Test(share, a_lane_has_one_holder)
{
	struct sums sums;

	share_begin(1);
	worker_start(0);
	worker_start(1);
	cr_assert(worker_is_sharing(1));
	worker_do(1, worker_write, 101);
	sums = numbered_read();
	cr_assert_eq(sums.events, 1);
	cr_assert_eq(sums.no_lane, 2);
	worker_stop(0);
	worker_do(1, worker_write, 102);
	cr_assert_eq(numbered_read().events, 1);
}

/* ------------------------------------------------------------------------------------- in the middle of an event */

Test(share, a_handler_takes_another_lane)
{
	struct sums sums;
	unsigned int n;

	share_begin(8);
	handlers_write(0);
	n = workers_until_one_shares();
	worker_do(n - 1, worker_be_interrupted, 100);
	sums = numbered_read();
	cr_assert_eq(sums.events, n + 2);
	cr_assert(seen[100] && seen[101]);
	cr_assert_eq(seen_tids[101], workers[n - 1].tid);
	cr_assert_eq(sums.no_lane, 0);
}

/* If the only shared lane is held, the event is lost and reported. */
Test(share, what_finds_all_lanes_held_is_counted)
{
	struct sums sums;
	unsigned int n;

	share_begin(4);
	handlers_write(0);
	n = workers_until_one_shares();
	cr_assert_eq(rec_pool.nr_shared, 1);
	worker_do(n - 1, worker_be_interrupted, 100);
	sums = numbered_read();
	cr_assert_eq(sums.events, n + 1);
	cr_assert_eq(sums.no_lane, 1);
	cr_assert(seen[100] && !seen[101]);
}

static void take_back(struct worker *worker)
{
	struct rec_slot slot;
	unsigned char *at = numbered_reserve(worker->number, &slot);

	cr_assert_not_null(at);
	rec_discard(&slot, at);
}

static void write_too_long(struct worker *worker)
{
	(void)worker;
	rec_event_too_long(rec_handle_get());
}

Test(share, what_is_taken_back_or_too_long_leaves_the_lane)
{
	struct rec_lane *lane;
	struct sums sums;
	uint64_t tail;
	unsigned int n;

	share_begin(4);
	n = workers_until_one_shares();
	lane = rec_pool.shared[0]->lane;
	tail = lane->tail;
	worker_do(n - 1, take_back, 100);
	cr_assert_eq(lane->tail, tail);
	cr_assert_eq(lane->owner, 0);
	worker_do(n - 1, worker_write, 101);
	rec_lane_disable(rec_lane_index(rec_pool.shared[0]));
	worker_do(n - 1, worker_write, 102);
	rec_lane_enable(rec_lane_index(rec_pool.shared[0]));
	cr_assert_eq(lane->disabled, 1);
	cr_assert_eq(lane->owner, 0);
	worker_do(n - 1, write_too_long, 0);
	cr_assert_eq(lane->too_long, 1);
	cr_assert_eq(lane->owner, 0);
	worker_do(n - 1, worker_write, 103);
	sums = numbered_read();
	cr_assert_eq(sums.events, n + 2);
	cr_assert_eq(sums.torn + sums.no_lane, 0);
	cr_assert_eq(sums.lost, 1);
}

/* ----------------------------------------------------------------------------------------------------------- forks */

static int status;
static uint32_t noted_id;

static void note_id(struct worker *worker)
{
	(void)worker;
	noted_id = rec_share_owner();
}

static void fork_and_write(struct worker *worker)
{
	const pid_t pid = worker->number ? (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0) : fork();

	if (pid == 0) {
		numbered_write(7);
		_exit(rec_share_is_handle(rec_thread_handle) || rec_thread_handle != &rec_pool.handles[0] ||
		      rec_pool.nr_shared || rec_pool.shared[0]);
	}
	waitpid(pid, &status, 0);
}

/* The child ends its only thread, the parent's copy, before it writes anything. */
static void clone_and_end(struct worker *worker)
{
	const pid_t pid = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);

	(void)worker;
	if (pid == 0)
		pthread_exit(NULL);
	waitpid(pid, &status, 0);
}

static void clone_without_buffer(struct worker *worker)
{
	const pid_t pid = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
	const struct rlimit none = { 0, 0 };

	(void)worker;
	if (pid == 0) {
		setrlimit(RLIMIT_NOFILE, &none);
		numbered_write(7);
		_exit(rec_pool.header != NULL);
	}
	waitpid(pid, &status, 0);
}

/* The copy can make no buffer, and its parent shares: the event of the copy is not recorded, and it runs. */
Test(share, a_raw_clone_without_a_buffer_runs)
{
	unsigned int n;

	share_begin(4);
	n = workers_until_one_shares();
	worker_do(n - 1, clone_without_buffer, 0);
	cr_assert_eq(status, 0);
	cr_assert_eq(seen[7], 0);
}

/* The copy releases nothing that its parent's thread holds: here the mark of a lane that the thread is writing to. */
Test(share, a_raw_clone_that_ends_gives_nothing_back)
{
	struct rec_lane *lane;
	unsigned int n;

	share_begin(4);
	n = workers_until_one_shares();
	lane = rec_pool.shared[0]->lane;
	worker_do(n - 1, note_id, 0);
	lane->owner = noted_id;
	worker_do(n - 1, clone_and_end, 0);
	cr_assert_eq(status, 0);
	cr_assert_eq(lane->owner, noted_id);
	lane->owner = 0;
}

static void check_fork(uint64_t raw)
{
	unsigned int n;

	share_begin(4);
	n = workers_until_one_shares();
	worker_do(n - 1, fork_and_write, raw);
	cr_assert_eq(status, 0);
	cr_assert_eq(numbered_read().events, n);
	cr_assert_eq(seen[7], 0);
}

/* The child of a thread that shares has its own buffer, and its own lane. */
Test(share, a_fork_shares_nothing)
{
	check_fork(0);
}

Test(share, a_raw_clone_shares_nothing)
{
	check_fork(1);
}

/* The child of a fork in the middle of an event finishes the event, on memory that is not in use. */
static void fork_inside(struct worker *worker)
{
	const bool raw = worker->number % 2, discards = worker->number & 2;
	uint64_t number = 100 * (1 + worker->number);
	struct rec_slot slot;
	void *payload = numbered_reserve(number, &slot);
	pid_t pid;

	/*
	 * The event shall be plain, that is, on the CPU of the event before. On a machine that does not tell the CPU's
	 * number, no event is plain.
	 */
	while (payload && slot.open != REC_OPEN_BORROWED && ++number % 100) {
		rec_commit(&slot);
		payload = numbered_reserve(number, &slot);
	}
	cr_assert_not_null(payload);
	pid = raw ? (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0) : fork();
	if (pid == 0) {
		if (discards)
			rec_discard(&slot, payload);
		else
			rec_commit(&slot);
		_exit(0);
	}
	waitpid(pid, &status, 0);
	rec_commit(&slot);
}

Test(share, an_interrupted_event_ends_in_the_child)
{
	unsigned int n, how;

	share_begin(4);
	n = workers_until_one_shares();
	for (how = 0; how < 4; how++) {
		worker_do(n - 1, fork_inside, how);
		cr_assert_eq(status, 0, "%s, %s", how & 1 ? "clone" : "fork", how & 2 ? "discard" : "commit");
		cr_assert_eq(rec_pool.shared[0]->lane->owner, 0);
	}
	cr_assert_geq(numbered_read().events, n + 4);
}

/* Where there is one lane, none is shared: no CPU's number leads to one. */
static void write_on_any_cpu(struct worker *worker)
{
	static const uint32_t cpus[] = { 0, 15, 16, 4096, REC_CPU_NONE, UINT32_MAX };

	for (unsigned int i = 0; i < sizeof(cpus) / sizeof(cpus[0]); i++) {
		rec_thread_handle->cpu = &cpus[i];
		numbered_write(worker->number + i);
	}
}

Test(share, one_lane_is_shared_by_none)
{
	struct sums sums;
	unsigned int n;

	share_begin(1);
	n = workers_until_one_shares();
	cr_assert_eq(n, 2);
	cr_assert_eq(rec_pool.geometry.shared_max, 0);
	worker_do(n - 1, write_on_any_cpu, 10);
	sums = numbered_read();
	cr_assert_eq(sums.events, 1);
	cr_assert_eq(sums.no_lane, 7);
}
