/* SPDX-License-Identifier: MIT */
/* The drain: its list of open buffers, which it drains in turn. */
#include "cli/recording/drain_private.h"

#include <errno.h>
#include <fcntl.h>
#include <librecorder/reader.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/base/now.h"
#include "cli/base/proc_stat.h"
#include "format/io/read_at.h"

/*
 * Pages taken from a lane before the other lanes have their turn, so that a lane that is written to without pause does
 * not hold up the others.
 */
#define PAGES_A_TURN 64u

#define LOG_BLOCK (64u * 1024u)

/*
 * The interval between two checks that a program is alive. A check takes some system calls, about the time of taking
 * tens of pages.
 */
#define ALIVE_PERIOD_MS 20u

/* How long a permission to grow lasts, and how often it is repeated. */
#define GROW_SECONDS   10u
#define GROW_PERIOD_MS 1000u

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

static int add_rate(struct drain *drain, struct drained *one, unsigned int id)
{
	struct rec_view_rate rate;

	if (!rec_view_rate(one->view, id, &rate))
		return 0;
	return spool_add_rate(drain->spool, one->process, (uint16_t)id, &rate);
}

/* Note how many events rates have suppressed until now; once for a buffer. */
static int add_rates(struct drain *drain, struct drained *one)
{
	const struct spool_entry *entry = &drain->spool->entries[one->process];
	const struct rec_log_record *record;
	size_t offset = 0;
	int err;

	if (one->rates_added)
		return 0;
	one->rates_added = true;
	err = add_rate(drain, one, REC_EVENT_ID_FIRST);
	while (!err && (record = rec_log_next(entry->log, entry->log_size, &offset)))
		if (record->kind == REC_LOG_EVENT)
			err = add_rate(drain, one, record->id);
	return err;
}

int drain_add_rates(struct drain *drain, const char *name)
{
	int err = 0;

	for (unsigned int i = 0; i < drain->nr && !err; i++)
		if (drain->list[i].view && !strcmp(drain->list[i].name, name)) {
			err = take_log(drain, &drain->list[i]);
			if (!err)
				err = add_rates(drain, &drain->list[i]);
		}
	return err;
}

/*
 * Count programs that are stopped or have all events off. Events of programs that the user named do not count as off:
 * the recorder has already switched them off again.
 */
static void note_switches(struct drain *drain, const struct drained *one)
{
	const struct spool_entry *entry = &drain->spool->entries[one->process];
	const struct rec_log_record *record;
	unsigned int on = 0, events = 0;
	size_t offset = 0;

	if (rec_view_stopped(one->view)) {
		drain->trouble.stopped++;
		return;
	}
	if (proc_stat_halted(rec_view_pid(one->view)))
		drain->trouble.halted++;
	while ((record = rec_log_next(entry->log, entry->log_size, &offset)))
		if (record->kind == REC_LOG_EVENT) {
			events++;
			on += (rec_view_enabled(one->view, record->id) & REC_ENABLE_ON) != 0;
		}
	drain->trouble.off += !(drain->flags & DRAIN_NAMED) && events && !on;
}

/* Note the children that have no buffer, except those from before the recording. */
static void note_unrecorded(struct drain *drain, const struct drained *one)
{
	int err = 0;
	const unsigned int nr = rec_view_unrecorded(one->view, &err);

	if (nr <= one->unrecorded)
		return;
	drain->unrecorded += nr - one->unrecorded;
	drain->trouble.no_buffers += nr - one->unrecorded;
	drain->trouble.no_buffer_errno = err;
}

/* Note the losses of a buffer from which nothing more will be taken. */
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
		err = drain_program_anchors(drain, one);
	if (!err)
		err = add_rates(drain, one);
	note_switches(drain, one);
	note_unrecorded(drain, one);
	/*
	 * Declarations that found no room in the log before the recording are missing now, too, so they are counted.
	 */
	rec_view_losses(one->view, &losses);
	losses.no_lane -= losses.no_lane < one->lost_before ? losses.no_lane : one->lost_before;
	if (!err)
		err = spool_add_process_end(drain->spool, one->process, &losses);
	return err;
}

/* Let the threads of a living program take further lanes before they lose events, while the drain takes its pages. */
static void let_grow(struct drained *one)
{
	const uint64_t now = now_ms();

	if (one->grown_ms && now - one->grown_ms < GROW_PERIOD_MS)
		return;
	one->grown_ms = now;
	/* An older program does not know this, and a dead one does not need it. */
	(void)rec_view_grow(one->view, GROW_SECONDS);
}

static void close_buffer(struct drain *drain, struct drained *one)
{
	drain->again |= drain->full;
	drain->full = false;
	if (one->grown_ms)
		(void)rec_view_grow(one->view, 0);
	one->view = rec_view_close(one->view);
	free(one->lane_off);
	one->lane_off = NULL;
	one->nr_lanes = 0;
}

/*
 * Whether the program is alive. If it was alive a moment ago, it counts as alive; its last events are taken the next
 * time.
 */
static bool is_alive(struct drained *one, bool last)
{
	const uint64_t now = now_ms();

	if (!last && now - one->alive_ms < ALIVE_PERIOD_MS)
		return true;
	if (!rec_view_alive(one->view))
		return false;
	one->alive_ms = now;
	return true;
}

/*
 * Whether a living program has left the removal of its file to the recorder: it was in exit() before the recorder gave
 * its loan back.
 */
static bool is_left_to_us(const struct drain *drain, const struct drained *one)
{
	const int flags = O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK;
	const int fd = drain->flags & DRAIN_NAMED ? openat(drain->fd, one->name, flags) : -1;
	uint32_t state = 0;

	if (fd < 0)
		return false;
	(void)read_exactly(fd, &state, sizeof(state), offsetof(struct rec_buffer_header, state));
	close(fd);
	return state == REC_BUFFER_EXITED;
}

/*
 * Remove a buffer's file. The process's next image may make another one with the same name, to which the file system
 * may give the same inode number.
 */
static void remove_file(struct drain *drain, struct drained *one)
{
	if (unlinkat(drain->fd, one->name, 0) < 0 && errno != ENOENT)
		return;
	one->inode = 0;
	drain->spool->entries[one->process].process.inode = 0;
}

/*
 * Finish a buffer: its program is gone and its lanes were found empty in this round, or this is the last round. From a
 * living program no more than a lane holds is taken, because it may write as fast as we read. Afterwards no helper has
 * a turn of the buffer, and it is closed.
 */
static int end_buffer(struct drain *drain, struct drained *one, bool alive)
{
	int taken = drain_settle_helped(drain, one->process);
	int err;

	if (taken >= 0)
		taken = drain_add_turns(drain, one, 0, alive ? DRAIN_PRESENT : DRAIN_PAGES_MAX);
	if (!taken)
		taken = drain_take_turns(drain, false);
	/* Data that cannot be read now are tried again, if there is another round. */
	if (taken < 0 || (one->unread && !drain->last))
		return taken;
	/* Read the log again: events may have been declared since, and their pages were just taken. */
	err = take_log(drain, one);
	if (!err)
		err = end_process(drain, one);
	if (err)
		return err;
	drain_is_cut(drain, one);
	close_buffer(drain, one);
	/* Remove the file last: until then the successor of a killed recorder finds the buffer. */
	if (one->unread)
		drain_note_bad(drain, one, one->unread);
	else if (alive && !one->cut && !is_left_to_us(drain, one))
		drain->trouble.living++;
	else if (drain->flags & DRAIN_OWNED && one->busy)
		drain->trouble.unread++;
	else if (drain->flags & DRAIN_OWNED && !one->cut && !one->kept)
		remove_file(drain, one);
	return taken;
}

/*
 * Take over the helpers' results; in the last round wait for them: pages that a full stage refused are read again
 * here.
 */
static int settle_helpers(struct drain *drain)
{
	int most = drain_settle_helped(drain, DRAIN_ANY), one;

	for (unsigned int i = 0; drain->last && i < drain->nr && most >= 0; i++)
		if (drain->list[i].view) {
			one = drain_settle_helped(drain, drain->list[i].process);
			most = one < 0 || one > most ? one : most;
		}
	return most;
}

/*
 * The turns of all programs' lanes are sorted together, so the remaining pages of one program do not delay programs
 * that write.
 */
static int run_lanes(struct drain *drain)
{
	const int helped = settle_helpers(drain);
	int err = helped < 0 ? helped : 0, most;

	for (unsigned int i = 0; i < drain->nr && !err; i++) {
		struct drained *one = &drain->list[i];

		/* Check before reading: if the process is dead, everything that it wrote is visible afterwards. */
		one->lives = one->view && is_alive(one, drain->last);
		one->unread = 0;
		one->more = false;
		if (one->view)
			err = take_log(drain, one);
		if (one->view && one->lives && !drain->last)
			let_grow(one);
		if (!err && one->view && !drain->last)
			err = drain_add_turns(drain, one, one->lives ? REC_READ_WHOLE : 0, PAGES_A_TURN);
	}
	most = drain_take_turns(drain, true);
	return err ? err : most < 0 ? most : most > helped ? most : helped;
}

static int run_ended(struct drain *drain, struct drained *one)
{
	int err;

	if (!one->view)
		return 0;
	if (drain->last || (!one->lives && !drain_has_more(one)))
		return end_buffer(drain, one, one->lives);
	if (!one->lives || !drain_is_cut(drain, one))
		return 0;
	err = drain_settle_helped(drain, one->process);
	close_buffer(drain, one);
	return err < 0 ? err : 0;
}

/* Whether to forget a buffer: its files are gone, so the list stays as short as the directory. */
static bool is_over(const struct drain *drain, const struct drained *one)
{
	return !one->view &&
	       (drain->flags & DRAIN_NAMED ||
		(drain->flags & DRAIN_OWNED && faccessat(drain->fd, one->name, F_OK, AT_SYMLINK_NOFOLLOW) < 0));
}

static int run_round(struct drain *drain, bool last)
{
	unsigned int at = 0;
	int fullest, taken;
	int err;

	drain->last = last;
	drain->spool->patient = last;
	err = drain_scan(drain);
	if (!err)
		err = drain_anchors(drain, last);
	if (err)
		return err;
	fullest = run_lanes(drain);
	while (at < drain->nr && fullest >= 0) {
		struct drained *one = &drain->list[at];
		const bool was_open = one->view;

		taken = run_ended(drain, one);
		if (taken < 0)
			return taken;
		fullest = taken > fullest ? taken : fullest;
		/* Check the files only if the directory may have changed. */
		if ((was_open || drain->scanned) && is_over(drain, one))
			*one = drain->list[--drain->nr];
		else
			at++;
	}
	drain->scanned = false;
	return fullest;
}

void drain_stop(struct drain *drain)
{
	for (unsigned int i = 0; i < drain->nr; i++)
		if (drain->list[i].view)
			drain_settle_helped(drain, drain->list[i].process);
}

static int run(struct drain *drain, bool last)
{
	const int taken = run_round(drain, last);

	if (taken < 0)
		drain_stop(drain);
	return taken;
}

int drain_run(struct drain *drain)
{
	return run(drain, false);
}

/* Each round closes all buffers that it has opened, which frees descriptors for the same number of others. */
int drain_finish(struct drain *drain)
{
	int taken, most = 0;

	do {
		drain->again = true;
		drain->waits = false;
		taken = run(drain, true);
		most = taken > most ? taken : most;
	} while (taken >= 0 && drain->waits);
	return taken < 0 ? taken : most;
}

const struct drain_trouble *drain_trouble(const struct drain *drain)
{
	return &drain->trouble;
}

void drain_trouble_add(struct drain_trouble *all, const struct drain_trouble *one)
{
	if (one->bad_buffers && !all->bad_buffers) {
		all->bad_errno = one->bad_errno;
		memcpy(all->bad_file, one->bad_file, sizeof(all->bad_file));
	}
	if (!all->bad_lanes)
		all->bad_lane = one->bad_lane;
	if (!all->cut_buffers)
		all->cut_lane = one->cut_lane;
	all->bad_buffers += one->bad_buffers;
	all->unread += one->unread;
	all->bad_lanes += one->bad_lanes;
	all->cut_buffers += one->cut_buffers;
	all->busy_lanes += one->busy_lanes;
	all->unready += one->unready;
	all->waiting += one->waiting;
	if (one->no_buffers)
		all->no_buffer_errno = one->no_buffer_errno;
	all->no_buffers += one->no_buffers;
	all->removed |= one->removed;
	all->living += one->living;
	all->stopped += one->stopped;
	all->halted += one->halted;
	all->off += one->off;
}

/* ------------------------------------------------------------------------------------------- opening and closing */

struct drain *drain_close(struct drain *drain)
{
	if (!drain)
		return NULL;
	drain_crew_close(drain->crew);
	dir_watch_close(&drain->watch);
	for (unsigned int i = 0; i < drain->nr; i++)
		if (drain->list[i].view)
			close_buffer(drain, &drain->list[i]);
	free(drain->list);
	number_map_free(&drain->by_inode);
	free(drain->turns.list);
	free(drain->block);
	if (drain->fd >= 0)
		close(drain->fd);
	free(drain);
	return NULL;
}

int drain_open(struct spool *spool, int dir, unsigned int flags, const char *only, struct drain **ret_drain)
{
	struct drain *drain;
	int err;

	if (only && strlen(only) >= sizeof(drain->only))
		return -ENAMETOOLONG;
	drain = calloc(1, sizeof(*drain));
	if (!drain)
		return -ENOMEM;
	strcpy(drain->only, only ? only : "");
	drain->spool = spool;
	drain->flags = flags;
	drain->fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
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
