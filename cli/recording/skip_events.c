/* SPDX-License-Identifier: MIT */
#include "cli/recording/skip_events.h"

#include <errno.h>
#include <time.h>

/*
 * The number of further attempts to empty a lane while a writer is inside an event; after that, the event counts as
 * new.
 */
#define RESET_TRIES    1000u
#define RESET_SLEEP_NS 50000

int skip_events(struct rec_view *view)
{
	const struct timespec sleep = { .tv_nsec = RESET_SLEEP_NS };
	unsigned int tries = 0;
	int err;

	for (unsigned int lane = 0; lane < rec_view_lanes(view); lane++) {
		err = rec_view_reset(view, lane);
		/*
		 * A writer that is moving the head is done within a few instructions, unless it was preempted there. It
		 * would not run while this thread yields, because this thread may have real-time priority.
		 */
		for (; err == -EAGAIN && tries < RESET_TRIES; tries++) {
			nanosleep(&sleep, NULL);
			err = rec_view_reset(view, lane);
		}
		/* Damaged lanes are ignored here, because the drain reports them. */
		if (err == -EBUSY || err == -ENOMEM || err == -EROFS)
			return err;
	}
	return 0;
}
