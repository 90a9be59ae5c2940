/* SPDX-License-Identifier: MIT */
/* The directory of buffer files. */
#include "librecorder/core/decimal.h"
#include "librecorder/core/dir_rules.h"
#include "librecorder/os/buffer_dir.h"

#include <librecorder/buffer_dir.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool rec_buffer_is_known(const struct rec_buffer_header *header)
{
	return header->version >= REC_ABI_VERSION && !(header->incompatible & ~REC_FEATURES_INCOMPATIBLE);
}

/*
 * Whether XDG_RUNTIME_DIR names a directory of this user. In services and shells started by su, the variable often
 * names another user's directory, or one that does not exist.
 */
static bool is_own_dir(const char *path)
{
	struct stat st;

	return path && *path == '/' && stat(path, &st) == 0 && S_ISDIR(st.st_mode) && st.st_uid == geteuid();
}

/*
 * Store the path of `dir`, or if that is NULL or empty, of the user's directory. A set-user-id program must not trust
 * its environment.
 */
static int dir_path(const char *dir, char *path, size_t size)
{
	const char *run = dir && *dir ? NULL : secure_getenv("XDG_RUNTIME_DIR");
	char shm[sizeof(REC_SHM_DIR "/" REC_SHM_PREFIX) + 20]; /* and the digits of any number */
	const char *base = shm, *end = "";

	if (dir && *dir) {
		base = dir;
	} else if (is_own_dir(run)) {
		base = run;
		end = "/" REC_RUN_NAME;
	} else {
		rec_put_decimal(stpcpy(shm, REC_SHM_DIR "/" REC_SHM_PREFIX), geteuid());
	}
	if (strlen(base) + strlen(end) >= size)
		return -ENAMETOOLONG;
	strcpy(stpcpy(path, base), end);
	return *path == '/' ? 0 : -EINVAL;
}

static int make_dir(const char *path)
{
	if (mkdir(path, 0700) < 0)
		return errno == EEXIST ? 0 : -errno;
	/* The umask may forbid access even to us. */
	return chmod(path, 0700) < 0 ? -errno : 0;
}

static int open_dir(const char *path)
{
	const int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	const int r = fd < 0 ? -errno : fd;
	struct stat st;

	/* The error does not distinguish a link from a directory of another owner: find out which it is. */
	if ((r != -ENOTDIR && r != -EACCES) || lstat(path, &st) < 0)
		return r;
	if (S_ISLNK(st.st_mode))
		return -ELOOP;
	return S_ISDIR(st.st_mode) && !rec_dir_is_owners_alone(&st, geteuid()) ? -EPERM : r;
}

bool rec_buffer_is_name(const char *name)
{
	const size_t size = strlen(name), end = strlen(REC_BUFFER_SUFFIX);

	return name[0] != '.' && size > end && strcmp(name + size - end, REC_BUFFER_SUFFIX) == 0;
}

bool rec_buffer_dir_is_given(void)
{
	const char *dir = secure_getenv("RECORDER_DIR");

	return dir && *dir;
}

static int open_by(const char *dir, bool create, char *path, size_t size)
{
	const int r = dir_path(dir, path, size);

	return r < 0 ? r : rec_buffer_dir_open_path(create, path);
}

int rec_buffer_dir_open(bool create, char *path, size_t size)
{
	return open_by(secure_getenv("RECORDER_DIR"), create, path, size);
}

int rec_buffer_dir_open_users(bool create, char *path, size_t size)
{
	return open_by(NULL, create, path, size);
}

int rec_buffer_dir_open_path(bool create, const char *path)
{
	struct stat st;
	int fd, r;

	fd = open_dir(path);
	if (fd == -ENOENT && create) {
		r = make_dir(path);
		fd = r < 0 ? r : open_dir(path);
	}
	if (fd < 0)
		return fd;
	r = fstat(fd, &st) < 0 ? -errno : rec_dir_is_owners_alone(&st, geteuid()) ? 0 : -EPERM;
	if (r < 0) {
		close(fd);
		return r;
	}
	return fd;
}

int rec_buffer_dir(bool create, char *path, size_t size)
{
	const int fd = rec_buffer_dir_open(create, path, size);

	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}
