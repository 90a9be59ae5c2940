/* SPDX-License-Identifier: MIT */
#include "cli/recording/last_event.h"

#include <librecorder/clock.h>

static void note_time(const struct rec_view_event *event, uint64_t *last)
{
	*last = event->record.time > *last ? event->record.time : *last;
}

/*
 * Find the time of a lane's last event, and store it in *last if it is later. 1: there is one; 0: the lane has no
 * event, and lost none; -1: it cannot be read. Because a lane may hold millions of events, only the first one is read,
 * and the last one by its number. If the lane holds fewer events than it counts, all are read.
 */
static int last_in_lane(struct rec_view *view, unsigned int lane, uint64_t *last)
{
	struct rec_lane_stats stats;
	struct rec_view_event event;
	struct rec_lane_mark mark;
	struct rec_iter *iter;
	int ret, found;

	if (rec_view_stats(view, lane, &stats) || rec_iter_open(view, lane, &iter))
		return -1;
	ret = rec_iter_next(iter, &event);
	found = ret == 1;
	if (found && stats.entries > 1) {
		rec_iter_mark(iter, &mark);
		note_time(&event, last);
		mark.next += stats.entries - 2;
		rec_iter_continue(iter, &mark);
		ret = rec_iter_next(iter, &event);
		if (ret != 1) {
			rec_iter_reset(iter);
			ret = rec_iter_next(iter, &event);
		}
	}
	for (; ret == 1; ret = rec_iter_next(iter, &event))
		note_time(&event, last);
	rec_iter_close(iter);
	if (!found && (ret < 0 || stats.torn || stats.overrun || stats.dropped_events || stats.commit_overrun))
		return -1;
	return found;
}

/* The newest anchor of the buffer and one taken now give the rate of the clock. */
static uint64_t seconds_of(const struct rec_view *view, uint64_t clock)
{
	struct rec_anchor then, now;
	double ns;

	if (rec_view_anchors(view, &then, 1) != 1 || rec_clock_anchor(rec_view_info(view)->clock, &now) ||
	    now.clock <= then.clock || now.mono <= then.mono)
		return 0;
	ns = ((double)clock - (double)then.clock) * (double)(now.mono - then.mono) / (double)(now.clock - then.clock);
	return (uint64_t)(((double)then.realtime + ns) / 1e9);
}

bool last_event_time(struct rec_view *view, uint64_t *ret_seconds)
{
	uint64_t last = 0;
	bool is_empty = true;

	for (unsigned int i = 0; i < rec_view_lanes(view); i++)
		is_empty &= last_in_lane(view, i, &last) == 0;
	*ret_seconds = last ? seconds_of(view, last) : 0;
	return !is_empty;
}
