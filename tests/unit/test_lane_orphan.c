/* SPDX-License-Identifier: MIT */
/*
 * Lanes of threads that ended without giving them back, whose ids are reused at the moment when another thread takes
 * the lanes over. The library asks the kernel about such an id before the exchange of the owner, and once more after
 * it; the test decides the answers.
 */
#include "librecorder/process/lane_private.h"
#include "librecorder/process/process.h"
#include "numbered.h"

#include <criterion/criterion.h>
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The action when the library asks about `tid` for the second time. */
static struct {
	uint32_t tid;
	unsigned int asked;
	bool lives;
	bool gives_back;
} again;

static int asked_for_it(void)
{
	if (++again.asked == 2 && again.gives_back)
		rec_lane_give_back(0);
	if (again.asked == 1 || !again.lives) {
		errno = ESRCH;
		return -1;
	}
	return 0;
}

/* The library calls this function, because the program's symbols take precedence. */
long syscall(long number, ...)
{
	static long (*real)(long, ...);
	long args[6];
	va_list list;
	unsigned int i;

	va_start(list, number);
	for (i = 0; i < 6; i++)
		args[i] = va_arg(list, long);
	va_end(list);
	if (number == SYS_tgkill && again.tid && (uint32_t)args[1] == again.tid)
		return asked_for_it();
	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "syscall");
	return real(number, args[0], args[1], args[2], args[3], args[4], args[5]);
}

static void run(void *(*function)(void *), void *arg)
{
	pthread_t thread;

	cr_assert_eq(pthread_create(&thread, NULL, function, arg), 0);
	pthread_join(thread, NULL);
}

static void *end_raw(void *arg)
{
	numbered_write(1);
	syscall(SYS_exit, 0);
	return arg;
}

static void *write_number(void *arg)
{
	numbered_write((uintptr_t)arg);
	return NULL;
}

/* The only lane belongs to a thread that has ended. */
static void leave_one(void)
{
	numbered_begin(64, 1);
	run(end_raw, NULL);
	again.tid = rec_lane_at(0)->owner;
	cr_assert_neq(again.tid, 0);
}

/* From here on the kernel itself answers; the lane can be leased again. */
static void check_end(unsigned int no_lane)
{
	struct sums sums;

	again.tid = 0;
	run(write_number, (void *)3);
	sums = numbered_read();
	cr_assert(seen[1] && seen[3]);
	cr_assert_eq(seen[2], !no_lane);
	cr_assert_eq(sums.lost + sums.torn, 0);
	cr_assert_eq(sums.no_lane, no_lane);
	numbered_expect_no_owner();
}

Test(orphan, its_id_comes_again_in_between)
{
	leave_one();
	again.lives = true;
	run(write_number, (void *)2);
	cr_assert_geq(again.asked, 2);
	cr_assert_eq(rec_lane_at(0)->owner, again.tid);
	check_end(1);
}

static void *write_as_owner(void *arg)
{
	numbered_write((uintptr_t)arg);
	cr_assert_eq(rec_lane_at(0)->owner, rec_thread_id());
	return NULL;
}

/* The new thread gave the lane back, and ended. The lane is free: it is taken as such, or not at all. */
Test(orphan, its_id_comes_again_and_goes)
{
	leave_one();
	again.gives_back = true;
	run(write_as_owner, (void *)2);
	cr_assert_geq(again.asked, 2);
	check_end(0);
}

Test(orphan, its_id_does_not_come_again)
{
	leave_one();
	run(write_as_owner, (void *)2);
	cr_assert_eq(again.asked, 2);
	check_end(0);
}

/* ------------------------------------------------------------------------------ while the lane is being taken over */

/* The results of calls by a thread whose id is in `bereft`: one thread has a lane, another one is new. */
static struct {
	unsigned int held;
	int attach, resize, release;
	bool attached;
} calls;

static void call_as_bereft(unsigned int lane)
{
	rec_pool.own[0].bereft = rec_thread_id();
	calls.attach = rec_thread_attach();
	calls.attached = rec_thread_is_attached();
	calls.resize = rec_lane_resize(lane, 3 * 4080);
	calls.release = rec_lane_release(calls.held);
	numbered_write(5);
	rec_pool.own[0].bereft = 0;
}

static void *have_a_lane_first(void *arg)
{
	numbered_write(4);
	call_as_bereft(numbered_lane());
	return arg;
}

static void *have_no_lane(void *arg)
{
	call_as_bereft(0);
	/* The id is not in `bereft` any more. */
	cr_assert_eq(rec_thread_attach(), 0);
	cr_assert(rec_thread_is_attached());
	numbered_write(6);
	return arg;
}

static void hold_one(void)
{
	numbered_begin(4, 0);
	numbered_write(1);
	cr_assert_eq(rec_lane_swap(&calls.held), 0);
}

Test(orphan, a_new_thread_gets_none_meanwhile)
{
	hold_one();
	run(have_no_lane, NULL);
	cr_assert_eq(calls.attach, -EINPROGRESS);
	cr_assert(!calls.attached);
	cr_assert_eq(calls.resize, -EBUSY);
	cr_assert_eq(calls.release, -EBUSY);
	cr_assert_eq(rec_lane_at(calls.held)->owner, REC_OWNER_HELD);
	cr_assert_eq(numbered_read().no_lane, 1);
	cr_assert_eq(rec_process_header()->lease_errno, EINPROGRESS);
	cr_assert(!seen[5] && seen[6]);
}

/* The thread had its lane before. Another thread that asks about its id finds it alive, and takes nothing. */
Test(orphan, a_thread_that_has_a_lane_is_not_refused)
{
	hold_one();
	run(have_a_lane_first, NULL);
	cr_assert_eq(calls.attach, 0);
	cr_assert(calls.attached);
	cr_assert_eq(calls.resize, 0);
	cr_assert_eq(calls.release, 0);
	cr_assert_eq(numbered_read().no_lane, 0);
	cr_assert(seen[4] && seen[5]);
}
