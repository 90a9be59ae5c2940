/* SPDX-License-Identifier: MIT */
/* The id of the present boot of the machine. The same id means the same running kernel. */
#ifndef BOOT_ID_H
#define BOOT_ID_H

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <unistd.h>

/* Room for a UUID, a line feed and a NUL. */
#define BOOT_ID_SIZE 64u

/* Read the id as the kernel shows it. 0, or the -errno of open or read. */
static inline int boot_id_read(char *text, size_t size)
{
	const int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	ssize_t n;
	int err;

	if (fd < 0)
		return -errno;
	do
		n = read(fd, text, size - 1);
	while (n < 0 && errno == EINTR);
	err = n < 0 ? -errno : 0;
	close(fd);
	if (!err)
		text[n] = '\0';
	return err;
}

#endif
