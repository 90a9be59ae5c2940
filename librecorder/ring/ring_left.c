/* SPDX-License-Identifier: MIT */
/*
 * Reservations that will never be finished. A signal handler interrupted the reservation and left by siglongjmp; or the
 * thread was cancelled, or ended by a raw exit, inside it; or a child of vfork was killed inside it.
 *
 * Guarantees. Such a reservation is taken back, with everything that was reserved after it. Nothing of that was
 * visible, because nested events become visible with the outermost one. The tail returns to where the reservation
 * began, so the lane continues as if there had been no reservation, and the number of torn events is a difference of
 * counts.
 * docs/MEMORY-MODEL.md, "Reservations that are left", shows who finds such a reservation, and how.
 */
#include "librecorder/core/atomic.h"
#include "librecorder/os/signal_block.h"
#include "librecorder/ring/ring_private.h"

#include <signal.h>

/*
 * A reservation was left if its frame is on the same stack as ours, and lower; or if it was begun on the alternate
 * stack and the thread is on its own stack now. A stack with SS_AUTODISARM cannot be seen here; but libc keeps a
 * thread's data above its stack, so a frame on the other side of these data is on another stack.
 */
bool rec_ring_is_left(uint64_t then, uint64_t here)
{
	const uint64_t thread = (uint64_t)(uintptr_t)__builtin_thread_pointer();
	stack_t alternate = { .ss_flags = SS_DISABLE };
	uint64_t from;

	if (here <= then || sigaltstack(NULL, &alternate) < 0)
		return false;
	if (alternate.ss_flags & SS_DISABLE)
		return (then > thread) == (here > thread);
	from = (uint64_t)(uintptr_t)alternate.ss_sp;
	return !(alternate.ss_flags & SS_ONSTACK) || (then >= from && then < from + alternate.ss_size);
}

/*
 * Before the tail is put back to `to`: mark the sub-buffers that it has entered since as invalid. Their old contents
 * were overwritten, and iterators, which rely on the tail, must not use them once the tail is back.
 */
static void forget_subbufs(const struct rec_handle *handle, uint64_t to)
{
	const uint32_t tail = REC_POS_ID(handle->lane->tail);
	uint32_t id = REC_POS_ID(to), steps;

	for (steps = 0; id != tail && steps < handle->nr_subbufs; steps++) {
		id = rec_link_id(handle, rec_read_link(handle, id));
		rec_store_relaxed(&handle->subbufs[id].visit, 0);
		REC_TESTPOINT(repair_visit);
	}
	rec_fence_release();
}

static void put_tail_back(struct rec_handle *handle, uint64_t to)
{
	struct rec_lane *lane = handle->lane;

	if (lane->tail != to) {
		lane->torn += rec_ring_events_between(lane, handle->subbufs, handle->links, handle->nr_subbufs, to,
						      lane->tail);
		REC_TESTPOINT(repair_torn);
		forget_subbufs(handle, to);
		rec_store_relaxed(&lane->tail, to);
		REC_TESTPOINT(repair_tail);
	}
	/* The lane's time and CPU may be those of an event that was taken back. */
	rec_store_relaxed(&lane->cpu, REC_CPU_NONE);
	REC_TESTPOINT(repair_cpu);
}

void rec_ring_take_back(struct rec_handle *handle, uint64_t to, uint64_t open)
{
	struct rec_lane *lane = handle->lane;
	struct rec_signal_block block;

	rec_signal_block_begin(&block);
	if (rec_ring_distance(lane, to) > rec_ring_distance(lane, lane->tail))
		to = lane->commit;
	/*
	 * If the outermost writer finds that `movers` is not 0, a writer was left while it moved the head: finish that
	 * move. A nested writer must not do this: the writer that it interrupted may still be moving the head.
	 */
	if (handle->movers && !REC_OPEN_DEPTH(open)) {
		if (rec_ring_settle(handle->links, handle->nr_subbufs, REC_POS_ID(lane->tail)) < 0)
			lane->broken = __LINE__;
		rec_store_relaxed(&handle->movers, 0);
	}
	put_tail_back(handle, to);
	rec_store_relaxed(&lane->open, open);
	REC_TESTPOINT(repair_open);
	rec_signal_block_end(&block);
}

void rec_ring_repair(struct rec_handle *handle)
{
	const struct rec_lane *lane = handle->lane;

	if (lane->open || handle->movers || lane->tail != lane->commit)
		rec_ring_take_back(handle, lane->commit, 0);
}

uint64_t rec_ring_close_left(struct rec_handle *handle, uint64_t here)
{
	const uint64_t open = rec_load_relaxed(&handle->lane->open);

	if (!open || !rec_ring_is_left(REC_OPEN_FRAME(open), here))
		return open;
	rec_ring_repair(handle);
	return rec_load_relaxed(&handle->lane->open);
}
