/* SPDX-License-Identifier: MIT */
/*
 * Reservations to which nobody comes back: a signal handler that interrupted one left by siglongjmp, its thread was
 * cancelled or ended by a raw exit, vfork's child was killed inside one. What was reserved behind such a one, and
 * committed, is found again.
 *
 * Each commit inside another writer's reservation is noted as a span of positions. So of all that lies between commit
 * position and tail it is known what is whole, whatever an abandoned writer has left of its own place.
 *
 * Guarantees. Notes are made on the writer stack, one store or exchange at a time: a handler that comes
 * in between, or never comes back, leaves a note that is whole or none. Spans that touch become one, so
 * there are about as many as reservations that stand open. Beyond REC_NESTED_MAX nothing is noted: that
 * counts as torn, never the other way round.
 */
#include "ring_private.h"

#include <librecorder/atomic.h>

/* No position: there is no sub-buffer with this number. */
#define BEING_MADE UINT64_MAX

/* Counts differ where an event behind was taken back. */
static bool is_same_place(uint64_t a, uint64_t b)
{
	return !((a ^ b) & ~(REC_POS_COUNT_MASK << REC_POS_COUNT_SHIFT));
}

/* How far ahead of the commit position; what that has passed is farther than the tail. */
static uint32_t distance(const struct rec_lane *lane, uint64_t pos)
{
	const uint32_t subbufs = (REC_POS_SEQ(pos) - REC_POS_SEQ(lane->commit)) & (uint32_t)REC_POS_SEQ_MASK;

	return (subbufs << REC_POS_OFF_BITS | (uint32_t)(pos & REC_POS_OFF_MASK)) -
	       (uint32_t)(lane->commit & REC_POS_OFF_MASK);
}

/* The span that begins at `pos`, and where it ends; NULL: there is none. */
static struct rec_span *begins_at(struct rec_nested *nested, uint64_t pos, uint64_t *ret_to)
{
	unsigned int i;

	for (i = 0; i < REC_NESTED_MAX; i++) {
		struct rec_span *span = &nested->spans[i];
		const uint64_t to = rec_load_relaxed(&span->to);

		if (to && to != BEING_MADE && is_same_place(rec_load_relaxed(&span->from), pos) && !is_same_place(to, pos)) {
			*ret_to = to;
			return span;
		}
	}
	return NULL;
}

/* The span that ends at `from` goes on to `to`. */
static bool lengthen(struct rec_nested *nested, uint64_t from, uint64_t to)
{
	unsigned int i;

	for (i = 0; i < REC_NESTED_MAX; i++) {
		struct rec_span *span = &nested->spans[i];
		const uint64_t was = rec_load_relaxed(&span->to);

		if (was && was != BEING_MADE && is_same_place(was, from) && rec_local_cmpxchg64(&span->to, was, to))
			return true;
	}
	return false;
}

static struct rec_span *free_span(struct rec_nested *nested)
{
	unsigned int i;

	for (i = 0; i < REC_NESTED_MAX; i++)
		if (rec_local_cmpxchg64(&nested->spans[i].to, 0, BEING_MADE))
			return &nested->spans[i];
	return NULL;
}

void rec_nested_note(struct rec_nested *nested, uint64_t from, uint64_t end)
{
	uint64_t to = end;
	/* What interrupted this event, and was committed, lies right behind it. */
	struct rec_span *inner = begins_at(nested, end, &to), *span;

	if (!lengthen(nested, from, to)) {
		span = free_span(nested);
		if (!span)
			return;
		rec_store_relaxed(&span->from, from);
		rec_signal_fence();
		rec_store_relaxed(&span->to, to);
	}
	/* Unless a handler lengthened it meanwhile. */
	if (inner)
		rec_local_cmpxchg64(&inner->to, to, 0);
}

/* The tail is looked at behind the span, which a handler may have lengthened just now. */
static bool is_before_tail(const struct rec_lane *lane, uint64_t to)
{
	rec_signal_fence();
	return distance(lane, to) <= distance(lane, rec_load_relaxed(&lane->tail));
}

/*
 * Where a span ends that begins before the commit position and goes beyond it; 0: there is none. A handler that
 * interrupts a writer who publishes a span lengthens that one, if it comes before the commit position has moved.
 */
static uint64_t reaches_over_commit(const struct rec_handle *handle)
{
	const struct rec_lane *lane = handle->lane;
	unsigned int i;

	for (i = 0; i < REC_NESTED_MAX; i++) {
		const struct rec_span *span = &handle->nested->spans[i];
		const uint64_t to = rec_load_relaxed(&span->to);

		if (to && to != BEING_MADE && !is_before_tail(lane, rec_load_relaxed(&span->from)) &&
		    !is_same_place(to, lane->commit) && is_before_tail(lane, to))
			return to;
	}
	return 0;
}

/*
 * Up to where all behind `pos` was committed, as far as one span tells; 0: none does. Spans overlap where a
 * writer was left before it had made one of two.
 */
static uint64_t whole_behind(const struct rec_handle *handle, uint64_t pos)
{
	const struct rec_lane *lane = handle->lane;
	const uint32_t at = distance(lane, pos);
	unsigned int i;

	for (i = 0; i < REC_NESTED_MAX; i++) {
		const struct rec_span *span = &handle->nested->spans[i];
		const uint64_t to = rec_load_relaxed(&span->to);

		if (to && to != BEING_MADE && distance(lane, rec_load_relaxed(&span->from)) <= at && distance(lane, to) > at &&
		    is_before_tail(lane, to))
			return to;
	}
	return is_same_place(pos, lane->commit) ? reaches_over_commit(handle) : 0;
}

void rec_nested_forget(const struct rec_handle *handle)
{
	const struct rec_lane *lane = handle->lane;
	unsigned int i;

	for (i = 0; i < REC_NESTED_MAX; i++) {
		uint64_t *word = &handle->nested->spans[i].to;
		const uint64_t to = rec_load_relaxed(word);

		if (to && to != BEING_MADE &&
		    (is_same_place(to, lane->commit) || distance(lane, to) > distance(lane, rec_load_relaxed(&lane->tail))))
			rec_local_cmpxchg64(word, to, 0);
	}
}

/*
 * Where the first span behind `pos` begins; 0: there is none. One that is published may be there yet, if whoever
 * published it was left before he forgot it: that begins before the commit position, which is farther than its end.
 */
static uint64_t next_span(const struct rec_handle *handle, uint64_t pos)
{
	const struct rec_lane *lane = handle->lane;
	uint64_t next = 0;
	unsigned int i;

	for (i = 0; i < REC_NESTED_MAX; i++) {
		const struct rec_span *span = &handle->nested->spans[i];
		const uint32_t from = distance(lane, span->from), to = distance(lane, span->to);

		if (span->to && span->to != BEING_MADE && from > distance(lane, pos) && from < to &&
		    to <= distance(lane, lane->tail) && (!next || from < distance(lane, next)))
			next = span->from;
	}
	return next;
}

static unsigned char *data_of(const struct rec_handle *handle, uint32_t id)
{
	return handle->data + ((uint64_t)id << handle->shift);
}

static uint32_t count_events(const struct rec_handle *handle, uint32_t id, uint32_t size)
{
	struct rec_page_iter iter;
	struct rec_record record;
	uint32_t events = 0;

	rec_page_iter_init(&iter, subbuf_header(handle, id), size);
	while (rec_page_next(&iter, &record) > 0)
		events++;
	return events;
}

static uint64_t with_count(const struct rec_handle *handle, uint64_t pos)
{
	return REC_POS(REC_POS_ID(pos), REC_POS_SEQ(pos), count_events(handle, REC_POS_ID(pos), REC_POS_OFF(pos)),
		       REC_POS_OFF(pos));
}

uint64_t rec_nested_end(const struct rec_handle *handle, uint64_t known, uint64_t tail)
{
	uint64_t pos = known;
	unsigned int steps;

	for (steps = 0; steps <= REC_NESTED_MAX && !is_same_place(pos, tail); steps++) {
		const uint64_t to = whole_behind(handle, pos);

		if (!to)
			break;
		pos = to;
	}
	return is_same_place(pos, tail) ? tail : with_count(handle, pos);
}

/* At least 8 bytes of an event are there. */
static bool is_marker(const unsigned char *at)
{
	uint32_t word, magic;

	memcpy(&word, at, sizeof(word));
	if (word != REC_MARKER_WORD)
		return false;
	memcpy(&magic, at + 8, sizeof(magic));
	return magic == REC_MARKER_MAGIC;
}

/*
 * Go over the records of an abandoned stretch; with `change`, events become padding that keeps their
 * deltas. False: it is not made of whole records.
 */
static bool take_out(unsigned char *at, const unsigned char *end, bool change)
{
	while (at < end) {
		uint32_t word, length = 0, type, total = REC_TIME_EXTEND_SIZE;

		memcpy(&word, at, sizeof(word));
		type = word & ((1u << REC_TYPE_BITS) - 1u);
		if (type == 0 || type == REC_TYPE_PADDING) {
			memcpy(&length, at + 4, sizeof(length));
			total = length < REC_SUBBUF_MAX ? length + 4 : 0;
		} else if (type <= REC_TYPE_DATA_MAX) {
			total = 4 + type * 4;
		}
		if (total < 8 || total % 4 || total > (size_t)(end - at))
			return false;
		if (change && type <= REC_TYPE_DATA_MAX) {
			rec_put_padding(at, total);
			rec_keep_delta(at, total, word >> REC_TYPE_BITS);
		}
		at += total;
	}
	return true;
}

/*
 * A sub-buffer begins with time and CPU: take them from the event that does,
 * and the padding shall begin behind them.
 */
static unsigned char *begin_subbuf(const struct rec_handle *handle, uint32_t id, const unsigned char *event)
{
	unsigned char *at = data_of(handle, id);
	uint32_t low, high;

	memcpy(at, event, REC_MARKER_SIZE + REC_TIME_EXTEND_SIZE);
	memcpy(&low, event + REC_MARKER_SIZE, sizeof(low));
	memcpy(&high, event + REC_MARKER_SIZE + 4, sizeof(high));
	subbuf_header(handle, id)->time_stamp = (handle->lane->after & ~REC_TIME_STAMP_MASK) |
						(uint64_t)high << REC_DELTA_BITS | low >> REC_TYPE_BITS;
	return at + REC_MARKER_SIZE + REC_TIME_EXTEND_SIZE;
}

/*
 * Bytes [from, to) of a sub-buffer were reserved and never committed. Whoever reserved the event at `to` has stated
 * time and CPU anew, unless the one before had come so far that all it wrote in front of its payload is there
 * (ring.c, F and G). `is_last`: there is none, the event behind went to the next sub-buffer.
 */
static void fill_stretch(const struct rec_handle *handle, uint32_t id, uint32_t from, uint32_t to, bool is_last)
{
	unsigned char *at = data_of(handle, id) + from;
	unsigned char *const end = data_of(handle, id) + to;

	if (at == end)
		return;
	if (!is_last && is_marker(end)) {
		if (from == 0)
			at = begin_subbuf(handle, id, end);
		rec_put_padding(at, (uint32_t)(end - at));
	} else if (take_out(at, end, false)) {
		take_out(at, end, true);
	} else {
		rec_put_padding(at, to - from);
	}
}

/* All that lies between the two positions was reserved and never committed. */
static void fill_gap(const struct rec_handle *handle, uint64_t from, uint64_t to)
{
	uint32_t id = REC_POS_ID(from), at = REC_POS_OFF(from), steps;

	for (steps = 0; id != REC_POS_ID(to) && steps < handle->nr_subbufs; steps++) {
		/* Who left it may not have come to say where it ends. */
		subbuf_header(handle, id)->commit = at;
		id = rec_link_id(handle, rec_read_link(handle, id));
		at = 0;
	}
	fill_stretch(handle, id, at, REC_POS_OFF(to),
		     REC_POS_SEQ(handle->lane->tail) != REC_POS_SEQ(to) &&
			     (subbuf_header(handle, id)->commit & REC_COMMIT_SIZE_MASK) == REC_POS_OFF(to));
}

/* The sub-buffers from the commit position to `to`: how many events are on them now. */
static void recount(const struct rec_handle *handle, uint64_t to)
{
	uint32_t id = REC_POS_ID(handle->lane->commit), steps;

	for (steps = 0; id != REC_POS_ID(to) && steps < handle->nr_subbufs; steps++) {
		handle->subbufs[id].entries =
			count_events(handle, id, (uint32_t)subbuf_header(handle, id)->commit & REC_COMMIT_SIZE_MASK);
		id = rec_link_id(handle, rec_read_link(handle, id));
	}
}

uint64_t rec_nested_settle(const struct rec_handle *handle, uint64_t *ret_torn)
{
	const struct rec_lane *lane = handle->lane;
	uint64_t pos = lane->commit, next = 0, torn = 0;
	unsigned int steps;

	for (steps = 0; steps <= 2 * REC_NESTED_MAX && !is_same_place(pos, lane->tail); steps++) {
		next = whole_behind(handle, pos);
		if (!next) {
			torn++;
			next = next_span(handle, pos);
			if (!next)
				break;
			fill_gap(handle, pos, next);
		}
		pos = next;
	}
	*ret_torn = torn;
	if (is_same_place(pos, lane->commit))
		return lane->commit;
	recount(handle, pos);
	return with_count(handle, pos);
}
