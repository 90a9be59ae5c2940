/* SPDX-License-Identifier: MIT */
#include "cli/base/read_text.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

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
