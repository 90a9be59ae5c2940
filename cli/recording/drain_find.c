/* SPDX-License-Identifier: MIT */
/*
 * Finds the buffers in the directory, and takes anchors of the clocks that they use. The directory is the only list of
 * buffers: a process that forks or execs puts a new file there.
 */
#include "cli/recording/drain_private.h"

#include <errno.h>
#include <fcntl.h>
#include <librecorder/buffer_dir.h>
#include <librecorder/clock.h>
#include <librecorder/lane.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/recording/programs.h"
#include "cli/recording/session.h"

#define ANCHOR_PERIOD_NS UINT64_C(1000000000)

static int add_anchor(struct drain *drain, uint32_t clock)
{
	struct rec_anchor anchor;

	return rec_clock_anchor(clock, &anchor) ? 0 : spool_add_anchor(drain->spool, clock, &anchor);
}

int drain_anchors(struct drain *drain, bool now)
{
	const uint64_t time = rec_clock_mono();
	int err = 0;

	if (!now && time - drain->anchored_at < ANCHOR_PERIOD_NS)
		return 0;
	drain->anchored_at = time;
	for (uint32_t clock = 1; clock <= REC_CLOCK_MONO && !err; clock++)
		if (drain->clocks[clock])
			err = add_anchor(drain, clock);
	return err;
}

/*
 * The program's own anchors are the only ones from before the recorder found it. They apply to all programs, so an
 * anchor that claims to be in the future is left out.
 */
int drain_program_anchors(struct drain *drain, const struct drained *one)
{
	struct rec_anchor anchors[REC_ANCHORS];
	const uint32_t clock = rec_view_info(one->view)->clock;
	const unsigned int nr = rec_view_anchors(one->view, anchors, REC_ANCHORS);
	struct rec_anchor now;
	int err = 0;

	if (rec_clock_anchor(clock, &now))
		return 0;
	for (unsigned int i = 0; i < nr && !err; i++)
		if (anchors[i].clock <= now.clock && anchors[i].mono <= now.mono)
			err = spool_add_anchor(drain->spool, clock, &anchors[i]);
	return err;
}

/* ------------------------------------------------------------------------------------------------------ finding */

static bool is_listed(const struct drain *drain, const char *name, uint64_t inode)
{
	for (unsigned int i = 0; i < drain->nr; i++)
		if (drain->list[i].inode == inode && !strcmp(drain->list[i].name, name))
			return true;
	return false;
}

/* A scan begins: map the inodes of the listed buffers. 0 or -ENOMEM. */
static int map_inodes(struct drain *drain)
{
	int err = 0;

	number_map_free(&drain->by_inode);
	for (unsigned int i = 0; i < drain->nr && !err; i++)
		err = number_map_set(&drain->by_inode, drain->list[i].inode, i + 1);
	return err;
}

/* As is_listed(), during a scan: without a look at all of the list. */
static bool is_mapped(const struct drain *drain, const char *name, uint64_t inode)
{
	const uint64_t at = number_map_get(&drain->by_inode, inode);

	/* Links have the same inode, and a new file may have that of a removed one. */
	return at && (!strcmp(drain->list[at - 1].name, name) || is_listed(drain, name, inode));
}

/*
 * The process number of this buffer in a spool that another recorder began; -1: it is new. The last such buffer counts:
 * it was made when the files of the others had been removed.
 */
static int find_in_spool(const struct spool *spool, const struct spool_process *process)
{
	for (unsigned int i = spool->nr_found; i--;) {
		const struct spool_process *other = &spool->entries[i].process;

		if (other->inode == process->inode && other->info.pid == process->info.pid &&
		    other->info.start_time == process->info.start_time && !strcmp(other->file, process->file))
			return (int)i;
	}
	return -1;
}

/* Add an open view to the list and to the spool. */
static int begin(struct drain *drain, struct drained *one)
{
	struct spool_process process = { .inode = one->inode };
	const struct rec_view_info *info = rec_view_info(one->view);
	int number, why, err;

	process.info = *info;
	process.other_pids = programs_has_other_pids(one->view);
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
	if (drain->flags & DRAIN_NAMED)
		one->unrecorded = rec_view_unrecorded(one->view, &why);
	err = drain_program_anchors(drain, one);
	if (!err && info->clock <= REC_CLOCK_MONO && !drain->clocks[info->clock]) {
		drain->clocks[info->clock] = true;
		err = add_anchor(drain, info->clock);
	}
	return err;
}

bool drain_may_pass(int err)
{
	return err != -EBADMSG && err != -EPROTO && err != -EPERM && err != -ELOOP && err != -EBUSY && err != -EFAULT &&
	       err != -EINVAL;
}

void drain_note_bad(struct drain *drain, const struct drained *one, int err)
{
	drain->trouble.unread += drain_may_pass(err);
	if (drain->trouble.bad_buffers++)
		return;
	drain->trouble.bad_errno = -err;
	memcpy(drain->trouble.bad_file, one->name, sizeof(one->name));
}

/*
 * Whether a buffer for which there is no descriptor waits until another one is closed. Such a buffer is not tried in
 * each round, because only this process can free a descriptor.
 */
static bool waits(struct drain *drain, int err)
{
	bool any = false;

	for (unsigned int i = 0; i < drain->nr && !any; i++)
		any = drain->list[i].view;
	if (err != -EMFILE || drain->flags & DRAIN_NAMED || !any)
		return false;
	drain->full = true;
	drain->waits = true;
	return true;
}

static int open_buffer(struct drain *drain, const char *name, uint64_t inode)
{
	struct drained *one, *list;
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
	err = rec_view_open_at(drain->fd, name, &one->view);
	if (err == -EAGAIN) {
		drain->again = true;
		drain->trouble.unready++;
		return 0;
	}
	if (err == -ENOENT || waits(drain, err))
		return 0;
	/* Try again, if there is another round. */
	if (err && drain_may_pass(err) && !drain->last && !(drain->flags & DRAIN_NAMED)) {
		drain->again = true;
		return 0;
	}
	drain->nr++;
	if (!err && drain->flags & DRAIN_DEAD && rec_view_alive(one->view)) {
		one->view = rec_view_close(one->view);
		drain->trouble.living++;
		return 0;
	}
	if (!err)
		return begin(drain, one);
	one->view = NULL;
	drain_note_bad(drain, one, err);
	return 0;
}

/* Open only the file of this name, unless it is listed. 0 or as drain_scan(). */
static int look_for(struct drain *drain, const char *name)
{
	struct stat st;

	drain->again = false;
	drain->trouble.unready = 0;
	if (fstatat(drain->fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : -errno;
	return is_listed(drain, name, st.st_ino) ? 0 : open_buffer(drain, name, st.st_ino);
}

int drain_add(struct drain *drain, const char *name, const struct rec_view_losses *before)
{
	const unsigned int nr = drain->nr;
	const int err = look_for(drain, name);

	if (drain->nr > nr)
		drain->list[nr].lost_before = before->no_lane;
	return err;
}

/* Note a process that could not make its buffer. */
static void note_reason(struct drain *drain, const char *name)
{
	char text[16];
	const ssize_t size = readlinkat(drain->fd, name, text, sizeof(text) - 1);

	text[size > 0 ? size : 0] = '\0';
	drain->trouble.no_buffers++;
	drain->trouble.no_buffer_errno = (int)strtol(text, NULL, 10);
}

/* Programs that the user named need their directory only while one of them is there. */
static void note_removed(struct drain *drain)
{
	bool needed = !(drain->flags & DRAIN_NAMED);
	struct stat st;

	for (unsigned int i = 0; i < drain->nr && !needed; i++)
		needed = drain->list[i].view;
	drain->trouble.removed |= needed && !fstat(drain->fd, &st) && !st.st_nlink;
}

/* Look for files that are not listed. */
int drain_scan(struct drain *drain)
{
	const struct dirent *entry;
	unsigned int waiting = 0, nr;
	int err;
	DIR *dir;

	if (drain->last)
		note_removed(drain);
	if (drain->flags & DRAIN_NAMED)
		return 0;
	if (drain->only[0])
		return look_for(drain, drain->only);
	if (drain->last)
		dir_watch_retry(&drain->watch);
	else if (!drain->watch.looked_at)
		dir_watch_open(&drain->watch, drain->fd);
	if (!dir_watch_is_due(&drain->watch, drain->fd, drain->again))
		return 0;
	dir = dir_entries(drain->fd);
	err = dir ? map_inodes(drain) : -errno;
	if (err) {
		if (dir)
			closedir(dir);
		/* The recording continues with the buffers that it has, and tries again. */
		drain->again = true;
		return err == -ENOENT || !drain->last ? 0 : err;
	}
	drain->again = false;
	drain->full = false;
	drain->scanned = true;
	drain->trouble.unready = 0;
	drain->trouble.no_buffers = drain->unrecorded;
	errno = 0;
	while (!err && (entry = readdir(dir))) {
		if (session_is_reason(entry->d_name))
			note_reason(drain, entry->d_name);
		if (!rec_buffer_is_name(entry->d_name) || strlen(entry->d_name) >= sizeof(drain->list->name))
			continue;
		if (is_mapped(drain, entry->d_name, entry->d_ino))
			continue;
		nr = drain->nr;
		if (!drain->full)
			err = open_buffer(drain, entry->d_name, entry->d_ino);
		/* If this fails, only a second entry with the same name would be opened again. */
		if (drain->nr > nr)
			number_map_set(&drain->by_inode, entry->d_ino, drain->nr);
		waiting += drain->full;
		errno = 0;
	}
	drain->trouble.waiting = waiting > drain->trouble.waiting ? waiting : drain->trouble.waiting;
	if (!err && errno) {
		drain->again = true;
		err = drain->last ? -errno : 0;
	}
	closedir(dir);
	return err;
}
