/* SPDX-License-Identifier: MIT */
/* Making a ring, and putting one right that its last writer left half done. */
#include "ring_private.h"

#include <errno.h>
#include <librecorder/atomic.h>
#include <string.h>

/* Positions count from here, so that none is ever 0, which struct rec_slot uses for "none". */
#define FIRST_SEQ 1u

/* Sub-buffer 0 with the reader, 1 to `pages` in the ring, the others spare. Generations grow on. */
static void link_up(const struct rec_handle *handle, uint32_t pages)
{
	uint32_t id;

	for (id = 0; id < handle->nr_subbufs; id++) {
		struct rec_link *link = &handle->links[id];
		const uint32_t gen = REC_LINK_GEN(link->next) + 1;

		link->next = REC_LINK(id < pages ? id + 1 : 1, id == pages ? REC_LINK_HEAD : REC_LINK_NORMAL, gen);
		link->prev = id > 1 ? id - 1 : pages;
		link->spare = id > pages;
	}
	handle->reader->hint = pages;
}

static void shape(struct rec_handle *handle, uint32_t pages)
{
	struct rec_lane *lane = handle->lane;

	rec_store_relaxed(&lane->nr_subbufs, handle->nr_subbufs);
	rec_store_relaxed(&lane->nr_pages, pages);
	link_up(handle, pages);
	lane->cpu = REC_CPU_NONE;
	/* Last, and release: a lane of size 0 is not made yet (edge N1). */
	rec_store_release(&lane->subbuf_size, UINT32_C(1) << handle->shift);
}

void rec_ring_init(struct rec_handle *handle, uint32_t pages)
{
	struct rec_lane *lane = handle->lane;

	lane->tail = REC_POS(1, FIRST_SEQ, 0, 0);
	lane->commit = lane->tail;
	handle->subbufs[1].visit = 1;
	shape(handle, pages);
}

uint64_t rec_ring_oldest_time(const struct rec_handle *handle)
{
	const uint64_t read = handle->reader->read, commit = handle->lane->commit;
	const uint32_t page = REC_POS_ID(read) % handle->nr_subbufs;
	uint32_t id = REC_POS_ID(commit), steps;
	uint64_t link;

	if (id == page || REC_POS_COUNT(read) < handle->subbufs[page].entries)
		return subbuf_header(handle, page)->time_stamp;
	for (steps = 0; steps < handle->nr_subbufs; steps++) {
		link = rec_read_link(handle, id);
		id = rec_link_id(handle, link);
		if (REC_LINK_FLAG(link) != REC_LINK_NORMAL)
			break;
	}
	return subbuf_header(handle, id)->time_stamp;
}

/* What is being dropped ends at `until`; it begins a gap unless what is before it was lost too, and is not told yet. */
static void note_dropped(struct rec_lane *lane, const struct rec_lane_reader *reader, uint64_t until, uint64_t time)
{
	const uint64_t first = reader->account[REC_POS_SEQ(reader->read) & 1].next_event;

	if (first == until)
		return;
	if (!rec_gap_time(lane, first))
		lane->gaps[lane->nr_gaps++ % 2] = (struct rec_gap){ first, time };
	lane->lost_until = until;
}

void rec_ring_restart(struct rec_handle *handle, uint32_t pages, uint64_t oldest_time)
{
	struct rec_lane *lane = handle->lane;
	const uint32_t at = REC_POS_ID(lane->commit);
	/* Numbers go on: the reader finds them jump by what was dropped, and counts it as lost. */
	const struct rec_subbuf next = { .first = handle->subbufs[at].first + REC_POS_COUNT(lane->commit),
					 .refused = handle->subbufs[at].refused,
					 .visit = handle->subbufs[at].visit + 1 };
	struct rec_lane_reader *reader = handle->reader;

	rec_reader_leave(lane, reader, &handle->subbufs[REC_POS_ID(reader->read) % lane->nr_subbufs]);
	rec_ring_set_doing(lane, REC_LANE_RESTARTING);
	shape(handle, pages);
	memset(handle->subbufs, 0, handle->nr_subbufs * sizeof(*handle->subbufs));
	handle->subbufs[1] = next;
	subbuf_header(handle, 0)->commit = 0;
	rec_store_relaxed(&reader->pages_read, reader->pages_read + 1);
	rec_store_relaxed(&reader->read, rec_reader_next(reader->read, 0));
	note_dropped(lane, reader, next.first, oldest_time);
	/*
	 * One more for who looks for changes alone, and nothing is dirty. The reader may
	 * have taken the page that is not counted.
	 */
	lane->pages_touched++;
	if (lane->pages_touched < reader->pages_read)
		lane->pages_touched = reader->pages_read;
	lane->pages_lost = lane->pages_touched - reader->pages_read;
	lane->tail = REC_POS(1, REC_POS_SEQ(lane->tail) + 1, 0, 0);
	lane->commit = lane->tail;
	/* In this order: a reader that comes in between sees why it cannot have the lane yet, and comes again. */
	rec_store_release(&reader->owner, 0);
	rec_ring_set_done(lane);
}

static void settle_mark(struct rec_link *link, uint64_t was, uint32_t flag)
{
	rec_cmpxchg64(&link->next, &was, REC_LINK(REC_LINK_ID(was), flag, REC_LINK_GEN(was) + 1));
	REC_TESTPOINT(settle_link);
}

/* All marks UPDATE but that of `keep`: also outside the ring, on a sub-buffer that was being taken out of it. */
static void clear_updates(struct rec_link *links, uint32_t nr_subbufs, uint32_t keep)
{
	uint32_t id;

	for (id = 0; id < nr_subbufs; id++) {
		const uint64_t link = rec_load_acquire(&links[id].next);

		if (id != keep && REC_LINK_FLAG(link) == REC_LINK_UPDATE)
			settle_mark(&links[id], link, REC_LINK_NORMAL);
	}
}

bool rec_ring_leads_to(const struct rec_handle *handle, uint32_t id)
{
	/* Where the tail's link leads is in the ring, whether the tail is or the reader has it. */
	const uint32_t start = rec_link_id(handle, rec_read_link(handle, REC_POS_ID(rec_load_relaxed(&handle->lane->tail))));
	uint32_t at = start, steps;

	for (steps = 0; steps < handle->nr_subbufs; steps++) {
		if (at == id)
			return true;
		at = rec_link_id(handle, rec_read_link(handle, at));
		if (at == start)
			break;
	}
	return false;
}

/* What the ring leads to is not spare: a writer that died while it made the ring larger has not come to say so. */
static void clear_spare(struct rec_link *links, uint32_t nr_subbufs, uint32_t tail)
{
	uint32_t id = tail, steps;

	for (steps = 0; steps < nr_subbufs && id < nr_subbufs; steps++) {
		if (rec_load_relaxed(&links[id].spare))
			rec_store_relaxed(&links[id].spare, 0);
		REC_TESTPOINT(settle_spare);
		id = REC_LINK_ID(rec_load_acquire(&links[id].next));
	}
}

/*
 * A reader may be at work. If there is a HEAD, it may move it on while we look, but never past the tail, so who
 * goes round from the tail meets it; then the marks UPDATE are left-overs. If there is none, the reader can do
 * nothing until there is one again, so that is done last.
 */
int rec_ring_settle(struct rec_link *links, uint32_t nr_subbufs, uint32_t tail)
{
	uint32_t id = tail, steps, holder = nr_subbufs;
	uint64_t update = 0;
	bool has_head = false;

	for (steps = 0; steps < nr_subbufs && !has_head; steps++) {
		uint64_t link;

		if (id >= nr_subbufs)
			return -EBADMSG;
		link = rec_load_acquire(&links[id].next);
		has_head = REC_LINK_FLAG(link) == REC_LINK_HEAD;
		if (REC_LINK_FLAG(link) == REC_LINK_UPDATE && holder == nr_subbufs) {
			holder = id;
			update = link;
		}
		id = REC_LINK_ID(link);
	}
	if (!has_head && holder == nr_subbufs)
		return -EBADMSG;
	clear_updates(links, nr_subbufs, has_head ? nr_subbufs : holder);
	clear_spare(links, nr_subbufs, tail);
	if (!has_head)
		settle_mark(&links[holder], update, REC_LINK_HEAD);
	return 0;
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

void rec_ring_settle_left(struct rec_handle *handle)
{
	struct rec_lane *lane = handle->lane;

	if (is_half_moved(handle->links, handle->nr_subbufs) &&
	    rec_ring_settle(handle->links, handle->nr_subbufs, REC_POS_ID(lane->tail)) < 0)
		lane->broken = __LINE__;
	handle->movers = 0;
}
