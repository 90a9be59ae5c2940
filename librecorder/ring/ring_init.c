/* SPDX-License-Identifier: MIT */
/* Making a ring, and repairing one that its last writer left half done. */
#include "librecorder/ring/ring_private.h"
#include "librecorder/core/atomic.h"

#include <errno.h>
#include <string.h>

/*
 * The sequence of positions begins with 1, so that no position of a ring is 0: the tail of a lane that never had a ring
 * is 0, and `left` is 0 if no sub-buffer was left.
 */
#define FIRST_SEQ 1u

/* Link the sub-buffers: 0 is the reader's, the others form the ring. Generations continue to grow. */
static void link_up(const struct rec_handle *handle)
{
	const uint32_t last = handle->nr_subbufs - 1;
	uint32_t id;

	for (id = 0; id <= last; id++) {
		struct rec_link *link = &handle->links[id];
		const uint32_t gen = REC_LINK_GEN(link->next) + 1;

		link->next = REC_LINK(id < last ? id + 1 : 1, id == last ? REC_LINK_HEAD : REC_LINK_NORMAL, gen);
		link->prev = id > 1 ? id - 1 : last;
	}
	handle->reader->hint = last;
}

static void shape(struct rec_handle *handle)
{
	struct rec_lane *lane = handle->lane;

	rec_store_relaxed(&lane->nr_subbufs, handle->nr_subbufs);
	link_up(handle);
	lane->cpu = REC_CPU_NONE;
	/* This store is the last, and a release: as long as the size is 0, the lane is not made yet (edge N1). */
	rec_store_release(&lane->subbuf_size, UINT32_C(1) << handle->shift);
}

void rec_ring_init(struct rec_handle *handle)
{
	struct rec_lane *lane = handle->lane;

	lane->tail = REC_POS(1, FIRST_SEQ, 0, 0);
	lane->commit = lane->tail;
	handle->subbufs[1].visit = 1;
	shape(handle);
}

bool rec_ring_is_empty(const struct rec_handle *handle)
{
	const uint64_t commit = handle->lane->commit, read = rec_load_acquire(&handle->reader->read);
	const uint64_t next =
		REC_POS_COUNT(read) ? handle->subbufs[REC_POS_ID(read) % handle->nr_subbufs].first + REC_POS_COUNT(read)
				    : rec_load_relaxed(&handle->reader->account[REC_POS_SEQ(read) & 1].next_event);

	return handle->subbufs[REC_POS_ID(commit)].first + REC_POS_COUNT(commit) == next;
}

void rec_ring_restart(struct rec_handle *handle)
{
	struct rec_lane_reader *reader = handle->reader;
	struct rec_lane *lane = handle->lane;
	const uint32_t at = REC_POS_ID(lane->commit);
	const struct rec_subbuf next = { .first = handle->subbufs[at].first + REC_POS_COUNT(lane->commit),
					 .refused = handle->subbufs[at].refused,
					 .visit = handle->subbufs[at].visit + 1 };
	uint64_t touched;

	/* The account becomes what it would be if the reader had taken the sub-buffer with which the writer begins. */
	rec_reader_leave(lane, reader, &handle->subbufs[REC_POS_ID(reader->read) % lane->nr_subbufs]);
	memset(handle->subbufs, 0, handle->nr_subbufs * sizeof(*handle->subbufs));
	handle->subbufs[1] = next;
	subbuf_header(handle, 0)->commit = 0;
	rec_store_relaxed(&reader->pages_read, reader->pages_read + 1);
	/* Release: edge A1, for rec_ring_count_empty(). */
	rec_store_release(&reader->read, rec_reader_next(reader->read, 0));
	REC_TESTPOINT(restart_read);
	/* The count changes, so that readers that wait for whole pages look again; they find no page to read. */
	touched = reader->pages_read > lane->pages_touched ? reader->pages_read : lane->pages_touched + 1;
	/* Other threads estimate by these two how full the lane is (lane_grow.c). */
	rec_store_relaxed(&lane->pages_touched, touched);
	rec_store_relaxed(&lane->pages_lost, touched - reader->pages_read);
	lane->tail = REC_POS(1, REC_POS_SEQ(lane->tail) + 1, 0, 0);
	lane->commit = lane->tail;
	lane->left = 0;
	REC_TESTPOINT(restart_commit);
	shape(handle);
	REC_TESTPOINT(restart_size);
}

static void settle_mark(struct rec_link *link, uint64_t was, uint32_t flag)
{
	rec_cmpxchg64(&link->next, &was, REC_LINK(REC_LINK_ID(was), flag, REC_LINK_GEN(was) + 1));
	REC_TESTPOINT(settle_link);
}

/*
 * A reader may be active. If there is a HEAD, the reader may move it on while we look, but never past the tail. So a
 * search that begins at the tail finds it. Without a HEAD, the reader can do nothing until there is one again, so the
 * mark that becomes HEAD is settled last. A mark on the reader page has no effect: the reader writes the page's link
 * before it puts the page into the ring.
 */
int rec_ring_settle(struct rec_link *links, uint32_t nr_subbufs, uint32_t tail)
{
	uint32_t id = tail, steps, first = nr_subbufs;
	uint64_t update = 0;
	bool has_head = false;

	for (steps = 0; steps < nr_subbufs; steps++) {
		uint64_t link;

		if (id >= nr_subbufs)
			return -EBADMSG;
		link = rec_load_acquire(&links[id].next);
		has_head |= REC_LINK_FLAG(link) == REC_LINK_HEAD;
		if (REC_LINK_FLAG(link) == REC_LINK_UPDATE && first == nr_subbufs) {
			first = id;
			update = link;
		} else if (REC_LINK_FLAG(link) == REC_LINK_UPDATE && id != first) {
			settle_mark(&links[id], link, REC_LINK_NORMAL);
		}
		id = REC_LINK_ID(link);
	}
	if (first < nr_subbufs)
		settle_mark(&links[first], update, has_head ? REC_LINK_NORMAL : REC_LINK_HEAD);
	return has_head || first < nr_subbufs ? 0 : -EBADMSG;
}
