/* SPDX-License-Identifier: MIT */
/*
 * Waiting for a lock whose holder is done within microseconds, unless it has lost its CPU.
 *
 * A waiter of a higher real-time priority must sleep to give the CPU back: sched_yield() does not, and if all signals
 * are blocked, nothing else ends the wait. So after some tries every waiter sleeps between two tries.
 */
#ifndef BACKOFF_H
#define BACKOFF_H

#include <sched.h>
#include <time.h>

/* The number of tries after which a waiter with a bounded time gives up: about a tenth of a second. */
#define REC_BACKOFF_TRIES 1000u

/* The number of tries after which a waiter sleeps, and for how long. */
#define REC_BACKOFF_YIELDS   100u
#define REC_BACKOFF_SLEEP_NS 50000

/* Call it after a try that failed. *tries is 0 at first. Signal-safe. */
static inline void rec_backoff(unsigned int *tries)
{
	const struct timespec sleep = { .tv_nsec = REC_BACKOFF_SLEEP_NS };

	/* The count stops there: if it wrapped, a long wait would yield again instead of sleeping. */
	*tries += *tries < REC_BACKOFF_TRIES;
	if (*tries < REC_BACKOFF_YIELDS)
		sched_yield();
	else
		nanosleep(&sleep, NULL);
}

#endif
