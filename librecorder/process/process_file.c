/* SPDX-License-Identifier: MIT */
/*
 * The buffer's file: its name, its mapping, its memory.
 *
 * Guarantees. No descriptor stays open. The code allocates nothing, and keeps no state except in rec_process. So forked
 * children can run it, and the children of a raw clone in a signal handler, too.
 */
#include "librecorder/core/decimal.h"
#include "librecorder/core/dir_rules.h"
#include "librecorder/core/atomic.h"
#include "librecorder/process/process_private.h"
#include "librecorder/process/debug.h"
#include "librecorder/os/buffer_dir.h"
#include "librecorder/os/identity.h"

#include <librecorder/buffer_dir.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

/* Linux 5.14; Debian 12's headers have it, older ones do not. */
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

/*
 * After exec, the new image of a process has the same pid and start time, and needs another file name. Normal use does
 * not leave more files of one process than this.
 */
#define NAMES_MAX 1000

/* After this number of names in a row without a file, no file of an earlier image is expected. A name takes 0.5 us. */
#define MISSING_MAX 4

/* This is enough for a slash, two numbers of 20 digits, one of 10, the suffix and NUL. */
#define NAME_SIZE 64

/* Whether the limit on a file's size permits this. Beyond the limit the kernel refuses, and also sends SIGXFSZ. */
static bool may_be_so_big(uint64_t size)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_FSIZE, &limit) < 0 || limit.rlim_cur == RLIM_INFINITY || size <= limit.rlim_cur;
}

/*
 * Mark the file that an earlier image of this process (before exec) left: nothing will write to it any more. A file of
 * this name that is mapped belongs to another process, in another pid namespace that uses the same directory. False:
 * there is no such file.
 *
 * The mark is written, not stored into a mapping: if that image was killed while it made the file, the file has no
 * memory there, and on a full file system a store would raise SIGBUS.
 */
static bool close_predecessor(int dir, const char *name)
{
	static const uint32_t state = REC_BUFFER_REPLACED;
	const off_t at = offsetof(struct rec_buffer_header, state);
	struct stat st;
	const int fd = openat(dir, name, O_RDWR | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0)
		return false;
	if (rec_lock_ask(fd, REC_LOCK_PROGRAM) != 1 && fstat(fd, &st) == 0 &&
	    st.st_size >= (off_t)sizeof(struct rec_buffer_header) && may_be_so_big(sizeof(struct rec_buffer_header))) {
		const ssize_t n = pwrite(fd, &state, sizeof(state), at);

		/* Without room there is no header yet, so the file is not taken for a buffer. */
		(void)n;
	}
	close(fd);
	return true;
}

/* Put the name of the process's `i`th file at the end of "PID-START". */
static void put_number(char *end, unsigned int i)
{
	if (i) {
		*end = '-';
		end = rec_put_decimal(end + 1, i);
	}
	strcpy(end, REC_BUFFER_SUFFIX);
}

/*
 * A recorder may have removed files with lower numbers than that of the last image, so that file may come after the
 * free name. If it comes so late that it is not found, readers take that image for alive until the process ends.
 */
static void close_later_predecessors(int dir, const char *name, char *end, unsigned int i)
{
	unsigned int missing = 0;

	while (missing < MISSING_MAX && i < NAMES_MAX) {
		put_number(end, ++i);
		missing = close_predecessor(dir, name) ? 0 : missing + 1;
	}
}

static int create_file(int dir, char *name)
{
	char *end = rec_put_decimal(name, (uint32_t)rec_process.pid);
	unsigned int i;
	int fd;

	*end = '-';
	end = rec_put_decimal(end + 1, rec_process.start_time);
	for (i = 0; i < NAMES_MAX; i++) {
		put_number(end, i);
		fd = openat(dir, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
		if (fd >= 0) {
			fchmod(fd, 0600); /* whatever the umask is */
			close_later_predecessors(dir, name, end, i);
			put_number(end, i);
			return fd;
		}
		if (errno != EEXIST)
			return -errno;
		close_predecessor(dir, name);
	}
	return -EEXIST;
}

/* Allocate the room through the file's name, for older kernels that cannot populate a mapping. */
static int allocate_by_name(uint64_t offset, size_t size)
{
	const int fd = open(rec_process_path(), O_RDWR | O_NOFOLLOW | O_CLOEXEC);
	int r;

	if (fd < 0)
		return -errno;
	r = !may_be_so_big(offset + size) ? -EFBIG : fallocate(fd, 0, (off_t)offset, (off_t)size) < 0 ? -errno : 0;
	close(fd);
	return r == -ENOSPC ? -ENOMEM : r;
}

int rec_process_populate(void *start, size_t size)
{
	/* madvise() begins at a page. */
	const size_t before = (uintptr_t)start % (uintptr_t)sysconf(_SC_PAGESIZE);
	unsigned char *const at = (unsigned char *)start - before;
	const int saved = errno;
	int r = 0;

	size += before;
	if (madvise(at, size, MADV_POPULATE_WRITE) < 0) {
		/* EFAULT: touching it would have raised SIGBUS, because the file system is full. */
		r = errno == EFAULT ? -ENOMEM : -errno;
		if (r == -EINVAL)
			r = allocate_by_name((uint64_t)(at - (unsigned char *)rec_process.header), size);
	}
	errno = saved;
	return r;
}

/*
 * Whether a mapping keeps the lock. If a file system maps a file of another file system instead, as overlayfs does, the
 * lock is not kept.
 */
static bool keeps_locks(int fd)
{
	struct statfs fs;

	return fstatfs(fd, &fs) == 0 && (fs.f_type == TMPFS_MAGIC || fs.f_type == EXT4_SUPER_MAGIC ||
					 fs.f_type == XFS_SUPER_MAGIC || fs.f_type == BTRFS_SUPER_MAGIC);
}

static int map_file(const struct rec_geometry *geometry, int fd)
{
	struct rec_process *process = &rec_process;
	const size_t size = (size_t)geometry->file_size;
	void *map;
	int r;

	/* The lock is taken first, so that a process that finds the unfinished file knows that its maker is alive. */
	process->locked = rec_lock_take(fd, REC_LOCK_PROGRAM) == 0 && keeps_locks(fd);
	if (!may_be_so_big(size))
		return -EFBIG;
	if (ftruncate(fd, (off_t)size) < 0)
		return -errno;
	map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
	if (map == MAP_FAILED)
		return -errno;
	process->header = map;
	process->size = size;
	/* Header, rules, the first page of enable words. */
	r = rec_process_populate(map, (size_t)geometry->enable + REC_MAP_PAGE);
	if (r < 0) {
		munmap(map, size);
		process->header = NULL;
		return r;
	}
	return 0;
}

/*
 * Open the directory; its path is then the beginning of rec_process.path. A child may have another environment than its
 * parent began with, and belongs to the same recording: so RECORDER_DIR is not read again. Without it the directory is
 * that of the user, who may have changed: so a child reads XDG_RUNTIME_DIR, which the user's session sets.
 */
static int open_dir(bool create)
{
	struct rec_process *process = &rec_process;
	const size_t size = sizeof(process->path) - NAME_SIZE;
	int fd;

	if (process->dir_size) {
		process->path[process->dir_size] = '\0';
		return rec_buffer_dir_open_path(create, process->path);
	}
	process->path[0] = '\0';
	process->dir_is_users = process->dir_is_users || !rec_buffer_dir_is_given();
	if (process->dir_is_users)
		return rec_buffer_dir_open_users(create, process->path, size);
	fd = rec_buffer_dir_open(create, process->path, size);
	if (*process->path == '/')
		process->dir_size = strlen(process->path);
	return fd;
}

/* If process->path is that of a session: the length of the path of the directory above it. 0: it is not a session. */
static size_t size_above(void)
{
	const struct rec_process *process = &rec_process;
	const char *name = strrchr(process->path, '/');

	return process->keep && name && !strncmp(name + 1, REC_SESSION_PREFIX, strlen(REC_SESSION_PREFIX))
		       ? (size_t)(name - process->path) : 0;
}

/*
 * After the end of its recording a session is gone. Then this process uses the directory in which the session was, as
 * other programs do, and removes its file at the exit. False: the directory is not a session.
 */
static bool leave_session(void)
{
	struct rec_process *process = &rec_process;
	const size_t size = size_above();

	if (!size)
		return false;
	process->path[size] = '\0';
	process->dir_size = size;
	process->keep = false;
	return true;
}

int rec_process_map_file(const struct rec_geometry *geometry)
{
	struct rec_process *process = &rec_process;
	/*
	 * A session's directory is made only by its recorder: a program that outlives the recording must not recreate
	 * it.
	 */
	int dir = open_dir(!process->keep);
	size_t size, above;
	char *name;
	int fd, r;

	if (dir == -ENOENT && leave_session())
		dir = open_dir(false);
	if (dir < 0)
		return dir;
	above = size_above();
	size = strlen(process->path);
	name = process->path + size + 1;
	process->path[size] = '/';
	fd = create_file(dir, name);
	memcpy(process->moved_path, process->path, above);
	strcpy(process->moved_path + above, above ? name - 1 : "");
	r = fd < 0 ? fd : map_file(geometry, fd);
	if (fd >= 0) {
		if (r < 0)
			unlinkat(dir, name, 0);
		close(fd);
	}
	close(dir);
	return r;
}

/* Children of the same parent may write at the same time. */
static void note_unrecorded(struct rec_buffer_header *parent, int error)
{
	uint32_t old = rec_load_relaxed(&parent->unrecorded), word;

	do {
		if ((old & UINT16_MAX) == UINT16_MAX)
			return;
		word = (uint32_t)error << 16 | ((old & UINT16_MAX) + 1);
	} while (!rec_cmpxchg32(&parent->unrecorded, &old, word));
}

static void put_reason_name(char *name)
{
	char *at = rec_put_decimal(name, (uint32_t)rec_process.pid);

	*at = '-';
	strcpy(rec_put_decimal(at + 1, rec_process.start_time), REC_REASON_SUFFIX);
}

/*
 * Make the link in the session's directory. Returns whether it was made. The debugging line is printed here, after the
 * search for the directory, because it names the path.
 */
static bool link_reason(void)
{
	/* The path is stored even if the directory was not searched for, because messages name it. */
	const int dir = open_dir(false);
	char name[NAME_SIZE], text[24];
	bool linked = false;

	rec_debug_no_buffer(rec_process.error);
	if (dir < 0)
		return false;
	put_reason_name(name);
	rec_put_decimal(text, (uint32_t)-rec_process.error);
	if (rec_process.keep)
		linked = symlinkat(text, dir, name) == 0;
	close(dir);
	return linked;
}

void rec_process_say_why(struct rec_buffer_header *parent)
{
	if (!link_reason() && parent)
		note_unrecorded(parent, -rec_process.error);
}

void rec_process_take_back_why(void)
{
	const int dir = rec_process.keep ? open_dir(false) : -1;
	char name[NAME_SIZE];

	if (dir < 0)
		return;
	put_reason_name(name);
	unlinkat(dir, name, 0);
	close(dir);
}
