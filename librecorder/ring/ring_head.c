/* SPDX-License-Identifier: MIT */
/*
 * Overwrite mode: a writer that reaches the oldest sub-buffer moves the head on by one, and the events given up are
 * counted. Step A of a reservation; see ring.c.
 */
#include "librecorder/ring/ring_private.h"

#include <librecorder/detail/atomic.h>

static bool set_link(const struct rec_handle *handle, uint32_t id, uint64_t was, uint32_t flag)
{
	return rec_cmpxchg64(&handle->links[id].next, &was,
			     REC_LINK(REC_LINK_ID(was), flag, REC_LINK_GEN(was) + 1));
}

/*
 * A head is given up. Its first event begins a gap unless the event before it was lost, too. A reader that reaches the
 * end of the gap needs the time of its beginning. All nested movers of one head come here, and the exchange selects
 * one. Two slots, used alternately, suffice: a third gap begins only after the reader took a sub-buffer after the
 * first.
 */
static void note_lost(struct rec_lane *lane, const struct rec_lost *lost)
{
	const uint64_t until = rec_load_relaxed(&lane->lost_until);

	if (lost->end <= until || !rec_local_cmpxchg64(&lane->lost_until, until, lost->end))
		return;
	rec_local_add64(&lane->pages_lost, 1);
	if (lost->first != until || !lane->nr_gaps) {
		struct rec_gap *gap = &lane->gaps[lane->nr_gaps++ % 2];

		/* The reader may be reading this slot: for the other gap, which it recognises by its number. */
		rec_store_relaxed(&gap->time, lost->time);
		rec_store_relaxed(&gap->first, lost->first);
	}
}

/*
 * Overwrite mode, the tail stands before the head: push the head on by one (design text, "The way the head page moves
 * forward"). UPDATE keeps the reader off while it lasts. Nested writers that find it help, but only its owner clears it.
 *
 * Nested writers may have finished and published any number of pages before we go on, so everything is exchanged from
 * the very value that was read before the tail was looked at: whoever moved the tail into the old head has changed the
 * link behind it, and whoever came round to a sub-buffer whose link an interrupted writer holds in UPDATE has made that
 * the head.
 */
bool rec_ring_move_head(struct rec_handle *handle, uint64_t old, uint64_t link, const struct rec_lost *lost)
{
	const uint32_t tail = REC_POS_ID(old);
	const uint32_t head = rec_link_id(handle, link);
	const uint64_t update = REC_LINK(REC_LINK_ID(link), REC_LINK_UPDATE, REC_LINK_GEN(link) + 1);
	const bool owner = REC_LINK_FLAG(link) == REC_LINK_HEAD;
	const uint64_t after_head = rec_read_link(handle, head);

	if (owner) {
		/* Until UPDATE is undone: if we never come back, the next writer knows that there are marks. */
		if (!handle->movers)
			rec_store_relaxed(&handle->moving, old);
		rec_local_add64(&handle->movers, 1);
	}
	/* Fails if the reader swapped this head, or a nested writer moved it. Release and acquire: edges L1, L2. */
	if (owner && !set_link(handle, tail, link, REC_LINK_UPDATE)) {
		rec_local_add64(&handle->movers, -UINT64_C(1));
		return false;
	}
	REC_TESTPOINT(head_update);
	note_lost(handle->lane, lost);
	REC_TESTPOINT(head_lost);
	rec_signal_fence();
	/*
	 * If a nested writer has entered the old head, it has set the new one. If one does so now, the exchange fails.
	 */
	if (rec_load_relaxed(&handle->lane->tail) >> REC_POS_SEQ_SHIFT == old >> REC_POS_SEQ_SHIFT)
		set_link(handle, head, after_head, REC_LINK_HEAD);
	REC_TESTPOINT(head_set);
	if (owner) {
		set_link(handle, tail, update, REC_LINK_NORMAL);
		rec_local_add64(&handle->movers, -UINT64_C(1));
	}
	REC_TESTPOINT(head_clear);
	return true;
}
