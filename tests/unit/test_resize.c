/* SPDX-License-Identifier: MIT */
/* Resizes: a thread continues in another lane, and the events in the old lane can still be read. */
#include "librecorder/process/lane_private.h"
#include "librecorder/process/process.h"
#include "resize_fixture.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <librecorder/event.h>
#include <librecorder/reader.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGES 16u

Test(resize, the_own_lane_at_once)
{
	unsigned int old, is;

	numbered_begin(PAGES, 0);
	numbered_write_some(20);
	old = numbered_lane();
	cr_assert_eq(lane_resize(old, 5), 0);
	is = numbered_lane();
	cr_assert_neq(is, old);
	cr_assert_eq(lane_pages(is), 5);
	cr_assert_eq(lane_pages(old), PAGES);
	cr_assert_eq(rec_lane_at(old)->owner, 0);
	numbered_write_some(30);
	expect_lane(old, 0, 20);
	expect_lane(is, 20, 30);
	/* The lane's size. */
	cr_assert_eq(lane_resize(is, 5), 0);
	cr_assert_eq(numbered_lane(), is);
}

/* A lane in which everything was read becomes the next one, whatever its shape; its numbers continue. */
Test(resize, a_lane_that_was_read_is_made_anew)
{
	unsigned int first, second;
	struct sums sums;

	numbered_begin(PAGES, 2);
	numbered_write_some(20);
	first = numbered_lane();
	cr_assert_eq(lane_resize(first, 5), 0);
	second = numbered_lane();
	numbered_write_some(20);
	sums = numbered_read();
	cr_assert_eq(sums.events, 40);
	cr_assert_eq(lane_resize(second, 3), 0);
	cr_assert_eq(numbered_lane(), first);
	cr_assert_eq(lane_pages(first), 3);
	numbered_write_some(300);
	sums = numbered_read();
	cr_assert_eq(sums.events + sums.lost, 300);
	cr_assert_eq(lane_resize(first, PAGES), 0);
	cr_assert_eq(numbered_lane(), second);
	numbered_write_some(300);
	sums = numbered_read();
	cr_assert_eq(sums.events, 300);
	cr_assert_eq(sums.lost, 0);
}

/* A lane with unread events, or with a reader, is not remade; and if there is no other lane, nothing changes. */
Test(resize, at_the_cap)
{
	struct rec_view *view = NULL;
	unsigned int first, second;
	struct rec_page page;
	struct sums sums;

	numbered_begin(PAGES, 2);
	numbered_write_some(20);
	first = numbered_lane();
	cr_assert_eq(lane_resize(first, 5), 0);
	second = numbered_lane();
	numbered_write_some(20);
	cr_assert_eq(lane_resize(second, 3), -EDQUOT);
	cr_assert_eq(numbered_lane(), second);
	cr_assert_eq(lane_pages(second), 5);
	numbered_write_some(1);
	/* A lane of the wanted size exists. */
	cr_assert_eq(lane_resize(second, PAGES), 0);
	cr_assert_eq(numbered_lane(), first);
	numbered_write_some(1);
	expect_lane(second, 20, 21);
	cr_assert_eq(rec_view_open(rec_process_path(), &view), 0);
	cr_assert_eq(rec_view_read(view, second, 0, &page), 0);
	cr_assert_eq(lane_resize(first, 3), -EDQUOT);
	rec_view_close(view);
	cr_assert_eq(lane_resize(first, 3), 0);
	cr_assert_eq(numbered_lane(), second);
	sums = numbered_read();
	cr_assert_eq(sums.events, 21);
	cr_assert_eq(sums.lost, 0);
}

/* The process may have only one lane. */
Test(resize, with_one_lane)
{
	numbered_begin(PAGES, 1);
	numbered_write_some(1);
	cr_assert_eq(lane_resize(0, 3), -EDQUOT);
	numbered_write_some(1);
	expect_lane(0, 0, 2);
}

/* A free lane is resized in place, if it was read and no reader has it open. */
Test(resize, a_free_lane)
{
	struct rec_view *view = NULL;
	struct rec_page page;

	numbered_begin(PAGES, 0);
	worker_start(0);
	worker_stop(0);
	cr_assert_eq(lane_resize(0, 3), -EBUSY);
	cr_assert_eq(lane_pages(0), PAGES);
	expect_lane(0, 0, 1);
	cr_assert_eq(rec_view_open(rec_process_path(), &view), 0);
	cr_assert_eq(rec_view_read(view, 0, 0, &page), 0);
	cr_assert_eq(lane_resize(0, 3), -EBUSY);
	rec_view_close(view);
	cr_assert_eq(lane_resize(0, 3), 0);
	cr_assert_eq(lane_pages(0), 3);
	cr_assert_eq(rec_lane_at(0)->owner, 0);
	numbered_next = 1;
	numbered_write_some(5);
	cr_assert_eq(numbered_lane(), 0);
	expect_lane(0, 1, 5);
}

/* The thread moves with its next event; the lane that it left goes back to the pool at the thread's end. */
Test(resize, another_threads_lane)
{
	unsigned int old, is;

	numbered_begin(PAGES, 0);
	worker_start(0);
	old = worker_lane(0);
	cr_assert_eq(lane_resize(old, 3), 0);
	cr_assert_eq(worker_lane(0), old);
	worker_do(0, worker_write, 1);
	is = worker_lane(0);
	cr_assert_neq(is, old);
	cr_assert_eq(lane_pages(is), 3);
	cr_assert_neq(rec_lane_at(old)->owner, 0);
	/* The thread returns to its former lane, which it still has. */
	cr_assert_eq(lane_resize(is, PAGES), 0);
	worker_do(0, worker_write, 2);
	cr_assert_eq(worker_lane(0), old);
	expect_lane(is, 1, 1);
	worker_stop(0);
	numbered_expect_no_owner();
	cr_assert_eq(numbered_read().events, 2);
}

/* If a thread ends before it used the new lane, no other thread is affected. */
Test(resize, another_threads_lane_that_ends)
{
	numbered_begin(PAGES, 0);
	worker_start(0);
	cr_assert_eq(lane_resize(0, 3), 0);
	worker_stop(0);
	numbered_write_some(1);
	cr_assert_eq(numbered_lane(), 0);
	cr_assert_eq(lane_pages(0), PAGES);
}

/* A thread whose lane others resize again and again keeps only a few. */
Test(resize, many_sizes_of_another_threads_lane)
{
	unsigned int i, lane, owned = 0;
	struct sums sums;

	numbered_begin(PAGES, 0);
	worker_start(0);
	for (i = 1; i < 100; i++) {
		lane_resize(worker_lane(0), 2 + i % (PAGES - 2));
		worker_do(0, worker_write, i);
	}
	for (lane = 0; lane < rec_lanes(); lane++)
		owned += rec_lane_at(lane)->owner != 0;
	cr_assert_gt(owned, 1);
	cr_assert_leq(owned, 4);
	worker_stop(0);
	numbered_expect_no_owner();
	sums = numbered_read();
	cr_assert_eq(sums.events, 100);
	cr_assert_eq(sums.lost, 0);
}

/* A resize that is requested in the middle of an event waits for its end; nested events are written meanwhile. */
Test(resize, in_the_middle_of_an_event)
{
	unsigned int old;
	struct rec_slot slot;

	numbered_begin(PAGES, 0);
	/* The event is written in a frame that stays: an event of a function that has returned counts as left. */
	cr_assert_not_null(numbered_reserve(0, &slot));
	old = numbered_lane();
	cr_assert_eq(lane_resize(old, 3), 0);
	numbered_next = 1;
	numbered_write_some(1);
	cr_assert_eq(numbered_lane(), old);
	rec_commit(&slot);
	numbered_write_some(1);
	cr_assert_eq(lane_pages(numbered_lane()), 3);
	expect_lane(old, 0, 2);
	expect_lane(numbered_lane(), 2, 1);
}

Test(resize, waits_while_the_lane_is_disabled)
{
	numbered_begin(PAGES, 0);
	numbered_write_some(1);
	cr_assert_eq(rec_lane_disable(0), 0);
	cr_assert_eq(lane_resize(0, 3), 0);
	numbered_write_some(1);
	cr_assert_eq(rec_lane_enable(0), 0);
	numbered_next = 1;
	numbered_write_some(1);
	cr_assert_neq(numbered_lane(), 0);
	cr_assert_eq(lane_pages(numbered_lane()), 3);
	expect_lane(0, 0, 1);
	expect_lane(numbered_lane(), 1, 1);
}

/* Between two events a shared lane is not held. */
Test(resize, a_shared_lane)
{
	unsigned int n, lane;
	struct sums sums;

	share_begin(4);
	handlers_write(0);
	n = workers_until_one_shares();
	for (lane = 0; lane < rec_lanes() && !rec_pool.own[lane].shared; lane++)
		;
	cr_assert_lt(lane, rec_lanes());
	cr_assert_eq(lane_resize(lane, 3), -EBUSY);
	sums = numbered_read();
	cr_assert_eq(sums.events, n);
	cr_assert_eq(lane_resize(lane, 3), 0);
	cr_assert_eq(lane_pages(lane), 3);
	worker_do(n - 1, worker_write, 100);
	worker_do(n - 1, worker_be_interrupted, 101);
	cr_assert(worker_is_sharing(n - 1));
	/* The nested event was lost, because it found the lane held. */
	sums = numbered_read();
	cr_assert_eq(sums.events, 2);
	cr_assert_eq(sums.no_lane, 1);
	/* The other call that requests a resize. */
	cr_assert_eq(rec_subbuf_resize(8192), 0);
	cr_assert_eq(rec_lane_at(lane)->subbuf_size, 8192);
	worker_do(n - 1, worker_write, 200);
	cr_assert_eq(numbered_read().events, 1);
	cr_assert_eq(rec_lane_at(lane)->broken, 0);
}

/* A writer never faults; and a lane that is made smaller for its next owner needs less memory. */
Test(resize, memory)
{
	const struct rec_handle *handle;
	unsigned char in_core;
	unsigned int large;
	uint32_t id;

	numbered_begin(PAGES, 2);
	numbered_write_some(1);
	cr_assert_eq(lane_resize(numbered_lane(), 3), 0);
	cr_assert_eq(lane_resize(numbered_lane(), PAGES), 0);
	handle = rec_thread_handle;
	for (id = 0; id < handle->nr_subbufs; id++) {
		cr_assert_eq(mincore(handle->data - REC_SUBBUF_HEADER_SIZE + (size_t)id * 4096, 4096, &in_core), 0);
		cr_assert(in_core & 1, "sub-buffer %u", id);
	}
	large = numbered_lane();
	numbered_read();
	cr_assert_eq(lane_resize(large, 3), 0);
	cr_assert_eq(lane_resize(numbered_lane(), 5), 0);
	cr_assert_eq(numbered_lane(), large);
	for (id = 0; id <= PAGES; id++) {
		cr_assert_eq(mincore(handle->data - REC_SUBBUF_HEADER_SIZE + (size_t)id * 4096, 4096, &in_core), 0);
		cr_assert_eq(in_core & 1, id <= 5, "sub-buffer %u", id);
	}
}

/* ----------------------------------------------------------------------------------------------------- iterators */

/* If a lane is remade, its reader gets the new events, whose numbers continue. */
Test(resize, an_iterator_on_a_lane_that_is_made_anew)
{
	struct rec_view *view = NULL;
	struct rec_view_event event;
	struct rec_iter *iter;
	unsigned int i;

	numbered_begin(PAGES, 2);
	numbered_write_some(20);
	cr_assert_eq(rec_view_open(rec_process_path(), &view), 0);
	cr_assert_eq(rec_iter_open(view, 0, &iter), 0);
	for (i = 0; i < 15; i++)
		cr_assert_eq(rec_iter_next(iter, &event), 1);
	expect_lane(0, 0, 20);
	cr_assert_eq(lane_resize(0, 3), 0);
	cr_assert_eq(lane_resize(numbered_lane(), 5), 0);
	cr_assert_eq(numbered_lane(), 0);
	numbered_write_some(5);
	/* The iterator returns the rest of its copy, then the present events. */
	for (i = 15; i < 25; i++) {
		cr_assert_eq(rec_iter_next(iter, &event), 1, "%u", i);
		cr_assert_eq(event.number, i);
		cr_assert_eq(event.lost, 0);
	}
	cr_assert_eq(rec_iter_next(iter, &event), 0);
	rec_iter_close(iter);
	rec_view_close(view);
}

/* ---------------------------------------------------------------------------------------------------------- fork */

static int child_fails(void)
{
	uint64_t i;

	for (i = 1000; i < 1010; i++)
		numbered_write(i);
	if (numbered_read().events != 10 || lane_resize(numbered_lane(), 4) < 0 || lane_pages(numbered_lane()) != 4)
		return 1;
	numbered_write(2000);
	return numbered_read().events != 1;
}

/*
 * A child begins with a lane of its own, as large as the process's lanes are; sizes set for its parent's threads do not
 * apply to it.
 */
Test(resize, fork)
{
	int status = -1;
	pid_t pid;

	numbered_begin(PAGES, 0);
	numbered_write_some(10);
	cr_assert_eq(lane_resize(numbered_lane(), 3), 0);
	numbered_write_some(10);
	lane_ask(5);
	pid = fork();
	if (pid == 0)
		_exit(child_fails());
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_assert_eq(status, 0);
	numbered_write_some(10);
	cr_assert_eq(lane_pages(numbered_lane()), 5);
	cr_assert_eq(numbered_read().events, 30);
}
