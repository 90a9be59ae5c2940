/* SPDX-License-Identifier: MIT */
/*
 * Buffers of processes that are gone. Some programs, which process.c chooses, remove some of them at their start, so
 * that they do not accumulate. Buffers without an event are of no use: a sweep removes more of them than programs can
 * make between two sweeps, even if no program exits normally. If all buffers of the directory together exceed the
 * quota, it removes the oldest until they do not.
 *
 * Guarantees. A buffer whose process may be alive is never removed, nor anything in a subdirectory, which belongs to a
 * recorder. The work is bounded: if there are too many files, a sweep examines a random choice, so in time every file
 * is examined.
 */
#include "librecorder/process/sweep.h"

#include "librecorder/os/buffer_dir.h"
#include "librecorder/os/identity.h"
#include "librecorder/process/options.h"

#include <librecorder/detail/abi.h>
#include <librecorder/buffer_dir.h>

#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/*
 * A sweep that needs the sizes of files stops after about FILES_MAX files, and so does one in NEAR_EACH of the other
 * sweeps. All others stop after about FILES_NEAR. Each file takes 0.4 us, and 1 us more for its size (2026-11, Xeon).
 */
#define FILES_MAX  1024u
#define FILES_NEAR 64u
#define NEAR_EACH  16u

/*
 * A sweep chooses at most CHOICE of the files that it lists; only these may be removed for the quota. It examines at
 * most LOOKED_AT of them for events, which takes 10 us each, and stops when STAYING of them must stay.
 */
#define CHOICE	  64u
#define LOOKED_AT 40u
#define STAYING	  2u

#define QUOTA_DEFAULT (UINT64_C(1) << 30)

struct file {
	char name[64];
	time_t made;   /* valid if the sweep asks for sizes */
	uint64_t size; /* valid if the sweep asks for sizes */
};

struct sweep {
	int dir;
	uint64_t quota;
	bool asks_sizes;
	struct file files[CHOICE]; /* a random choice, in which each file has the same chance */
	unsigned int chosen;
	unsigned int seen;
	uint64_t size; /* size of all files */
	uint64_t random;
};

static uint64_t draw(struct sweep *sweep, uint64_t below)
{
	/* Knuth's MMIX; the upper bits are the good ones. */
	sweep->random = sweep->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (sweep->random >> 33) % below;
}

static void see_file(struct sweep *sweep, const char *name)
{
	uint64_t place = sweep->seen;
	struct stat st = { .st_mode = S_IFREG };
	struct file *file;

	if (strlen(name) >= sizeof(file->name) ||
	    (sweep->asks_sizes && fstatat(sweep->dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0) || !S_ISREG(st.st_mode))
		return;
	sweep->size += (uint64_t)st.st_blocks * 512u;
	sweep->seen++;
	if (place >= CHOICE)
		place = draw(sweep, sweep->seen);
	else
		sweep->chosen++;
	if (place >= CHOICE)
		return;
	file = &sweep->files[place];
	strcpy(file->name, name);
	file->made = st.st_mtime;
	file->size = (uint64_t)st.st_blocks * 512u;
}

/* Whether this process is certainly gone, and, if `empty`, has left no event. */
static bool is_left(const struct sweep *sweep, const struct file *file, bool empty)
{
	struct rec_buffer_header header;
	struct rec_identity who;
	struct stat st;
	ssize_t n;
	int fd;
	bool left;

	fd = openat(sweep->dir, file->name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return false;
	n = pread(fd, &header, sizeof(header), 0);
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)) {
		left = false;
	} else if (n == 0 || (n == (ssize_t)sizeof(header) && !header.ready)) {
		left = st.st_mtime + REC_BUFFER_UNFINISHED_AGE < time(NULL) &&
		       !rec_buffer_has_maker(sweep->dir, file->name);
	} else if (n != (ssize_t)sizeof(header) || header.magic != REC_ABI_MAGIC || !rec_buffer_is_known(&header) ||
		   (empty && header.nr_lanes)) {
		left = false;
	} else {
		/*
		 * A process that replaces itself by exec gives its next buffer the first free name. So the buffers of
		 * its earlier images are kept while it lives, except for the quota: two sweeps that remove the same one
		 * may remove the next one, too, if it gets the name between them.
		 */
		rec_identity_read(&header, &who);
		left = (!empty && header.state == REC_BUFFER_REPLACED) || !rec_identity_is_alive(&who, fd);
	}
	close(fd);
	return left;
}

static void remove_file(struct sweep *sweep, struct file *file)
{
	if (unlinkat(sweep->dir, file->name, 0) == 0)
		sweep->size -= file->size;
	file->name[0] = '\0';
}

static void sweep_empty(struct sweep *sweep)
{
	const unsigned int nr = sweep->chosen < LOOKED_AT ? sweep->chosen : LOOKED_AT;
	const uint64_t first = nr ? draw(sweep, sweep->chosen) : 0;
	unsigned int staying = 0;

	for (unsigned int i = 0; i < nr && staying < STAYING; i++) {
		struct file *file = &sweep->files[(first + i) % sweep->chosen];

		if (is_left(sweep, file, true))
			remove_file(sweep, file);
		else
			staying++;
	}
}

static struct file *oldest(struct sweep *sweep)
{
	struct file *found = NULL;

	for (unsigned int i = 0; i < sweep->chosen; i++) {
		struct file *file = &sweep->files[i];

		if (file->name[0] && (!found || file->made < found->made))
			found = file;
	}
	return found;
}

/* The value of RECORDER_DIR_MAX_KB; otherwise 1 GiB, or half of a small file system. */
static uint64_t quota(uint64_t file_system)
{
	const uint64_t given = rec_options_dir_max();

	if (given)
		return given;
	return file_system && file_system / 2 < QUOTA_DEFAULT ? file_system / 2 : QUOTA_DEFAULT;
}

/*
 * Set the quota, and find out whether the sizes of files are needed. A directory takes at most what is in use in the
 * whole file system. Usually that is below the quota, and then no size is needed.
 */
static void set_quota(struct sweep *sweep)
{
	struct statfs fs = { 0 };
	uint64_t unit;

	if (fstatfs(sweep->dir, &fs) < 0)
		fs.f_blocks = 0;
	unit = (uint64_t)fs.f_bsize;
	sweep->quota = quota((uint64_t)fs.f_blocks * unit);
	sweep->asks_sizes = !fs.f_blocks || (uint64_t)(fs.f_blocks - fs.f_bfree) * unit > sweep->quota;
}

static void sweep_old(struct sweep *sweep)
{
	struct file *file;

	while (sweep->size > sweep->quota && (file = oldest(sweep))) {
		if (is_left(sweep, file, false))
			remove_file(sweep, file);
		file->name[0] = '\0';
	}
}

/*
 * A directory entry as getdents64() stores it. The sweep calls getdents64() itself with a small buffer, because few
 * names suffice: readdir() asks the kernel for about a thousand at once.
 */
struct entry {
	uint64_t inode;
	uint64_t offset;
	uint16_t size;
	uint8_t type;
	char name[];
};

static void see_files(struct sweep *sweep)
{
	const bool all = sweep->asks_sizes || draw(sweep, NEAR_EACH) == 0;
	_Alignas(struct entry) char entries[4096];
	const struct entry *entry;
	long n = 1;

	while (n > 0 && sweep->seen < (all ? FILES_MAX : FILES_NEAR)) {
		n = syscall(SYS_getdents64, sweep->dir, entries, sizeof(entries));
		for (long at = 0; at < n; at += entry->size) {
			entry = (const struct entry *)(const void *)(entries + at);
			if (rec_buffer_is_name(entry->name))
				see_file(sweep, entry->name);
		}
	}
}

void rec_sweep(void)
{
	struct sweep sweep = { .seen = 0, .chosen = 0 };
	char path[PATH_MAX];
	struct timespec now;

	sweep.dir = rec_buffer_dir_open(false, path, sizeof(path));
	if (sweep.dir < 0)
		return;
	clock_gettime(CLOCK_MONOTONIC, &now);
	sweep.random = (uint64_t)now.tv_nsec * (uint64_t)getpid();
	set_quota(&sweep);
	see_files(&sweep);
	sweep_empty(&sweep);
	sweep_old(&sweep);
	close(sweep.dir);
}
