/* SPDX-License-Identifier: MIT */
/*
 * Taking pages: each lane has its turn in a round, the fullest first.
 *
 * A turn reads one lane into the spool and keeps its results; settle() takes them into the drain when the turn is
 * over.
 */
#include "cli/recording/drain_private.h"

#include <errno.h>
#include <librecorder/page.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/*
 * LATE_PERCENT: the drain is too slow if it finds a lane this full. Then, for LATE_ROUNDS rounds, helpers take lanes
 * that are at least HELP_PERCENT full.
 */
#define LATE_PERCENT 50u
#define HELP_PERCENT   10u
#define LATE_ROUNDS  200u

/*
 * A writer that is moving the head is done within a few instructions, unless it was preempted there. It may have been
 * preempted by this thread: if this thread has real-time priority, the writer runs only while it sleeps. The tries are
 * for all lanes together, because each lane of a damaged buffer may look like this.
 */
#define BUSY_YIELDS   10u
#define BUSY_SLEEPS   1000u
#define BUSY_SLEEP_NS 50000

/*
 * Remove the part of the page that the spool has already: a recorder that was killed after it wrote a page, and before
 * it asked for the next one, leaves the page to be read twice. False: nothing remains.
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

/*
 * Whether the events between the last one that the spool has and this page were lost, and not read by another
 * recorder.
 */
static bool follows(const struct rec_page *page, uint64_t known)
{
	return page->lost == REC_LOST_UNKNOWN || page->first <= known + page->lost;
}

/* Whether the buffer's header still exists. A truncated file reads as zeros, and a header has at least one lane. */
static bool stands(void *view)
{
	return rec_view_lanes(view);
}

/* -------------------------------------------------------------------------------------------------------- one turn */

static int add_page(struct spool *spool, struct drain_turn *turn, const struct rec_page *page)
{
	if (turn->helped)
		return spool_hand_page(spool, &turn->hand, turn->process, turn->lane, page, stands, turn->view);
	return spool_add_page(spool, turn->process, turn->lane, page, stands, turn->view);
}

/* Let a writer run, if more tries are left. */
static bool waited(struct drain_turn *turn)
{
	const struct timespec sleep = { .tv_nsec = BUSY_SLEEP_NS };

	if (!turn->retries)
		return false;
	if (turn->retries-- > BUSY_SLEEPS)
		sched_yield();
	else
		nanosleep(&sleep, NULL);
	return true;
}

void drain_take_turn(struct spool *spool, struct drain_turn *turn)
{
	struct rec_view *view = turn->view;
	struct rec_page page;

	while (turn->taken < turn->max && !turn->err) {
		turn->got = rec_view_read(view, turn->lane, turn->flags, &page);
		if (turn->got == -EAGAIN && waited(turn))
			continue;
		if (turn->got != 1)
			break;
		turn->left = turn->next && !turn->taken && !follows(&page, turn->known);
		if (turn->left) {
			rec_view_unread(view, turn->lane);
			break;
		}
		if (trim(&page, turn->known))
			turn->err = add_page(spool, turn, &page);
		if (turn->err)
			rec_view_unread(view, turn->lane);
		else
			turn->taken++;
	}
}

/* ----------------------------------------------------------------------------------------------------- the results */

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

/* This also checks the header: if it is gone, no lane reports the truncation. */
bool drain_is_cut(struct drain *drain, struct drained *one)
{
	struct rec_lane_stats stats;

	if (!rec_view_lanes(one->view) && rec_view_stats(one->view, 0, &stats) == -EFAULT)
		note_cut(drain, one);
	return one->cut;
}

/* Read nothing more from the lane; `err` is the reason. */
static void give_up_lane(struct drain *drain, struct drained *one, unsigned int lane, int err)
{
	one->lane_off[lane] = LANE_OFF;
	if (err == -EBUSY) {
		drain->trouble.busy_lanes++;
		one->busy = true;
	} else if (err != -EFAULT) {
		note_lane(one, lane, &drain->trouble.bad_lanes, &drain->trouble.bad_lane);
	} else {
		note_cut(drain, one);
	}
}

static bool is_of(const struct drained *one, const struct drain_turn *turn)
{
	return one->process == turn->process && one->view == turn->view;
}

/*
 * The buffer of a turn. A buffer stays in the list while one of its turns is in progress; if a helper has the turn, the
 * buffer may have moved in the list meanwhile.
 */
static struct drained *whose(struct drain *drain, const struct drain_turn *turn)
{
	struct drained *one = drain->list;

	if (turn->at < drain->nr && is_of(&drain->list[turn->at], turn))
		return &drain->list[turn->at];
	while (!is_of(one, turn))
		one++;
	return one;
}

bool drain_has_more(const struct drained *one)
{
	return one->more || (one->nr_lanes && memchr(one->lane_off, LANE_AWAY, one->nr_lanes));
}

/* Whether to try again what failed. Another reader may have a lane only for a moment, so that is final at the end. */
static bool may_pass(const struct drain *drain, int err)
{
	return drain_may_pass(err) || (err == -EBUSY && !drain->last);
}

/* Take the results of a turn into the drain. 0 or the spool's error. */
static int settle(struct drain *drain, struct drain_turn *turn)
{
	/* Whole pages are read again in the next round; other turns may be the last ones. */
	const bool comes_again = turn->got == -EAGAIN && turn->flags & REC_READ_WHOLE;
	struct drained *one = whose(drain, turn);
	int err = 0;

	one->more |= turn->taken >= turn->max;
	if (turn->helped) {
		one->lane_off[turn->lane] = 0;
		err = spool_end_hand(drain->spool, &turn->hand);
	}
	if (turn->left) {
		one->lane_off[turn->lane] = LANE_OFF;
		one->kept = true;
	} else if (turn->err == -EAGAIN) {
		/* The stage is full: the pages stay in the lane until a later round, unless they are overwritten. */
		one->unread = turn->err;
	} else if (turn->err == -EFAULT) {
		give_up_lane(drain, one, turn->lane, turn->err);
	} else if (turn->err) {
		return turn->err;
	} else if (turn->got < 0 && !comes_again && may_pass(drain, turn->got)) {
		one->unread = turn->got;
	} else if (turn->got < 0 && !comes_again) {
		give_up_lane(drain, one, turn->lane, turn->got);
	}
	return err;
}

/* ------------------------------------------------------------------------------------------------- turns of a round */

/*
 * Whether nothing more is read from the lane. The program's number of lanes is not read again, because a misbehaving
 * program may state a smaller one than a moment ago.
 */
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

static int add_turn(struct drain_turns *turns, const struct drain_turn *turn)
{
	struct drain_turn *list;

	if (turns->nr == turns->room) {
		list = realloc(turns->list, (turns->room * 2 + 16) * sizeof(*list));
		if (!list)
			return -ENOMEM;
		turns->list = list;
		turns->room = turns->room * 2 + 16;
	}
	turns->list[turns->nr++] = *turn;
	return 0;
}

/*
 * The most pages that a lane can have now: those of its ring, the reader page, and one that replaces it. A lane may be
 * larger than a new one, because its program can resize it, or can make its sub-buffers smaller.
 */
static unsigned int present_pages(const struct rec_view *view, unsigned int lane)
{
	struct rec_lane_stats stats;

	return rec_view_stats(view, lane, &stats) ? DRAIN_PAGES_MAX : stats.nr_pages + 2;
}

int drain_add_turns(struct drain *drain, struct drained *one, unsigned int flags, unsigned int max)
{
	int err = 0, percent;

	/* The number of lanes is read each time: a thread may just have leased a new one. */
	for (unsigned int lane = 0; !one->cut && !err && lane < rec_view_lanes(one->view); lane++) {
		struct drain_turn turn = {
			.view = one->view,
			.at = (unsigned int)(one - drain->list),
			.process = one->process,
			.lane = lane,
			.flags = flags,
		};

		if (lane_is_off(one, lane))
			continue;
		turn.max = max == DRAIN_PRESENT ? present_pages(one->view, lane) : max;
		percent = rec_view_fill(one->view, lane);
		turn.percent = percent > 0 ? (unsigned int)percent : 0;
		turn.next = drain->flags & DRAIN_NEXT;
		turn.known = spool_next_event(drain->spool, one->process, lane);
		err = add_turn(&drain->turns, &turn);
	}
	return err;
}

/* Lanes of living programs come first: lanes of dead programs lose nothing meanwhile. */
static int compare(const void *one, const void *other)
{
	const struct drain_turn *a = one, *b = other;

	if (a->flags != b->flags)
		return a->flags & REC_READ_WHOLE ? -1 : 1;
	return (a->percent < b->percent) - (a->percent > b->percent);
}

/* The fill of the lane, in per cent; 100 if the turn did not empty it. */
static int fullness(const struct drain_turn *turn)
{
	if (!turn->taken)
		return 0;
	return turn->taken >= turn->max ? 100 : turn->percent ? (int)turn->percent : 1;
}

int drain_settle_helped(struct drain *drain, unsigned int process)
{
	int err = 0, one, most = 0;
	struct drain_turn turn;

	while (drain->crew && drain_crew_result(drain->crew, process, &turn)) {
		one = settle(drain, &turn);
		err = err ? err : one;
		most = fullness(&turn) > most ? fullness(&turn) : most;
	}
	return err ? err : most;
}

/* Do a turn in this thread. */
static int take_here(struct drain *drain, struct drain_turn *turn)
{
	const bool waits = !(turn->flags & REC_READ_WHOLE);

	turn->retries = waits ? drain->retries : 0;
	/* An earlier turn may have found that the file was truncated. */
	if (!whose(drain, turn)->cut)
		drain_take_turn(drain->spool, turn);
	if (waits)
		drain->retries = turn->retries;
	return settle(drain, turn);
}

/*
 * Give the turn to the helpers, which are started the first time. False: the drain is not late, or they cannot take
 * it.
 */
static bool give_away(struct drain *drain, const struct drain_turn *turn)
{
	if (!drain->late_rounds || turn->percent < HELP_PERCENT ||
	    !spool_is_ready(drain->spool, turn->process, turn->lane))
		return false;
	if (!drain->crew && drain_crew_open(drain->spool, &drain->crew)) {
		drain->late_rounds = 0;
		return false;
	}
	if (!drain_crew_give(drain->crew, turn))
		return false;
	whose(drain, turn)->lane_off[turn->lane] = LANE_AWAY;
	return true;
}

/* Do the turns that no helper has begun. 0 or the spool's error; *most: raised to the greatest fill of a lane. */
static int take_back(struct drain *drain, int *most)
{
	struct drain_turn turn;
	int err = 0;

	while (!err && drain->crew && drain_crew_take_back(drain->crew, &turn)) {
		whose(drain, &turn)->lane_off[turn.lane] = 0;
		err = take_here(drain, &turn);
		*most = fullness(&turn) > *most ? fullness(&turn) : *most;
	}
	return err;
}

/* Give turns to helpers, if the drain is late. The turn of the fullest lane is done here, at once. */
static void share_turns(struct drain *drain)
{
	struct drain_turns *turns = &drain->turns;

	if (turns->nr && turns->list[0].percent >= LATE_PERCENT)
		drain->late_rounds = LATE_ROUNDS;
	else if (drain->late_rounds)
		drain->late_rounds--;
	for (unsigned int i = 1; i < turns->nr; i++)
		turns->list[i].helped = give_away(drain, &turns->list[i]);
}

int drain_take_turns(struct drain *drain, bool helped)
{
	struct drain_turns *turns = &drain->turns;
	int err = 0, most = 0, one;

	drain->retries = BUSY_YIELDS + BUSY_SLEEPS;
	/* If there are no turns, the list may be NULL. */
	if (turns->nr)
		qsort(turns->list, turns->nr, sizeof(*turns->list), compare);
	if (helped)
		share_turns(drain);
	for (unsigned int i = 0; i < turns->nr && !err; i++) {
		if (turns->list[i].helped)
			continue;
		err = take_here(drain, &turns->list[i]);
		most = fullness(&turns->list[i]) > most ? fullness(&turns->list[i]) : most;
		one = take_back(drain, &most);
		err = err ? err : one;
	}
	turns->nr = 0;
	return err ? err : most;
}
