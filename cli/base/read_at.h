/* SPDX-License-Identifier: MIT */
/* Reads a part of a file, and continues after interruptions. */
#ifndef READ_AT_H
#define READ_AT_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Up to `size` bytes at `offset`; fewer only at the end of the file. Their number, or -errno. */
ssize_t read_at(int fd, void *bytes, size_t size, uint64_t offset);

/* All `size` bytes: 0; -EBADMSG: the file ends before; or -errno. */
int read_exactly(int fd, void *bytes, size_t size, uint64_t offset);

/*
 * A text file that one read(2) returns completely, `path` relative to the directory `dir`. A text that does not fit is
 * cut off. It is terminated with a NUL. 0, or the errno of open or read.
 */
int read_text_at(int dir, const char *path, char *text, size_t size);

#endif
