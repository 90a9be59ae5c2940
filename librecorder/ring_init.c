/* SPDX-License-Identifier: MIT */
/* Making a ring, and putting one right that its last writer left half done. */
#include "ring_private.h"

#include <errno.h>
#include <librecorder/atomic.h>

/* No CPU has this number; the first event finds itself elsewhere and states time and CPU. */
#define CPU_NONE UINT32_C(0xfffffffe)

/* Positions count from here, so that none is ever 0, which struct rec_slot uses for "none". */
#define FIRST_SEQ 1u

void rec_ring_init(struct rec_handle *handle, struct rec_lane_reader *reader)
{
	struct rec_lane *lane = handle->lane;
	const uint32_t last = handle->nr_subbufs - 1;
	uint32_t id;

	for (id = 1; id <= last; id++) {
		handle->links[id].next = REC_LINK(id == last ? 1 : id + 1, REC_LINK_NORMAL, 0);
		handle->links[id].prev = id == 1 ? last : id - 1;
	}
	handle->links[last].next = REC_LINK(1, REC_LINK_HEAD, 0);
	handle->links[0].next = REC_LINK(1, REC_LINK_NORMAL, 0);
	handle->links[0].prev = last;
	reader->page = 0;
	reader->hint = last;
	lane->tail = REC_POS(1, FIRST_SEQ, 0, 0);
	lane->commit = lane->tail;
	lane->cpu = CPU_NONE;
}

int rec_ring_settle(struct rec_link *links, uint32_t nr_subbufs, uint32_t tail)
{
	uint32_t id = tail, steps;
	bool found = false;

	/* Each sub-buffer once, the reader page only where the tail is on it. */
	for (steps = 0; steps < nr_subbufs; steps++) {
		uint64_t link;
		uint32_t flag = REC_LINK_NORMAL;

		if (id >= nr_subbufs)
			return -EBADMSG;
		link = rec_load_acquire(&links[id].next);
		if (REC_LINK_FLAG(link) != REC_LINK_NORMAL && !found) {
			found = true;
			flag = REC_LINK_HEAD;
		}
		if (REC_LINK_FLAG(link) != flag)
			rec_cmpxchg64(&links[id].next, &link, REC_LINK(REC_LINK_ID(link), flag, REC_LINK_GEN(link) + 1));
		id = REC_LINK_ID(link);
		if (id == tail)
			break;
	}
	return found ? 0 : -EBADMSG;
}

/*
 * A mover that died in the middle leaves UPDATE; readers never set it. Without one, the marks are a living reader's
 * business: it may be moving HEAD this very moment.
 */
static bool is_half_moved(const struct rec_link *links, uint32_t nr_subbufs)
{
	uint32_t id;

	for (id = 0; id < nr_subbufs; id++)
		if (REC_LINK_FLAG(rec_load_acquire(&links[id].next)) == REC_LINK_UPDATE)
			return true;
	return false;
}

void rec_ring_repair(struct rec_handle *handle)
{
	struct rec_lane *lane = handle->lane;

	if (is_half_moved(handle->links, handle->nr_subbufs) &&
	    rec_ring_settle(handle->links, handle->nr_subbufs, REC_POS_ID(lane->tail)) < 0)
		lane->broken = __LINE__;
	if (lane->tail == lane->commit)
		return;
	lane->torn++;
	rec_store_relaxed(&lane->tail, lane->commit);
	/* Stamps and CPU belong to what was taken back. */
	rec_store_relaxed(&lane->before, 0);
	lane->cpu = CPU_NONE;
}
