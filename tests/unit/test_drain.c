/* SPDX-License-Identifier: MIT */
/*
 * A drain that cannot keep up, and its helpers. In each test a program has filled three lanes, a helper begins with one
 * of them, and is held there until the drain has continued without it.
 */
#include "drain_fixture.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <librecorder/reader.h>
#include <sched.h>
#include <unistd.h>

#include "cli/recording/attach_private.h"
#include "cli/recording/drain_private.h"

static bool begun, go_on, refused; /* refused: the helper finds the stage full */

bool __real_drain_crew_give(struct drain_crew *crew, const struct drain_turn *turn);
bool __wrap_drain_crew_give(struct drain_crew *crew, const struct drain_turn *turn);
bool __wrap_drain_crew_give(struct drain_crew *crew, const struct drain_turn *turn)
{
	const bool given = __real_drain_crew_give(crew, turn);

	while (given && !__atomic_load_n(&begun, __ATOMIC_ACQUIRE))
		sched_yield();
	return given;
}

int __real_spool_hand_page(struct spool *to, struct spool_hand *hand, unsigned int process, unsigned int lane,
			   const struct rec_page *page, bool (*stands)(void *arg), void *arg);
int __wrap_spool_hand_page(struct spool *to, struct spool_hand *hand, unsigned int process, unsigned int lane,
			   const struct rec_page *page, bool (*stands)(void *arg), void *arg);
int __wrap_spool_hand_page(struct spool *to, struct spool_hand *hand, unsigned int process, unsigned int lane,
			   const struct rec_page *page, bool (*stands)(void *arg), void *arg)
{
	__atomic_store_n(&begun, true, __ATOMIC_RELEASE);
	while (!__atomic_load_n(&go_on, __ATOMIC_ACQUIRE))
		sched_yield();
	return refused ? -EAGAIN : __real_spool_hand_page(to, hand, process, lane, page, stands, arg);
}

/* The recorder is attached to two directories; the drain of the second one fails. */
static struct drain *failing;

int __real_drain_run(struct drain *which);
int __wrap_drain_run(struct drain *which);
int __wrap_drain_run(struct drain *which)
{
	return which == failing ? -ENOSPC : __real_drain_run(which);
}

/* The helper is released when the drain waits for it. */
bool __real_drain_crew_result(struct drain_crew *crew, unsigned int process, struct drain_turn *ret_turn);
bool __wrap_drain_crew_result(struct drain_crew *crew, unsigned int process, struct drain_turn *ret_turn);
bool __wrap_drain_crew_result(struct drain_crew *crew, unsigned int process, struct drain_turn *ret_turn)
{
	if ((refused || failing) && process != DRAIN_ANY)
		__atomic_store_n(&go_on, true, __ATOMIC_RELEASE);
	return __real_drain_crew_result(crew, process, ret_turn);
}

TestSuite(drain, .init = draining_begin, .fini = draining_end, .timeout = 300);

/* A round in which the helper begins and is then held. */
static void run_beside_helper(void)
{
	cr_assert_geq(drain_run(drain), 0);
	cr_assert(begun);
	cr_assert_lt(spool->events, written);
	__atomic_store_n(&go_on, true, __ATOMIC_RELEASE);
}

Test(drain, a_program_ends_while_a_helper_has_a_lane_of_it)
{
	kill_program();
	run_beside_helper();
	drain_to_the_end();
	expect_all();
}

Test(drain, the_recording_ends_while_a_helper_has_a_lane)
{
	run_beside_helper();
	cr_assert_geq(drain_finish(drain), 0);
	cr_assert_eq(drain_trouble(drain)->unread, 0);
	expect_all();
	kill_program();
}

/* The last round waits for the disk, so what the helper could not read is read all the same. */
Test(drain, the_recording_ends_while_a_helper_finds_the_stage_full)
{
	refused = true;
	cr_assert_geq(drain_run(drain), 0);
	cr_assert(begun);
	cr_assert_geq(drain_finish(drain), 0);
	cr_assert_eq(drain_trouble(drain)->unread, 0);
	expect_all();
	kill_program();
}

/* The stage ends after this, and the helper must not be at work in it. */
Test(drain, another_directory_fails_while_a_helper_has_a_lane)
{
	struct watched_dir watched_dirs[2] = { { .fd = dup(dir), .drain = drain }, { .fd = dup(dir) } };
	struct attach attach = { .watched_dirs = watched_dirs, .nr = 2 };

	cr_assert_eq(drain_open(spool, dir, DRAIN_NAMED, NULL, &failing), 0);
	watched_dirs[1].drain = failing;
	for (unsigned int i = 0; i < 2; i++)
		dir_watch_open(&watched_dirs[i].watch, dir);
	cr_assert_eq(attach_run(&attach), -ENOSPC);
	cr_assert(begun);
	cr_expect(go_on, "nobody waited for the helper");
	__atomic_store_n(&go_on, true, __ATOMIC_RELEASE);
	cr_assert_eq(spool_settle(spool), 0);
	for (unsigned int i = 0; i < 2; i++)
		watched_dir_close(&watched_dirs[i]);
	drain = NULL;
	kill_program();
}

Test(drain, the_recorder_ends_before_its_helper)
{
	run_beside_helper();
	drain = drain_close(drain);
	kill_program();
}
