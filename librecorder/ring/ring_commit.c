/* SPDX-License-Identifier: MIT */
/*
 * The writer's rare cases after a reservation: the commit position passes the events of nested writers and moves from
 * one sub-buffer to another, sleeping readers are woken, events are taken back. Guarantees and steps: ring.c.
 */
#include <librecorder/detail/ring.h>

#include "librecorder/core/atomic.h"
#include "librecorder/ring/ring_private.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

bool rec_ring_is_hit(const struct rec_lane *lane, const struct rec_lane_reader *words, uint32_t percent)
{
	const uint64_t touched = rec_load_relaxed(&lane->pages_touched);
	const uint64_t gone = rec_load_relaxed(&lane->pages_lost) + rec_load_relaxed(&words->pages_read);
	const uint64_t dirty = touched > gone ? touched - gone : 0;

	return (dirty + 1) * 100 >= (uint64_t)percent * (rec_load_relaxed(&lane->nr_subbufs) - 1);
}

void rec_ring_wake(struct rec_lane_reader *words)
{
	const int saved = errno;

	/*
	 * `waiters` is cleared before the futex word changes: a reader that sets it again afterwards waits for the next
	 * wake-up.
	 */
	rec_store_relaxed(&words->waiters, 0);
	__atomic_fetch_add(&words->wake, 1, __ATOMIC_SEQ_CST);
	syscall(SYS_futex, &words->wake, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
	errno = saved;
}

/* If a reader sleeps until the lane is filled to a percentage (facts C11), and it is, wake the reader. Edge K1. */
static void look_for_waiters(const struct rec_handle *handle)
{
	struct rec_lane_reader *reader = handle->reader;

	rec_fence_full();
	if (REC_UNLIKELY(rec_load_relaxed(&reader->waiters)) &&
	    rec_ring_is_hit(handle->lane, reader, rec_load_relaxed(&reader->waiters) - 1))
		rec_ring_wake(reader);
}

/*
 * The commit position moves from one sub-buffer to another: store the number of the first event of each one on the
 * way.
 */
static bool publish_path(struct rec_handle *handle, struct rec_lane *lane, uint64_t from, uint64_t to)
{
	uint32_t id = REC_POS_ID(from);
	uint32_t pages = 0;

	while (id != REC_POS_ID(to)) {
		const struct rec_subbuf *left = &handle->subbufs[id];
		const uint32_t next = rec_link_id(handle, rec_read_link(handle, id));
		struct rec_subbuf *entered = &handle->subbufs[next];

		rec_store_relaxed(&entered->first, left->first + left->entries);
		REC_TESTPOINT(entered_first);
		rec_store_relaxed(&entered->visit, left->visit + 1);
		REC_TESTPOINT(entered_visit);
		rec_store_relaxed(&entered->refused, rec_lane_refusals(lane));
		rec_store_relaxed(&entered->refused_time, lane->refused_time);
		rec_store_relaxed(&lane->refused_time, 0);
		REC_TESTPOINT(entered_refused);
		id = next;
		if (++pages > handle->nr_subbufs) {
			lane->broken = __LINE__;
			rec_gate_close(handle);
			return false;
		}
	}
	/* Release: the sizes and numbers above are stored before the position that makes them valid (edge C1). */
	rec_store_release(&lane->commit, to);
	REC_TESTPOINT(publish);
	if (pages) {
		/* After the commit position: a reader that sees the count also sees the position (edge T1). */
		rec_fence_release();
		rec_local_add64(&lane->pages_touched, pages);
		REC_TESTPOINT(publish_touched);
		/* finish() calls `leave` after H. */
		rec_store_relaxed(&handle->leave, handle->entered);
		look_for_waiters(handle);
	}
	return true;
}

/*
 * T: others wrote since D, so `after` and `cpu` may be those of our event and not of the last one: let the next event
 * state time and CPU. The order of the two stores does not matter: if a handler comes in between, publish() finds
 * another tail, and calls this function again.
 */
static void doubt(struct rec_lane *lane)
{
	rec_ring_raise(&lane->after, rec_load_relaxed(&lane->before));
	rec_store_relaxed(&lane->cpu, REC_CPU_NONE);
	REC_TESTPOINT(slow_doubt);
	rec_signal_fence();
}

/*
 * Move the commit position from `from` to the tail, until both agree, if that is the caller's task. If the commit
 * position is elsewhere, the caller interrupted another writer, which will move it; or a nested writer that came when
 * everything was committed was outermost itself, and has moved it. The caller's own event ends at `end`, and its open
 * word is `open`. If the lane has another open word although we are running, a writer inside the caller was left:
 * everything after `end`, or the unpublished part of it, is taken back.
 */
REC_INLINE_ALWAYS void publish(struct rec_handle *handle, uint64_t open, uint64_t from, uint64_t end)
{
	struct rec_lane *lane = handle->lane;
	uint64_t tail;

	for (;;) {
		/*
		 * The tail is read first. If the commit position has not moved since then, no nested writer has moved
		 * it or will move it.
		 */
		tail = rec_load_relaxed(&lane->tail);
		rec_signal_fence();
		if (REC_UNLIKELY(rec_load_relaxed(&lane->open) != open)) {
			rec_ring_take_back(handle, end, open);
			continue;
		}
		if (tail == from || rec_load_relaxed(&lane->commit) != from)
			return;
		/*
		 * This comes before publishing. In the other order, if this writer were left between the two, no other
		 * writer would know of the doubt.
		 */
		if (tail != end)
			doubt(lane);
		if (!publish_path(handle, lane, from, tail))
			return;
		rec_signal_fence();
		from = tail;
	}
}

/*
 * The end of a commit or discard: [from, end) is complete, and no reservation inside it is open. `open` is the slot's:
 * the lane's open word while no other writer is inside this one. A writer of the fast path is outermost, so the frame
 * in the word is its own, even if writers that interrupted it are counted there.
 */
REC_INLINE_ALWAYS void finish(struct rec_handle *handle, uint64_t open, uint64_t from, uint64_t end)
{
	struct rec_lane *lane = handle->lane;
	bool nested;
	void (*leave)(struct rec_handle *);

	if (open <= REC_OPEN_BORROWED)
		open = REC_OPEN_FRAME(rec_load_relaxed(&lane->open));
	nested = REC_OPEN_DEPTH(open);
	/*
	 * If this writer interrupted no other and has a reservation, but the reservation does not begin at the commit
	 * position, then a handler left another reservation open just before this one began. In this rare case the
	 * writer loses its own event.
	 */
	if (REC_UNLIKELY(!nested && end != from && rec_load_relaxed(&lane->commit) != from))
		rec_ring_take_back(handle, rec_load_relaxed(&lane->commit), open);
	/*
	 * H, as in rec_commit(), but by an exchange: if a handler has left a reservation, the exchange fails, and
	 * publish() takes the reservation back.
	 */
	do {
		publish(handle, open, from, end);
		rec_signal_fence();
	} while (!rec_local_cmpxchg64(&lane->open, open, nested ? open - REC_OPEN_ONE : 0));
	REC_TESTPOINT(slow_close);
	/* `leave` is loaded once: a handler may do the work, and clear it. */
	leave = rec_load_relaxed(&handle->leave);
	if (REC_UNLIKELY(leave))
		leave(handle);
}

/*
 * False if a forked child returned to an event of its parent, or if the lane or the reservation was taken back because
 * its writer seemed to have left it.
 */
static bool is_ours(const struct rec_slot *slot)
{
	const struct rec_handle *handle = slot->handle;
	const struct rec_lane *lane = slot->lane;

	return handle->lane == lane && (REC_LIKELY(!handle->is_held) || handle->is_held(lane)) &&
	       rec_ring_distance(lane, slot->end) <= rec_ring_distance(lane, rec_load_relaxed(&lane->tail));
}

/*
 * is_ours() for the plain case of a lane that was taken for one event, without computing distances: the slot is the
 * only open reservation, and nothing comes after it. In a forked child `is_held` may be NULL.
 */
static bool is_plain_borrowed(const struct rec_slot *slot)
{
	const struct rec_lane *lane = slot->lane;
	bool (*is_held)(const struct rec_lane *) = slot->handle->is_held;

	return slot->open == REC_OPEN_BORROWED && slot->handle->lane == lane && is_held && is_held(lane) &&
	       rec_load_relaxed(&lane->commit) == slot->old && rec_load_relaxed(&lane->tail) == slot->end;
}

void rec_publish_slow(struct rec_handle *handle, struct rec_lane *lane, uint64_t end)
{
	/* In a forked child that returned to an event of its parent, the lane is not ours. */
	if (handle->lane == lane)
		finish(handle, 0, end, end);
}

/*
 * A commit that is not the plain case: this writer interrupts another one, the event did not come by the fast path, or
 * the lane is shared.
 */
void rec_commit_slow(const struct rec_slot *slot)
{
	struct rec_lane *lane = slot->lane;
	void (*leave)(struct rec_handle *);

	if (REC_LIKELY(is_plain_borrowed(slot))) {
		rec_commit_fast(slot);
		leave = rec_load_relaxed(&slot->handle->leave);
		if (REC_LIKELY(leave))
			leave(slot->handle);
		return;
	}
	if (!is_ours(slot))
		return;
	/* G: the outermost writer overwrites the value of a nested one, and marks it as unknown (T). */
	rec_store_relaxed(&lane->after, slot->now);
	REC_TESTPOINT(slow_after);
	finish(slot->handle, slot->open, slot->old, slot->end);
}

void rec_commit_moved(struct rec_handle *handle, struct rec_lane *lane, uint64_t old, uint64_t end, uint64_t now)
{
	const struct rec_slot slot = { .lane = lane, .handle = handle, .old = old, .end = end, .now = now };

	rec_commit_slow(&slot);
}

/* The lengths that copy_short() can copy. */
static inline bool is_short(uint32_t size)
{
	return size >= 16 && size <= 64;
}

/* Copies 16 to 64 bytes by two or four moves, which may overlap. */
static inline void copy_short(unsigned char *to, const unsigned char *from, size_t size)
{
	memcpy(to, from, 16);
	if (size > 32) {
		memcpy(to + 16, from + 16, 16);
		memcpy(to + size - 32, from + size - 32, 16);
	}
	memcpy(to + size - 16, from + size - 16, 16);
}

/* What rec_write() does not do by itself; its stack began at `here`. */
static __attribute__((noinline)) int write_rest(struct rec_handle *handle, const void *payload, uint32_t size,
						const void *here)
{
	struct rec_slot slot;
	void *to;

	if (is_short(size))
		to = rec_reserve_rest(handle, size, here, &slot);
	else
		to = rec_reserve_from(handle, size, here, &slot);
	if (!to)
		return -EBUSY;
	memcpy(to, payload, size);
	rec_commit(&slot);
	return 0;
}

int rec_write(struct rec_handle *handle, const void *payload, uint32_t size)
{
	struct rec_slot slot;
	void *to = NULL;

	if (REC_LIKELY(is_short(size)))
		to = rec_reserve_fast(handle, size, 1, &slot);
	if (REC_UNLIKELY(!to))
		return write_rest(handle, payload, size, __builtin_dwarf_cfa());
	copy_short(to, payload, size);
	rec_commit_fast(&slot);
	return 0;
}

/*
 * Decrement the number of events of the sub-buffer with the reservation that ends at `end`; the tail may have left it.
 */
static void uncount(const struct rec_handle *handle, uint64_t end)
{
	struct rec_lane *lane = handle->lane;
	struct rec_subbuf *subbuf = &handle->subbufs[REC_POS_ID(end)];
	const uint64_t page = ~(REC_POS_OFF_MASK | REC_POS_COUNT_MASK << REC_POS_COUNT_SHIFT);
	uint64_t tail = rec_load_relaxed(&lane->tail), left;

	while ((tail & page) == (end & page)) {
		if (rec_local_cmpxchg64(&lane->tail, tail, tail - REC_POS_ONE_EVENT)) {
			REC_TESTPOINT(uncount_tail);
			return;
		}
		tail = rec_load_relaxed(&lane->tail);
	}
	/*
	 * Only the outermost writer publishes. Either we are that writer, or we interrupt it; so nothing reads
	 * `entries` before we store it.
	 */
	while (REC_POS_SEQ(left = rec_load_relaxed(&lane->left)) == REC_POS_SEQ(end)) {
		if (rec_local_cmpxchg64(&lane->left, left, left - REC_POS_ONE_EVENT)) {
			REC_TESTPOINT(uncount_left);
			rec_store_relaxed(&subbuf->entries, REC_POS_COUNT(left) - 1);
			REC_TESTPOINT(uncount_entries);
			return;
		}
	}
	rec_store_relaxed(&subbuf->entries, subbuf->entries - 1);
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

void rec_discard(const struct rec_slot *slot, void *payload)
{
	const uint64_t from = slot->old;
	const bool entered = REC_POS_SEQ(from) != REC_POS_SEQ(slot->end);
	struct rec_handle *handle = slot->handle;
	struct rec_lane *lane = slot->lane;
	unsigned char *end, *at;
	uint32_t total;
	uint64_t back;

	if (!is_ours(slot))
		return;
	end = rec_at_position(handle, slot->end);
	/* A long event has its length word between event word and payload. */
	at = (unsigned char *)payload - (end - (unsigned char *)payload > (ptrdiff_t)REC_EVENT_SMALL_MAX ? 8 : 4);
	total = (uint32_t)(end - at);
	back = slot->end - total / 4 - REC_POS_ONE_EVENT;
	/*
	 * The records before the event are taken back with it (facts H5), except at the beginning of a sub-buffer:
	 * there its time and CPU stay valid. If a marker is taken back, a writer that we interrupted may put its event
	 * there, and it does not know that the lane's CPU was that of the marker.
	 */
	if (entered) {
		rec_store_relaxed(&lane->after, slot->now);
		REC_TESTPOINT(discard_after);
	} else {
		back = from;
		if (slot->open)
			rec_store_relaxed(&lane->cpu, REC_CPU_NONE);
		REC_TESTPOINT(discard_cpu);
	}
	if (!rec_local_cmpxchg64(&lane->tail, slot->end, back)) {
		rec_put_padding(at, total);
		REC_TESTPOINT(discard_padding);
		uncount(handle, slot->end);
		back = slot->end - REC_POS_ONE_EVENT;
	}
	REC_TESTPOINT(discard_tail);
	finish(handle, slot->open, from, back);
}
