/* SPDX-License-Identifier: MIT */
/*
 * A file that appears whole or not at all: it is written beside its target, without a name or with a temporary one,
 * and renamed to the target. After that, a crash of the machine loses nothing. Threads: one at a time per file.
 */
#ifndef FORMAT_OUT_FILE_H
#define FORMAT_OUT_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct out_file {
	int fd;
	char *target; /* symbolic links resolved */
	char *temp;   /* "" while the file has no name */
};

/*
 * Begin a file that will replace `path`. It gets the mode and, if permitted, the owner of the existing file; except if
 * that file belongs to another user in a directory that everybody can write to (sticky, such as /tmp). 0; -EISDIR;
 * -EINVAL: `path` exists and is not a regular file; -EACCES: an existing file is not writable; -ENOMEM; or the errno
 * of open.
 */
int out_file_open(const char *path, struct out_file *ret_file);

/*
 * Put the file in place, and sync it and its name to the disk. 0; or -errno: the target is unchanged, or was replaced
 * but could not be synced; so keep the data from which the file was made. In either case the file is closed.
 */
int out_file_commit(struct out_file *file);

/* Drop the data written and close. */
void out_file_abandon(struct out_file *file);

/* An unlinked file for scratch data in the directory of `path`: a descriptor or -errno. */
int out_file_scratch(const char *path);

/* Write all bytes, or -errno; continues after interruptions and short writes. */
int out_write_at(int fd, const void *bytes, size_t size, uint64_t offset);

/* Read this number of bytes; -EIO: the file ends before that. */
int out_read_at(int fd, void *bytes, size_t size, uint64_t offset);

/*
 * Copy a range, in the kernel if it can; two ranges of one file may overlap if they are not longer than 256 KiB. 0,
 * -errno, -EIO: the source ends early.
 */
int out_copy(int from, uint64_t from_offset, int to, uint64_t to_offset, uint64_t size);

#endif
