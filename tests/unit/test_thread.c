/* SPDX-License-Identifier: MIT */
/*
 * The lives of threads: before a real-time loop, first events in signal handlers, cancelled, ended by a raw system
 * call, destructors before and after ours, after main has returned. Whatever was committed is read.
 */
#include "beside.h"
#include "librecorder/process/lane_private.h"
#include "librecorder/process/process.h"
#include "numbered.h"
#include "thread_lives.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <librecorder/event.h>
#include <librecorder/lane.h>
#include <linux/filter.h>
#include <linux/magic.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

/* ------------------------------------------------------------------------------------------------------- real time */

#define LOOPS 50000u

/* Any system call from here on kills the process, except those that the test needs to report. */
static void forbid_system_calls(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getrusage, 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = { sizeof(filter) / sizeof(filter[0]), filter };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0)
		_exit(99);
}

static void *write_loop(void *arg)
{
	uint64_t number;

	for (number = 0; number < LOOPS; number++)
		numbered_write(number);
	return arg;
}

static void loop_without_system_calls(void *data)
{
	struct rusage before, after;

	(void)data;
	/*
	 * This thread loads all of the code into memory. Its lane is free afterwards, and our lane must be one that was
	 * never written.
	 */
	run(write_loop, NULL);
	if (rec_thread_attach() < 0 || rec_lane_resize(0, 32 * 4080) < 0)
		_exit(98);
	forbid_system_calls();
	getrusage(RUSAGE_THREAD, &before);
	write_loop(NULL);
	getrusage(RUSAGE_THREAD, &after);
	_exit(after.ru_minflt == before.ru_minflt && after.ru_majflt == before.ru_majflt ? 0 : 97);
}

/* The ring wraps many times. */
Test(life, after_attach_no_system_call_and_no_fault)
{
	unsigned int most;
	struct statfs where;
	int status = 0;
	pid_t pid;

	numbered_begin(64, 4);
	/* On a disk, the kernel may write a page of the buffer back meanwhile; then the next store to it is a fault. */
	cr_assert_eq(statfs(rec_process_path(), &where), 0);
	most = where.f_type == TMPFS_MAGIC ? 1 : 10;
	for (unsigned int tries = 0; !tries || (tries < most && status == 97 << 8); tries++) {
		pid = beside_run(loop_without_system_calls, NULL);
		cr_assert_eq(waitpid(pid, &status, 0), pid);
	}
	cr_assert_eq(status, 0, "%#x", (unsigned int)status);
}

/* ------------------------------------------------------------------------------------------------- signal handlers */

static uint64_t next;
static unsigned int levels;

static void write_nested(int signal)
{
	numbered_write(next++);
	if (levels && levels--)
		raise(signal);
	numbered_write(next++);
}

static void *raise_one(void *arg)
{
	raise(*(int *)arg);
	return NULL;
}

/* A thread's first event is written by a handler, and the events inside it by handlers that interrupt it. */
Test(life, a_handler_in_a_thread_that_never_traced)
{
	int number = SIGUSR1;

	numbered_begin(64, 8);
	on_signal(SIGUSR1, write_nested, SA_NODEFER);
	levels = 5;
	run(raise_one, &number);
	cr_assert_eq(next, 12);
	cr_assert_eq(numbered_read().events, 12);
}

/* ------------------------------------------------------------------------------------------------- cancelled, ended */

static void write_in_cleanup(void *arg)
{
	(void)arg;
	numbered_write(3);
}

static struct {
	bool asynchronous;
	/* the event in which it is cancelled is written from a frame far below that of the cleanup's event */
	bool deeper;
} cancel;

static void *be_cancelled(void *arg)
{
	struct rec_slot slot;
	int before;

	numbered_write(1);
	pthread_setcanceltype(cancel.asynchronous ? PTHREAD_CANCEL_ASYNCHRONOUS : PTHREAD_CANCEL_DEFERRED, &before);
	pthread_cleanup_push(write_in_cleanup, NULL);
	cr_assert_not_null(cancel.deeper ? reserve_deeper(2, &slot) : numbered_reserve(2, &slot));
	pthread_cancel(pthread_self());
	pthread_testcancel();
	rec_commit(&slot);
	pthread_cleanup_pop(0);
	return arg;
}

/*
 * The event is torn. So is the cleanup's, unless its frame shows that the other one was left: the lane cannot
 * distinguish it from a nested one.
 */
static void check_cancel(bool asynchronous, bool deeper)
{
	struct sums sums;

	numbered_begin(64, 8);
	cancel.asynchronous = asynchronous;
	cancel.deeper = deeper;
	run(be_cancelled, NULL);
	sums = numbered_read();
	cr_assert(seen[1] && !seen[2]);
	cr_assert(seen[3] || !deeper);
	cr_assert_eq(sums.events, 1u + seen[3]);
	cr_assert_eq(sums.torn, 2u - seen[3]);
	cr_assert_eq(rec_lane_at(0)->owner, 0);
	cr_assert_eq(rec_lane_at(0)->open, 0);
}

Test(life, cancelled_in_an_event_at_once)
{
	check_cancel(true, false);
}

Test(life, cancelled_in_an_event_at_once_far_below)
{
	check_cancel(true, true);
}

Test(life, cancelled_in_an_event_later)
{
	check_cancel(false, false);
}

Test(life, cancelled_in_an_event_later_far_below)
{
	check_cancel(false, true);
}

static void *end_raw(void *arg)
{
	struct rec_slot slot;

	numbered_write(1);
	cr_assert_not_null(numbered_reserve(2, &slot));
	syscall(SYS_exit, 0);
	return arg;
}

/* A thread ends and leaves the program's only lane; the next thread gets it. */
Test(life, ended_by_a_raw_exit_in_an_event)
{
	struct sums sums;

	numbered_begin(64, 1);
	run(end_raw, NULL);
	run(write_number, (void *)3);
	sums = numbered_read();
	cr_assert_eq(sums.events, 2);
	cr_assert(seen[1] && seen[3]);
	cr_assert_eq(sums.torn, 1);
	cr_assert_eq(sums.no_lane, 0);
}

static void *end_with_the_lock(void *arg)
{
	*(bool *)arg = rec_process_lock();
	syscall(SYS_exit, 0);
	return NULL;
}

/* As by a seccomp filter: other threads take the lock over, also those that wait only a bounded time. */
Test(life, ended_while_it_has_the_process_lock)
{
	pthread_t holder;
	bool got = false;

	cr_assert_eq(pthread_create(&holder, NULL, end_with_the_lock, &got), 0);
	cr_assert_eq(pthread_join(holder, NULL), 0);
	cr_assert(got);
	errno = 0;
	cr_assert(rec_process_lock_soon());
	cr_assert_eq(errno, 0);
	rec_process_unlock();
	cr_assert_eq(pthread_create(&holder, NULL, end_with_the_lock, &got), 0);
	cr_assert_eq(pthread_join(holder, NULL), 0);
	cr_assert_eq(rec_enable("lock:none"), 0);
}

/* Behaves like a thread that got the id of one that ended without giving its lane back. */
static void *come_again(void *arg)
{
	rec_lane_at(0)->owner = (uint32_t)syscall(SYS_gettid);
	return write_number(arg);
}

/*
 * Thread ids are reused. The new thread does not use the former thread's lane: it gives the lane back, and then it
 * leases one.
 */
Test(life, a_thread_with_the_id_of_one_that_ended_by_a_raw_exit)
{
	struct sums sums;

	numbered_begin(64, 8);
	run(end_raw, NULL);
	cr_assert_neq(rec_lane_at(0)->owner, 0);
	run(come_again, (void *)3);
	cr_assert_eq(rec_lanes(), 1);
	sums = numbered_read();
	cr_assert_eq(sums.events, 2);
	cr_assert(seen[1] && seen[3]);
	cr_assert_eq(sums.torn, 1);
	numbered_expect_no_owner();
}

/* ---------------------------------------------------------------------------------------------------- destructors */

/* What C++ compilers call for thread_local objects: these are destroyed before all keys. */
extern int __cxa_thread_atexit_impl(void (*function)(void *), void *object, void *dso);

static pthread_key_t key;
static unsigned int rounds;

static void write_in_destructor(void *value)
{
	numbered_write(next++);
	if (rounds && rounds--)
		pthread_setspecific(key, value);
}

static void write_before_keys(void *object)
{
	(void)object;
	numbered_write(next++);
}

static void *have_destructors(void *arg)
{
	static char dso;

	pthread_setspecific(key, "");
	__cxa_thread_atexit_impl(write_before_keys, NULL, &dso);
	numbered_write(next++);
	return arg;
}

/* Our key is older, so the destructor of this key is called after ours in each round. */
Test(life, destructors_before_and_after_ours)
{
	struct sums sums;

	numbered_begin(64, 2);
	cr_assert_eq(pthread_key_create(&key, write_in_destructor), 0);
	rounds = 2;
	run(have_destructors, NULL);
	cr_assert_eq(next, 5);
	cr_assert_eq(rec_lane_at(0)->owner, 0);
	/* No destructor of ours follows in the last round; the next thread that wants a lane finds this one. */
	rounds = 10;
	run(have_destructors, NULL);
	run(write_number, (void *)1000);
	sums = numbered_read();
	cr_assert_eq(sums.events, next + 1);
	cr_assert_eq(sums.no_lane + sums.torn + sums.lost, 0);
}

/* ------------------------------------------------------------------------------------------------ the program's end */

struct late {
	char path[4096];
	uint32_t written, stop;
};

static struct late *late;

static void write_at_exit(void)
{
	numbered_write(100);
}

__attribute__((destructor(102))) static void write_in_library_destructor(void)
{
	if (late)
		numbered_write(101);
}

static void *write_on(void *arg)
{
	uint64_t number;

	pthread_detach(pthread_self());
	for (number = 1000; number < 50000; number++) {
		numbered_write(number);
		rec_store_release(&late->written, (uint32_t)(number - 999));
		if (number == 1200)
			sem_post(arg);
	}
	pause();
	return NULL;
}

static void end_with_threads(void *data)
{
	pthread_t thread;
	sem_t ready;

	late = data;
	sem_init(&ready, 0, 0);
	snprintf(late->path, sizeof(late->path), "%s", rec_process_path());
	atexit(write_at_exit);
	pthread_create(&thread, NULL, write_on, &ready);
	sem_wait(&ready);
	exit(0);
}

/* Threads, atexit handlers and destructors write until the process is gone. */
Test(life, events_after_main_has_returned)
{
	struct late *memory = beside_memory(sizeof(*memory));
	struct sums sums;
	uint32_t number;
	pid_t pid;

	setenv("RECORDER_KEEP", "1", 1);
	numbered_begin(64, 8);
	pid = beside_run(end_with_threads, memory);
	cr_assert_eq(waitpid(pid, NULL, 0), pid);
	sums = numbered_read_of(memory->path);
	unlink(memory->path);
	unlink(rec_process_path());
	cr_assert(seen[100]);
	cr_assert(seen[101]);
	cr_assert_eq(sums.no_lane, 0);
	/* The oldest events may be overwritten. No event is missing after the first one that is found. */
	for (number = 1000; !seen[number]; number++)
		;
	cr_assert_leq(number - 1000, sums.lost);
	for (; number - 999 <= memory->written; number++)
		cr_assert(seen[number], "%u", number);
}
