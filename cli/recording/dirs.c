/* SPDX-License-Identifier: MIT */
/*
 * Where to look for buffers. A directory that root opens here may belong to another user, who can change it at any
 * time. So the checks apply to the open descriptor, and everything in the directory is reached through it.
 */
#include "cli/recording/dirs.h"
#include "librecorder/core/dir_rules.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <librecorder/reader.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/base/message.h"

struct walk {
	int (*each)(int fd, const char *path, void *data);
	void *data;
	struct stat own; /* the first one; st_ino 0: there was none */
	int nr;
	bool ended;
};

const char *dirs_reason(int err)
{
	switch (err) {
	case -EPERM:
		return "it belongs to another user, or others may write to it";
	case -ELOOP:
		return "it is a symbolic link";
	case -ENOTDIR:
		return "it is not a directory";
	case -EINVAL:
		return "it is not an absolute path";
	default:
		return strerror(-err);
	}
}

/* Open a directory of `owner` in which no other user can write. Its descriptor or -errno. */
static int open_dir(int at, const char *path, uid_t owner, struct stat *ret_st)
{
	struct stat st;
	int fd;

	/* Examine it before opening it, because with O_DIRECTORY a link would give ENOTDIR. */
	if (fstatat(at, path, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return -errno;
	if (S_ISLNK(st.st_mode))
		return -ELOOP;
	/* The name may lead to another directory meanwhile. */
	if (S_ISDIR(st.st_mode) && !rec_dir_is_owners_alone(&st, owner))
		return -EPERM;
	fd = openat(at, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) < 0 || !rec_dir_is_owners_alone(&st, owner)) {
		close(fd);
		return -EPERM;
	}
	*ret_st = st;
	return fd;
}

int dirs_open_below(int dir, const char *name)
{
	struct stat above, st;

	return fstat(dir, &above) < 0 ? -errno : open_dir(dir, name, above.st_uid, &st);
}

static void visit(struct walk *walk, int fd, const char *path, const struct stat *st)
{
	/* Several rules can lead to the user's own directory, so skip one that was visited. */
	if (!walk->ended && (!walk->own.st_ino || walk->own.st_ino != st->st_ino || walk->own.st_dev != st->st_dev)) {
		walk->ended = walk->each(fd, path, walk->data) != 0;
		walk->nr++;
		if (!walk->own.st_ino)
			walk->own = *st;
	}
	close(fd);
}

/* Examine a user's directory PREFIX/UID/REC_RUN_NAME or PREFIX/librecorder-UID, if it exists and can be trusted. */
static void visit_user(struct walk *walk, const char *prefix, const char *name)
{
	const bool run = !strcmp(prefix, REC_RUN_DIR);
	const char *number = name;
	char path[64];
	struct stat st;
	int fd, below;
	uid_t uid;

	if (!run && strncmp(name, REC_SHM_PREFIX, strlen(REC_SHM_PREFIX)))
		return;
	if (!run)
		number += strlen(REC_SHM_PREFIX);
	if (!*number || number[strspn(number, "0123456789")] || strlen(number) > 10)
		return;
	uid = (uid_t)strtoul(number, NULL, 10);
	if (uid == REC_ANY_UID)
		return;
	snprintf(path, sizeof(path), "%s/%.22s", prefix, name);
	fd = open_dir(AT_FDCWD, path, uid, &st);
	if (fd >= 0 && run) {
		below = open_dir(fd, REC_RUN_NAME, uid, &st);
		close(fd);
		fd = below;
		strcat(path, "/" REC_RUN_NAME);
	}
	if (fd >= 0)
		visit(walk, fd, path, &st);
}

static void visit_all_users(struct walk *walk, const char *prefix)
{
	struct dirent **entries;
	const int nr = scandir(prefix, &entries, NULL, versionsort);

	for (int i = 0; i < nr; i++) {
		visit_user(walk, prefix, entries[i]->d_name);
		free(entries[i]);
	}
	if (nr >= 0)
		free(entries);
}

static void visit_others(struct walk *walk)
{
	char name[32];

	if (geteuid() == 0) {
		visit_all_users(walk, REC_RUN_DIR);
		visit_all_users(walk, REC_SHM_DIR);
		return;
	}
	snprintf(name, sizeof(name), "%u", (unsigned int)geteuid());
	visit_user(walk, REC_RUN_DIR, name);
	snprintf(name, sizeof(name), REC_SHM_PREFIX "%u", (unsigned int)geteuid());
	visit_user(walk, REC_SHM_DIR, name);
}

int dirs_each(const struct message_sink *sink, const char *dir, int (*each)(int fd, const char *path, void *data),
	      void *data)
{
	struct walk walk = { .each = each, .data = data };
	const char *chosen = getenv("RECORDER_DIR");
	char own[PATH_MAX];
	struct stat st;
	int fd = 0;

	if (!dir)
		fd = rec_buffer_dir(false, own, sizeof(own));
	if (fd == 0)
		fd = open_dir(AT_FDCWD, dir ? dir : own, dir && geteuid() == 0 ? REC_ANY_UID : geteuid(), &st);
	if (fd >= 0) {
		visit(&walk, fd, dir ? dir : own, &st);
	} else if (dir || fd != -ENOENT) {
		message(sink, "cannot use the directory '%s': %s", dir ? dir : own, dirs_reason(fd));
		return -1;
	}
	if (!dir && !(chosen && *chosen))
		visit_others(&walk);
	return walk.nr;
}
