/* SPDX-License-Identifier: MIT */
/* The family of a recording: which programs are children of its processes, also if pids are used again. */
#include "cli/recording/family.h"
#include "librecorder/os/pid_namespace.h"

#include <criterion/criterion.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/base/proc_stat.h"

/* From linux/sched.h, which cannot be included beside sched.h. */
#ifndef CLONE_NEWTIME
#define CLONE_NEWTIME 0x80
#endif

/* A process that now has a pid, and its start time. */
static struct process owner;
static struct family family;

static void begin(void)
{
	const pid_t pid = fork();
	struct rec_proc_stat stat;

	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	cr_assert_gt(pid, 0);
	cr_assert_eq(proc_stat_of((uint32_t)pid, &stat), 0);
	owner = (struct process){ (uint32_t)pid, stat.start_time,
				  rec_pid_namespace(AT_FDCWD, REC_OWN_PID_NAMESPACE) };
	cr_assert_gt(owner.start_time, 1);
}

static void end_owner(void)
{
	kill((pid_t)owner.pid, SIGKILL);
	waitpid((pid_t)owner.pid, NULL, 0);
}

static void end(void)
{
	end_owner();
	family_free(&family);
}

/* Whether a program that started at `start_time`, and was executed by a child of the owner's pid, is in the family. */
static bool has_child(uint64_t start_time)
{
	const struct process self = { UINT32_MAX, start_time, owner.pid_ns };
	const struct process parent = { owner.pid, 0, owner.pid_ns };

	return family_has(&family, &self, &parent);
}

static void add(uint64_t start_time, uint64_t pid_ns)
{
	const struct process member = { owner.pid, start_time, pid_ns };

	cr_assert_eq(family_add(&family, &member), 0);
}

TestSuite(family, .init = begin, .fini = end, .timeout = 300);

Test(family, a_child_of_a_living_member)
{
	add(owner.start_time, owner.pid_ns);
	cr_expect(has_child(owner.start_time));
	cr_expect(has_child(owner.start_time + 1));
	cr_expect_not(has_child(owner.start_time - 1));
}

/* The member is gone, and the owner has its pid now. */
Test(family, a_child_of_a_stranger_with_the_pid_of_a_member)
{
	add(owner.start_time - 1, owner.pid_ns);
	cr_expect_not(has_child(owner.start_time));
	cr_expect_not(has_child(owner.start_time + 1));
	cr_expect(has_child(owner.start_time - 1), "the member's own child, from before the owner of its pid");
}

/* The pid is not in use: nothing shows that a stranger has had it. */
Test(family, a_child_of_a_member_that_is_gone)
{
	add(owner.start_time - 1, owner.pid_ns);
	end_owner();
	cr_expect(has_child(owner.start_time));
}

/* However many members there were, those that are gone do not stay. */
Test(family, members_that_are_gone_are_dropped)
{
	add(owner.start_time, owner.pid_ns);
	add(owner.start_time - 1, 0);
	for (unsigned int i = 0; i < 10000; i++) {
		add(owner.start_time - 1, owner.pid_ns);
		family_tidy(&family);
	}
	cr_expect_lt(family.nr, 2000u);
	cr_expect_eq(family.list[0].process.start_time, owner.start_time, "the one that lives");
	cr_expect_eq(family.list[1].process.pid_ns, 0, "one that may live");
	cr_expect(has_child(owner.start_time));
	cr_expect(family_runs(&family));
}

/* The pid of a member in another namespace means nothing here. */
Test(family, a_child_of_a_member_of_an_unknown_namespace)
{
	add(owner.start_time - 1, 0);
	cr_expect(has_child(owner.start_time));
}

Test(family, a_child_of_a_member_with_an_unknown_start_time)
{
	add(0, owner.pid_ns);
	cr_expect(has_child(owner.start_time));
}

/* There its start time is another one than here, so it is not known whether it is a stranger. */
Test(family, a_child_of_a_member_in_another_time_namespace)
{
	if (unshare(CLONE_NEWTIME) < 0)
		cr_skip_test("no right to make a time namespace, or the kernel has none");
	end_owner();
	begin();
	add(owner.start_time - 1, owner.pid_ns);
	cr_expect(has_child(owner.start_time));
}
