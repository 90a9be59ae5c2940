/* SPDX-License-Identifier: MIT */
/* See result_file.h. */
#include "cli/common/result_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format/io/out_file.h"

/* The descriptor of standard output or standard error if `path` leads to the same file, such as /dev/stdout; or -1. */
static int find_standard(const struct stat *path)
{
	for (int fd = STDOUT_FILENO; fd <= STDERR_FILENO; fd++) {
		struct stat st;

		if (!fstat(fd, &st) && st.st_dev == path->st_dev && st.st_ino == path->st_ino)
			return fd;
	}
	return -1;
}

/* A new descriptor of a file that is written in place; -1 with *ret_replaced: it is one that is replaced. */
static int open_in_place(const char *path, bool *ret_replaced)
{
	struct stat st;
	int standard;

	*ret_replaced = stat(path, &st) != 0;
	if (*ret_replaced)
		return -1;
	standard = find_standard(&st);
	if (standard >= 0)
		return fcntl(standard, F_DUPFD_CLOEXEC, 3);
	*ret_replaced = S_ISREG(st.st_mode);
	return *ret_replaced ? -1 : open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
}

/* Print into a descriptor, and close it. 0; -errno. */
static int print(int fd, void (*put)(const void *arg, FILE *out), const void *arg)
{
	FILE *out = fdopen(fd, "w");
	int err = 0;

	if (!out) {
		err = -errno;
		close(fd);
		return err;
	}
	put(arg, out);
	errno = EIO;
	if (fflush(out) || ferror(out))
		err = -errno;
	if (fclose(out) && !err)
		err = -errno;
	return err;
}

int result_file_write(const char *path, void (*put)(const void *arg, FILE *out), const void *arg)
{
	struct out_file file;
	bool replaced;
	int fd, err;

	/* The output before goes first, if it goes to the same file. */
	fflush(stdout);
	fd = open_in_place(path, &replaced);
	if (replaced) {
		err = out_file_open(path, &file);
		if (err)
			return err;
		fd = fcntl(file.fd, F_DUPFD_CLOEXEC, 3);
	}
	err = fd < 0 ? -errno : print(fd, put, arg);
	if (!replaced)
		return err;
	if (!err)
		return out_file_commit(&file);
	out_file_abandon(&file);
	return err;
}
