/* SPDX-License-Identifier: MIT */
/* See out_dir.h. */
#include "format/io/out_dir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Checks now for errors that rename() would report only at the end. */
static int check_target(const char *path)
{
	DIR *dir = opendir(path);
	struct dirent *entry;
	int err = 0;

	if (!dir)
		return errno == ENOENT ? 0 : errno == ENOTDIR ? -EEXIST : -errno;
	while ((entry = readdir(dir)) && !err)
		err = strcmp(entry->d_name, ".") && strcmp(entry->d_name, "..") ? -EEXIST : 0;
	closedir(dir);
	return err;
}

static void forget(struct out_dir *dir)
{
	if (dir->fd >= 0)
		close(dir->fd);
	free(dir->target);
	free(dir->temp);
	*dir = (struct out_dir){ .fd = -1 };
}

int out_dir_open(const char *path, struct out_dir *ret_dir)
{
	struct out_dir dir = { .fd = -1, .target = strdup(path) };
	const mode_t mask = umask(0);
	size_t size;
	int err;

	umask(mask);
	if (!dir.target)
		return -ENOMEM;
	/* Remove slashes at the end: "out/" is "out". */
	for (size = strlen(dir.target); size > 1 && dir.target[size - 1] == '/'; size--)
		dir.target[size - 1] = '\0';
	err = check_target(dir.target);
	if (!err && asprintf(&dir.temp, "%s.XXXXXX", dir.target) < 0) {
		dir.temp = NULL;
		err = -ENOMEM;
	}
	if (!err && !mkdtemp(dir.temp))
		err = -errno;
	if (!err) {
		dir.fd = open(dir.temp, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (dir.fd < 0 || fchmod(dir.fd, 0777 & ~mask)) {
			err = -errno;
			rmdir(dir.temp);
		}
	}
	if (err) {
		forget(&dir);
		return err;
	}
	*ret_dir = dir;
	return 0;
}

int out_dir_commit(struct out_dir *dir)
{
	int err = 0;

	if (rename(dir->temp, dir->target)) {
		err = errno == ENOTEMPTY ? -EEXIST : -errno;
		out_dir_abandon(dir);
		return err;
	}
	forget(dir);
	return 0;
}

void out_dir_abandon(struct out_dir *dir)
{
	DIR *list = opendir(dir->temp);
	struct dirent *entry;

	while (list && (entry = readdir(list)))
		unlinkat(dir->fd, entry->d_name, 0);
	if (list)
		closedir(list);
	rmdir(dir->temp);
	forget(dir);
}
