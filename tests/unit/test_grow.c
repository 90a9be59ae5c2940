/* SPDX-License-Identifier: MIT */
/* Threads whose lanes are full of unread events continue in further lanes while a reader permits it. */
#include "grow_fixture.h"
#include "librecorder/process/lane_private.h"
#include "librecorder/process/process.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <librecorder/event.h>
#include <librecorder/reader.h>
#include <stdlib.h>
#include <sys/vfs.h>

/* A writer that is refused looks for another lane once in this number of refusals. */
#define REFUSALS_MORE 64u

static uint64_t refusals(void)
{
	uint64_t sum = 0;
	uint32_t i;

	for (i = 0; i < rec_lanes(); i++)
		sum += rec_lane_at(i)->dropped;
	return sum;
}

/* Takes this number of sub-buffers of the lane, or all, as a reader does. */
static void read_lane(unsigned int lane, unsigned int pages)
{
	struct rec_view *view = NULL;
	struct rec_page page;

	cr_assert_eq(rec_view_open(rec_process_path(), &view), 0);
	while (pages-- && rec_view_read(view, lane, 0, &page) > 0)
		;
	rec_view_close(view);
}

/* If no reader permits growth, or the permission has ended, a lane is overwritten. */
Test(grow, only_if_a_reader_wants_it)
{
	struct sums sums;
	unsigned int i;

	numbered_begin(PAGES, 0);
	for (i = 0; i < 3; i++) {
		if (i)
			numbered_want_growth(i == 1 ? 3600 : 0);
		if (i == 1)
			rec_process_header()->grow_until = 1;
		numbered_write_some(3 * LANE);
		cr_assert_eq(rec_lanes(), 1);
		sums = numbered_read();
		cr_assert_gt(sums.lost, 0);
		cr_assert_eq(sums.events + sums.lost, 3 * LANE);
	}
}

Test(grow, instead_of_overwriting)
{
	unsigned int first;

	grow_begin(PAGES, 0);
	numbered_write_some(1);
	first = numbered_lane();
	numbered_write_some(6 * LANE);
	cr_assert_neq(numbered_lane(), first);
	cr_assert_geq(rec_lanes(), 6);
	cr_assert_leq(rec_lanes(), 8);
	grow_expect_all(6 * LANE + 1);
}

Test(grow, in_discard_mode)
{
	setenv("RECORDER_MODE", "discard", 1);
	grow_begin(PAGES, 0);
	numbered_write_some(5 * LANE);
	cr_assert_geq(rec_lanes(), 5);
	grow_expect_all(5 * LANE);
}

/* The lanes that the thread left go back to the pool at its end. */
Test(grow, until_the_thread_ends)
{
	unsigned int i;

	grow_begin(PAGES, 0);
	worker_start(0);
	for (i = 1; i < 3 * LANE; i++)
		worker_do(0, worker_write, i);
	cr_assert_geq(rec_lanes(), 3);
	worker_stop(0);
	numbered_expect_no_owner();
	grow_expect_all(3 * LANE);
}

/* A quarter of the lanes is for threads that begin later; then the oldest events are lost, and counted. */
Test(grow, up_to_the_cap)
{
	struct sums sums;

	grow_begin(PAGES, 8);
	/* The worker's first event is number 0. */
	numbered_next = 1;
	numbered_write_some(20 * LANE);
	cr_assert_eq(rec_lanes(), 6);
	worker_start(0);
	cr_assert_not(worker_is_sharing(0));
	sums = numbered_read();
	cr_assert_eq(sums.events + sums.lost, 20 * LANE + 1);
	cr_assert_gt(sums.lost, 10 * LANE);
	worker_stop(0);
}

static bool nearly_full;

int __real_statfs(const char *path, struct statfs *fs);
int __wrap_statfs(const char *path, struct statfs *fs);

int __wrap_statfs(const char *path, struct statfs *fs)
{
	const int r = __real_statfs(path, fs);

	if (nearly_full)
		fs->f_bavail = rec_pool.geometry.file_size / (uint64_t)fs->f_bsize - 1;
	return r;
}

/* Other threads may need the lanes that are left. */
Test(grow, not_in_a_file_system_that_is_nearly_full)
{
	struct sums sums;

	grow_begin(PAGES, 0);
	nearly_full = true;
	numbered_write_some(3 * LANE);
	cr_assert_eq(rec_lanes(), 1);
	sums = numbered_read();
	cr_assert_gt(sums.lost, 0);
	nearly_full = false;
	numbered_write_some(3 * LANE);
	cr_assert_geq(rec_lanes(), 3);
	sums = numbered_read();
	cr_assert_eq(sums.events + sums.lost, 3 * LANE);
	cr_assert_leq(sums.lost, LANE / PAGES * 2);
}

/* The same after refusals: a few more events may be refused before the thread looks again. */
Test(grow, after_refusals)
{
	uint64_t refused;

	setenv("RECORDER_MODE", "discard", 1);
	numbered_begin(PAGES, 0);
	numbered_write_some(2 * LANE);
	refused = refusals();
	cr_assert_gt(refused, 0);
	numbered_want_growth(3600);
	numbered_write_some(2 * LANE);
	cr_assert_leq(refusals(), refused + REFUSALS_MORE);
	cr_assert_eq(rec_lanes(), 3);
}

/* All lanes are used up, and a reader empties another lane than the thread's. */
Test(grow, after_refusals_back_to_a_lane_that_was_read)
{
	unsigned int full, other;
	uint64_t refused;

	setenv("RECORDER_MODE", "discard", 1);
	grow_begin(PAGES, 4);
	numbered_write_some(5 * LANE);
	cr_assert_eq(rec_lanes(), 3);
	cr_assert_gt(refusals(), LANE);
	full = numbered_lane();
	other = full ? 0 : 1;
	read_lane(other, UINT32_MAX);
	refused = refusals();
	numbered_write_some(LANE / 2);
	cr_assert_leq(refusals(), refused + 2 * REFUSALS_MORE);
	cr_assert_eq(numbered_lane(), other);
}

/* Makes the lanes that were given up look as if a reader had them open, or had been killed while it had them. */
static void given_up_lanes_have_a_reader(void)
{
	for (unsigned int i = 0; i < rec_lanes(); i++)
		if (!rec_lane_is_made(i))
			rec_pool.handles[i].reader->owner = 1;
}

/* A lane with little room is better than none, also if another one could not be made. */
Test(grow, to_little_room_if_no_lane_can_be_made)
{
	unsigned int little;

	/* Three lanes are made, because the fourth is left to other threads. */
	grow_begin(PAGES, 4);
	numbered_write_some(5 * LANE / 2);
	cr_assert_eq(rec_lanes(), 3);
	grow_expect_all(5 * LANE / 2);
	/* Two lanes are given up, but the thread still has them. */
	numbered_want_growth(0);
	numbered_write_some(LANE * 3);
	cr_assert_eq(grow_made_lanes(), 1);
	numbered_read();
	numbered_want_growth(3600);
	little = numbered_lane();
	while (numbered_lane() == little)
		numbered_write_some(1);
	cr_assert_eq(grow_made_lanes(), 2);
	read_lane(little, 6);
	given_up_lanes_have_a_reader();
	numbered_write_some(LANE);
	cr_assert_eq(numbered_lane(), little);
	cr_assert_eq(grow_made_lanes(), 2);
	cr_assert_eq(numbered_read().lost, 0);
}

/* Threads that begin, and threads that grow, take other lanes. */
Test(grow, past_lanes_that_a_reader_has)
{
	unsigned int lanes;

	grow_begin(PAGES, 0);
	grow_let_worker(4 * LANE);
	lanes = rec_lanes();
	numbered_want_growth(0);
	numbered_write_some(3 * LANE);
	cr_assert_eq(grow_made_lanes(), 1);
	given_up_lanes_have_a_reader();
	worker_start(1);
	cr_assert_not(worker_is_sharing(1));
	cr_assert_eq(rec_lanes(), lanes + 1);
	worker_stop(1);
	seen[1] = 0;
	numbered_read();
	numbered_want_growth(3600);
	numbered_write_some(4 * LANE);
	cr_assert_gt(rec_lanes(), lanes + 1);
	cr_assert_eq(numbered_read().lost, 0);
}

/* A thread that has room in a lane that it left takes no other lane. */
Test(grow, back_to_lanes_that_were_read)
{
	unsigned int i;

	grow_begin(PAGES, 0);
	for (i = 0; i < 20; i++) {
		numbered_write_some(LANE * 5 / 4);
		grow_expect_all(LANE * 5 / 4);
	}
	cr_assert_leq(rec_lanes(), 3);
}

/* Lanes of the pool are given up, too: a thread that grew has ended, and its events were read. */
Test(grow, to_lanes_of_the_pool)
{
	unsigned int lanes;

	grow_begin(PAGES, 0);
	grow_let_worker(4 * LANE);
	lanes = rec_lanes();
	numbered_write_some(3 * LANE);
	cr_assert_eq(rec_lanes(), lanes);
	grow_expect_all(3 * LANE);
}

/* A thread that called rec_thread_attach() was promised events without system calls. */
Test(grow, but_no_thread_that_attached)
{
	struct sums sums;

	grow_begin(PAGES, 0);
	cr_assert_eq(rec_thread_attach(), 0);
	numbered_write_some(3 * LANE);
	cr_assert_eq(rec_lanes(), 1);
	sums = numbered_read();
	cr_assert_gt(sums.lost, 0);
	cr_assert_eq(sums.events + sums.lost, 3 * LANE);
}

Test(grow, but_no_program_that_does_not_know_it)
{
	struct rec_view *view = NULL;

	numbered_begin(PAGES, 0);
	rec_process_header()->compatible = 0;
	cr_assert_eq(rec_view_open(rec_process_path(), &view), 0);
	cr_assert_eq(rec_view_grow(view, 1), -EOPNOTSUPP);
	cr_assert_eq(rec_process_header()->grow_until, 0);
	rec_view_close(view);
}

/* Lanes that a thread has because it grew do not count against a resize. */
Test(grow, and_be_resized)
{
	grow_begin(PAGES, 0);
	worker_start(0);
	numbered_next = 1;
	numbered_write_some(8 * LANE);
	cr_assert_eq(rec_lane_resize(numbered_lane(), 5 * 4080ul), 0);
	cr_assert_eq(rec_lane_at(numbered_lane())->nr_subbufs, 6);
	numbered_write_some(LANE);
	cr_assert_eq(rec_lane_at(numbered_lane())->nr_subbufs, 6);
	worker_stop(0);
	grow_expect_all(9 * LANE + 1);
}
