/* SPDX-License-Identifier: MIT */
/*
 * Real-time priority is given back, even if the user was permitted it and has no other privileges; it is never lowered.
 */
#include "cli/base/priority.h"

#include <criterion/criterion.h>
#include <sched.h>
#include <stdbool.h>
#include <unistd.h>

#define NOBODY 65534

static bool is_permitted(void)
{
	const struct sched_param low = { .sched_priority = 1 }, none = { .sched_priority = 0 };

	return !sched_setscheduler(0, SCHED_FIFO, &low) && !sched_setscheduler(0, SCHED_OTHER, &none);
}

Test(priority, is_dropped_without_rights)
{
	if (!is_permitted())
		cr_skip_test("not permitted here");
	cr_assert_eq(priority_raise(1), 0);
	if (!geteuid())
		cr_assert_eq(setuid(NOBODY), 0);
	priority_drop();
	cr_assert_eq(sched_getscheduler(0) & ~SCHED_RESET_ON_FORK, SCHED_OTHER);
}

Test(priority, is_what_it_was_before)
{
	const struct sched_param none = { .sched_priority = 0 }, high = { .sched_priority = 5 };
	struct sched_param now;

	if (!is_permitted())
		cr_skip_test("not permitted here");
	cr_assert_eq(priority_raise(1), 0);
	priority_drop();
	cr_assert_eq(sched_setscheduler(0, SCHED_BATCH, &none), 0);
	cr_assert_eq(priority_raise(1), 0);
	cr_assert_eq(sched_getscheduler(0) & ~SCHED_RESET_ON_FORK, SCHED_FIFO);
	priority_drop();
	cr_assert_eq(sched_getscheduler(0) & ~SCHED_RESET_ON_FORK, SCHED_BATCH);
	cr_assert_eq(sched_setscheduler(0, SCHED_RR, &high), 0);
	cr_assert_eq(priority_raise(1), 0);
	priority_drop();
	cr_assert_eq(sched_getscheduler(0) & ~SCHED_RESET_ON_FORK, SCHED_RR);
	cr_assert_eq(sched_getparam(0, &now), 0);
	cr_assert_eq(now.sched_priority, 5);
}
