/* SPDX-License-Identifier: MIT */
/*
 * Threads whose seccomp filter forbids the system call that returns their id. If a thread had a lane before the filter,
 * it continues as before. Otherwise it shares a lane, and becomes the owner of none.
 */
#include "forbid.h"
#include "share_fixture.h"
#include "librecorder/process/lane_life.h"
#include "librecorder/process/lane_private.h"
#include "librecorder/process/process.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <unistd.h>

#define PAGES 4u
#define LANE  NUMBERED_IN(PAGES)

static void run(void *(*function)(void *), void *arg)
{
	pthread_t thread;

	cr_assert_eq(pthread_create(&thread, NULL, function, arg), 0);
	pthread_join(thread, NULL);
}

/* The results of a thread's calls. */
static struct {
	unsigned int held, own, set_aside;
	int attach, resize_own, resize_free, swap, release;
} calls;

static void change_lanes(unsigned int free_lane)
{
	calls.own = 99;
	calls.attach = rec_thread_attach();
	rec_thread_lane(&calls.own);
	calls.resize_own = rec_lane_resize(calls.own, 3 * 4080);
	calls.resize_free = rec_lane_resize(free_lane, 3 * 4080);
	calls.swap = rec_lane_swap(&calls.set_aside);
	calls.release = rec_lane_release(calls.held);
}

static void *change_lanes_later(void *free_lane)
{
	numbered_write(11);
	forbid_the_id();
	change_lanes(*(const unsigned int *)free_lane);
	numbered_write(12);
	return NULL;
}

static void *change_lanes_at_once(void *free_lane)
{
	forbid_the_id();
	change_lanes(*(const unsigned int *)free_lane);
	numbered_write(13);
	return NULL;
}

/* One lane is held in reserve, and two are free. Returns the last one, which the next thread does not lease. */
static unsigned int begin(void)
{
	unsigned int lane;

	numbered_begin(PAGES, 0);
	numbered_write(4);
	cr_assert_eq(rec_lane_swap(&calls.held), 0);
	worker_start(0);
	worker_start(1);
	worker_stop(0);
	worker_stop(1);
	numbered_read();
	lane = rec_lanes() - 1;
	cr_assert_eq(rec_lane_at(lane)->owner, 0);
	return lane;
}

Test(no_id, the_owner_of_a_lane_stays_its_owner)
{
	unsigned int lane = begin();

	run(change_lanes_later, &lane);
	cr_assert_eq(calls.attach, 0);
	cr_assert_eq(calls.resize_own, 0);
	cr_assert_eq(calls.resize_free, 0);
	cr_assert_eq(calls.swap, 0);
	cr_assert_eq(calls.release, 0);
	cr_assert_eq(rec_lane_release(calls.set_aside), 0);
	cr_assert_eq(numbered_read().no_lane, 0);
	cr_assert(seen[11] && seen[12]);
	rec_lane_exit();
	numbered_expect_no_owner();
}

/* REC_OWNER_HELD is what the system call returns then: it must not be taken for the owner. */
Test(no_id, others_take_no_lane)
{
	unsigned int lane = begin();

	run(change_lanes_at_once, &lane);
	cr_assert_eq(calls.attach, -EPERM);
	cr_assert_eq(calls.own, 99);
	cr_assert_eq(calls.resize_own, -ENOENT);
	cr_assert_eq(calls.resize_free, -EPERM);
	cr_assert_eq(calls.swap, -ENOENT);
	cr_assert_eq(calls.release, -EPERM);
	cr_assert_eq(rec_lane_at(calls.held)->owner, REC_OWNER_HELD);
	cr_assert_eq(numbered_read().no_lane, 1);
	cr_assert_eq(rec_process_header()->lease_errno, EPERM);
	cr_assert_eq(rec_lane_release(calls.held), 0);
}

/* ------------------------------------------------------------------------------------------------------- growth */

static void *grow_under_a_filter(void *arg)
{
	unsigned int i;

	numbered_write_some(LANE + 1);
	forbid_the_id();
	for (i = 1; i < 3; i++)
		numbered_write_some(LANE);
	cr_assert_geq(rec_lanes(), 3);
	return arg;
}

/* The lanes that it had before the filter, and those that it takes afterwards, go back to the pool at its end. */
Test(no_id, a_thread_that_grew_gives_all_back)
{
	numbered_begin(PAGES, 0);
	numbered_want_growth(3600);
	run(grow_under_a_filter, NULL);
	numbered_expect_no_owner();
	cr_assert_eq((uint32_t)rec_pool.free_lanes, rec_lanes());
	cr_assert_eq(numbered_read().events, 3 * LANE + 1);
}

/* ------------------------------------------------------------------------------------------------- shared lanes */

/* A thread that holds a shared lane until the test lets it continue. */
struct holder {
	pthread_t thread;
	sem_t reserved, go;
	uint64_t number;
	unsigned int lane;
	uint32_t owner;
	bool commits;
};

static unsigned int lane_of(const struct rec_slot *slot)
{
	unsigned int lane = 0;

	while (rec_lane_at(lane) != slot->lane)
		lane++;
	return lane;
}

static void *hold(void *arg)
{
	struct holder *holder = arg;
	struct rec_slot slot;

	forbid_the_id();
	cr_assert_not_null(numbered_reserve(holder->number, &slot));
	holder->lane = lane_of(&slot);
	holder->owner = slot.lane->owner;
	sem_post(&holder->reserved);
	sem_wait(&holder->go);
	if (holder->commits)
		rec_commit(&slot);
	return NULL;
}

static void start(struct holder *holder)
{
	sem_init(&holder->reserved, 0, 0);
	sem_init(&holder->go, 0, 0);
	cr_assert_eq(pthread_create(&holder->thread, NULL, hold, holder), 0);
	sem_wait(&holder->reserved);
	cr_assert_eq(rec_lane_at(holder->lane)->shared, 1);
	cr_assert(!rec_is_thread_id(holder->owner));
	cr_assert_neq(holder->owner, REC_OWNER_HELD);
	/* It is not taken for a lane that rec_lane_swap() has set aside. */
	cr_assert_eq(rec_lane_release(holder->lane), -ENOENT);
	cr_assert_eq(rec_lane_at(holder->lane)->owner, holder->owner);
}

static void stop(struct holder *holder)
{
	sem_post(&holder->go);
	pthread_join(holder->thread, NULL);
	cr_assert_eq(rec_lane_at(holder->lane)->owner, 0);
}

Test(no_id, each_holds_its_shared_lane)
{
	struct holder one = { .number = 201, .commits = true }, two = { .number = 202, .commits = true };
	struct sums sums;
	unsigned int n;

	share_begin(8);
	n = workers_until_one_shares();
	start(&one);
	start(&two);
	cr_assert_neq(one.lane, two.lane);
	cr_assert_neq(one.owner, two.owner);
	/* All shared lanes are held, and no thread takes one away. */
	worker_do(n - 1, worker_write, 203);
	stop(&two);
	worker_do(n - 1, worker_write, 204);
	stop(&one);
	sums = numbered_read();
	cr_assert_eq(sums.no_lane, 1);
	cr_assert_eq(sums.torn + sums.lost, 0);
	cr_assert(seen[201] && seen[202] && !seen[203] && seen[204]);
	cr_assert_eq(seen_tids[201], UINT32_MAX);
}

/* A reservation is left in a shared lane; at the thread's end the lane is shared again. */
Test(no_id, what_it_holds_goes_back_at_its_end)
{
	struct holder one = { .number = 201 };

	share_begin(8);
	workers_until_one_shares();
	start(&one);
	stop(&one);
	cr_assert_eq(numbered_read().torn, 1);
	cr_assert(!seen[201]);
}
