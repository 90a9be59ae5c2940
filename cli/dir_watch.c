/* SPDX-License-Identifier: MIT */
#include "cli/dir_watch.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/*
 * A directory that had changed so recently when it was looked at may have changed again without its time stamp showing
 * it: the kernel's ticks are coarse.
 */
#define MTIME_GRAIN_NS UINT64_C(50000000)

static uint64_t nanoseconds(const struct timespec *ts)
{
	return (uint64_t)ts->tv_sec * 1000000000u + (uint64_t)ts->tv_nsec;
}

bool dir_watch_has_changed(struct dir_watch *watch, int dir)
{
	const struct dir_watch before = *watch;
	struct timespec now;
	struct stat st;

	/* In this order: what happens behind the look is for the next one. */
	clock_gettime(CLOCK_REALTIME, &now);
	if (fstat(dir, &st) < 0)
		return true;
	watch->changed = nanoseconds(&st.st_mtim);
	watch->looked_at = nanoseconds(&now);
	return watch->changed != before.changed || before.looked_at < before.changed + MTIME_GRAIN_NS;
}

DIR *dir_entries(int dir)
{
	const int copy = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *entries = copy < 0 ? NULL : fdopendir(copy);
	int err;

	if (!entries && copy >= 0) {
		err = errno;
		close(copy);
		errno = err;
	}
	return entries;
}
