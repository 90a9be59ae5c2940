/* SPDX-License-Identifier: MIT */
/*
 * A file that appears whole or not at all: written beside its target under no name or a temporary one, put in the
 * target's place by a rename. A crash of the machine afterwards loses nothing of it. Threads: one at a time per file.
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
 * Begin a file that is to replace `path`. It has the mode and, if that is allowed, the owner of the file that stands
 * there; not if that is another user's in a directory where anybody can put files (sticky, as /tmp). 0; -EISDIR; -EINVAL: something stands there that is no regular file; -EACCES:
 * an existing file may not be written; -ENOMEM; or the errno of open.
 */
int out_file_open(const char *path, struct out_file *ret_file);

/*
 * Put it in place, and bring it and its name to the disk. 0; or -errno: the target is as it was, or has been replaced
 * but could not be brought to the disk; so what the file was made of must be kept. Either way the file is closed.
 */
int out_file_commit(struct out_file *file);

/* Drop what was written and close. */
void out_file_abandon(struct out_file *file);

/* An unlinked file for scratch data in the directory of `path`: a descriptor or -errno. */
int out_file_scratch(const char *path);

/* All bytes or -errno; interruptions and short writes are gone on after. */
int out_write_at(int fd, const void *bytes, size_t size, uint64_t offset);

/* As many bytes; -EIO: the file ends before. */
int out_read_at(int fd, void *bytes, size_t size, uint64_t offset);

/*
 * Copy a range, in the kernel where it can; two of one file may overlap if they are not longer than 256
 * KiB. 0, -errno, -EIO: the source ends early.
 */
int out_copy(int from, uint64_t from_offset, int to, uint64_t to_offset, uint64_t size);

#endif
