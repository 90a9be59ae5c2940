/* SPDX-License-Identifier: MIT */
/*
 * What a lane has recorded, lost and still holds.
 *
 * Guarantees. entries + overrun + read = committed, always. While writer and reader are active, each figure was true at
 * some moment of the call. The caller need not own the lane. Nothing is written. As in the kernel, overwritten events
 * count as soon as the head has moved, even if the reader page still has older events.
 */
#include "librecorder/ring/ring_private.h"
#include "librecorder/core/atomic.h"

#include <errno.h>

/*
 * The number of attempts. If the lane's reader or writer changed the lane during each of them, the last result is used.
 */
#define LOOKS_MAX 8

static uint64_t time_of(const struct rec_ring_reader *reader, uint32_t id)
{
	const struct rec_subbuf_header *header = (const void *)rec_reader_page(reader, id);

	return rec_load_relaxed(&header->time_stamp);
}

uint64_t rec_ring_events_between(const struct rec_lane *lane, const struct rec_subbuf *subbufs,
				 const struct rec_link *links, uint32_t nr_subbufs, uint64_t from, uint64_t to)
{
	uint32_t id = REC_POS_ID(from), steps;
	uint64_t events = 0;

	for (steps = 0; id != REC_POS_ID(to) && id < nr_subbufs && steps < nr_subbufs; steps++) {
		events += rec_entries_left(lane, &subbufs[id], REC_POS_SEQ(from) + steps) & REC_POS_COUNT_MASK;
		id = REC_LINK_ID(rec_load_acquire(&links[id].next));
	}
	events += REC_POS_COUNT(to);
	return events > REC_POS_COUNT(from) ? events - REC_POS_COUNT(from) : 0;
}

uint64_t rec_ring_open_events(const struct rec_ring_reader *reader)
{
	const uint64_t commit = rec_load_acquire(&reader->lane->commit);

	return rec_ring_events_between(reader->lane, reader->subbufs, reader->links, reader->nr_subbufs, commit,
				       rec_load_relaxed(&reader->lane->tail));
}

/*
 * The head; or its old place, if a writer is just moving it or died in the move. Returns nr_subbufs if the links do not
 * lead to a head.
 */
static uint32_t head_of(const struct rec_ring_reader *reader)
{
	uint32_t holder = rec_load_relaxed(&reader->words->hint), steps;

	for (steps = 0; steps < 2 * reader->nr_subbufs && holder < reader->nr_subbufs; steps++) {
		const uint64_t link = rec_load_acquire(&reader->links[holder].next);

		holder = REC_LINK_ID(link);
		if (REC_LINK_FLAG(link) != REC_LINK_NORMAL)
			return holder;
	}
	return reader->nr_subbufs;
}

/* The number of bytes on the sub-buffers from the head to the commit position. */
static uint64_t bytes_from(const struct rec_ring_reader *reader, uint32_t id, uint64_t commit)
{
	struct rec_extent extent;
	uint64_t bytes = 0;
	uint32_t steps;

	for (steps = 0; steps < reader->nr_subbufs && id < reader->nr_subbufs; steps++) {
		if (rec_ring_extent(reader, id, commit, &extent) < 0)
			break;
		bytes += extent.size;
		if (extent.open)
			break;
		id = REC_LINK_ID(rec_load_acquire(&reader->links[id].next));
	}
	return bytes;
}

/* Count the unread part of the reader page. */
static int count_page(const struct rec_ring_reader *reader, uint64_t read, uint64_t commit,
		      struct rec_ring_counts *counts)
{
	struct rec_extent extent;

	if (rec_ring_extent(reader, REC_POS_ID(read), commit, &extent) < 0)
		return -EBADMSG;
	if (extent.entries > REC_POS_COUNT(read))
		counts->entries = extent.entries - REC_POS_COUNT(read);
	if (extent.size > REC_POS_OFF(read) && (counts->entries || extent.open))
		counts->bytes = extent.size - REC_POS_OFF(read);
	return extent.open;
}

/* One attempt to count. `read` and `commit` were read in this order. */
static int count(const struct rec_ring_reader *reader, uint64_t read, uint64_t commit, bool with_bytes,
		 struct rec_ring_counts *counts)
{
	const struct rec_reader_account *account = &reader->words->account[REC_POS_SEQ(read) & 1];
	const struct rec_subbuf *page = &reader->subbufs[REC_POS_ID(read)];
	const struct rec_loss loss = rec_reader_loss(reader->lane, reader->words, read, page);
	const uint64_t refused = rec_lane_refusals(reader->lane);
	const uint64_t forgotten = rec_load_relaxed(&rec_bases_of(reader->words)->overrun);
	uint64_t reported = rec_load_relaxed(&account->events_lost);
	uint32_t head;
	int r;

	counts->read = rec_load_relaxed(&account->next_event) - reported + REC_POS_COUNT(read);
	counts->committed = rec_load_relaxed(&reader->subbufs[REC_POS_ID(commit)].first) + REC_POS_COUNT(commit);
	counts->oldest = time_of(reader, REC_POS_ID(read));
	r = count_page(reader, read, commit, counts);
	if (r < 0)
		return r;
	if (r == 0) {
		head = head_of(reader);
		if (head >= reader->nr_subbufs)
			return -EBADMSG;
		counts->entries += counts->committed - rec_load_relaxed(&reader->subbufs[head].first);
		counts->oldest = time_of(reader, head);
		if (with_bytes)
			counts->bytes += bytes_from(reader, head, commit);
	}
	if (counts->entries > counts->committed - counts->read)
		counts->entries = counts->committed - counts->read;
	counts->overrun = counts->committed - counts->read - counts->entries;
	reported += REC_POS_COUNT(read) ? loss.gap : 0;
	/* Events overwritten before a reset are forgotten. */
	if (reported < forgotten)
		reported = forgotten;
	counts->lost_unread = counts->overrun > reported ? counts->overrun - reported : 0;
	/*
	 * loss.refused includes the refusals that are reported with the first event of the page. If no event of the
	 * page was read, they were not reported yet.
	 */
	reported = REC_POS_COUNT(read) ? loss.refused : loss.reported;
	if (refused > reported)
		counts->lost_unread += refused - reported;
	if (counts->lost_unread)
		counts->lost_time = REC_POS_COUNT(read) || !loss.count ? rec_load_relaxed(&reader->lane->refused_time)
								       : loss.time;
	return 0;
}

int rec_ring_count(const struct rec_ring_reader *reader, bool with_bytes, struct rec_ring_counts *ret_counts)
{
	struct rec_ring_counts counts;
	uint64_t read, commit;
	unsigned int looks;
	int r;

	for (looks = 0; looks < LOOKS_MAX; looks++) {
		counts = (struct rec_ring_counts){ 0 };
		read = rec_load_acquire(&reader->words->read);
		commit = rec_load_acquire(&reader->lane->commit);
		if (REC_POS_ID(read) >= reader->nr_subbufs || REC_POS_ID(commit) >= reader->nr_subbufs)
			return -EBADMSG;
		r = count(reader, read, commit, with_bytes, &counts);
		/* If both are unchanged, the figures belong to one state of the lane. */
		rec_fence_acquire();
		if (rec_load_relaxed(&reader->words->read) == read && rec_load_relaxed(&reader->lane->commit) == commit)
			break;
	}
	if (r == 0)
		*ret_counts = counts;
	return r;
}

/*
 * While a ring is remade, its descriptors are cleared. So the figures come from the reader's account alone, which is
 * valid whenever `read` names it (C6); the descriptor of the commit position only confirms that there is nothing else.
 */
int rec_ring_count_empty(const struct rec_ring_reader *reader, struct rec_ring_counts *ret_counts)
{
	const uint64_t read = rec_load_acquire(&reader->words->read), commit = rec_load_acquire(&reader->lane->commit);
	const struct rec_reader_account *account = &reader->words->account[REC_POS_SEQ(read) & 1];
	const uint64_t next = rec_load_relaxed(&account->next_event), lost = rec_load_relaxed(&account->events_lost);
	const uint64_t refused = rec_lane_refusals(reader->lane);
	struct rec_loss loss;

	if (REC_POS_ID(read) >= reader->nr_subbufs || REC_POS_ID(commit) >= reader->nr_subbufs ||
	    REC_POS_COUNT(read) || lost > next ||
	    rec_load_relaxed(&reader->subbufs[REC_POS_ID(commit)].first) + REC_POS_COUNT(commit) != next)
		return -EAGAIN;
	loss = rec_reader_loss(reader->lane, reader->words, read, &reader->subbufs[REC_POS_ID(read)]);
	rec_fence_acquire();
	if (rec_load_relaxed(&reader->words->read) != read)
		return -EAGAIN;
	*ret_counts = (struct rec_ring_counts){ .committed = next, .overrun = lost, .read = next - lost };
	if (refused > loss.reported) {
		ret_counts->lost_unread = refused - loss.reported;
		ret_counts->lost_time = rec_load_relaxed(&reader->lane->refused_time);
	}
	return 0;
}
