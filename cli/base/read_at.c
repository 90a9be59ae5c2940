/* SPDX-License-Identifier: MIT */
#include "cli/base/read_at.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

ssize_t read_at(int fd, void *bytes, size_t size, uint64_t offset)
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

int read_exactly(int fd, void *bytes, size_t size, uint64_t offset)
{
	const ssize_t n = read_at(fd, bytes, size, offset);

	if (n < 0)
		return (int)n;
	return (size_t)n == size ? 0 : -EBADMSG;
}

int read_text_at(int dir, const char *path, char *text, size_t size)
{
	const int fd = openat(dir, path, O_RDONLY | O_CLOEXEC);
	ssize_t n;
	int err;

	if (fd < 0)
		return -errno;
	do {
		n = read(fd, text, size - 1);
	} while (n < 0 && errno == EINTR);
	err = n < 0 ? -errno : 0;
	close(fd);
	if (!err)
		text[n] = '\0';
	return err;
}
