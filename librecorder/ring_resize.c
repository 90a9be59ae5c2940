/* SPDX-License-Identifier: MIT */
/*
 * Resizing a ring that is in use.
 *
 * Everything here runs on the lane's writer stack, with all signals blocked and nothing reserved. So of writers there
 * is at most one below us that was interrupted between its look at the tail and its exchange; the tail's sequence
 * number is raised at the end, which makes that exchange fail. If it was interrupted while it moves the head, its mark
 * UPDATE is there, and we come again later.
 *
 * The other one that competes is the reader, who exchanges the one link that carries HEAD. That link is put on
 * UPDATE first, by exchange: a swap under way fails, others are not begun, and until the mark is HEAD again all
 * links are ours. Whoever dies meanwhile leaves that UPDATE, which rec_ring_settle() turns back.
 *
 * A sub-buffer is marked spare before it leaves the ring and unmarked after it has come in, so a death in between
 * leaves marks that are wrong in one direction only: what the ring leads to is in the ring. A reader may come along the
 * links of spare sub-buffers, for its search begins where it remembers a link; so these lead on into the ring, and none
 * carries HEAD.
 */
#include "ring_private.h"

#include <errno.h>
#include <librecorder/atomic.h>

/* Exchanges lost to the reader before the caller is told to come again. */
#define LOCK_TRIES 100

static void set_next(const struct rec_handle *handle, uint32_t id, uint32_t next, uint32_t flag)
{
	struct rec_link *link = &handle->links[id];

	rec_store_release(&link->next, REC_LINK(next, flag, REC_LINK_GEN(link->next) + 1));
}

static uint32_t next_of(const struct rec_handle *handle, uint32_t id)
{
	return rec_link_id(handle, rec_read_link(handle, id));
}

/* The first link with a mark on the way round from the tail. False: there is none. */
static bool find_mark(const struct rec_handle *handle, uint32_t *ret_holder, uint64_t *ret_link)
{
	uint32_t id = REC_POS_ID(handle->lane->tail), steps;

	for (steps = 0; steps <= handle->nr_subbufs; steps++) {
		const uint64_t link = rec_read_link(handle, id);

		if (REC_LINK_FLAG(link) != REC_LINK_NORMAL) {
			*ret_holder = id;
			*ret_link = link;
			return true;
		}
		id = rec_link_id(handle, link);
	}
	return false;
}

/*
 * Keep the reader off. 0; -EAGAIN: a writer below us is moving the head, or the reader is faster again and again;
 * -EBADMSG: there is no head.
 */
static int lock_head(const struct rec_handle *handle)
{
	uint32_t holder = 0, tries;
	uint64_t link = 0;

	for (tries = 0; tries < LOCK_TRIES; tries++) {
		/* Not while links are only written by those who should. */
		if (!find_mark(handle, &holder, &link))
			return -EBADMSG;
		if (REC_LINK_FLAG(link) == REC_LINK_UPDATE)
			break;
		if (rec_cmpxchg64(&handle->links[holder].next, &link,
				  REC_LINK(REC_LINK_ID(link), REC_LINK_UPDATE, REC_LINK_GEN(link) + 1))) {
			REC_TESTPOINT(resize_hold);
			return 0;
		}
	}
	return -EAGAIN;
}

static void unlock_head(const struct rec_handle *handle)
{
	uint32_t holder = 0;
	uint64_t link = 0;

	if (find_mark(handle, &holder, &link))
		set_next(handle, holder, REC_LINK_ID(link), REC_LINK_HEAD);
}

/*
 * The sub-buffer behind which one may be taken out: the tail, unless the reader has it. Then the whole ring is empty,
 * and it is the head: the reader page leads there, and that link must stay true.
 */
static uint32_t base_of(const struct rec_handle *handle)
{
	const uint32_t tail = REC_POS_ID(handle->lane->tail);

	return rec_is_in_ring(handle, tail) ? tail : next_of(handle, tail);
}

/* Take out the sub-buffer behind `base`: an empty one, or when there is none the head, whose events are lost. */
static void take_behind(struct rec_handle *handle, uint32_t base)
{
	const uint64_t into = rec_read_link(handle, base);
	const uint32_t out = rec_link_id(handle, into);
	const uint64_t link = rec_read_link(handle, out);
	const uint32_t next = rec_link_id(handle, link);
	const struct rec_lost lost = rec_look_at(handle, out);

	rec_store_release(&handle->links[out].spare, 1);
	REC_TESTPOINT(shrink_spare);
	/* The mark of a link goes to the one that takes its place; where the head goes, the next one is it. */
	set_next(handle, base, next, REC_LINK_FLAG(into) | REC_LINK_FLAG(link));
	REC_TESTPOINT(shrink_out);
	set_next(handle, out, next, REC_LINK_NORMAL);
	REC_TESTPOINT(shrink_clear);
	rec_store_relaxed(&handle->links[next].prev, base);
	REC_TESTPOINT(shrink_prev);
	if (REC_LINK_FLAG(into) != REC_LINK_NORMAL)
		rec_ring_note_lost(handle->lane, &lost);
	rec_store_relaxed(&handle->lane->nr_pages, handle->lane->nr_pages - 1);
	REC_TESTPOINT(shrink_pages);
}

static void shrink(struct rec_handle *handle, uint32_t pages)
{
	const uint32_t base = base_of(handle);

	while (handle->lane->nr_pages > pages)
		take_behind(handle, base);
}

/*
 * Link `count` spare sub-buffers one behind the other, the last one to `next`. From the end, so that there is no moment
 * at which they lead in a circle. Returns the first and the last.
 */
static uint32_t make_chain(const struct rec_handle *handle, uint32_t *count, uint32_t next, uint32_t *ret_last)
{
	uint32_t id = handle->nr_subbufs, last = next, made = 0;

	while (made < *count && id--) {
		if (!rec_load_relaxed(&handle->links[id].spare))
			continue;
		/*
		 * The tail may enter it sooner than its visit promises: iterators must not
		 * take it for what it was (edge I1).
		 */
		rec_store_relaxed(&handle->subbufs[id].visit, 0);
		REC_TESTPOINT(grow_visit);
		set_next(handle, id, next, REC_LINK_NORMAL);
		if (!made)
			last = id;
		rec_store_relaxed(&handle->links[next].prev, id);
		REC_TESTPOINT(grow_chain);
		next = id;
		made++;
	}
	*count = made;
	*ret_last = last;
	return next;
}

/* Put `count` spare sub-buffers before the head. */
static void grow(struct rec_handle *handle, uint32_t count)
{
	uint32_t holder = 0, head, first, last;
	uint64_t link = 0;

	if (!find_mark(handle, &holder, &link))
		return;
	head = rec_link_id(handle, link);
	first = make_chain(handle, &count, head, &last);
	if (!count)
		return;
	rec_store_relaxed(&handle->links[first].prev, holder);
	set_next(handle, last, head, REC_LINK_UPDATE);
	REC_TESTPOINT(grow_last);
	/* Releases the links of what goes in, as the reader's swap does (edge L3). */
	set_next(handle, holder, first, REC_LINK_NORMAL);
	REC_TESTPOINT(grow_first);
	rec_store_relaxed(&handle->lane->nr_pages, handle->lane->nr_pages + count);
	REC_TESTPOINT(grow_pages);
	while (count--) {
		rec_store_release(&handle->links[first].spare, 0);
		REC_TESTPOINT(grow_spare);
		first = next_of(handle, first);
	}
}

/* Whoever looked at the tail before and exchanges it now must look again; see the head of this file. */
static void raise_sequence(struct rec_handle *handle)
{
	struct rec_lane *lane = handle->lane;
	const uint64_t was = lane->tail;
	const uint64_t now = REC_POS(REC_POS_ID(was), REC_POS_SEQ(was) + 1, REC_POS_COUNT(was), REC_POS_OFF(was));

	(void)handle;
	rec_store_relaxed(&lane->tail, now);
	REC_TESTPOINT(resize_tail);
	rec_store_release(&lane->commit, now);
}

int rec_ring_resize(struct rec_handle *handle, uint32_t pages)
{
	struct rec_lane *lane = handle->lane;
	int r;

	if (pages < 2 || pages >= handle->nr_subbufs)
		return -EINVAL;
	/* As for a move of the head: whoever repairs knows that there are marks. */
	rec_local_add64(&handle->movers, 1);
	r = lock_head(handle);
	if (r < 0) {
		rec_local_add64(&handle->movers, -UINT64_C(1));
		return r;
	}
	rec_ring_set_doing(lane, REC_LANE_RESIZING);
	REC_TESTPOINT(resize_begun);
	if (pages > lane->nr_pages)
		grow(handle, pages - lane->nr_pages);
	else
		shrink(handle, pages);
	unlock_head(handle);
	rec_local_add64(&handle->movers, -UINT64_C(1));
	REC_TESTPOINT(resize_release);
	rec_ring_set_done(lane);
	REC_TESTPOINT(resize_done);
	raise_sequence(handle);
	return 0;
}

int rec_ring_recount(struct rec_handle *handle)
{
	struct rec_lane *lane = handle->lane;
	const uint32_t start = next_of(handle, REC_POS_ID(lane->tail));
	uint32_t id = start, pages = 0;

	do {
		const uint32_t next = REC_LINK_ID(rec_read_link(handle, id));

		if (next >= handle->nr_subbufs || ++pages >= handle->nr_subbufs)
			return -EBADMSG;
		rec_store_release(&handle->links[id].spare, 0);
		if (rec_load_relaxed(&handle->links[next].prev) != id)
			rec_store_relaxed(&handle->links[next].prev, id);
		REC_TESTPOINT(recount_link);
		id = next;
	} while (id != start);
	rec_store_relaxed(&lane->nr_pages, pages);
	REC_TESTPOINT(recount_pages);
	rec_ring_set_done(lane);
	REC_TESTPOINT(recount_done);
	return 0;
}
