/* SPDX-License-Identifier: MIT */
#ifndef CLI_LOCK_WITHIN_H
#define CLI_LOCK_WITHIN_H

#include <errno.h>
#include <sys/file.h>
#include <time.h>

/* Sweeps, and commands that list what is left, hold a lock only for a moment: wait this long, in ms. */
#define LOCK_A_MOMENT_MS 1000u

/*
 * flock(2) with `how`, LOCK_SH or LOCK_EX; if another process has the lock, tried `ms` times more, with a ms between.
 * 0; -EBUSY: another process still has the lock; or -errno.
 */
static inline int lock_within(int fd, int how, unsigned int ms)
{
	const struct timespec wait = { .tv_nsec = 1000000 };

	while (flock(fd, how | LOCK_NB) < 0) {
		if (errno != EWOULDBLOCK && errno != EINTR)
			return -errno;
		if (!ms--)
			return -EBUSY;
		nanosleep(&wait, NULL);
	}
	return 0;
}

#endif
