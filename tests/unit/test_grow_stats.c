/* SPDX-License-Identifier: MIT */
/* Statistics of a lane that the program has given up, and of the same lane when it has been made again. */
#include "librecorder/process/lane_private.h"
#include "librecorder/process/process.h"
#include "librecorder/view/reader_private.h"
#include "forbid.h"
#include "numbered.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <librecorder/reader.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGES 16u
#define LANE  NUMBERED_IN(PAGES)

static struct rec_lane_stats stats_of(unsigned int lane)
{
	struct rec_view *view = NULL;
	struct rec_lane_stats stats;

	cr_assert_eq(rec_view_open(rec_process_path(), &view), 0);
	cr_assert_eq(rec_view_stats(view, lane, &stats), 0);
	rec_view_close(view);
	return stats;
}

/* Lane 0 has lost a lane full of events, and refused one; everything else was read. Now it is given up. */
static void give_up_one_with_losses(void)
{
	unsigned int i;

	numbered_begin(PAGES, 0);
	numbered_want_growth(0);
	numbered_write_some(3 * LANE);
	cr_assert_eq(numbered_lane(), 0);
	rec_event_too_long(rec_thread_handle);
	numbered_read();
	numbered_want_growth(3600);
	numbered_write_some(3 * LANE);
	for (i = 0; i < 2; i++) {
		numbered_read();
		numbered_want_growth(0);
		numbered_write_some(3 * LANE);
	}
	cr_assert_not(rec_lane_is_made(0));
}

/* The program makes it again, and its thread writes there. */
static void make_it_again(void)
{
	numbered_read();
	numbered_want_growth(3600);
	while (!rec_lane_is_made(0))
		numbered_write_some(LANE);
	numbered_read();
}

Test(grow_stats, stay)
{
	struct rec_lane_stats before, after;

	give_up_one_with_losses();
	before = stats_of(0);
	cr_assert_eq(before.subbuf_size, 0);
	cr_assert_eq(before.nr_pages, 0);
	cr_assert_eq(before.entries, 0);
	cr_assert_gt(before.overrun, LANE);
	cr_assert_gt(before.read_events, 0);
	cr_assert_eq(before.too_long, 1);
	make_it_again();
	after = stats_of(0);
	cr_assert_gt(after.subbuf_size, 0);
	cr_assert_eq(after.overrun, before.overrun);
	cr_assert_eq(after.too_long, 1);
	cr_assert_gt(after.read_events, before.read_events);
}

/*
 * A reset works on such a lane, too: for the next recorder the statistics begin at 0, even when the lane is made again.
 */
Test(grow_stats, are_reset)
{
	struct rec_view *view = NULL;
	struct rec_lane_stats stats;

	give_up_one_with_losses();
	cr_assert_eq(rec_view_open(rec_process_path(), &view), 0);
	cr_assert_eq(rec_view_reset(view, 0), 0);
	rec_view_close(view);
	stats = stats_of(0);
	cr_assert_eq(stats.overrun + stats.read_events + stats.too_long + stats.lost_unread, 0);
	make_it_again();
	stats = stats_of(0);
	cr_assert_eq(stats.overrun + stats.too_long + stats.lost_unread, 0);
	cr_assert_gt(stats.read_events, 0);
}

/* A recorder that dies while it resets the lane leaves its mark there, which keeps the program from making it again. */
Test(grow_stats, a_reset_that_was_killed)
{
	struct rec_lane_reader *words;
	struct rec_view *view = NULL;
	const pid_t dead = fork();

	if (dead == 0)
		_exit(0);
	waitpid(dead, NULL, 0);
	give_up_one_with_losses();
	words = rec_pool.handles[0].reader;
	cr_assert_eq(rec_view_open(rec_process_path(), &view), 0);
	cr_assert_eq(rec_view_reset(view, 0), 0);
	words->owner = UINT64_C(1) << 32 | (uint32_t)dead;
	cr_assert_eq(rec_view_reset(view, 0), 0);
	rec_view_close(view);
	cr_assert_eq(words->owner, 0);
	make_it_again();
}

/* While the program gives the lane up, its statistics are unknown, and a reset must be tried again. */
Test(grow_stats, a_reset_meanwhile)
{
	struct rec_lane_reader *words;
	struct rec_view *view = NULL;
	uint64_t read;

	give_up_one_with_losses();
	words = rec_pool.handles[0].reader;
	read = words->read;
	words->read = read + REC_POS_ONE_EVENT;
	cr_assert_eq(rec_view_open(rec_process_path(), &view), 0);
	cr_assert_eq(rec_view_reset(view, 0), -EAGAIN);
	words->read = read;
	cr_assert_eq(rec_view_reset(view, 0), 0);
	cr_assert_eq(rec_view_reset(view, 1 + rec_view_lanes(view)), -EINVAL);
	rec_view_close(view);
}

/* While the program has a lane that it is remaking, a reader waits for it, also where files have no locks. */
Test(grow_stats, the_program_has_the_lane)
{
	struct rec_lane_reader *words;
	struct rec_view *view = NULL;
	struct rec_page page;

	give_up_one_with_losses();
	words = rec_pool.handles[0].reader;
	cr_assert_eq(rec_view_open(rec_process_path(), &view), 0);
	cr_assert(rec_lane_take_from_readers(&rec_pool.handles[0]));
	cr_expect_eq(rec_view_reset(view, 0), -EAGAIN);
	forbid_locks();
	cr_expect_eq(rec_view_reset(view, 0), -EAGAIN);
	/* The lane has its ring: then the owner is a reader in this process. */
	cr_assert(rec_lane_take_from_readers(rec_thread_handle));
	cr_expect_eq(rec_view_read(view, rec_lane_index(rec_thread_handle), 0, &page), -EBUSY);
	words->owner = 0;
	cr_expect_eq(rec_view_reset(view, 0), 0);
	rec_view_close(view);
}

/*
 * The same for a program in another pid namespace, whose pid means nothing here. If the program was replaced by exec,
 * its process lives, but does not have the lane any more.
 */
Test(grow_stats, a_program_of_another_namespace_has_the_lane)
{
	struct rec_lane_reader *words;
	struct rec_view *view = NULL;
	const pid_t dead = fork();

	if (dead == 0)
		_exit(0);
	waitpid(dead, NULL, 0);
	give_up_one_with_losses();
	words = rec_pool.handles[0].reader;
	cr_assert_eq(rec_view_open(rec_process_path(), &view), 0);
	view->who.pid = (uint32_t)dead;
	view->who.pid_ns++;
	words->owner = view->who.start_time << 32 | (uint32_t)dead;
	cr_expect_eq(rec_view_reset(view, 0), -EAGAIN);
	cr_expect_eq(words->owner, view->who.start_time << 32 | (uint32_t)dead);
	rec_process_header()->state = REC_BUFFER_REPLACED;
	cr_expect_eq(rec_view_reset(view, 0), 0);
	rec_process_header()->state = REC_BUFFER_LIVE;
	cr_expect_eq(words->owner, 0);
	rec_view_close(view);
}

/*
 * On a read-only file system nothing can be reset: not a lane that was given up, nor one that is in use, whether or not
 * the program is gone.
 */
Test(grow_stats, no_reset_on_a_read_only_file_system)
{
	struct rec_view *view = NULL;
	struct rec_lane_stats before;

	give_up_one_with_losses();
	before = stats_of(0);
	cr_assert_gt(before.read_events, 0);
	cr_assert_eq(rec_view_open(rec_process_path(), &view), 0);
	view->read_only = true;
	for (unsigned int lane = 0; lane < rec_view_lanes(view); lane++)
		cr_expect_eq(rec_view_reset(view, lane), -EROFS);
	rec_process_header()->state = REC_BUFFER_REPLACED;
	cr_assert_not(rec_view_alive(view));
	for (unsigned int lane = 0; lane < rec_view_lanes(view); lane++)
		cr_expect_eq(rec_view_reset(view, lane), -EROFS);
	cr_assert_eq(rec_view_reset(view, rec_view_lanes(view)), -EINVAL);
	rec_view_close(view);
	rec_process_header()->state = REC_BUFFER_LIVE;
	cr_assert_eq(stats_of(0).read_events, before.read_events);
}
