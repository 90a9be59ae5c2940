/* SPDX-License-Identifier: MIT */
/* What happens by itself: at the program's start, at fork, at its end. */
#include "process.h"

#include <pthread.h>

/* Each forking thread's own: glibc may run the handlers of several forks at once. */
static __thread bool locked_for_fork __attribute__((tls_model("initial-exec")));

const char rec_auto_linked;

static void before_fork(void)
{
	locked_for_fork = rec_process_lock();
}

static void after_fork_in_parent(void)
{
	if (locked_for_fork)
		rec_process_unlock();
}

/* The lock is held for the child as well: nothing interrupts it until it has a buffer of its own. */
static void after_fork_in_child(void)
{
	rec_process_forked();
	if (locked_for_fork)
		rec_process_unlock();
}

/* Before constructors without a priority, among which are the program's own and those that register its events. */
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
