/* SPDX-License-Identifier: MIT */
/* Statistics of a lane, in the kernel's form, and their reset. */
#include "librecorder/view/reader_private.h"
#include "librecorder/core/atomic.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

int rec_view_stats(const struct rec_view *view, unsigned int index, struct rec_lane_stats *ret_stats)
{
	const struct rec_lane_bases *bases;
	struct rec_ring_counts counts;
	struct rec_ring_reader ring;
	const struct rec_lane *lane;
	int r;

	/*
	 * The words that all processes see, whichever reads the lane: a page that was handed over and is still in use
	 * does not count as read.
	 */
	r = rec_view_look(view, index, &ring);
	if (r == -ENODATA)
		r = rec_view_look_without_ring(view, index, &ring);
	if (r < 0)
		return rec_view_is_cut(view) ? -EFAULT : r == -ENODATA ? -EAGAIN : r;
	r = ring.subbuf_size ? rec_ring_count(&ring, true, &counts) : rec_ring_count_empty(&ring, &counts);
	rec_fence_acquire();
	if (!rec_view_still(&ring))
		r = -EAGAIN;
	/* If a lane was stopped, its refusals are reported even if its contents cannot be counted. */
	if (r == -EBADMSG && rec_load_relaxed(&ring.lane->broken)) {
		counts = (struct rec_ring_counts){ 0 };
		r = 0;
	}
	if (rec_view_is_cut(view))
		r = -EFAULT;
	if (r < 0)
		return r;
	lane = ring.lane;
	bases = rec_bases_of(ring.words);
	*ret_stats = (struct rec_lane_stats){
		.entries = counts.entries,
		.overrun = counts.overrun - rec_load_relaxed(&bases->overrun),
		.commit_overrun = rec_load_relaxed(&lane->commit_overrun) - rec_load_relaxed(&bases->commit_overrun),
		.bytes = counts.bytes,
		.oldest_event_ts = counts.oldest,
		.now_ts = rec_clock_read(view->info.clock),
		.dropped_events = rec_load_relaxed(&lane->dropped) - rec_load_relaxed(&bases->dropped),
		.read_events = counts.read - rec_load_relaxed(&bases->read),
		.too_long = rec_load_relaxed(&lane->too_long) - rec_load_relaxed(&bases->too_long),
		.nested_limit = rec_load_relaxed(&lane->nested_limit) - rec_load_relaxed(&bases->nested_limit),
		.disabled = rec_load_relaxed(&lane->disabled) - rec_load_relaxed(&bases->disabled),
		.torn = rec_load_relaxed(&lane->torn) - rec_load_relaxed(&bases->torn),
		.lost_unread = counts.lost_unread,
		.clock = view->info.clock,
		.subbuf_size = ring.subbuf_size,
		.nr_pages = ring.subbuf_size ? ring.nr_subbufs - 1 : 0,
		.owner = rec_load_relaxed(&lane->owner),
		.broken = rec_load_relaxed(&lane->broken),
		.shared = rec_load_relaxed(&lane->shared),
	};
	/* If a lane was stopped by an error and not by its program, the events that it refuses are lost. */
	if (ret_stats->broken)
		ret_stats->lost_unread += ret_stats->disabled;
	if (rec_view_writers_are_gone(view) && ring.subbuf_size)
		ret_stats->torn += rec_ring_open_events(&ring);
	return 0;
}

/* Read up to event `until`, without handing anything over. */
static int pass_over(struct rec_view *view, struct view_lane *lane, uint64_t until)
{
	const uint64_t swaps = lane->ring.swaps;
	struct rec_page page = { 0 };
	unsigned int tries = 0;
	int r;

	do {
		r = rec_ring_read(&lane->ring, false, &page);
	} while (rec_view_again(view, lane, r, &tries) ||
		 (r > 0 && page.first + page.entries < until && lane->ring.swaps - swaps <= 2 * lane->ring.nr_subbufs));
	/* After this number of sub-buffers the reader is past `until`, unless the lane's counts are wrong. */
	if (r > 0 && page.first + page.entries < until)
		lane->damaged = true;
	rec_ring_read_done(&lane->ring);
	r = rec_view_result(view, lane, r);
	return r < 0 ? r : 0;
}

/* From here on the new bases are valid. A reader that dies before this has changed nothing. */
static void set_bases(const struct rec_ring_reader *ring, const struct rec_ring_counts *counts, uint64_t now)
{
	const uint32_t resets = rec_load_relaxed(&ring->words->resets) + 1;
	struct rec_lane_bases *bases = &ring->words->bases[resets & 1];
	const struct rec_lane *lane = ring->lane;

	rec_store_relaxed(&bases->time, now);
	rec_store_relaxed(&bases->commit_overrun, rec_load_relaxed(&lane->commit_overrun));
	rec_store_relaxed(&bases->dropped, rec_load_relaxed(&lane->dropped));
	rec_store_relaxed(&bases->too_long, rec_load_relaxed(&lane->too_long));
	rec_store_relaxed(&bases->nested_limit, rec_load_relaxed(&lane->nested_limit));
	rec_store_relaxed(&bases->disabled, rec_load_relaxed(&lane->disabled));
	rec_store_relaxed(&bases->torn, rec_load_relaxed(&lane->torn));
	rec_store_relaxed(&bases->read, counts->read);
	rec_store_relaxed(&bases->overrun, counts->overrun);
	/* Release: edge A2. */
	rec_store_release(&ring->words->resets, resets);
}

/*
 * Whether there is something to reset in a lane that has no ring now: statistics; or the mark of a reader, which may
 * have died while it reset the lane, and then keeps the program from making it again. 1, 0 or -errno. Makes no system
 * call, because many lanes may have been given up.
 */
static int needs_reset(const struct rec_view *view, unsigned int index)
{
	struct rec_ring_reader ring;
	struct rec_lane_stats s;
	int r = rec_view_look_without_ring(view, index, &ring);

	if (r == 0 && rec_load_relaxed(&ring.words->owner))
		return 1;
	if (r == 0)
		r = rec_view_stats(view, index, &s);
	if (r < 0)
		return r == -ENODATA ? 0 : r;
	return (s.overrun | s.commit_overrun | s.dropped_events | s.read_events | s.too_long | s.nested_limit |
		s.disabled | s.torn | s.lost_unread) > 0;
}

/*
 * A lane that was given up is empty, but its counters continue when it is made again. Its program does not make it
 * again while we are its reader.
 */
static int reset_without_ring(struct rec_view *view, unsigned int index)
{
	struct rec_ring_counts counts;
	struct rec_ring_reader ring;
	struct view_map words;
	int r = needs_reset(view, index);

	if (r <= 0)
		return r;
	r = rec_view_own_words(view, index, &words);
	if (r < 0)
		return r;
	r = rec_view_look_without_ring(view, index, &ring);
	if (r == 0)
		r = rec_ring_count_empty(&ring, &counts);
	ring.words = (struct rec_lane_reader *)(void *)words.at;
	if (r == 0)
		set_bases(&ring, &counts, rec_clock_read(view->info.clock));
	rec_view_leave_words(view, index, &words);
	return r;
}

int rec_view_reset(struct rec_view *view, unsigned int index)
{
	struct view_lane *lane = NULL;
	struct rec_ring_counts counts;
	int r;

	/*
	 * On a read-only file system no other process would see the reset; for a lane without a ring, not even this
	 * view would.
	 */
	if (view->read_only && !rec_view_is_cut(view) && index < rec_view_lanes(view))
		return -EROFS;
	r = rec_view_lane(view, index, &lane);
	if (r < 0)
		return r == -ENODATA ? reset_without_ring(view, index) : r;
	rec_ring_read_done(&lane->ring);
	/* Read only what is there now; otherwise a writer that continues would keep us here. */
	r = rec_ring_count(&lane->ring, false, &counts);
	if (r == 0)
		r = pass_over(view, lane, counts.committed);
	if (r == 0)
		r = rec_ring_count(&lane->ring, false, &counts);
	if (r == 0)
		set_bases(&lane->ring, &counts, rec_clock_read(view->info.clock));
	return r;
}

/* Times in the kernel's form, for clocks that count nanoseconds, and for others. */
static void put_time(char *text, size_t size, uint64_t time, uint32_t clock)
{
	if (clock == REC_CLOCK_MONO)
		snprintf(text, size, "%5" PRIu64 ".%06" PRIu64, time / 1000000000u, time % 1000000000u / 1000u);
	else
		snprintf(text, size, "%" PRIu64, time);
}

int rec_stats_text(const struct rec_lane_stats *stats, char *text, size_t size)
{
	char oldest[32], now[32];
	int n;

	put_time(oldest, sizeof(oldest), stats->oldest_event_ts, stats->clock);
	put_time(now, sizeof(now), stats->now_ts, stats->clock);
	n = snprintf(text, size,
		     "entries: %" PRIu64 "\n"
		     "overrun: %" PRIu64 "\n"
		     "commit overrun: %" PRIu64 "\n"
		     "bytes: %" PRIu64 "\n"
		     "oldest event ts: %s\n"
		     "now ts: %s\n"
		     "dropped events: %" PRIu64 "\n"
		     "read events: %" PRIu64 "\n",
		     stats->entries, stats->overrun, stats->commit_overrun, stats->bytes, oldest, now,
		     stats->dropped_events, stats->read_events);
	return n < 0 || (size_t)n >= size ? -ENOSPC : n;
}
