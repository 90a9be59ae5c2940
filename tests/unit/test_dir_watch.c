/* SPDX-License-Identifier: MIT */
/* Whether a directory may have changed since the last look: its time stamp is only as precise as the kernel's ticks. */
#include "cli/recording/dir_watch.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define MS UINT64_C(1000000)

/* The directory has an old time stamp. */
static uint64_t make_dir(int *ret_dir)
{
	char path[] = "/tmp/recorder-test.XXXXXX";
	struct timespec times[2] = { { 0, UTIME_OMIT } };

	cr_assert(mkdtemp(path));
	*ret_dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	cr_assert(*ret_dir >= 0);
	clock_gettime(CLOCK_REALTIME, &times[1]);
	times[1].tv_sec -= 60;
	cr_assert(futimens(*ret_dir, times) == 0);
	rmdir(path);
	/* The removal of a file is a change, too. */
	cr_assert(futimens(*ret_dir, times) == 0);
	return (uint64_t)times[1].tv_sec * 1000 * MS + (uint64_t)times[1].tv_nsec;
}

Test(dir_watch, the_time_stamp_shows_a_change)
{
	struct dir_watch watch = { 0 };
	struct timespec now[2] = { { 0, UTIME_OMIT }, { 0, UTIME_NOW } };
	int dir;

	make_dir(&dir);
	cr_assert(dir_watch_has_changed(&watch, dir), "the first look");
	cr_assert(!dir_watch_has_changed(&watch, dir));
	cr_assert(!dir_watch_has_changed(&watch, dir));
	futimens(dir, now);
	cr_assert(dir_watch_has_changed(&watch, dir));
	close(dir);
}

static void put(int dir, const char *name)
{
	close(openat(dir, name, O_CREAT | O_RDWR, 0600));
}

static bool has_inotify(const char *path)
{
	const int fd = inotify_init1(IN_CLOEXEC);
	const bool has = fd >= 0 && inotify_add_watch(fd, path, IN_CREATE) >= 0;

	if (fd >= 0)
		close(fd);
	return has;
}

/* inotify finds a change that the time stamp does not show. */
Test(dir_watch, inotify_reports_a_change)
{
	char path[] = "/tmp/recorder-test.XXXXXX";
	struct dir_watch watch = { 0 };
	int dir;

	cr_assert(mkdtemp(path));
	if (!has_inotify(path)) {
		rmdir(path);
		cr_skip_test("no inotify here");
	}
	dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	dir_watch_open(&watch, dir);
	cr_assert(watch.notified);
	cr_assert(dir_watch_has_changed(&watch, dir), "the first look");
	cr_assert(!dir_watch_has_changed(&watch, dir));
	put(dir, "one");
	put(dir, "two");
	cr_assert(dir_watch_has_changed(&watch, dir));
	cr_assert(!dir_watch_has_changed(&watch, dir), "once");
	unlinkat(dir, "one", 0);
	cr_assert(dir_watch_has_changed(&watch, dir));
	unlinkat(dir, "two", 0);
	rmdir(path);
	cr_assert(dir_watch_has_changed(&watch, dir));
	dir_watch_close(&watch);
	close(dir);
}

/* A file that is not ready is examined again, but not in each round. */
Test(dir_watch, looks_again)
{
	struct dir_watch watch = { 0 };
	unsigned int looks = 0;
	int dir;

	make_dir(&dir);
	cr_assert(dir_watch_is_due(&watch, dir, false));
	cr_assert(!dir_watch_is_due(&watch, dir, false));
	cr_assert(dir_watch_is_due(&watch, dir, true), "at once");
	for (unsigned int i = 0; i < 1000000; i++)
		looks += dir_watch_is_due(&watch, dir, true);
	cr_assert_lt(looks, 100000);
	dir_watch_retry(&watch);
	cr_assert(dir_watch_is_due(&watch, dir, true), "when it is asked for");
	close(dir);
}

/* A change immediately after a look, within the same tick, is not missed, however late the next look comes. */
Test(dir_watch, a_look_right_after_a_change_is_not_the_last_one)
{
	struct dir_watch watch;
	int dir;
	const uint64_t changed = make_dir(&dir);

	watch = (struct dir_watch){ .changed = changed, .looked_at = changed + 10 * MS };
	cr_assert(dir_watch_has_changed(&watch, dir));
	cr_assert(!dir_watch_has_changed(&watch, dir));
	watch = (struct dir_watch){ .changed = changed, .looked_at = changed + 60 * MS };
	cr_assert(!dir_watch_has_changed(&watch, dir));
	close(dir);
}
