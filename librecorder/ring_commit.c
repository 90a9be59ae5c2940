/* SPDX-License-Identifier: MIT */
/*
 * The writer's rare cases behind a reservation: the commit position goes over the events of nested writers and from one
 * sub-buffer to another, sleeping readers are woken, events are taken back. Guarantees and steps: ring.c.
 */
#include <librecorder/ring.h>

#include "ring_private.h"

#include <errno.h>
#include <string.h>

/*
 * A reader sleeps until the lane is full to its percentage (facts C11): wake it if it is. The fence keeps the look
 * at `waiters` behind the commit position that was just stored; the sleeper's stands between its store of `waiters`
 * and its look at the commit position. So at least one of the two sees the other (edge K1).
 */
static void look_for_waiters(const struct rec_handle *handle)
{
	struct rec_lane_reader *reader = handle->reader;

	rec_fence_full();
	if (REC_UNLIKELY(rec_load_relaxed(&reader->waiters)) &&
	    rec_ring_is_hit(handle->lane, reader, rec_load_relaxed(&reader->waiters) - 1))
		rec_ring_wake(reader);
}

/* The commit position goes from one sub-buffer to another: number the first event of each one on the way. */
bool rec_ring_publish_path(struct rec_handle *handle, uint64_t from, uint64_t to)
{
	struct rec_lane *lane = handle->lane;
	uint32_t id = REC_POS_ID(from);
	uint32_t pages = 0;

	while (id != REC_POS_ID(to)) {
		const struct rec_subbuf *left = &handle->subbufs[id];
		const uint32_t next = rec_link_id(handle, rec_read_link(handle, id));
		struct rec_subbuf *entered = &handle->subbufs[next];

		entered->first = left->first + left->entries;
		REC_TESTPOINT(entered_first);
		rec_store_relaxed(&entered->visit, left->visit + 1);
		REC_TESTPOINT(entered_visit);
		entered->refused = rec_lane_refusals(lane);
		entered->refused_time = lane->refused_time;
		lane->refused_time = 0;
		REC_TESTPOINT(entered_refused);
		id = next;
		if (++pages > handle->nr_subbufs) {
			lane->broken = __LINE__;
			rec_store_relaxed(&handle->room, 0);
			return false;
		}
	}
	/* Release: sizes and numbers above come before the position that makes them count (edge C1). */
	rec_store_release(&lane->commit, to);
	REC_TESTPOINT(publish);
	if (pages) {
		/* Behind the commit position: a reader that sees the count sees that too (edge T1). */
		rec_fence_release();
		rec_local_add64(&lane->pages_touched, pages);
		REC_TESTPOINT(publish_touched);
		look_for_waiters(handle);
	}
	return true;
}

/*
 * Bring the commit position from `from` to wherever the tail stands still, if it is the caller's to move; up to
 * `known` nothing is left open. False: it is elsewhere. Then the caller interrupted another writer, which will do
 * it; or a nested writer that came when everything was committed was its own outermost, and did.
 */
bool rec_ring_publish(struct rec_handle *handle, struct rec_lane *lane, uint64_t from, uint64_t known)
{
	bool ours = false;
	uint64_t tail, to;

	for (;;) {
		/*
		 * Tail first, commit after: a tail beyond a commit position that has not moved since
		 * means that some nested writer saw itself not outermost; then none that still comes
		 * will, and the position is ours to move.
		 */
		tail = rec_load_relaxed(&lane->tail);
		rec_signal_fence();
		if (tail == from || rec_load_relaxed(&lane->commit) != from)
			return ours || tail == from;
		ours = true;
		/*
		 * What lies behind us was interrupted by nobody who is still there:
		 * what is open will never be committed.
		 */
		to = tail == known || !handle->nested ? tail : rec_nested_end(handle, known, tail);
		if (to == from || !rec_ring_publish_path(handle, from, to))
			return true;
		if (handle->nested && to != known)
			rec_nested_forget(handle);
		if (to != tail)
			return true;
		rec_signal_fence();
		from = known = tail;
	}
}

void rec_publish_slow(struct rec_handle *handle, struct rec_lane *lane, uint64_t from)
{
	/* A forked child came back into an event of its parent's: the lane is not ours. */
	if (handle->lane == lane)
		rec_ring_publish(handle, lane, from, from);
}

/* [from, end) is done with, whoever publishes it. */
static void finish(struct rec_handle *handle, struct rec_lane *lane, uint64_t from, uint64_t end)
{
	if (!rec_ring_publish(handle, lane, from, end) && handle->nested)
		rec_nested_note(handle->nested, from, end);
}

/* The same on a shared lane, where nothing nests; unless it was taken away, as from one to which nobody comes back. */
static __attribute__((noinline)) void finish_shared(struct rec_handle *handle, struct rec_lane *lane, uint64_t from,
						    uint64_t end)
{
	if (!handle->is_held(lane))
		return;
	/* Release: edge C1, as in rec_commit(). */
	if (REC_POS_SEQ(from) == REC_POS_SEQ(end))
		rec_store_release(&lane->commit, end);
	else
		finish(handle, lane, from, end);
	handle->leave(handle);
}

/*
 * A commit of [from, end) that is not the plain case: another writer is open below, the event lies behind a change of
 * sub-buffer, or the lane is shared.
 */
void rec_commit_slow(struct rec_handle *handle, struct rec_lane *lane, uint64_t from, uint64_t end)
{
	if (handle->lane != lane)
		return;
	if (REC_UNLIKELY(handle->leave))
		finish_shared(handle, lane, from, end);
	else
		finish(handle, lane, from, end);
}

int rec_write(struct rec_handle *handle, const void *payload, uint32_t size)
{
	struct rec_slot slot;
	void *to = rec_reserve(handle, size, &slot);

	if (!to)
		return -EBUSY;
	memcpy(to, payload, size);
	rec_commit(&slot);
	return 0;
}

/* One event fewer on the sub-buffer where the reservation `end` lies; the tail may have left it. */
static void uncount(const struct rec_handle *handle, uint64_t end)
{
	struct rec_lane *lane = handle->lane;
	const uint64_t page = ~(REC_POS_OFF_MASK | REC_POS_COUNT_MASK << REC_POS_COUNT_SHIFT);
	uint64_t tail = rec_load_relaxed(&lane->tail);

	while ((tail & page) == (end & page)) {
		if (rec_local_cmpxchg64(&lane->tail, tail, tail - REC_POS_ONE_EVENT)) {
			REC_TESTPOINT(uncount_tail);
			return;
		}
		tail = rec_load_relaxed(&lane->tail);
	}
	/* Only the outermost publishes, and that is us or waits for us: entries is not read before. */
	handle->subbufs[REC_POS_ID(end)].entries--;
	REC_TESTPOINT(uncount_entries);
}

void rec_put_padding(unsigned char *at, uint32_t total)
{
	const uint32_t length = total - 4;
	const uint32_t zero = 0;
	uint32_t word;

	memcpy(&word, at, sizeof(word));
	word = (word & ~((1u << REC_TYPE_BITS) - 1u)) | REC_TYPE_PADDING;
	if (word >> REC_TYPE_BITS == 0)
		word |= 1u << REC_TYPE_BITS;
	memcpy(at, &word, sizeof(word));
	memcpy(at + 4, &length, sizeof(length));
	if (total > 8)
		memcpy(at + 8, &zero, sizeof(zero));
}

void rec_keep_delta(unsigned char *at, uint32_t total, uint32_t delta)
{
	if (!delta)
		return;
	rec_put_stamp(at, delta, REC_TYPE_TIME_EXTEND);
	if (total > REC_TIME_EXTEND_SIZE) {
		rec_put_stamp(at + REC_TIME_EXTEND_SIZE, 0, 0);
		rec_put_padding(at + REC_TIME_EXTEND_SIZE, total - REC_TIME_EXTEND_SIZE);
	}
}

void rec_discard(const struct rec_slot *slot, void *payload)
{
	const uint64_t from = slot->crossed ? slot->crossed : slot->old;
	const bool entered = REC_POS_SEQ(from) != REC_POS_SEQ(slot->end);
	struct rec_handle *handle = slot->handle;
	struct rec_lane *lane = slot->lane;
	unsigned char *end, *at;
	uint32_t total, word;
	uint64_t back;

	if (handle->lane != lane || (REC_UNLIKELY(handle->leave) && !handle->is_held(lane)))
		return;
	end = rec_at_position(handle, slot->end);
	/* A long event has its length word between event word and payload. */
	at = (unsigned char *)payload - (end - (unsigned char *)payload > (ptrdiff_t)REC_EVENT_SMALL_MAX ? 8 : 4);
	total = (uint32_t)(end - at);
	memcpy(&word, at, sizeof(word));
	back = slot->end - total / 4 - REC_POS_ONE_EVENT;
	/*
	 * The next event must not build its delta on one that is gone (facts H18). First of all: should we never
	 * come back, the event stands there with its own until somebody takes it out.
	 */
	rec_store_relaxed(&lane->before, REC_STAMP_IN_DOUBT);
	REC_TESTPOINT(discard_before);
	/*
	 * What stands in front of the event goes with it (facts H5), but where it begins a sub-buffer;
	 * and if that is a marker, a writer that we interrupted may put its event there instead and not
	 * know that the lane's CPU is the marker's.
	 */
	if (!entered) {
		back = from;
		rec_store_relaxed(&lane->cpu, REC_CPU_NONE);
		REC_TESTPOINT(discard_cpu);
	}
	if (!rec_local_cmpxchg64(&lane->tail, slot->end, back)) {
		rec_put_padding(at, total);
		REC_TESTPOINT(discard_padding);
		rec_keep_delta(at, total, word >> REC_TYPE_BITS);
		REC_TESTPOINT(discard_delta);
		uncount(handle, slot->end);
		back = slot->end;
	}
	REC_TESTPOINT(discard_tail);
	if (REC_UNLIKELY(handle->leave))
		finish_shared(handle, lane, from, back);
	else
		finish(handle, lane, from, back);
}
