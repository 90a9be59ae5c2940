/* SPDX-License-Identifier: MIT */
#include "cli/base/open_regular.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/* 0, or the error for a kind of file that is not opened. */
static int check(int fd)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return -errno;
	if (S_ISREG(st.st_mode))
		return 0;
	return S_ISDIR(st.st_mode) ? -EISDIR : S_ISLNK(st.st_mode) ? -ELOOP : -EBADMSG;
}

int open_regular(int dir, const char *path, int flags)
{
	const int place = openat(dir, path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	char again[32];
	int fd, err;

	if (place < 0)
		return -errno;
	err = check(place);
	if (err) {
		close(place);
		return err;
	}
	/* Opens the same file that was examined, even if another file has its name now. */
	snprintf(again, sizeof(again), "/proc/self/fd/%d", place);
	fd = open(again, flags | O_CLOEXEC);
	/* There is no /proc. */
	if (fd < 0 && errno == ENOENT)
		fd = openat(dir, path, flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	err = fd < 0 ? -errno : check(fd);
	close(place);
	if (err && fd >= 0)
		close(fd);
	return err ? err : fd;
}
