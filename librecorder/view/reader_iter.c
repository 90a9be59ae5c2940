/* SPDX-License-Identifier: MIT */
/*
 * Reading a lane without consuming.
 *
 * Guarantees. An iterator writes nothing that others see; neither the writer nor a reader waits for it or notices it.
 * The events that it returns were committed, and are whole: a sub-buffer is copied, and then shown to have been
 * unchanged during the copy. Events that it missed are counted exactly, by the events' numbers. Whatever the words in
 * the file contain, it reads no byte outside the mapping and every loop ends.
 *
 * The next sub-buffer is found by number, not by following links, so swaps in progress do not matter: each descriptor
 * has the number of the visit of the commit position. A copy is good (edge I1) if
 *
 * - the tail has not entered the sub-buffer again: between two entries there is at least a whole ring of visits,
 *   because the reader's swap moves a sub-buffer only backwards in the tail's order; or
 * - the sub-buffer is outside the ring: it is the reader page;
 *
 * and if its descriptor is unchanged. All this is read after the copy and an acquire fence. The writer has a release
 * fence between its exchange of the tail into a sub-buffer and its first store there. So if the copy has one newer
 * byte, the check sees the new tail, and the links by which the writer came, and finds the copy bad.
 */
#include "librecorder/view/reader_private.h"
#include "librecorder/core/atomic.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Sub-buffers overwritten during their copy in one call, before the caller gets -EAGAIN. */
#define COPY_TRIES 10

struct rec_iter {
	const struct rec_view *view;
	uint32_t index;
	struct rec_ring_reader ring; /* only shape and addresses are used */
	unsigned char *copy;
	bool begun;	/* the starting point was found: it is `next` and `refused` */
	bool from_oldest; /* the starting point is the oldest event, with no loss before it */
	bool filled;	/* the copy has the contents that the next five members describe */
	uint32_t id;	/* number of the sub-buffer */
	uint32_t visit; /* its visit of the commit position */
	uint64_t first; /* number of its first event */
	uint32_t size;
	uint32_t passed; /* number of its events that were returned or skipped */
	struct rec_page_iter walk;
	uint64_t next;	  /* number of the event that comes next if none is lost */
	uint64_t refused; /* refusals reported */
	uint64_t lost, lost_time;
};

/* The number of visits of the tail, counted as in the descriptors. Called after the fence. */
static uint32_t tail_visit(const struct rec_ring_reader *ring)
{
	/* Acquire: if the tail was taken back, the sub-buffers that it had entered have lost their visit (edge I2). */
	const uint64_t tail = rec_load_acquire(&ring->lane->tail);
	const uint64_t commit = rec_load_acquire(&ring->lane->commit);
	const uint32_t id = REC_POS_ID(commit) < ring->nr_subbufs ? REC_POS_ID(commit) : 0;
	const uint32_t ahead = (REC_POS_SEQ(tail) - REC_POS_SEQ(commit)) & (uint32_t)REC_POS_SEQ_MASK;

	/* The commit position was read last and may have passed the tail that was read. */
	return rec_load_relaxed(&ring->subbufs[id].visit) + (ahead <= REC_POS_SEQ_MASK / 2 ? ahead : 0);
}

static bool is_outside_ring(const struct rec_ring_reader *ring, uint32_t id)
{
	const uint32_t prev = rec_load_acquire(&ring->links[id].prev);
	uint64_t link;

	if (prev >= ring->nr_subbufs)
		return false;
	link = rec_load_acquire(&ring->links[prev].next);
	/* If a link was changed since prev was read, this shows it. */
	return REC_LINK_ID(link) != id && rec_load_acquire(&ring->links[id].prev) == prev;
}

/*
 * Whether sub-buffer `id` still has that visit. Call it after an acquire fence. True: it had this visit until the
 * fence.
 */
static bool stands(const struct rec_ring_reader *ring, uint32_t id, uint32_t visit, uint64_t first)
{
	const struct rec_subbuf *subbuf = &ring->subbufs[id];

	if (tail_visit(ring) - visit >= ring->nr_subbufs - 1 && !is_outside_ring(ring, id))
		return false;
	return rec_load_relaxed(&subbuf->visit) == visit && rec_load_relaxed(&subbuf->first) == first &&
	       rec_view_still(ring);
}

/* The commit position, and the visit to which it belongs. */
struct commit {
	uint64_t pos;
	uint32_t visit;
};

/* 0; -EAGAIN: it changed during the read; -EBADMSG. */
static int read_commit(const struct rec_ring_reader *ring, struct commit *ret_commit)
{
	/* Acquire: edge C1. */
	const uint64_t pos = rec_load_acquire(&ring->lane->commit);
	const uint32_t id = REC_POS_ID(pos);

	if (id >= ring->nr_subbufs)
		return -EBADMSG;
	ret_commit->pos = pos;
	ret_commit->visit = rec_load_acquire(&ring->subbufs[id].visit);
	return rec_load_relaxed(&ring->lane->commit) >> REC_POS_SEQ_SHIFT == pos >> REC_POS_SEQ_SHIFT ? 0 : -EAGAIN;
}

/* A sub-buffer as described by its descriptor and the commit position. */
struct candidate {
	uint32_t id;
	uint32_t visit;
	uint64_t first;
	struct rec_extent extent;
};

/* True: the sub-buffer has events after event `next`, and the commit position has been there. */
static bool is_candidate(const struct rec_ring_reader *ring, uint32_t id, const struct commit *commit, uint64_t next,
			 struct candidate *ret_candidate)
{
	const struct rec_subbuf *subbuf = &ring->subbufs[id];
	struct candidate one = { .id = id,
				 .visit = rec_load_acquire(&subbuf->visit),
				 .first = rec_load_relaxed(&subbuf->first) };
	/* Visits are compared by their distance, because they wrap. */
	const uint32_t ago = commit->visit - one.visit;

	if (!one.visit || ago > UINT32_MAX / 2 || rec_ring_extent(ring, id, commit->pos, &one.extent) < 0)
		return false;
	*ret_candidate = one;
	return one.extent.entries && one.first < REC_NUMBER_MAX && one.first + one.extent.entries > next;
}

/* The oldest sub-buffer with events after event `next`; usually it is `hint`. */
static bool find(const struct rec_ring_reader *ring, const struct commit *commit, uint64_t next, uint32_t hint,
		 struct candidate *ret_found)
{
	struct candidate one, found = { 0 };
	bool any = false;
	uint32_t id;

	if (is_candidate(ring, hint, commit, next, ret_found) && ret_found->first <= next &&
	    stands(ring, hint, ret_found->visit, ret_found->first))
		return true;
	for (id = 0; id < ring->nr_subbufs; id++) {
		if (!is_candidate(ring, id, commit, next, &one) || (any && one.first >= found.first) ||
		    !stands(ring, id, one.visit, one.first))
			continue;
		found = one;
		any = true;
	}
	if (any)
		*ret_found = found;
	return any;
}

/* Copy bytes [from, size) of a sub-buffer's data, and the header. False: it was overwritten meanwhile. */
static bool copy_out(struct rec_iter *iter, const struct candidate *one, uint32_t from)
{
	const struct rec_ring_reader *ring = &iter->ring;
	const unsigned char *page = rec_reader_page(ring, one->id);

	if (from == 0)
		memcpy(iter->copy, page, REC_SUBBUF_HEADER_SIZE);
	from += REC_SUBBUF_HEADER_SIZE;
	memcpy(iter->copy + from, page + from, one->extent.size + REC_SUBBUF_HEADER_SIZE - from);
	/* Edge I1: everything read from here on is at least as new as the copy. */
	rec_fence_acquire();
	return stands(ring, one->id, one->visit, one->first);
}

/* Losses before the events of a sub-buffer that is new to this iterator. */
static void note_losses(struct rec_iter *iter, const struct candidate *one)
{
	const struct rec_subbuf *subbuf = &iter->ring.subbufs[one->id];
	const struct rec_lane *lane = iter->ring.lane;
	const uint64_t refused = rec_load_relaxed(&subbuf->refused);
	uint64_t time = 0;

	if (iter->from_oldest) {
		iter->from_oldest = false;
		iter->next = one->first;
		iter->refused = refused;
	}
	if (one->first > iter->next) {
		iter->lost += one->first - iter->next;
		time = rec_gap_time(lane, iter->next);
		iter->next = one->first;
	}
	if (refused > iter->refused) {
		iter->lost += refused - iter->refused;
		time = rec_earlier(time, rec_load_relaxed(&subbuf->refused_time));
		iter->refused = refused;
	}
	iter->lost_time = rec_earlier(iter->lost_time, time);
}

/* The program may have changed the lane's shape meanwhile. */
static int look_at_shape(struct rec_iter *iter)
{
	struct rec_ring_reader ring;
	const int r = rec_view_look(iter->view, iter->index, &ring);

	if (r < 0)
		return r == -ENODATA || (r == -EAGAIN && rec_view_writers_are_gone(iter->view)) ? 0 : r;
	if (ring.subbuf_size != iter->ring.subbuf_size)
		iter->filled = false;
	iter->ring = ring;
	return 1;
}

/*
 * Find where the lane's reader is: the number of the event that it reads next, and how many refused events it has
 * reported so far.
 */
static void find_start(const struct rec_ring_reader *ring, uint64_t *ret_next, uint64_t *ret_refused)
{
	const struct rec_lane_reader *words = ring->words;
	const uint64_t read = rec_load_acquire(&words->read);
	const uint32_t id = REC_POS_ID(read) < ring->nr_subbufs ? REC_POS_ID(read) : 0;
	const struct rec_subbuf *subbuf = &ring->subbufs[id];
	const struct rec_reader_account *account = &words->account[REC_POS_SEQ(read) & 1];
	const struct rec_lane_bases *bases = rec_bases_of(words);
	const uint64_t base = rec_load_relaxed(&bases->dropped) + rec_load_relaxed(&bases->commit_overrun) +
			      rec_load_relaxed(&bases->too_long) + rec_load_relaxed(&bases->nested_limit);

	/* A reader died between its exchange and the store that records it: the account that it prepared is valid. */
	if (!is_outside_ring(ring, id)) {
		account = &words->account[(REC_POS_SEQ(read) + 1) & 1];
		*ret_next = rec_load_relaxed(&account->next_event);
		*ret_refused = rec_load_relaxed(&account->refused);
	} else if (REC_POS_COUNT(read)) {
		*ret_next = rec_load_relaxed(&subbuf->first) + REC_POS_COUNT(read);
		*ret_refused = rec_load_relaxed(&subbuf->refused);
	} else {
		*ret_next = rec_load_relaxed(&account->next_event);
		*ret_refused = rec_load_relaxed(&account->refused);
	}
	if (*ret_refused < base)
		*ret_refused = base;
}

/* 0; -EAGAIN: the program is changing the lane's shape. */
static int begin(struct rec_iter *iter)
{
	const struct rec_lane_reader *words = iter->ring.words;
	unsigned int tries;
	uint64_t read = 0;

	/* Bounded: if a reader takes pages as fast as we look, we use a position that was right a moment ago. */
	for (tries = 0; tries < COPY_TRIES; tries++) {
		read = rec_load_acquire(&words->read);
		find_start(&iter->ring, &iter->next, &iter->refused);
		rec_fence_acquire();
		if (!rec_view_still(&iter->ring))
			return -EAGAIN;
		if (rec_load_relaxed(&words->read) == read)
			break;
	}
	iter->id = REC_POS_ID(read) < iter->ring.nr_subbufs ? REC_POS_ID(read) : 0;
	iter->begun = true;
	return 0;
}

/* Add to the copy. 1: there is more; 0: there is no more now; -EAGAIN: it was overwritten meanwhile; -EBADMSG. */
static int refill(struct rec_iter *iter)
{
	const struct rec_ring_reader *ring = &iter->ring;
	struct candidate one;
	struct commit commit;
	uint32_t hint, from = 0;
	int r = look_at_shape(iter);

	if (r <= 0)
		return r;
	r = iter->begun ? 0 : begin(iter);
	if (r == 0)
		r = read_commit(ring, &commit);
	if (r < 0)
		return r;
	hint = iter->id;
	/* Continue with the same sub-buffer, if it has more; otherwise with the one to which its link leads. */
	if (hint >= ring->nr_subbufs)
		hint = 0;
	if (iter->filled && !(is_candidate(ring, hint, &commit, iter->next, &one) && one.visit == iter->visit))
		hint = REC_LINK_ID(rec_load_acquire(&ring->links[hint].next));
	if (!find(ring, &commit, iter->next, hint < ring->nr_subbufs ? hint : 0, &one))
		return 0;
	if (iter->filled && one.id == iter->id && one.visit == iter->visit && one.first == iter->first)
		from = iter->size;
	if (one.extent.size < from || !copy_out(iter, &one, from)) {
		iter->filled = false;
		return -EAGAIN;
	}
	if (from == 0) {
		iter->id = one.id;
		iter->visit = one.visit;
		iter->first = one.first;
		iter->passed = 0;
		rec_page_iter_init(&iter->walk, iter->copy, 0);
		note_losses(iter, &one);
	}
	iter->filled = true;
	iter->size = one.extent.size;
	iter->walk.size = one.extent.size;
	return 1;
}

/* The next event in the copy, after those that were returned or missed before. 1, 0, -EBADMSG. */
static int walk(struct rec_iter *iter, struct rec_view_event *ret_event)
{
	struct rec_record record;
	int r = 0;

	while (iter->filled && (r = rec_page_next(&iter->walk, &record)) > 0) {
		const uint64_t number = iter->first + iter->passed++;

		if (number < iter->next)
			continue;
		*ret_event = (struct rec_view_event){ record, iter->index, number, iter->lost, iter->lost_time };
		iter->next = number + 1;
		iter->lost = 0;
		iter->lost_time = 0;
		return 1;
	}
	return r;
}

static int refill_soon(struct rec_iter *iter)
{
	unsigned int tries = 0;
	int r;

	do {
		r = refill(iter);
	} while (r == -EAGAIN && ++tries < COPY_TRIES);
	return rec_view_is_cut(iter->view) ? -EFAULT : r;
}

int rec_iter_next(struct rec_iter *iter, struct rec_view_event *ret_event)
{
	int r = walk(iter, ret_event);

	if (r)
		return r;
	r = refill_soon(iter);
	if (r <= 0)
		return r;
	r = walk(iter, ret_event);
	/* The descriptor counts events that the sub-buffer does not contain. */
	return r ? r : -EBADMSG;
}

int rec_iter_page(struct rec_iter *iter, struct rec_page *ret_page)
{
	struct rec_page page = { .data = iter->copy };
	struct rec_record record;
	int r = refill_soon(iter);

	if (r <= 0)
		return r;
	page.size = iter->size;
	page.from = iter->walk.offset;
	page.first = iter->next;
	page.lost = iter->lost;
	page.lost_time = iter->lost_time;
	while ((r = rec_page_next(&iter->walk, &record)) > 0) {
		if (iter->first + iter->passed++ < iter->next)
			page.from = iter->walk.offset;
		else
			page.entries++;
	}
	if (r < 0 || !page.entries)
		return -EBADMSG;
	iter->next += page.entries;
	iter->lost = 0;
	iter->lost_time = 0;
	*ret_page = page;
	return 1;
}

/* -------------------------------------------------------------------------------------------- beginning, ending */

void rec_iter_continue(struct rec_iter *iter, const struct rec_lane_mark *mark)
{
	rec_iter_reset(iter);
	iter->begun = true;
	iter->from_oldest = !mark->next && !mark->refused;
	iter->next = mark->next;
	iter->refused = mark->refused;
}

void rec_iter_mark(const struct rec_iter *iter, struct rec_lane_mark *ret_mark)
{
	*ret_mark = (struct rec_lane_mark){ iter->next, iter->refused };
}

void rec_iter_reset(struct rec_iter *iter)
{
	iter->begun = false;
	iter->from_oldest = false;
	iter->filled = false;
	iter->lost = 0;
	iter->lost_time = 0;
	/* Find the starting point now; if the lane's shape is just changing, find it with the first event instead. */
	if (look_at_shape(iter) > 0)
		begin(iter);
}

int rec_iter_open(struct rec_view *view, unsigned int lane, struct rec_iter **ret_iter)
{
	struct rec_iter *iter;

	if (lane >= rec_view_lanes(view))
		return rec_view_is_cut(view) ? -EFAULT : -EINVAL;
	iter = calloc(1, sizeof(*iter));
	if (!iter)
		return -ENOMEM;
	/* Large enough for the largest sub-buffers; the unused part takes no memory. */
	iter->copy = malloc(REC_SUBBUF_MAX);
	if (!iter->copy) {
		free(iter);
		return -ENOMEM;
	}
	iter->view = view;
	iter->index = lane;
	rec_iter_reset(iter);
	*ret_iter = iter;
	return 0;
}

struct rec_iter *rec_iter_close(struct rec_iter *iter)
{
	if (iter)
		free(iter->copy);
	free(iter);
	return NULL;
}
