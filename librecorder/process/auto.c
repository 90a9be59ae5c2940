/* SPDX-License-Identifier: MIT */
/* What happens automatically: at the program's start, at fork, at exit. */
#include "librecorder/process/process.h"
#include "librecorder/process/event_private.h"
#include "librecorder/process/lane_life.h"
#include "librecorder/os/signal_block.h"

#include <pthread.h>
#include <unistd.h>

/*
 * The state of a fork, between our handlers. Each thread has its own, because glibc may run the handlers of several
 * forks at once. It is not kept with the lock's holder, because in the child another library's fork handler may take
 * the lock over before ours runs; and another handler may itself fork, between two of ours.
 */
static __thread unsigned int open_forks __attribute__((tls_model("initial-exec")));
static __thread struct rec_signal_block block_for_fork __attribute__((tls_model("initial-exec")));
static __thread bool locked_for_fork __attribute__((tls_model("initial-exec")));
static __thread uint32_t buffer_before_fork __attribute__((tls_model("initial-exec")));

const char rec_auto_linked;

/*
 * The lock is held for the child as well: nothing interrupts it until it has a buffer of its own. But if another
 * handler wrote an event, the child already has a buffer, and the lock is free.
 *
 * If the parent has no buffer, a child with the same pid looks like its parent: the first process of each pid namespace
 * has pid 1. So a child that still has the lock is not checked.
 */
static void make_own_buffer(bool is_child)
{
	if (rec_events_buffer() == buffer_before_fork) {
		if (!(is_child && locked_for_fork) && rec_process_is_maker())
			return;
		rec_process_forked();
		if (locked_for_fork)
			rec_process_unlock();
	}
	buffer_before_fork = rec_events_buffer();
	locked_for_fork = false;
}

static void before_fork(void)
{
	if (open_forks++) {
		make_own_buffer(false);
		return;
	}
	rec_signal_block_begin(&block_for_fork);
	locked_for_fork = rec_process_lock();
	buffer_before_fork = rec_events_buffer();
}

static void after_fork_in_parent(void)
{
	if (--open_forks)
		return;
	if (locked_for_fork)
		rec_process_unlock();
	rec_signal_block_end(&block_for_fork);
}

static void after_fork_in_child(void)
{
	make_own_buffer(true);
	if (--open_forks == 0)
		rec_signal_block_end(&block_for_fork);
}

/* Runs before constructors without a priority: the program's own, and those that register its events. */
__attribute__((constructor(101))) static void start(void)
{
	rec_lane_start();
	rec_process_init();
	pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
}

__attribute__((destructor(101))) static void end(void)
{
	rec_process_exit();
	rec_lane_stop();
}
