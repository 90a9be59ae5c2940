/* SPDX-License-Identifier: MIT */
#include "cli/recording/dir_watch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cli/base/now.h"

/*
 * A directory that changed this recently when it was read may have changed again with the same time stamp, because the
 * kernel's ticks are coarse.
 */
#define MTIME_GRAIN_NS UINT64_C(50000000)

/* The changes that matter: files that appear and disappear. */
#define CHANGES (IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_DELETE_SELF)

/* After each unsuccessful read the pause grows by a millisecond, up to this. */
#define TRIES_MAX 50u

static uint64_t nanoseconds(const struct timespec *ts)
{
	return (uint64_t)ts->tv_sec * 1000000000u + (uint64_t)ts->tv_nsec;
}

void dir_watch_open(struct dir_watch *watch, int dir)
{
	char path[48];

	watch->events = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	if (watch->events < 0)
		return;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", dir);
	watch->notified = inotify_add_watch(watch->events, path, CHANGES | IN_ONLYDIR) >= 0;
	if (!watch->notified)
		close(watch->events);
}

void dir_watch_close(struct dir_watch *watch)
{
	if (watch->notified)
		close(watch->events);
	watch->notified = false;
}

/* Whether there were events since the last call; a queue overflow counts as one. */
static bool has_events(struct dir_watch *watch)
{
	_Alignas(struct inotify_event) char events[4096];
	bool any = false;

	while (read(watch->events, events, sizeof(events)) > 0)
		any = true;
	return any;
}

bool dir_watch_has_changed(struct dir_watch *watch, int dir)
{
	const struct dir_watch before = *watch;
	struct timespec now;
	struct stat st;

	/* At the first look, everything is new. */
	if (watch->notified && watch->looked_at)
		return has_events(watch);

	/* The order matters: a change after this look must be found by the next one. */
	clock_gettime(CLOCK_REALTIME, &now);
	if (fstat(dir, &st) < 0)
		return true;
	watch->changed = nanoseconds(&st.st_mtim);
	watch->looked_at = nanoseconds(&now);
	return watch->changed != before.changed || before.looked_at < before.changed + MTIME_GRAIN_NS;
}

bool dir_watch_is_due(struct dir_watch *watch, int dir, bool again)
{
	const uint64_t now = now_ms();

	if (dir_watch_has_changed(watch, dir)) {
		dir_watch_retry(watch);
		return true;
	}
	if (!again || now < watch->retry_ms)
		return false;
	watch->retry_ms = now + (watch->tries < TRIES_MAX ? ++watch->tries : TRIES_MAX);
	return true;
}

void dir_watch_retry(struct dir_watch *watch)
{
	watch->retry_ms = 0;
	watch->tries = 0;
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
