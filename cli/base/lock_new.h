/* SPDX-License-Identifier: MIT */
#ifndef CLI_LOCK_NEW_H
#define CLI_LOCK_NEW_H

#include <errno.h>
#include <sys/file.h>
#include <sys/stat.h>

/*
 * Lock a file or directory that this process has just made. 0; -EAGAIN: another recorder's sweep has found it before,
 * and removes it or has removed it; or the errno of flock or fstat.
 */
static inline int lock_new(int fd)
{
	struct stat st;

	if (flock(fd, LOCK_EX | LOCK_NB) < 0)
		return errno == EWOULDBLOCK ? -EAGAIN : -errno;
	return fstat(fd, &st) < 0 ? -errno : st.st_nlink ? 0 : -EAGAIN;
}

#endif
