/* SPDX-License-Identifier: MIT */
/* What the writer's, the reader's and the checking side of a ring have in common, and the shape of a new one. */
#ifndef RING_PRIVATE_H
#define RING_PRIVATE_H

#include <librecorder/ring.h>
#include <librecorder/source.h>

static inline struct rec_subbuf_header *subbuf_header(const struct rec_handle *handle, uint32_t id)
{
	return (struct rec_subbuf_header *)(void *)(handle->data - REC_SUBBUF_HEADER_SIZE +
						    ((size_t)id << handle->shift));
}

/*
 * Make the lane that `handle` points to an empty ring. The reader page is sub-buffer 0, the ring is 1, 2, … in order
 * (facts D1: the ids of a first mapping). Nobody else may know the lane yet. `handle` is complete but for the thread.
 */
void rec_ring_init(struct rec_handle *handle, struct rec_lane_reader *reader);

/*
 * Settle the marks of a ring whose writer is gone: from the tail on, the first marked link leads to the head, and a mark
 * behind it was left by a writer that died while it moved the head. Anyone who may write links may call it, once no
 * writer is left. 0 or -EBADMSG: the links do not make a ring.
 */
int rec_ring_settle(struct rec_link *links, uint32_t nr_subbufs, uint32_t tail);

/*
 * The last writer of this lane is gone and may have left reservations that nobody will commit: take them back, so that
 * the next writer begins where the last commit ended, and count them as torn. Only while no writer has the lane.
 */
void rec_ring_repair(struct rec_handle *handle);

/* A reader's view of one lane. The pointers lead into its mapping; everything else is its own checked copy. */
struct rec_ring_reader {
	const struct rec_lane *lane;
	const struct rec_subbuf *subbufs;
	const unsigned char *pages; /* sub-buffer 0, header included */
	struct rec_lane_reader *words;
	struct rec_link *links;
	uint32_t nr_subbufs;
	uint32_t subbuf_size;
	uint32_t page;		 /* the reader page */
	uint32_t read;		 /* bytes of it that count as read */
	uint32_t read_entries;	 /* events in them */
	uint64_t next_event;	 /* as in struct rec_lane_reader */
	uint64_t refused;
	struct rec_page pending; /* handed over by the last call; counts as read at the next. data NULL: nothing */
	uint64_t pending_gap;
	uint64_t pending_refused;
};

/* Begin to read: find out which sub-buffer is the reader page, also after a reader that died in the middle of a swap. */
int rec_ring_reader_init(struct rec_ring_reader *reader);

/* As rec_view_read() of <librecorder/reader.h>. */
int rec_ring_read(struct rec_ring_reader *reader, bool whole_only, struct rec_page *ret_page);

/* What the last rec_ring_read() handed over counts as read now. */
void rec_ring_read_done(struct rec_ring_reader *reader);

/* Refusals that no page has carried yet. */
uint64_t rec_ring_unreported(const struct rec_ring_reader *reader);

/* Number of events committed to the lane so far, and of the oldest one still in the ring. */
int rec_ring_count(const struct rec_ring_reader *reader, uint64_t *ret_committed, uint64_t *ret_oldest);

#endif
