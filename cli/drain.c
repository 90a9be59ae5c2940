/* SPDX-License-Identifier: MIT */
/*
 * Draining: a list of open buffers, each gone through in turn. The directory is the only list of what there is: a process
 * that forks or execs puts a new file there.
 */
#include "cli/drain.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <librecorder/clock.h>
#include <librecorder/page.h>
#include <librecorder/reader.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cli/session.h"

/* Pages taken from a lane before the others have their turn: a lane that is written to without pause starves nobody. */
#define PAGES_A_TURN 64u

/* A writer that is just moving the head is done within a few instructions, unless it was preempted there. */
#define BUSY_RETRIES 1000u

#define ANCHOR_PERIOD_NS UINT64_C(1000000000)

/* A directory that changed this recently may change again without its time stamp showing it: the kernel's ticks are coarse. */
#define MTIME_GRAIN_NS UINT64_C(50000000)

#define LOG_BLOCK (64u * 1024u)

/* One buffer that was found. */
struct drained {
	struct rec_view *view; /* NULL: finished, or not to be opened; stays listed as long as its file exists */
	char name[256];
	uint64_t inode;
	unsigned int process; /* its number in the spool */
	uint64_t log_at;
	unsigned int nr_lanes;
	unsigned char *lane_off; /* nonzero: this lane gives nothing more */
};

struct drain {
	struct spool *spool;
	char path[PATH_MAX];
	char only[256];
	bool owned;
	int fd;
	struct drained *list;
	unsigned int nr, room;
	unsigned int open;
	uint64_t scanned_at, dir_time; /* ns, CLOCK_REALTIME: the last scan, and the directory's change time then */
	bool unready;
	uint64_t anchored_at; /* ns, CLOCK_MONOTONIC */
	bool clocks[REC_CLOCK_MONO + 1]; /* in use */
	unsigned char *block;		 /* LOG_BLOCK bytes */
	struct drain_trouble trouble;
};

static uint64_t now_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* ------------------------------------------------------------------------------------------------------ anchors */

static int add_anchor(struct drain *drain, uint32_t clock)
{
	struct rec_anchor anchor;

	return rec_clock_anchor(clock, &anchor) ? 0 : spool_add_anchor(drain->spool, clock, &anchor);
}

static int add_anchors(struct drain *drain, bool now)
{
	const uint64_t time = now_ns(CLOCK_MONOTONIC);
	int err = 0;

	if (!now && time - drain->anchored_at < ANCHOR_PERIOD_NS)
		return 0;
	drain->anchored_at = time;
	for (uint32_t clock = 1; clock <= REC_CLOCK_MONO && !err; clock++)
		if (drain->clocks[clock])
			err = add_anchor(drain, clock);
	return err;
}

/* The program's own anchors: the only ones there are from before the recorder met it. */
static int add_program_anchors(struct drain *drain, const struct drained *one)
{
	struct rec_anchor anchors[REC_ANCHORS];
	const uint32_t clock = rec_view_info(one->view)->clock;
	const unsigned int nr = rec_view_anchors(one->view, anchors, REC_ANCHORS);
	int err = 0;

	for (unsigned int i = 0; i < nr && !err; i++)
		err = spool_add_anchor(drain->spool, clock, &anchors[i]);
	return err;
}

/* ------------------------------------------------------------------------------------------------------ finding */

static struct drained *find(struct drain *drain, const char *name, uint64_t inode)
{
	for (unsigned int i = 0; i < drain->nr; i++)
		if (drain->list[i].inode == inode && !strcmp(drain->list[i].name, name))
			return &drain->list[i];
	return NULL;
}

/* The process of this buffer in a spool that another recorder began; -1: it is new. */
static int find_in_spool(const struct spool *spool, const struct spool_process *process)
{
	for (unsigned int i = 0; i < spool->nr_entries; i++) {
		const struct spool_process *other = &spool->entries[i].process;

		if (other->inode == process->inode && other->info.pid == process->info.pid &&
		    other->info.start_time == process->info.start_time && !strcmp(other->file, process->file))
			return (int)i;
	}
	return -1;
}

/* Enter an open view into the list and the spool. */
static int begin(struct drain *drain, struct drained *one)
{
	struct spool_process process = { .inode = one->inode };
	const struct rec_view_info *info = rec_view_info(one->view);
	int number;
	int err;

	process.info = *info;
	memcpy(process.file, one->name, sizeof(process.file));
	number = find_in_spool(drain->spool, &process);
	if (number >= 0) {
		one->log_at = drain->spool->entries[number].log_size;
	} else {
		number = spool_add_process(drain->spool, &process);
		if (number < 0)
			return number;
	}
	one->process = (unsigned int)number;
	drain->open++;
	err = add_program_anchors(drain, one);
	if (!err && info->clock <= REC_CLOCK_MONO && !drain->clocks[info->clock]) {
		drain->clocks[info->clock] = true;
		err = add_anchor(drain, info->clock);
	}
	return err;
}

static int open_buffer(struct drain *drain, const char *name, uint64_t inode)
{
	struct drained *one, *list;
	char path[PATH_MAX + 256];
	int err;

	if (drain->nr == drain->room) {
		list = realloc(drain->list, (drain->room * 2 + 16) * sizeof(*list));
		if (!list)
			return -ENOMEM;
		drain->list = list;
		drain->room = drain->room * 2 + 16;
	}
	one = &drain->list[drain->nr];
	memset(one, 0, sizeof(*one));
	one->inode = inode;
	snprintf(one->name, sizeof(one->name), "%s", name);
	snprintf(path, sizeof(path), "%s/%s", drain->path, name);
	err = rec_view_open(path, &one->view);
	if (err == -EAGAIN) {
		drain->unready = true;
		drain->trouble.unready++;
		return 0;
	}
	/* No descriptor or no memory to spare: tried again. */
	if (err == -EMFILE || err == -ENFILE || err == -ENOMEM)
		drain->unready = true;
	if (err == -ENOENT || err == -EMFILE || err == -ENFILE || err == -ENOMEM)
		return 0;
	drain->nr++;
	if (!err)
		return begin(drain, one);
	one->view = NULL;
	if (!drain->trouble.bad_buffers++) {
		drain->trouble.bad_errno = -err;
		memcpy(drain->trouble.bad_file, one->name, sizeof(one->name));
	}
	return 0;
}

/* Look for files that are not listed. */
static int scan(struct drain *drain)
{
	const uint64_t now = now_ns(CLOCK_REALTIME);
	const struct dirent *entry;
	struct stat st;
	int err = 0;
	DIR *dir;
	int fd;

	if (fstat(drain->fd, &st) < 0)
		return -errno;
	if (!drain->unready && drain->scanned_at > drain->dir_time + MTIME_GRAIN_NS &&
	    drain->dir_time == (uint64_t)st.st_mtim.tv_sec * 1000000000u + (uint64_t)st.st_mtim.tv_nsec)
		return 0;
	fd = openat(drain->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	dir = fd < 0 ? NULL : fdopendir(fd);
	if (!dir) {
		err = -errno;
		if (fd >= 0)
			close(fd);
		/* Without a descriptor to spare the recording goes on with the buffers it has, and tries again. */
		return err == -EMFILE || err == -ENFILE || err == -ENOENT ? 0 : err;
	}
	drain->unready = false;
	drain->trouble.unready = 0;
	while (!err && (entry = readdir(dir))) {
		if (!session_is_buffer(entry->d_name) || strlen(entry->d_name) >= sizeof(drain->list->name))
			continue;
		if (drain->only[0] && strcmp(drain->only, entry->d_name))
			continue;
		if (!find(drain, entry->d_name, entry->d_ino))
			err = open_buffer(drain, entry->d_name, entry->d_ino);
	}
	closedir(dir);
	drain->scanned_at = now;
	drain->dir_time = (uint64_t)st.st_mtim.tv_sec * 1000000000u + (uint64_t)st.st_mtim.tv_nsec;
	return err;
}

/* ------------------------------------------------------------------------------------------------------ draining */

/*
 * Take off what the spool has of this page already; a recorder that was killed between writing a page and asking for the
 * next leaves it to be read twice. False: nothing remains.
 */
static bool trim(struct rec_page *page, uint64_t known)
{
	struct rec_page_iter iter;
	struct rec_record record;

	if (page->first >= known)
		return page->entries || page->lost;
	if (page->first + page->entries <= known)
		return false;
	rec_page_iter_init(&iter, page->data, page->size);
	while (page->first < known) {
		if (rec_page_next(&iter, &record) != 1)
			return false;
		if (record.offset < page->from)
			continue;
		page->first++;
		page->entries--;
		page->from = iter.offset;
	}
	page->lost = 0;
	return true;
}

static bool lane_is_off(struct drained *one, unsigned int lane)
{
	unsigned char *off;
	const unsigned int nr = rec_view_lanes(one->view);

	if (lane < one->nr_lanes)
		return one->lane_off[lane];
	off = realloc(one->lane_off, nr);
	if (!off)
		return true;
	memset(off + one->nr_lanes, 0, nr - one->nr_lanes);
	one->lane_off = off;
	one->nr_lanes = nr;
	return false;
}

/* Up to `max` pages of a lane. Returns how many, or what the spool met. */
static int take_pages(struct drain *drain, struct drained *one, unsigned int lane, unsigned int flags, unsigned int max)
{
	const uint64_t known = spool_next_event(drain->spool, one->process, lane);
	unsigned int retries = flags & REC_READ_WHOLE ? 0 : BUSY_RETRIES;
	unsigned int taken = 0;
	struct rec_page page;
	int got, err;

	while (taken < max) {
		got = rec_view_read(one->view, lane, flags, &page);
		if (got == -EAGAIN && retries) {
			retries--;
			sched_yield();
			continue;
		}
		if (got == -EBUSY)
			drain->trouble.busy_lanes++;
		else if (got < 0 && got != -EAGAIN)
			drain->trouble.bad_lanes++;
		if (got < 0 && got != -EAGAIN)
			one->lane_off[lane] = 1;
		if (got != 1)
			break;
		taken++;
		if (!trim(&page, known))
			continue;
		err = spool_add_page(drain->spool, one->process, lane, &page);
		if (err) {
			rec_view_unread(one->view, lane);
			return err;
		}
	}
	return (int)taken;
}

static int take_log(struct drain *drain, struct drained *one)
{
	size_t size;
	int err = 0;

	while (!err && (size = rec_view_log(one->view, one->log_at, drain->block, LOG_BLOCK))) {
		err = spool_add_log(drain->spool, one->process, drain->block, size);
		one->log_at += size;
	}
	return err;
}

/* Note the losses of a buffer that nothing more will be taken from. */
static int end_process(struct drain *drain, struct drained *one)
{
	struct rec_view_losses losses = { 0, 0, 0 };
	struct rec_lane_stats stats;
	const unsigned int nr = rec_view_lanes(one->view);
	int err = 0;

	for (unsigned int lane = 0; lane < nr && !err; lane++)
		if (!rec_view_stats(one->view, lane, &stats))
			err = spool_add_lane_end(drain->spool, one->process, lane, &stats);
	if (!err)
		err = add_program_anchors(drain, one);
	rec_view_losses(one->view, &losses);
	if (!err)
		err = spool_add_process_end(drain->spool, one->process, &losses);
	return err;
}

static void close_buffer(struct drain *drain, struct drained *one)
{
	one->view = rec_view_close(one->view);
	free(one->lane_off);
	one->lane_off = NULL;
	one->nr_lanes = 0;
	drain->open--;
}

/* All lanes of one buffer. Returns how many pages were taken. */
static int take_lanes(struct drain *drain, struct drained *one, unsigned int flags, unsigned int max)
{
	int taken = 0, pages;

	/* The number of lanes is read anew each time: a thread may just have got one. */
	for (unsigned int lane = 0; lane < rec_view_lanes(one->view); lane++) {
		if (lane_is_off(one, lane))
			continue;
		pages = take_pages(drain, one, lane, flags, max);
		if (pages < 0)
			return pages;
		taken += pages;
	}
	return taken;
}

/*
 * One buffer's turn. `last`: nothing will be taken later, so what a living process has now is taken as well, but no more
 * than its lanes hold, for it may go on writing as fast as we read.
 */
static int run_buffer(struct drain *drain, struct drained *one, bool last)
{
	/* Asked before reading: what a dead process wrote is all there when we look. */
	const bool alive = rec_view_alive(one->view);
	int taken, err;

	err = take_log(drain, one);
	if (err)
		return err;
	if (alive && !last)
		return take_lanes(drain, one, REC_READ_WHOLE, PAGES_A_TURN);
	taken = take_lanes(drain, one, 0, alive ? rec_view_info(one->view)->nr_subbufs + 1 : UINT32_MAX);
	if (taken < 0)
		return taken;
	/* Once more: events may have been declared since, and their pages were just taken. */
	err = take_log(drain, one);
	if (!err)
		err = end_process(drain, one);
	if (err)
		return err;
	close_buffer(drain, one);
	/* The last thing: until here a killed recorder's successor finds the buffer. */
	if (drain->owned && !alive)
		unlinkat(drain->fd, one->name, 0);
	return taken;
}

static int run(struct drain *drain, bool last)
{
	unsigned int at = 0;
	int total = 0, taken;
	int err;

	err = scan(drain);
	if (!err)
		err = add_anchors(drain, last);
	if (err)
		return err;
	while (at < drain->nr) {
		struct drained *one = &drain->list[at];

		if (one->view) {
			taken = run_buffer(drain, one, last);
			if (taken < 0)
				return taken;
			total += taken;
		}
		/* Those whose files are gone need not be remembered; the list stays as short as the directory. */
		if (!one->view && drain->owned && faccessat(drain->fd, one->name, F_OK, AT_SYMLINK_NOFOLLOW) < 0)
			*one = drain->list[--drain->nr];
		else
			at++;
	}
	return total;
}

int drain_run(struct drain *drain)
{
	return run(drain, false);
}

int drain_finish(struct drain *drain)
{
	/* So that the directory is looked at whatever its time stamp says. */
	drain->dir_time = 0;
	return run(drain, true);
}

unsigned int drain_processes(const struct drain *drain)
{
	return drain->open;
}

const struct drain_trouble *drain_trouble(const struct drain *drain)
{
	return &drain->trouble;
}

/* ------------------------------------------------------------------------------------------- opening and closing */

struct drain *drain_close(struct drain *drain)
{
	if (!drain)
		return NULL;
	for (unsigned int i = 0; i < drain->nr; i++)
		if (drain->list[i].view)
			close_buffer(drain, &drain->list[i]);
	free(drain->list);
	free(drain->block);
	if (drain->fd >= 0)
		close(drain->fd);
	free(drain);
	return NULL;
}

int drain_open(struct spool *spool, const char *dir, bool owned, const char *only, struct drain **ret_drain)
{
	struct drain *drain;
	int err = -ENAMETOOLONG;

	if (strlen(dir) >= sizeof(drain->path) || (only && strlen(only) >= sizeof(drain->only)))
		return -ENAMETOOLONG;
	drain = calloc(1, sizeof(*drain));
	if (!drain)
		return -ENOMEM;
	strcpy(drain->path, dir);
	strcpy(drain->only, only ? only : "");
	drain->spool = spool;
	drain->owned = owned;
	drain->fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	err = drain->fd < 0 ? -errno : 0;
	drain->block = malloc(LOG_BLOCK);
	if (!err && !drain->block)
		err = -ENOMEM;
	if (err)
		drain_close(drain);
	else
		*ret_drain = drain;
	return err;
}
