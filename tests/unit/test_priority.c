/* SPDX-License-Identifier: MIT */
/* Real-time priority is given back, even if the user was permitted it and has no other privileges. */
#include "cli/base/priority.h"

#include <criterion/criterion.h>
#include <sched.h>
#include <unistd.h>

#define NOBODY 65534

Test(priority, is_dropped_without_rights)
{
	if (priority_raise(1))
		cr_skip_test("not permitted here");
	if (!geteuid())
		cr_assert_eq(setuid(NOBODY), 0);
	priority_drop();
	cr_assert_eq(sched_getscheduler(0) & ~SCHED_RESET_ON_FORK, SCHED_OTHER);
}
