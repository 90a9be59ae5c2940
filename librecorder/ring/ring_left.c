/* SPDX-License-Identifier: MIT */
/*
 * Reservations that will never be finished: a signal handler that interrupted one left by siglongjmp, its thread was
 * cancelled or ended by a raw exit, a child of vfork was killed inside one.
 *
 * Guarantees. What was left is taken back, with all that was reserved behind it: nothing of that was visible, for nested
 * events become visible with the outermost one. The tail returns to where it began, so the lane goes on as if it had
 * never been reserved, and the number of events that are gone is a difference of counts.
 *
 * Who can tell that a reservation was left:
 *  - a writer that finds another one inside its own (the open word says so): handlers return before what they interrupt;
 *  - a writer whose stack ends above that of the outermost one: rec_ring_is_left();
 *  - whoever leases the lane, and a thread that ends.
 * A writer that cannot tell is nested, and its events wait until another one can; before they are many, its thread goes
 * on in another lane (rec_handle.elsewhere).
 */
#include "librecorder/os/quiet.h"
#include "librecorder/ring/ring_private.h"

#include <signal.h>

/*
 * On one stack the frames of a handler, and of whatever is called, lie below those of what is interrupted or calls. So what
 * was begun by a frame lower than ours was left. On an alternate stack this says nothing about the thread's own; and while
 * the thread is on its own, whatever was begun on the alternate one was left. A handler on a stack with SS_AUTODISARM
 * cannot be told from a thread without any: but libc keeps what belongs to a thread above its stack, and the first
 * thread's lies higher than all else, so a stack on the other side of that is another one.
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

/* Events reserved between the two positions. */
static uint64_t events_between(const struct rec_handle *handle, uint64_t from, uint64_t to)
{
	uint32_t id = REC_POS_ID(from), steps;
	uint64_t events = 0;

	for (steps = 0; id != REC_POS_ID(to) && steps < handle->nr_subbufs; steps++) {
		events += rec_entries_left(handle->lane, &handle->subbufs[id], REC_POS_SEQ(from) + steps);
		id = rec_link_id(handle, rec_read_link(handle, id));
	}
	events += REC_POS_COUNT(to);
	return events > REC_POS_COUNT(from) ? events - REC_POS_COUNT(from) : 0;
}

/*
 * Sub-buffers that the tail entered hold nothing then: what they held was overwritten, and iterators, which go by the
 * tail, must not take them for what they were once it is back.
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

/* Signals blocked, or nobody else has the lane. */
static void put_tail_back(struct rec_handle *handle, uint64_t to)
{
	struct rec_lane *lane = handle->lane;

	if (lane->tail != to) {
		lane->torn += events_between(handle, to, lane->tail);
		REC_TESTPOINT(repair_torn);
		forget_subbufs(handle, to);
		rec_store_relaxed(&lane->tail, to);
		REC_TESTPOINT(repair_tail);
	}
	/* Time and CPU may belong to what was taken back. */
	rec_store_relaxed(&lane->cpu, REC_CPU_NONE);
	REC_TESTPOINT(repair_cpu);
}

void rec_ring_take_back(struct rec_handle *handle, uint64_t to, uint64_t open)
{
	struct rec_lane *lane = handle->lane;
	struct rec_quiet quiet;

	rec_quiet_begin(&quiet);
	if (rec_ring_distance(lane, to) > rec_ring_distance(lane, lane->tail))
		to = lane->commit;
	/* The outermost knows that whoever moved a head was left; others may interrupt one that moves it. */
	if (!REC_OPEN_DEPTH(open))
		rec_ring_settle_left(handle);
	put_tail_back(handle, to);
	rec_store_relaxed(&lane->open, open);
	REC_TESTPOINT(repair_open);
	rec_quiet_end(&quiet);
}

void rec_ring_repair(struct rec_handle *handle)
{
	struct rec_lane *lane = handle->lane;

	if (!lane->open && !handle->movers && lane->tail == lane->commit)
		return;
	rec_ring_settle_left(handle);
	put_tail_back(handle, lane->commit);
	rec_store_relaxed(&lane->open, 0);
	REC_TESTPOINT(repair_open);
}

uint64_t rec_ring_close_left(struct rec_handle *handle, uint64_t here)
{
	struct rec_lane *lane = handle->lane;
	uint64_t open = rec_load_relaxed(&lane->open);
	struct rec_quiet quiet;

	if (!open || !rec_ring_is_left(REC_OPEN_FRAME(open), here))
		return open;
	rec_quiet_begin(&quiet);
	/* Unless a handler has done it. */
	if (lane->open == open)
		rec_ring_repair(handle);
	rec_quiet_end(&quiet);
	return rec_load_relaxed(&lane->open);
}
