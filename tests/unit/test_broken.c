/* SPDX-License-Identifier: MIT */
/*
 * Broken invariants: each place where a program can find its own lane in an impossible state, which the test causes by
 * changing words that readers may write. The lane is stopped, reports this, counts what it refuses, and leaves the
 * pool; the others continue.
 */
#include "reader_fixture.h"

#include "librecorder/process/lane_private.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <pthread.h>

#define PAGES 4u

static struct rec_handle *broken, *sound;
static struct rec_view *view;

static void begin(void)
{
	reader_begin(PAGES, false);
	broken = reader_lane();
	sound = reader_lane();
	view = reader_view();
}

static void end(void)
{
	rec_view_close(view);
	reader_end();
}

static struct rec_lane_stats stats_of(const struct rec_handle *handle)
{
	struct rec_lane_stats stats = { 0 };

	cr_assert_eq(rec_view_stats(view, rec_lane_index(handle), &stats), 0);
	return stats;
}

/* All links lead to this sub-buffer. */
static void spoil_links(const struct rec_handle *handle, uint32_t id, uint32_t flag)
{
	for (uint32_t i = 0; i < handle->nr_subbufs; i++)
		handle->links[i].next = REC_LINK(id, flag, 77);
}

static void *lease(void *ret_lane)
{
	unsigned int lane = UINT32_MAX;

	if (rec_thread_attach() == 0 && rec_thread_lane(&lane) == 0)
		*(unsigned int *)ret_lane = lane;
	return NULL;
}

static unsigned int leased_by_a_new_thread(void)
{
	unsigned int lane = UINT32_MAX;
	pthread_t thread;

	cr_assert_eq(pthread_create(&thread, NULL, lease, &lane), 0);
	cr_assert_eq(pthread_join(thread, NULL), 0);
	return lane;
}

static void check_stopped(void)
{
	const uint32_t index = rec_lane_index(broken);
	const uint64_t disabled = rec_lane_at(index)->disabled;
	struct rec_lane_stats stats;

	cr_assert(rec_lane_at(index)->broken);
	cr_assert_not(rec_gate_is_open(broken));
	stats = stats_of(broken);
	cr_expect(stats.broken);
	cr_expect_eq(stats.disabled, disabled);
	/* The other lane still works, and a new thread gets a third one, which works. */
	cr_expect(reader_write(sound, 1, 40));
	cr_expect_eq(stats_of(sound).entries, 1);
	cr_expect_eq(stats_of(sound).broken, 0);
	cr_expect_neq(leased_by_a_new_thread(), index);
}

static void check_refusals(void)
{
	const uint64_t before = stats_of(broken).disabled;

	errno = 77;
	for (unsigned int i = 0; i < 100; i++)
		cr_expect_not(reader_write(broken, i, 40));
	cr_expect_eq(errno, 77);
	cr_expect_eq(stats_of(broken).disabled, before + 100);
	cr_expect_geq(stats_of(broken).lost_unread, before + 100);
}

Test(broken, commit_position_that_never_comes_to_the_tail, .init = begin, .fini = end, .timeout = 300)
{
	struct rec_slot slot;
	void *payload = rec_reserve(broken, 8, &slot);

	cr_assert_not_null(payload);
	/*
	 * Nested writers move to the next sub-buffer, so the outermost writer must follow links, which now form a
	 * circle.
	 */
	for (unsigned int i = 0; i < 4096 / 100 + 5; i++)
		cr_assert(reader_write(broken, i, 100));
	spoil_links(broken, REC_POS_ID(broken->lane->commit), REC_LINK_NORMAL);
	ring_fill(payload, 1, 8);
	rec_commit(&slot);
	check_refusals();
	check_stopped();
}

static void give_back_and_repair(void)
{
	rec_lane_repair(rec_lane_index(broken));
	cr_assert(broken->lane);
	rec_lane_give_back(rec_lane_index(broken));
}

Test(broken, marks_that_cannot_be_settled, .init = begin, .fini = end, .timeout = 300)
{
	cr_assert(reader_write(broken, 1, 40));
	/* A link claims that a head is being moved, and no path leads to it. */
	spoil_links(broken, 60000, REC_LINK_NORMAL);
	broken->links[PAGES].next = REC_LINK(60000, REC_LINK_UPDATE, 78);
	broken->movers = 1;
	give_back_and_repair();
	check_stopped();
}

/* A lane that was damaged while it was free is found broken when it is leased, and another one is taken. */
Test(broken, found_by_a_lease, .init = begin, .fini = end, .timeout = 300)
{
	const uint32_t index = rec_lane_index(broken);

	rec_lane_give_back(index);
	broken->movers = 1;
	spoil_links(broken, 60000, REC_LINK_UPDATE);
	cr_expect_neq(leased_by_a_new_thread(), index);
	cr_expect(rec_lane_at(index)->broken);
	cr_expect_eq(rec_lane_at(index)->owner, REC_OWNER_HELD);
	cr_expect_neq(leased_by_a_new_thread(), index);
}
