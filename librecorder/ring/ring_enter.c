/* SPDX-License-Identifier: MIT */
/*
 * How a writer that left the fast path enters the ring: step C. Before that it determines whether it may write here at
 * all, whether the lane is full, and whether the writers that it seems to interrupt were left. ring.c has what it does
 * once it is inside.
 *
 * Guarantees: those of ring.h.
 */
#include <librecorder/detail/ring.h>

#include "librecorder/core/atomic.h"
#include "librecorder/ring/ring_private.h"

/*
 * Whether a reservation, or a move of the head, has been open for more sub-buffers than an interruption is likely to
 * write: it may never be finished, and would hide all later events from readers.
 */
static bool is_stuck(const struct rec_handle *handle)
{
	const struct rec_lane *lane = handle->lane;
	const uint32_t far = handle->nr_subbufs > 3 ? 2 : 1;
	const uint32_t mask = (uint32_t)REC_POS_SEQ_MASK;
	const uint32_t commit = REC_POS_SEQ(rec_load_relaxed(&lane->commit));
	const uint32_t moving = REC_POS_SEQ(rec_load_relaxed(&handle->moving));
	uint32_t tail;

	/*
	 * The tail is read last: a handler that comes in between moves all three positions, and none of them must seem
	 * to be ahead of the tail.
	 */
	rec_signal_fence();
	tail = REC_POS_SEQ(rec_load_relaxed(&lane->tail));
	return ((tail - commit) & mask) >= far || (handle->movers && ((tail - moving) & mask) >= far);
}

/* The stack of the reserving writer begins at `here`, and ends at `end` while the reservation is open. */
static void *reserve_slow(struct rec_handle *handle, uint32_t size, uint64_t here, uint64_t end,
			  struct rec_slot *ret_slot);
static void *reserve_gated(struct rec_handle *handle, uint32_t size, uint64_t here, uint64_t end,
			   struct rec_slot *ret_slot);

/* Whether the next event may have to go to the head, which holds unread events. */
static bool is_at_head(const struct rec_handle *handle, uint32_t size)
{
	const uint64_t tail = rec_load_relaxed(&handle->lane->tail);
	const uint64_t end = (uint64_t)REC_POS_OFF(tail) + REC_RESTATE_SIZE + 4 + size;

	return end > (uint64_t)handle->capacity * 4 &&
	       REC_LINK_FLAG(rec_read_link(handle, REC_POS_ID(tail))) != REC_LINK_NORMAL;
}

/*
 * All cases that reserve_slow() does not handle. This is a separate function, so that a refusal needs no stack frame. A
 * handler that finishes its events before C leaves the open word unchanged; one that leaves a reservation open changes
 * it, and C is repeated. A function of the handle is loaded once: if a handler forks and returns, the child's handles
 * have none.
 */
static __attribute__((noinline)) void *reserve_rare(struct rec_handle *handle, uint32_t size, uint64_t here,
						    uint64_t end, struct rec_slot *ret_slot)
{
	struct rec_lane *lane = handle->lane;
	uint64_t below, start, open;
	struct rec_handle *other;
	unsigned char *at;
	struct rec_handle *(*find)(struct rec_handle *handle);

	do {
		below = rec_load_relaxed(&lane->open);
		if (REC_UNLIKELY(below)) {
			below = rec_ring_close_left(handle, here);
			find = rec_load_relaxed(&handle->on_stuck);
			other = below && find && is_stuck(handle) ? find(handle) : handle;
			if (other != handle)
				return other ? reserve_slow(other, size, here, end, ret_slot) : NULL;
			if (REC_OPEN_DEPTH(below) == REC_OPEN_DEPTH_MAX) {
				rec_ring_refuse(handle, &lane->nested_limit);
				return NULL;
			}
		} else if ((find = rec_load_relaxed(&handle->grow)) && is_at_head(handle, size)) {
			other = find(handle);
			if (other != handle)
				return reserve_slow(other, size, here, end, ret_slot);
		}
		start = rec_load_relaxed(&lane->tail);
		rec_signal_fence();
		open = below ? below + REC_OPEN_ONE : end;
		/* C */
	} while (!rec_local_cmpxchg64(&lane->open, below, open));
	REC_TESTPOINT(slow_open);
	/* Has a handler given up the lane since the gate was checked? After C no handler can give it up. */
	if (REC_UNLIKELY(rec_load_relaxed(&handle->given_up))) {
		rec_store_relaxed(&lane->open, 0);
		return reserve_gated(handle, size, here, end, ret_slot);
	}
	*ret_slot = (struct rec_slot){ .lane = lane, .handle = handle, .open = open };
	at = rec_ring_reserve(size, below != 0, start, ret_slot);
	if (!at) {
		while (!rec_local_cmpxchg64(&lane->open, open, below))
			rec_ring_take_back(handle, start, open);
		REC_TESTPOINT(refuse_open);
	}
	return at;
}

/*
 * Reserve while the gate is closed. It is closed because there is a request, because the lane is disabled, or because a
 * lane has to be found for each event.
 */
static void *reserve_gated(struct rec_handle *handle, uint32_t size, uint64_t here, uint64_t end,
			   struct rec_slot *ret_slot)
{
	struct rec_handle *(*find)(struct rec_handle *handle) = rec_load_relaxed(&handle->on_gate);
	struct rec_handle *open = find ? find(handle) : NULL;
	void (*leave)(struct rec_handle *handle);
	void *at;

	if (!open) {
		rec_local_add64(&handle->lane->disabled, 1);
		REC_TESTPOINT(refuse_disabled);
		return NULL;
	}
	/* reserve_slow() would come here again, because the gate may have to stay closed for later events. */
	if (open == handle || !open->is_held)
		return reserve_rare(open, size, here, end, ret_slot);
	at = rec_reserve(open, size, ret_slot);
	if (at && !ret_slot->open)
		ret_slot->open = REC_OPEN_BORROWED;
	leave = at ? NULL : rec_load_relaxed(&open->leave);
	if (leave)
		leave(open);
	return at;
}

/* A thread whose events are refused looks for another lane with one event in this number. */
#define LOOK_INTERVAL 64u

/*
 * Whether the event is refused because the lane is full, in discard mode. This is the plain case of next_subbuf()'s
 * refusal, without clock and plan. next_subbuf() handles the other cases: another writer is inside, or was left there;
 * the commit position is on another sub-buffer; the time of this refusal is needed; the event may be too long, or takes
 * a few bytes more than its event word and size; or it is time to look for another lane again.
 */
static inline bool is_full(const struct rec_handle *handle, uint32_t size)
{
	const struct rec_lane *lane = handle->lane;
	const uint64_t old = rec_load_relaxed(&lane->tail);
	const uint32_t room = handle->capacity * 4 - 4;
	uint64_t link, commit;

	if (handle->overwrite || rec_load_relaxed(&lane->open) || size > room - REC_RESTATE_SIZE - 8 ||
	    REC_POS_OFF(old) + size <= room)
		return false;
	rec_signal_fence();
	/* The tail is the program's own: its sub-buffer exists. */
	link = rec_load_acquire(&handle->links[REC_POS_ID(old)].next);
	commit = rec_load_relaxed(&lane->commit);
	rec_signal_fence();
	/* The tail is read again: if it is unchanged, the values read in between belong to it. */
	return REC_LINK_FLAG(link) != REC_LINK_NORMAL && REC_POS_ID(commit) == REC_POS_ID(old) &&
	       rec_load_relaxed(&lane->refused_time) != 0 && rec_load_relaxed(&lane->dropped) % LOOK_INTERVAL &&
	       rec_load_relaxed(&lane->tail) == old;
}

static void *reserve_slow(struct rec_handle *handle, uint32_t size, uint64_t here, uint64_t end,
			  struct rec_slot *ret_slot)
{
	struct rec_lane *lane = handle->lane;

	/*
	 * NULL in a forked child, whose handles are zeroed, if a handler forked in the middle of an event and returned.
	 */
	if (!lane)
		return NULL;
	if (!rec_gate_is_open(handle))
		return reserve_gated(handle, size, here, end, ret_slot);
	if (is_full(handle, size)) {
		rec_local_add64(&lane->dropped, 1);
		REC_TESTPOINT(refuse_full_again);
		return NULL;
	}
	return reserve_rare(handle, size, here, end, ret_slot);
}

/*
 * `end` is the end of our caller's stack. A function that is called while the reservation is open has its frame below
 * it.
 */
void *rec_reserve_slow(struct rec_handle *handle, uint32_t size, struct rec_slot *ret_slot)
{
	const uint64_t end = (uint64_t)(uintptr_t)__builtin_dwarf_cfa();

	return reserve_slow(handle, size, end, end, ret_slot);
}

/* Not inlined: it needs a stack frame, and rec_reserve_rest() shall have none when the clock is the TSC. */
static __attribute__((noinline)) void *reserve_mono(struct rec_handle *handle, uint32_t size, uint64_t here,
						    uint64_t end, struct rec_slot *ret_slot)
{
	void *at = rec_reserve_fast(handle, size, 1, ret_slot);

	return at ? at : reserve_slow(handle, size, here, end, ret_slot);
}

void *rec_reserve_rest(struct rec_handle *handle, uint32_t size, const void *here, struct rec_slot *ret_slot)
{
	const uint64_t end = (uint64_t)(uintptr_t)__builtin_dwarf_cfa();

	if (handle->clock == REC_CLOCK_MONO)
		return reserve_mono(handle, size, (uint64_t)(uintptr_t)here, end, ret_slot);
	return reserve_slow(handle, size, (uint64_t)(uintptr_t)here, end, ret_slot);
}
