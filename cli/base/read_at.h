/* SPDX-License-Identifier: MIT */
/* Reading a piece of a file, interrupted or not. */
#ifndef READ_AT_H
#define READ_AT_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Up to `size` bytes at `offset`; fewer only at the end of the file. How many, or -errno. */
ssize_t read_at(int fd, void *bytes, size_t size, uint64_t offset);

/* All `size` bytes: 0; -EBADMSG: the file ends before; or -errno. */
int read_exactly(int fd, void *bytes, size_t size, uint64_t offset);

/*
 * A text file of which one read(2) gives all, `path` from the directory `dir` on; what does not fit is cut off. It is
 * ended with a NUL. 0, or open's and read's errno.
 */
int read_text_at(int dir, const char *path, char *text, size_t size);

#endif
