/* SPDX-License-Identifier: MIT */
/*
 * Events one by one, of a lane and of all lanes in the order of time.
 *
 * The merge is a heap of the lanes that have an event, by its time. Lanes without an event are examined again if the
 * earliest known event is not older than their last examination, or if no event is known. Otherwise every event that
 * was written there since then is later. There is one exception: an event that was reserved before an examination and
 * committed after it. The kernel's merge has the same exception, although it examines all rings for each event. So a
 * reader that is late pays only for lanes with events, and one that is up to date examines each lane once per event.
 *
 * A lane's place in the heap is checked against the position of its reader, so other calls may read the lane in
 * between.
 */
#include "librecorder/view/reader_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Report what was lost after the last event, if no event follows it. */
static void tell_losses(const struct rec_ring_reader *ring, struct rec_view_event *event)
{
	struct rec_ring_counts counts;

	if (rec_ring_count(ring, false, &counts) < 0 || !counts.lost_unread)
		return;
	event->lost += counts.lost_unread;
	event->lost_time = rec_earlier(event->lost_time, counts.lost_time);
}

/* 1, with the event; 0; or -errno. */
static int next_of(struct rec_view *view, uint32_t index, bool consume, struct rec_view_event *ret_event)
{
	struct view_lane *lane = NULL;
	struct rec_ring_event event;
	unsigned int tries = 0;
	int r = rec_view_lane(view, index, &lane);

	if (r < 0)
		return r == -ENODATA ? 0 : r;
	do {
		r = consume ? rec_ring_consume(&lane->ring, &event) : rec_ring_peek(&lane->ring, &event);
	} while (rec_view_again(view, lane, r, &tries));
	r = rec_view_result(view, lane, r);
	if (r > 0)
		*ret_event = (struct rec_view_event){ event.record, index, event.number, event.lost, event.lost_time };
	return r;
}

/* -------------------------------------------------------------------------------------------------------- merge */

static bool is_before(const struct merge *merge, uint32_t a, uint32_t b)
{
	const uint64_t time_a = merge->lanes[a].time, time_b = merge->lanes[b].time;

	return time_a != time_b ? time_a < time_b : a < b;
}

static void sift_down(struct merge *merge, uint32_t at)
{
	const uint32_t lane = merge->heap[at];
	uint32_t child;

	for (; (child = 2 * at + 1) < merge->nr_heap; at = child) {
		if (child + 1 < merge->nr_heap && is_before(merge, merge->heap[child + 1], merge->heap[child]))
			child++;
		if (!is_before(merge, merge->heap[child], lane))
			break;
		merge->heap[at] = merge->heap[child];
	}
	merge->heap[at] = lane;
}

static void push(struct merge *merge, uint32_t lane)
{
	uint32_t at = merge->nr_heap++;

	for (; at && is_before(merge, lane, merge->heap[(at - 1) / 2]); at = (at - 1) / 2)
		merge->heap[at] = merge->heap[(at - 1) / 2];
	merge->heap[at] = lane;
	merge->lanes[lane].queued = true;
}

static void pop(struct merge *merge)
{
	merge->lanes[merge->heap[0]].queued = false;
	merge->heap[0] = merge->heap[--merge->nr_heap];
	if (merge->nr_heap)
		sift_down(merge, 0);
}

/* Note the time of the lane's next event. 1, 0 or -errno. */
static int look_up(struct rec_view *view, uint32_t index)
{
	struct merge_lane *lane = &view->merge.lanes[index];
	struct rec_view_event event;
	const int r = next_of(view, index, false, &event);

	if (r > 0) {
		lane->time = event.record.time;
		lane->read = view->opened[index].ring.read;
	}
	return r;
}

static int make_room(struct merge *merge, uint32_t nr)
{
	struct merge_lane *lanes;
	uint32_t *heap;

	if (nr <= merge->nr_lanes)
		return 0;
	lanes = realloc(merge->lanes, nr * sizeof(*lanes));
	if (lanes)
		merge->lanes = lanes;
	heap = realloc(merge->heap, nr * sizeof(*heap));
	if (heap)
		merge->heap = heap;
	if (!lanes || !heap)
		return -ENOMEM;
	memset(lanes + merge->nr_lanes, 0, (nr - merge->nr_lanes) * sizeof(*lanes));
	merge->nr_lanes = nr;
	return 0;
}

/* Put the other lanes that have an event now into the heap. 0; -EAGAIN: one of them may have one; -ENOMEM. */
static int look_at_others(struct rec_view *view)
{
	struct merge *merge = &view->merge;
	const uint32_t nr = rec_view_lanes(view);
	int r = make_room(merge, nr), result = r;
	uint32_t i;

	if (r < 0)
		return r;
	merge->looked_at = rec_clock_read(view->info.clock);
	for (i = 0; i < nr; i++) {
		if (merge->lanes[i].queued)
			continue;
		r = look_up(view, i);
		if (r > 0)
			push(merge, i);
		else if (r == -EAGAIN || r == -ENOMEM)
			result = r;
	}
	/* No event may be returned before this lane has been examined again. */
	if (result < 0)
		merge->looked_at = 0;
	return result;
}

/* 0: the top of the heap is right, or the heap is empty; -EAGAIN, -ENOMEM: its lane may have an event. */
static int mend_top(struct rec_view *view)
{
	struct merge *merge = &view->merge;

	while (merge->nr_heap) {
		const uint32_t top = merge->heap[0];
		int r;

		if (view->opened[top].ring.read == merge->lanes[top].read && !view->opened[top].ring.pending.data)
			break;
		r = look_up(view, top);
		if (r == -EAGAIN || r == -ENOMEM)
			return r;
		if (r > 0)
			sift_down(merge, 0);
		else
			pop(merge);
	}
	return 0;
}

static int next_of_all(struct rec_view *view, bool consume, struct rec_view_event *ret_event)
{
	struct merge *merge = &view->merge;
	uint32_t i;
	int r = mend_top(view);

	if (r == 0 && (!merge->nr_heap || merge->lanes[merge->heap[0]].time >= merge->looked_at)) {
		r = look_at_others(view);
		if (r == 0)
			r = mend_top(view);
	}
	/* A lane that may have the earliest event: no other lane's event comes before it. */
	if (r < 0)
		return r;
	if (merge->nr_heap) {
		r = next_of(view, merge->heap[0], consume, ret_event);
		if (r > 0 || r == -EAGAIN || r == -ENOMEM || r == -EFAULT)
			return r;
		/* The lane was damaged after its event was found: leave it out from now on. */
		pop(merge);
		return -EAGAIN;
	}
	*ret_event = (struct rec_view_event){ 0 };
	for (i = 0; i < merge->nr_lanes; i++)
		if (view->opened[i].shared.at && !view->opened[i].damaged)
			tell_losses(&view->opened[i].ring, ret_event);
	return 0;
}

void rec_merge_free(struct merge *merge)
{
	free(merge->lanes);
	free(merge->heap);
}

static int next(struct rec_view *view, uint32_t lane, bool consume, struct rec_view_event *ret_event)
{
	int r;

	if (lane == REC_ALL_LANES)
		return next_of_all(view, consume, ret_event);
	r = next_of(view, lane, consume, ret_event);
	if (r == 0) {
		*ret_event = (struct rec_view_event){ .lane = lane };
		if (view->opened[lane].shared.at)
			tell_losses(&view->opened[lane].ring, ret_event);
	}
	return r;
}

int rec_view_peek(struct rec_view *view, unsigned int lane, struct rec_view_event *ret_event)
{
	return next(view, lane, false, ret_event);
}

int rec_view_consume(struct rec_view *view, unsigned int lane, struct rec_view_event *ret_event)
{
	return next(view, lane, true, ret_event);
}
