/* SPDX-License-Identifier: MIT */
/*
 * Files that are never standard input, output or error. If a program has closed these, the next file that it opens has
 * their number, and what the program prints would overwrite that file.
 */
#ifndef HIGH_FD_H
#define HIGH_FD_H

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

/*
 * Returns `fd` if it is negative or not a standard descriptor. Otherwise `fd` is closed, and the result is another
 * descriptor of the same file, or -1 with errno. Call it as soon as the file is open. Signal-safe.
 */
static inline int high_fd(int fd)
{
	int high, saved;

	if (fd < 0 || fd > STDERR_FILENO)
		return fd;
	high = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	saved = errno;
	close(fd);
	errno = saved;
	return high;
}

#endif
