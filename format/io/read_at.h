/* SPDX-License-Identifier: MIT */
/* Reads a part of a file, and continues after interruptions. */
#ifndef FORMAT_READ_AT_H
#define FORMAT_READ_AT_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <unistd.h>

/* Up to `size` bytes at `offset`; fewer only at the end of the file. Their number, or -errno. */
static inline ssize_t read_at(int fd, void *bytes, size_t size, uint64_t offset)
{
	size_t done = 0;

	while (done < size) {
		const ssize_t n = pread(fd, (char *)bytes + done, size - done, (off_t)(offset + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (!n)
			break;
		done += (size_t)n;
	}
	return (ssize_t)done;
}

/* All `size` bytes: 0; -EBADMSG: the file ends before; or -errno. */
static inline int read_exactly(int fd, void *bytes, size_t size, uint64_t offset)
{
	const ssize_t n = read_at(fd, bytes, size, offset);

	if (n < 0)
		return (int)n;
	return (size_t)n == size ? 0 : -EBADMSG;
}

/* The same of a file of `file_size` bytes, for an offset that is not trusted. */
static inline int read_within(int fd, uint64_t file_size, void *bytes, size_t size, uint64_t offset)
{
	if (offset > file_size || size > file_size - offset)
		return -EBADMSG;
	return read_exactly(fd, bytes, size, offset);
}

#endif
