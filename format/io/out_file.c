/* SPDX-License-Identifier: MIT */
/*
 * The target is changed by a single rename, after everything was written and the descriptor was closed without an
 * error. A file without a name (O_TMPFILE) leaves nothing after a crash; where the file system or a missing
 * /proc does not allow that, a hidden name beside the target is used instead.
 */
#include "format/io/out_file.h"
#include "format/io/read_at.h"
#include "librecorder/os/high_fd.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define NAME_TRIES  100
#define COPY_BUFFER ((size_t)256 * 1024)

int out_write_at(int fd, const void *bytes, size_t size, uint64_t offset)
{
	const unsigned char *at = bytes;

	while (size) {
		const ssize_t n = pwrite(fd, at, size, (off_t)offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			return -EIO;
		at += n;
		offset += (uint64_t)n;
		size -= (size_t)n;
	}
	return 0;
}

int out_read_at(int fd, void *bytes, size_t size, uint64_t offset)
{
	const int err = read_exactly(fd, bytes, size, offset);

	/* What is read back is not a trace that was given to us, so it cannot be damaged. */
	return err == -EBADMSG ? -EIO : err;
}

/* Copies through memory, for file systems and kernels that cannot copy ranges. */
static int copy_by_hand(int from, uint64_t from_offset, int to, uint64_t to_offset, uint64_t size)
{
	unsigned char *buffer = malloc(COPY_BUFFER);
	int err = buffer ? 0 : -ENOMEM;

	while (!err && size) {
		const size_t piece = size < COPY_BUFFER ? (size_t)size : COPY_BUFFER;

		err = out_read_at(from, buffer, piece, from_offset);
		if (!err)
			err = out_write_at(to, buffer, piece, to_offset);
		from_offset += piece;
		to_offset += piece;
		size -= piece;
	}
	free(buffer);
	return err;
}

int out_copy(int from, uint64_t from_offset, int to, uint64_t to_offset, uint64_t size)
{
	while (size) {
		off_t in = (off_t)from_offset;
		off_t out = (off_t)to_offset;
		const ssize_t n = copy_file_range(from, &in, to, &out, (size_t)size, 0);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && (errno == ENOSPC || errno == EFBIG || errno == EDQUOT || errno == EIO))
			return -errno;
		/*
		 * The kernel or the file system cannot copy this range; some file systems return 0 then. Reading and
		 * writing reports the true error.
		 */
		if (n <= 0)
			return copy_by_hand(from, from_offset, to, to_offset, size);
		from_offset += (uint64_t)n;
		to_offset += (uint64_t)n;
		size -= (uint64_t)n;
	}
	return 0;
}

/* The directory part, with its slash; "./" if the path has no slash. */
static char *directory_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? strndup(path, (size_t)(slash - path) + 1) : strdup("./");
}

/* An unused name beside `target`; number distinguishes the attempts. */
static char *temporary_name(const char *target, unsigned int number)
{
	char *dir = directory_of(target);
	const char *slash = strrchr(target, '/');
	struct timespec now;
	char *name = NULL;

	clock_gettime(CLOCK_MONOTONIC, &now);
	if (dir && asprintf(&name, "%s.%.200s.%ld.%lx", dir, slash ? slash + 1 : target, (long)getpid(),
			    (unsigned long)now.tv_nsec + number) < 0)
		name = NULL;
	free(dir);
	return name;
}

/* Open for writing under a temporary name, which is returned in *ret_name. A descriptor or -errno. */
static int open_named(const char *target, mode_t mode, char **ret_name)
{
	int made, fd = -EEXIST;
	unsigned int i;

	for (i = 0; i < NAME_TRIES && fd == -EEXIST; i++) {
		char *name = temporary_name(target, i);

		if (!name)
			return -ENOMEM;
		made = open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode);
		fd = high_fd(made);
		if (fd < 0) {
			fd = -errno;
			if (made >= 0)
				unlink(name);
			free(name);
		} else {
			*ret_name = name;
		}
	}
	return fd;
}

static void proc_name(int fd, char name[static 32])
{
	snprintf(name, 32, "/proc/self/fd/%d", fd);
}

/* Open a file without a name; -EOPNOTSUPP if this system could not give it a name later. */
static int open_nameless(const char *target, mode_t mode)
{
	char *dir = directory_of(target);
	char name[32];
	int fd;

	if (!dir)
		return -ENOMEM;
	fd = high_fd(open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, mode));
	if (fd < 0)
		fd = -errno;
	free(dir);
	if (fd < 0)
		return fd;
	proc_name(fd, name);
	if (access(name, F_OK)) {
		close(fd);
		return -EOPNOTSUPP;
	}
	return fd;
}

static bool nameless_refused(int err)
{
	/* EISDIR: the kernel does not know the flag. EOPNOTSUPP, EINVAL: the file system does not support it. */
	return err == -EOPNOTSUPP || err == -EISDIR || err == -EINVAL;
}

/*
 * Whether a file may be put at `path`. Returns the name with links resolved, and the state of the existing file, whose
 * st_nlink is 0 if no file exists.
 */
static int check_target(const char *path, char **ret_target, struct stat *ret_st)
{
	struct stat st;
	char *target;

	if (!stat(path, &st)) {
		if (S_ISDIR(st.st_mode))
			return -EISDIR;
		if (!S_ISREG(st.st_mode))
			return -EINVAL;
		if (access(path, W_OK))
			return -errno;
		target = realpath(path, NULL);
		*ret_st = st;
	} else if (errno == ENOENT) {
		target = strdup(path);
	} else {
		return -errno;
	}
	if (!target)
		return -errno;
	*ret_target = target;
	return 0;
}

/*
 * Whether the file of another user is in a directory like /tmp, where anyone could have placed it: its owner must not
 * get what we write. The kernel refuses to open such a file, see protected_regular in proc_sys_fs(5).
 */
static bool is_planted(const char *target, const struct stat *st)
{
	char *name = directory_of(target);
	struct stat dir;
	const int r = name ? stat(name, &dir) : -1;

	free(name);
	return r || (dir.st_mode & S_ISVTX && st->st_uid != geteuid() && st->st_uid != dir.st_uid);
}

/*
 * Give the file the mode and the owner of the one that it will replace. If we may not set the group, our group gets no
 * more rights than others have. Before this call no other user can open the file.
 */
static int take_rights(int fd, const struct stat *st)
{
	mode_t mode = st->st_mode & 0777;

	if (fchown(fd, st->st_uid, st->st_gid) && fchown(fd, (uid_t)-1, st->st_gid))
		mode = (mode & 0707) | (mode & 0007) << 3;
	return fchmod(fd, mode) ? -errno : 0;
}

int out_file_open(const char *path, struct out_file *ret_file)
{
	struct out_file file = { -1, NULL, NULL };
	struct stat st = { .st_nlink = 0 };
	int err = check_target(path, &file.target, &st);
	bool keep_rights;
	mode_t mode;

	if (err)
		return err;
	keep_rights = st.st_nlink && !is_planted(file.target, &st);
	mode = keep_rights ? 0600 : 0666;
	file.fd = open_nameless(file.target, mode);
	if (nameless_refused(file.fd))
		file.fd = open_named(file.target, mode, &file.temp);
	else if (file.fd >= 0)
		file.temp = strdup("");
	if (file.fd < 0 || !file.temp) {
		err = file.fd < 0 ? file.fd : -ENOMEM;
		if (file.fd >= 0)
			close(file.fd);
		free(file.target);
		return err;
	}
	err = keep_rights ? take_rights(file.fd, &st) : 0;
	if (err)
		out_file_abandon(&file);
	else
		*ret_file = file;
	return err;
}

static void forget(struct out_file *file)
{
	free(file->target);
	free(file->temp);
	file->target = NULL;
	file->temp = NULL;
	file->fd = -1;
}

/* Give a nameless file a temporary name: linkat cannot replace an existing target, rename can. */
static int name_it(struct out_file *file)
{
	int err = -EEXIST;
	char proc[32];
	unsigned int i;

	proc_name(file->fd, proc);
	for (i = 0; i < NAME_TRIES && err == -EEXIST; i++) {
		char *name = temporary_name(file->target, i);

		if (!name)
			return -ENOMEM;
		err = linkat(AT_FDCWD, proc, AT_FDCWD, name, AT_SYMLINK_FOLLOW) ? -errno : 0;
		if (err) {
			free(name);
		} else {
			free(file->temp);
			file->temp = name;
		}
	}
	return err;
}

/* Sync the file. File systems without a disk may return EINVAL. */
static int sync_to_disk(int fd)
{
	int r;

	do
		r = fsync(fd);
	while (r && errno == EINTR);
	return r && errno != EINVAL && errno != EOPNOTSUPP ? -errno : 0;
}

/* The target's directory; -1 with *ret_err 0: it may not be opened, so it cannot be synced. */
static int open_directory(const struct out_file *file, int *ret_err)
{
	char *name = directory_of(file->target);
	const int dir = name ? open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;

	*ret_err = !name ? -ENOMEM : dir < 0 && errno != EACCES ? -errno : 0;
	free(name);
	return dir;
}

/*
 * The caller may then delete the source, because this file has its contents. So when this returns 0, both the bytes and
 * the name are on the disk.
 */
int out_file_commit(struct out_file *file)
{
	int err = 0;
	const int dir = open_directory(file, &err);

	/* The sync takes long. It runs while the file has no name: so if the process is killed, no file remains. */
	if (!err && !file->temp[0])
		err = sync_to_disk(file->fd);
	if (!err && !file->temp[0])
		err = name_it(file);
	if (!err)
		err = sync_to_disk(file->fd);
	/* Network file systems report failed writes only here. */
	if (close(file->fd) && !err && errno != EINTR)
		err = -errno;
	if (!err && rename(file->temp, file->target))
		err = -errno;
	if (err && file->temp[0])
		unlink(file->temp);
	if (!err && dir >= 0)
		err = sync_to_disk(dir);
	if (dir >= 0)
		close(dir);
	forget(file);
	return err;
}

void out_file_abandon(struct out_file *file)
{
	if (file->fd < 0)
		return;
	close(file->fd);
	if (file->temp[0])
		unlink(file->temp);
	forget(file);
}

int out_file_scratch(const char *path)
{
	int fd = open_nameless(path, 0600);
	char *name;

	if (!nameless_refused(fd))
		return fd;
	fd = open_named(path, 0600, &name);
	if (fd >= 0) {
		unlink(name);
		free(name);
	}
	return fd;
}
