/* SPDX-License-Identifier: MIT */
/*
 * Priority for the drain: it must run while lanes fill, on a machine whose CPUs are busy with the threads that fill
 * them.
 */
#ifndef CLI_PRIORITY_H
#define CLI_PRIORITY_H

#include <stdbool.h>

/* Above all threads that are not real-time, and below a program's own real-time threads. */
#define PRIORITY_DEFAULT 1u

/*
 * Give the calling thread real-time priority (SCHED_FIFO); its children do not inherit it. A thread that has this
 * priority, or a higher one, keeps it. If the priority is not permitted, give the thread a short slice, so that the
 * scheduler (EEVDF, Linux 6.12) runs it sooner, and return -errno. 0 otherwise.
 */
int priority_raise(unsigned int priority);

/* Undo priority_raise() for the calling thread: it gets the policy and priority that it had before. */
void priority_drop(void);

#endif
