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
 * Give the calling thread real-time priority (SCHED_FIFO); its children do not inherit it. If that is not permitted,
 * give it a short slice, so that the scheduler (EEVDF, Linux 6.12) runs it sooner, and return the errno. 0 otherwise.
 */
int priority_raise(unsigned int priority);

/* Undo priority_raise() for the calling thread. */
void priority_drop(void);

#endif
