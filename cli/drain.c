/* SPDX-License-Identifier: MIT */
/*
 * Draining: a list of open buffers, each gone through in turn.
 */
#include "cli/drain_private.h"

#include <errno.h>
#include <fcntl.h>
#include <librecorder/page.h>
#include <librecorder/reader.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/now.h"

/* Pages taken from a lane before the others have their turn: a lane that is written to without pause starves nobody. */
#define PAGES_A_TURN 64u

/*
 * A writer that is just moving the head is done within a few instructions, unless it was preempted there. All lanes
 * of a program together get no more patience than this.
 */
#define BUSY_RETRIES 10000u

/* No lane has more sub-buffers: a link has 16 bits for them. Who has more pages for us is filling them meanwhile. */
#define LANE_PAGES_MAX (UINT32_C(1) << 16)

#define LOG_BLOCK (64u * 1024u)

/* Whether a program is still there is asked this often: it takes some system calls, as long as tens of pages take. */
#define ALIVE_PERIOD_MS 20u

/*
 * Take off what the spool has of this page already; a recorder that was killed between writing a page and asking
 * for the next leaves it to be read twice. False: nothing remains.
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

/* Whether what lies between the last event that the spool has and this page was lost, and not read by somebody else. */
static bool follows(const struct rec_page *page, uint64_t known)
{
	return page->lost == REC_LOST_UNKNOWN || page->first <= known + page->lost;
}

/* The program's number of lanes is not asked for again: one that misbehaves may say less than a moment ago. */
static bool lane_is_off(struct drained *one, unsigned int lane)
{
	const unsigned int nr = lane + 1;
	unsigned char *off;

	if (lane < one->nr_lanes)
		return one->lane_off[lane];
	off = realloc(one->lane_off, nr);
	if (!off) {
		one->unread = -ENOMEM;
		return true;
	}
	memset(off + one->nr_lanes, 0, nr - one->nr_lanes);
	one->lane_off = off;
	one->nr_lanes = nr;
	return false;
}

static void note_lane(const struct drained *one, unsigned int lane, unsigned int *count, struct drain_lane *first)
{
	const struct rec_view_info *info = rec_view_info(one->view);

	if ((*count)++)
		return;
	first->pid = info->pid;
	first->lane = lane;
	memcpy(first->comm, info->comm, sizeof(first->comm));
}

static void note_cut(struct drain *drain, struct drained *one)
{
	if (!one->cut)
		note_lane(one, 0, &drain->trouble.cut_buffers, &drain->trouble.cut_lane);
	one->cut = true;
}

/* Where the header is gone there is not even a lane that could say so. */
static bool is_cut(struct drain *drain, struct drained *one)
{
	struct rec_lane_stats stats;

	if (!rec_view_lanes(one->view) && rec_view_stats(one->view, 0, &stats) == -EFAULT)
		note_cut(drain, one);
	return one->cut;
}

/* The lane gives nothing more; why says `err`. */
static void give_up_lane(struct drain *drain, struct drained *one, unsigned int lane, int err)
{
	one->lane_off[lane] = 1;
	if (err == -EBUSY) {
		drain->trouble.busy_lanes++;
		one->busy = true;
	} else if (err != -EFAULT) {
		note_lane(one, lane, &drain->trouble.bad_lanes, &drain->trouble.bad_lane);
	} else {
		note_cut(drain, one);
	}
}

/* Up to `max` pages of a lane. Returns how many, or what the spool met. */
static int take_pages(struct drain *drain, struct drained *one, unsigned int lane, unsigned int flags, unsigned int max)
{
	const uint64_t known = spool_next_event(drain->spool, one->process, lane);
	unsigned int taken = 0;
	struct rec_page page;
	int got, err;

	while (taken < max) {
		got = rec_view_read(one->view, lane, flags, &page);
		if (got == -EAGAIN && one->retries) {
			one->retries--;
			sched_yield();
			continue;
		}
		if (got < 0 && got != -EAGAIN && drain_may_pass(got))
			one->unread = got;
		else if (got < 0 && got != -EAGAIN)
			give_up_lane(drain, one, lane, got);
		if (got != 1)
			break;
		taken++;
		if (drain->flags & DRAIN_NEXT && taken == 1 && !follows(&page, known)) {
			rec_view_unread(one->view, lane);
			one->lane_off[lane] = 1;
			one->kept = true;
			return 0;
		}
		if (!trim(&page, known))
			continue;
		err = spool_add_page(drain->spool, one->process, lane, &page);
		if (err)
			rec_view_unread(one->view, lane);
		/* It was the kernel that looked at what is gone. */
		if (err == -EFAULT)
			give_up_lane(drain, one, lane, err);
		if (err)
			return err == -EFAULT ? (int)taken : err;
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

static int add_rate(struct drain *drain, struct drained *one, unsigned int id)
{
	struct rec_view_rate rate;

	if (!rec_view_rate(one->view, id, &rate))
		return 0;
	return spool_add_rate(drain->spool, one->process, (uint16_t)id, &rate);
}

/* What rates have kept away until now; once for a buffer. */
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

int drain_add_rates(struct drain *drain)
{
	int err = 0;

	for (unsigned int i = 0; i < drain->nr && !err; i++)
		if (drain->list[i].view) {
			err = take_log(drain, &drain->list[i]);
			if (!err)
				err = add_rates(drain, &drain->list[i]);
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
		err = drain_program_anchors(drain, one);
	if (!err)
		err = add_rates(drain, one);
	rec_view_losses(one->view, &losses);
	if (!err)
		err = spool_add_process_end(drain->spool, one->process, &losses);
	return err;
}

static void close_buffer(struct drained *one)
{
	one->view = rec_view_close(one->view);
	free(one->lane_off);
	one->lane_off = NULL;
	one->nr_lanes = 0;
}

/* Per cent of a lane that so many pages are; of a lane from which more was to be had, all. */
static int percent_of(const struct drained *one, unsigned int pages, unsigned int max)
{
	const unsigned int all = rec_view_info(one->view)->nr_subbufs;

	if (!pages)
		return 0;
	return pages >= max || pages >= all ? 100 : (int)(pages * 100 / all) + 1;
}

/* All lanes of one buffer. Returns how full the fullest was, in per cent; 0: nothing was taken. */
static int take_lanes(struct drain *drain, struct drained *one, unsigned int flags, unsigned int max)
{
	int fullest = 0, pages, percent;

	/* The number of lanes is read anew each time: a thread may just have got one. */
	one->retries = flags & REC_READ_WHOLE ? 0 : BUSY_RETRIES;
	for (unsigned int lane = 0; !one->cut && lane < rec_view_lanes(one->view); lane++) {
		if (lane_is_off(one, lane))
			continue;
		pages = take_pages(drain, one, lane, flags, max);
		if (pages < 0)
			return pages;
		percent = percent_of(one, (unsigned int)pages, max);
		fullest = percent > fullest ? percent : fullest;
	}
	return fullest;
}

/* Who was there a moment ago is taken to be there still; what it has written is taken the next time. */
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
 * One buffer's turn. `last`: nothing will be taken later, so what a living process has now is taken as well, but no
 * more than its lanes hold, for it may go on writing as fast as we read.
 */
static int run_buffer(struct drain *drain, struct drained *one, bool last)
{
	/* Asked before reading: what a dead process wrote is all there when we look. */
	const bool alive = is_alive(one, last);
	int taken, err;

	one->unread = 0;
	err = take_log(drain, one);
	if (err)
		return err;
	if (alive && !last) {
		taken = take_lanes(drain, one, REC_READ_WHOLE, PAGES_A_TURN);
		if (taken >= 0 && is_cut(drain, one))
			close_buffer(one);
		return taken;
	}
	taken = take_lanes(drain, one, 0, alive ? rec_view_info(one->view)->nr_subbufs + 1 : LANE_PAGES_MAX);
	/* What could not be read now is tried again, if there is another time. */
	if (taken < 0 || (one->unread && !last))
		return taken;
	/* Once more: events may have been declared since, and their pages were just taken. */
	err = take_log(drain, one);
	if (!err)
		err = end_process(drain, one);
	if (err)
		return err;
	is_cut(drain, one);
	close_buffer(one);
	/* The last thing: until here a killed recorder's successor finds the buffer. */
	if (one->unread)
		drain_note_bad(drain, one, one->unread);
	else if (alive && !one->cut)
		drain->trouble.living++;
	else if (drain->flags & DRAIN_OWNED && one->busy)
		drain->trouble.unread++;
	else if (drain->flags & DRAIN_OWNED && !one->cut && !one->kept)
		unlinkat(drain->fd, one->name, 0);
	return taken;
}

static int run(struct drain *drain, bool last)
{
	unsigned int at = 0;
	int fullest = 0, taken;
	int err;

	drain->last = last;
	err = drain_scan(drain);
	if (!err)
		err = drain_anchors(drain, last);
	if (err)
		return err;
	while (at < drain->nr) {
		struct drained *one = &drain->list[at];

		if (one->view) {
			taken = run_buffer(drain, one, last);
			if (taken < 0)
				return taken;
			fullest = taken > fullest ? taken : fullest;
		}
		/* Those whose files are gone need not be remembered; the list stays as short as the directory. */
		if (!one->view &&
		    (drain->flags & DRAIN_NAMED ||
		     (drain->flags & DRAIN_OWNED && faccessat(drain->fd, one->name, F_OK, AT_SYMLINK_NOFOLLOW) < 0)))
			*one = drain->list[--drain->nr];
		else
			at++;
	}
	return fullest;
}

int drain_add(struct drain *drain, const char *name)
{
	return drain_look_for(drain, name);
}

int drain_run(struct drain *drain)
{
	return run(drain, false);
}

int drain_finish(struct drain *drain)
{
	drain->again = true;
	return run(drain, true);
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
	if (one->no_buffers)
		all->no_buffer_errno = one->no_buffer_errno;
	all->no_buffers += one->no_buffers;
	all->living += one->living;
}

/* ------------------------------------------------------------------------------------------- opening and closing */

struct drain *drain_close(struct drain *drain)
{
	if (!drain)
		return NULL;
	for (unsigned int i = 0; i < drain->nr; i++)
		if (drain->list[i].view)
			close_buffer(&drain->list[i]);
	free(drain->list);
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
