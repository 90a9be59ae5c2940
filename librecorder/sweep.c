/* SPDX-License-Identifier: MIT */
/*
 * Buffers that processes left which are gone. Each program that starts takes some of them away, so that they do not
 * pile up: of those without an event, which are of use to nobody, a few; and where all buffers of the directory
 * together take more than the quota, the oldest until they do not.
 *
 * Guarantees. What may be alive is never removed, nor anything in a directory below: those are recorders'. The work
 * is bounded; where there are more files than that, it is done on a random choice of them, so every file's turn
 * comes.
 */
#include "sweep.h"

#include "identity.h"
#include "options.h"
#include "shm.h"

#include <librecorder/abi.h>
#include <librecorder/reader.h>

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <time.h>
#include <unistd.h>

/* Files whose sizes are added up: 1 us each, 12 us the rest (2026-11, Xeon). */
#define FILES_MAX 1024u

/*
 * Of these, files that may be removed for the quota, and files that are looked at for such without an event; 15 us
 * each.
 */
#define CHOICE	  64u
#define LOOKED_AT 2u

#define QUOTA_DEFAULT (UINT64_C(1) << 30)

/*
 * A program makes its buffer within microseconds. One that is unfinished after so many seconds has no program any more, unless
 * that is known to live.
 */
#define UNFINISHED_AGE 60

struct file {
	char name[64];
	time_t made;
	uint64_t size;
};

struct sweep {
	int dir;
	struct file files[CHOICE]; /* a random choice, in which each has the same chance to be */
	unsigned int chosen;
	unsigned int seen;
	uint64_t size; /* of all */
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
	struct file *file;
	struct stat st;

	if (strlen(name) >= sizeof(file->name) || fstatat(sweep->dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
	    !S_ISREG(st.st_mode))
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

/* Whether this process is surely gone; without an event if `empty`. */
static bool is_left(const struct sweep *sweep, const struct file *file, bool empty)
{
	struct rec_buffer_header header;
	struct rec_identity who;
	ssize_t n;
	int fd;
	bool left;

	fd = openat(sweep->dir, file->name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return false;
	n = pread(fd, &header, sizeof(header), 0);
	if (n == 0 || (n == (ssize_t)sizeof(header) && !header.ready)) {
		left = file->made + UNFINISHED_AGE < time(NULL) && !rec_buffer_has_maker(sweep->dir, file->name);
	} else if (n != (ssize_t)sizeof(header) || header.magic != REC_ABI_MAGIC || header.version != REC_ABI_VERSION ||
		   (empty && header.nr_lanes)) {
		left = false;
	} else {
		rec_identity_read(&header, &who);
		left = header.state == REC_BUFFER_REPLACED || !rec_identity_is_alive(&who, fd);
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
	for (unsigned int i = 0; i < LOOKED_AT && sweep->chosen; i++) {
		struct file *file = &sweep->files[draw(sweep, sweep->chosen)];

		if (file->name[0] && is_left(sweep, file, true))
			remove_file(sweep, file);
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

/* What RECORDER_DIR_MAX_KB says; else 1 GiB, or half of a small file system. */
static uint64_t quota(const struct sweep *sweep)
{
	const uint64_t given = rec_options_dir_max();
	struct statfs fs;
	uint64_t half;

	if (given)
		return given;
	if (fstatfs(sweep->dir, &fs) < 0 || !fs.f_blocks)
		return QUOTA_DEFAULT;
	half = (uint64_t)fs.f_blocks * (uint64_t)fs.f_bsize / 2;
	return half < QUOTA_DEFAULT ? half : QUOTA_DEFAULT;
}

static void sweep_old(struct sweep *sweep)
{
	const uint64_t max = quota(sweep);
	struct file *file;

	while (sweep->size > max && (file = oldest(sweep))) {
		if (is_left(sweep, file, false))
			remove_file(sweep, file);
		file->name[0] = '\0';
	}
}

void rec_sweep(void)
{
	struct sweep sweep = { .seen = 0, .chosen = 0 };
	char path[PATH_MAX];
	const struct dirent *entry;
	struct timespec now;
	DIR *dir;

	sweep.dir = rec_buffer_dir_open(false, path, sizeof(path));
	if (sweep.dir < 0)
		return;
	dir = fdopendir(sweep.dir);
	if (!dir) {
		close(sweep.dir);
		return;
	}
	clock_gettime(CLOCK_MONOTONIC, &now);
	sweep.random = (uint64_t)now.tv_nsec * (uint64_t)getpid();
	while (sweep.seen < FILES_MAX && (entry = readdir(dir)) != NULL) {
		const size_t size = strlen(entry->d_name);

		if (entry->d_name[0] != '.' && size > 4 && !strcmp(entry->d_name + size - 4, ".rec"))
			see_file(&sweep, entry->d_name);
	}
	sweep_empty(&sweep);
	sweep_old(&sweep);
	closedir(dir);
}
