/* SPDX-License-Identifier: MIT */
#include "librecorder/os/instance.h"
#include "librecorder/os/mount.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int rec_instance_open(const char *instance)
{
	char path[PATH_MAX], mount[PATH_MAX];
	int r = 0, n = 0;

	if (instance && *instance == '/') {
		n = snprintf(path, sizeof(path), "%s", instance);
	} else {
		if (instance && (!*instance || *instance == '.' || strchr(instance, '/')))
			return -EINVAL;
		r = rec_tracefs_find(mount, sizeof(mount));
		if (r < 0)
			return r;
		n = snprintf(path, sizeof(path), "%s%s%s", mount, instance ? "/instances/" : "",
			     instance ? instance : "");
	}
	if (n >= (int)sizeof(path))
		return -ENAMETOOLONG;
	r = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return r < 0 ? -errno : r;
}

int rec_instance_read(int dir, const char *file, char *text, size_t size)
{
	const int fd = openat(dir, file, O_RDONLY | O_CLOEXEC);
	size_t used = 0;
	ssize_t n;
	int r;

	if (fd < 0)
		return -errno;
	do {
		n = read(fd, text + used, size - 1 - used);
		used += n > 0 ? (size_t)n : 0;
	} while ((n > 0 && used < size - 1) || (n < 0 && errno == EINTR));
	r = n < 0 ? -errno : (int)used;
	close(fd);
	text[used] = '\0';
	return r;
}

int rec_instance_number(int dir, const char *file, uint64_t *ret_number)
{
	char text[64], *end;
	unsigned long long number;
	const int r = rec_instance_read(dir, file, text, sizeof(text));

	if (r < 0)
		return r;
	errno = 0;
	number = strtoull(text, &end, 10);
	if (end == text || errno)
		return -EPROTO;
	*ret_number = number;
	return 0;
}

int rec_instance_write(int dir, const char *file, const char *text)
{
	const int fd = openat(dir, file, O_WRONLY | O_CLOEXEC);
	int r;

	if (fd < 0)
		return -errno;
	r = write(fd, text, strlen(text)) < 0 ? -errno : 0;
	close(fd);
	return r;
}
