/* SPDX-License-Identifier: MIT */
/* Threads give up the lanes into which they grew. */
#include "grow_fixture.h"
#include "librecorder/process/lane_private.h"
#include "librecorder/process/process.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <librecorder/event.h>
#include <librecorder/reader.h>
#include <sys/mman.h>
#include <sys/stat.h>

static uint64_t memory(void)
{
	struct stat st;

	cr_assert_eq(stat(rec_process_path(), &st), 0);
	return (uint64_t)st.st_blocks * 512;
}

/* Enough events for a check whether growth is permitted; all of them are lost. */
static void write_and_lose(void)
{
	numbered_write_some(3 * LANE);
}

Test(grow_back, and_give_the_memory_back)
{
	struct sums sums;
	uint64_t most;
	unsigned int lanes, round;

	grow_begin(PAGES, 0);
	for (round = 0; round < 3; round++) {
		numbered_want_growth(3600);
		numbered_write_some(8 * LANE);
		grow_expect_all(8 * LANE);
		most = memory();
		lanes = rec_lanes();
		cr_assert_geq(grow_made_lanes(), 8);
		numbered_want_growth(0);
		write_and_lose();
		cr_assert_eq(grow_made_lanes(), 1);
		cr_assert_eq(rec_pool.grown, 0);
		cr_assert_leq(memory() + 6ul * PAGES * 4096, most);
		sums = numbered_read();
		cr_assert_eq(sums.events + sums.lost, 3 * LANE);
		cr_assert_leq(rec_lanes(), 10);
		/* The same lanes are made again; their event numbers continue. */
		if (round)
			cr_assert_eq(rec_lanes(), lanes);
	}
}

/* The same for free lanes. */
Test(grow_back, and_give_the_pools_memory_back)
{
	grow_begin(PAGES, 0);
	grow_let_worker(6 * LANE);
	cr_assert_geq(grow_made_lanes(), 6);
	numbered_want_growth(0);
	write_and_lose();
	cr_assert_eq(grow_made_lanes(), 1);
	/* A thread may have one of them again. */
	numbered_read();
	worker_start(1);
	worker_do(1, worker_write, numbered_next);
	seen[1] = 0;
	grow_expect_all(2);
	worker_stop(1);
}

/* Called by the next MADV_REMOVE, once. */
static void (*meanwhile)(void);

int __real_madvise(void *at, size_t size, int advice);
int __wrap_madvise(void *at, size_t size, int advice);

int __wrap_madvise(void *at, size_t size, int advice)
{
	void (*other)(void) = advice == MADV_REMOVE ? meanwhile : NULL;

	if (other) {
		meanwhile = NULL;
		other();
	}
	return __real_madvise(at, size, advice);
}

static void lose(struct worker *worker)
{
	for (unsigned int i = 0; i < 3 * LANE; i++)
		numbered_write(worker->number);
}

static void let_another_lose(void)
{
	worker_do(0, lose, 0);
}

/* Two threads look for lanes to give up, of which there are more than threads took because they grew. */
Test(grow_back, and_two_threads_give_back_at_a_time)
{
	unsigned int i;

	grow_begin(PAGES, 0);
	for (i = 0; i < 5; i++)
		worker_start(i);
	numbered_next = 5;
	numbered_write_some(LANE * 5 / 4);
	numbered_read();
	for (i = 1; i < 5; i++)
		worker_stop(i);
	cr_assert_eq(rec_pool.grown, 1);
	numbered_want_growth(0);
	meanwhile = let_another_lose;
	write_and_lose();
	cr_assert_null(meanwhile);
	cr_assert_eq(rec_pool.grown, 0);
	worker_stop(0);
}

static unsigned int owned_lanes(uint32_t tid)
{
	unsigned int lane, owned = 0;

	for (lane = 0; lane < rec_lanes(); lane++)
		owned += rec_lane_at(lane)->owner == tid;
	return owned;
}

static unsigned int lane_of_main;

static void resize(struct worker *worker)
{
	cr_assert_eq(rec_lane_resize(lane_of_main, worker->number * 4080ul), 0);
}

/* A thread that has given back the lanes into which it grew may have as few further lanes as any other. */
Test(grow_back, and_have_as_few_lanes_as_others)
{
	unsigned int lane, pages;

	grow_begin(PAGES, 0);
	worker_start(0);
	numbered_next = 1;
	numbered_write_some(8 * LANE);
	numbered_read();
	cr_assert_geq(owned_lanes(rec_thread_id()), 8);
	cr_assert_eq(rec_lane_swap(&lane), 0);
	cr_assert_eq(rec_lane_release(lane), 0);
	for (pages = 3; pages < 13; pages++) {
		lane_of_main = numbered_lane();
		worker_do(0, resize, pages);
		numbered_write_some(1);
	}
	cr_assert_leq(owned_lanes(rec_thread_id()), 4);
	worker_stop(0);
}

/* A lane that is disabled stays disabled, and keeps its number, until it is enabled. */
Test(grow_back, and_leave_disabled_lanes_alone)
{
	unsigned int lane, lanes;

	grow_begin(PAGES, 0);
	grow_let_worker(6 * LANE);
	lanes = rec_lanes();
	for (lane = 1; lane < lanes; lane++)
		cr_assert_eq(rec_lane_disable(lane), 0);
	numbered_want_growth(0);
	write_and_lose();
	numbered_read();
	numbered_want_growth(3600);
	numbered_write_some(8 * LANE);
	grow_expect_all(8 * LANE);
	for (lane = 1; lane < lanes; lane++) {
		cr_assert_eq(rec_lane_enable(lane), 0, "lane %u", lane);
		cr_assert_eq(rec_lane_enable(lane), -EINVAL);
	}
	cr_assert_gt(rec_lanes(), lanes);
	/* Once the lanes are enabled, they are given up like others. */
	numbered_want_growth(0);
	write_and_lose();
	cr_assert_eq(grow_made_lanes(), 1);
}

/* A lane with unread events is not given up, nor is one that a reader has open. */
Test(grow_back, and_keep_what_is_unread)
{
	struct rec_view *view = NULL;
	struct rec_page page;
	unsigned int lane;
	struct sums sums;

	grow_begin(PAGES, 0);
	numbered_write_some(5 * LANE);
	numbered_want_growth(0);
	write_and_lose();
	cr_assert_geq(grow_made_lanes(), 5);
	sums = numbered_read();
	cr_assert_geq(sums.events, 4 * LANE);
	cr_assert_eq(sums.events + sums.lost, 8 * LANE);
	cr_assert_eq(rec_view_open(rec_process_path(), &view), 0);
	for (lane = 0; lane < rec_lanes(); lane++)
		cr_assert_geq(rec_view_read(view, lane, 0, &page), 0);
	write_and_lose();
	cr_assert_geq(grow_made_lanes(), 5);
	rec_view_close(view);
	write_and_lose();
	cr_assert_leq(grow_made_lanes(), 2);
}

/* If a lane is given up and remade, its reader gets the new events. */
Test(grow_back, and_an_iterator_looks)
{
	struct rec_view *view = NULL;
	struct rec_view_event event;
	unsigned int first, events = 0;
	struct rec_iter *iter;

	grow_begin(PAGES, 0);
	numbered_write_some(1);
	first = numbered_lane();
	numbered_write_some(3 * LANE);
	grow_expect_all(3 * LANE + 1);
	cr_assert_eq(rec_view_open(rec_process_path(), &view), 0);
	cr_assert_eq(rec_iter_open(view, first, &iter), 0);
	numbered_want_growth(0);
	write_and_lose();
	cr_assert_not(rec_lane_is_made(first));
	cr_assert_eq(rec_iter_next(iter, &event), 0);
	numbered_read();
	numbered_want_growth(3600);
	numbered_write_some(6 * LANE);
	cr_assert(rec_lane_is_made(first));
	while (rec_iter_next(iter, &event) == 1) {
		cr_assert_eq(event.lost, 0);
		events++;
	}
	cr_assert_gt(events, LANE / 2);
	rec_iter_close(iter);
	rec_view_close(view);
	grow_expect_all(6 * LANE);
}
