/* SPDX-License-Identifier: MIT */
/*
 * The reader's side of a ring: take the head out by putting the reader page in its place.
 *
 * Guarantees. Copies nothing and makes no writer wait. A page that was taken stays private until the next one is asked
 * for. Nothing past the commit position is handed over. A reader killed at any instruction leaves a lane that the next
 * one takes over without loss: what was handed over last comes once more, with the same event numbers. Whatever stands
 * in the shared words, nothing outside the mapping is touched and every loop ends.
 *
 * The swap is the design text's, with two remarks. The search for the head starts at a remembered link and might begin
 * between an UPDATE link and the head that a mover has just set behind it, so a head counts only if the link into the
 * sub-buffer before it is unmarked. And the links' generations see to it that the exchange succeeds only if the head did
 * not move since it was found.
 */
#include "ring_private.h"

#include <errno.h>
#include <librecorder/atomic.h>
#include <librecorder/page.h>
#include <stdlib.h>
#include <string.h>

/* Rounds of the ring that the search for the head makes; a writer may move it on while we look. */
#define SEARCH_ROUNDS 3

/* Swaps lost to a moving writer in one call before the caller is told to come again. */
#define SWAP_TRIES 3

/* Where on a page the committed data ends, and how many events lie before. */
struct extent {
	uint32_t size;
	uint32_t entries;
	bool open; /* the commit position is still on it */
};

static uint64_t read_link(const struct rec_ring_reader *reader, uint32_t id)
{
	return rec_load_acquire(&reader->links[id].next);
}

/* The id in a link, or nr_subbufs when it is out of range. */
static uint32_t link_id(const struct rec_ring_reader *reader, uint64_t link)
{
	const uint32_t id = REC_LINK_ID(link);

	return id < reader->nr_subbufs ? id : reader->nr_subbufs;
}

static const unsigned char *page_at(const struct rec_ring_reader *reader, uint32_t id)
{
	return reader->pages + (size_t)id * reader->subbuf_size;
}

static int page_extent(const struct rec_ring_reader *reader, uint32_t id, uint64_t commit, struct extent *ret_extent)
{
	struct extent extent = { .open = REC_POS_ID(commit) == id };

	if (extent.open) {
		extent.size = REC_POS_OFF(commit);
		extent.entries = REC_POS_COUNT(commit);
	} else {
		extent.size = rec_page_size(page_at(reader, id));
		extent.entries = rec_load_relaxed(&reader->subbufs[id].entries);
	}
	if (extent.size > reader->subbuf_size - REC_SUBBUF_HEADER_SIZE)
		return -EBADMSG;
	*ret_extent = extent;
	return 0;
}

/* Events that begin before `offset`; for a reader that takes over in the middle of a page. */
static uint32_t count_events(const unsigned char *page, uint32_t size, uint32_t offset)
{
	struct rec_page_iter iter;
	struct rec_record record;
	uint32_t events = 0;

	rec_page_iter_init(&iter, page, size);
	while (rec_page_next(&iter, &record) > 0 && record.offset < offset)
		events++;
	return events;
}

/*
 * Walk the ring once, mend every prev, and find the one sub-buffer that is not in it: the reader page. It is not the one
 * that the shared words name if a reader died between its exchange and writing that down.
 */
static int find_reader_page(struct rec_ring_reader *reader, uint32_t *ret_page)
{
	unsigned char *seen = calloc(reader->nr_subbufs, 1);
	const uint32_t start = link_id(reader, read_link(reader, reader->words->page));
	uint32_t id = start, next, steps = 0;
	int r = -EBADMSG;

	if (!seen)
		return -ENOMEM;
	for (; id < reader->nr_subbufs && !seen[id]; id = next, steps++) {
		seen[id] = 1;
		next = link_id(reader, read_link(reader, id));
		if (next < reader->nr_subbufs)
			rec_store_relaxed(&reader->links[next].prev, id);
	}
	if (id == start && steps == reader->nr_subbufs - 1) {
		*ret_page = (uint32_t)((unsigned char *)memchr(seen, 0, reader->nr_subbufs) - seen);
		r = 0;
	}
	free(seen);
	return r;
}

int rec_ring_reader_init(struct rec_ring_reader *reader)
{
	struct rec_lane_reader *words = reader->words;
	struct extent extent;
	uint32_t page = 0, read;
	int r;

	if (rec_load_relaxed(&words->page) >= reader->nr_subbufs || rec_load_relaxed(&words->hint) >= reader->nr_subbufs)
		return -EBADMSG;
	r = find_reader_page(reader, &page);
	if (r < 0)
		return r;
	if (page != words->page) {
		rec_store_relaxed(&words->hint, words->page);
		rec_store_relaxed(&words->read, 0);
		rec_store_release(&words->page, page);
	}
	r = page_extent(reader, page, rec_load_acquire(&reader->lane->commit), &extent);
	if (r < 0)
		return r;
	read = rec_load_relaxed(&words->read);
	if (read > extent.size)
		return -EBADMSG;
	reader->page = page;
	reader->read = read;
	reader->read_entries = count_events(page_at(reader, page), extent.size, read);
	reader->next_event = words->next_event;
	if (read)
		reader->next_event = reader->subbufs[page].first + reader->read_entries;
	reader->refused = words->refused;
	reader->pending = (struct rec_page){ 0 };
	return 0;
}

/*
 * Find the link that leads to the head. 1: found. 0: a writer is moving it. -EBADMSG: there is none.
 * Acquire: whoever set the flag (edge L1) had closed the sub-buffers before.
 */
static int find_head(const struct rec_ring_reader *reader, uint32_t *ret_holder, uint64_t *ret_link)
{
	uint32_t holder = rec_load_relaxed(&reader->words->hint);
	uint64_t steps = (uint64_t)reader->nr_subbufs * SEARCH_ROUNDS;

	while (steps-- && holder < reader->nr_subbufs) {
		const uint64_t link = read_link(reader, holder);
		uint32_t prev;
		uint64_t into;

		switch (REC_LINK_FLAG(link)) {
		case REC_LINK_NORMAL:
			holder = link_id(reader, link);
			continue;
		case REC_LINK_HEAD:
			prev = rec_load_relaxed(&reader->links[holder].prev);
			if (prev >= reader->nr_subbufs)
				return -EBADMSG;
			into = read_link(reader, prev);
			if (link_id(reader, into) == holder && REC_LINK_FLAG(into) != REC_LINK_NORMAL)
				return 0;
			*ret_holder = holder;
			*ret_link = link;
			return 1;
		default:
			return 0;
		}
	}
	return -EBADMSG;
}

/* Put the reader page in the head's place. 1: done; 0: nothing to take; -EAGAIN; -EBADMSG. */
static int swap(struct rec_ring_reader *reader, bool whole_only)
{
	struct rec_lane_reader *words = reader->words;
	const uint32_t page = reader->page;
	unsigned int tries;

	for (tries = 0; tries < SWAP_TRIES; tries++) {
		uint32_t holder, head, next;
		uint64_t link, commit;
		int r = find_head(reader, &holder, &link);

		if (r < 0)
			return r;
		if (r == 0)
			continue;
		head = link_id(reader, link);
		/* Read after the link: if the exchange succeeds, the head was this one all the time from there to here. */
		commit = rec_load_acquire(&reader->lane->commit);
		if (REC_POS_ID(commit) == head && (whole_only || REC_POS_OFF(commit) == 0))
			return 0;
		if (head == reader->nr_subbufs)
			return -EBADMSG;
		next = link_id(reader, read_link(reader, head));
		if (next == reader->nr_subbufs)
			return -EBADMSG;
		rec_store_relaxed(&reader->links[page].prev, holder);
		rec_store_release(&reader->links[page].next,
				  REC_LINK(next, REC_LINK_HEAD, REC_LINK_GEN(read_link(reader, page)) + 1));
		/* The linearisation point. Releases the link of the page that goes in (edge L3). */
		if (!rec_cmpxchg64(&reader->links[holder].next, &link, REC_LINK(page, REC_LINK_NORMAL, REC_LINK_GEN(link) + 1)))
			continue;
		rec_store_relaxed(&reader->links[next].prev, page);
		rec_store_relaxed(&words->hint, page);
		rec_store_relaxed(&words->pages_read, words->pages_read + 1);
		/* In this order: a successor that finds the old page with nothing read mends it; the other way it would skip data. */
		rec_store_release(&words->read, 0);
		rec_store_release(&words->page, head);
		reader->page = head;
		reader->read = 0;
		reader->read_entries = 0;
		return 1;
	}
	return -EAGAIN;
}

/* Hand over what is new on the reader page, up to `extent`. */
static void hand_over(struct rec_ring_reader *reader, const struct extent *extent, struct rec_page *ret_page)
{
	const struct rec_subbuf *subbuf = &reader->subbufs[reader->page];
	struct rec_page page = {
		.data = page_at(reader, reader->page),
		.size = extent->size,
		.from = reader->read,
		.entries = extent->entries > reader->read_entries ? extent->entries - reader->read_entries : 0,
		.first = reader->next_event,
	};
	uint64_t gap = 0, refused = reader->refused;

	if (reader->read == 0) {
		page.first = rec_load_relaxed(&subbuf->first);
		gap = page.first > reader->next_event ? page.first - reader->next_event : 0;
		refused = rec_load_relaxed(&subbuf->refused);
	}
	page.lost = gap + (refused > reader->refused ? refused - reader->refused : 0);
	reader->pending = page;
	reader->pending_gap = gap;
	reader->pending_refused = refused;
	*ret_page = page;
}

void rec_ring_read_done(struct rec_ring_reader *reader)
{
	struct rec_lane_reader *words = reader->words;
	const struct rec_page *page = &reader->pending;

	if (!page->data)
		return;
	reader->next_event = page->first + page->entries;
	reader->refused = reader->pending_refused;
	reader->read = page->size;
	reader->read_entries += page->entries;
	rec_store_relaxed(&words->next_event, reader->next_event);
	rec_store_relaxed(&words->refused, reader->refused);
	rec_store_relaxed(&words->events_lost, words->events_lost + reader->pending_gap);
	/* Last: until then a successor hands the same events over again. */
	rec_store_release(&words->read, reader->read);
	reader->pending.data = NULL;
}

int rec_ring_read(struct rec_ring_reader *reader, bool whole_only, struct rec_page *ret_page)
{
	uint32_t turns;
	int r;

	rec_ring_read_done(reader);
	/* A sub-buffer may hold nothing but what was discarded: one turn to see that it is empty, one to swap it out. */
	for (turns = 0; turns <= 2 * reader->nr_subbufs + 1; turns++) {
		struct extent extent = { 0 };
		/* Acquire: pairs with the release of the commit position (edge C1); data, size and numbers are there. */
		const uint64_t commit = rec_load_acquire(&reader->lane->commit);

		r = page_extent(reader, reader->page, commit, &extent);
		if (r < 0)
			return r;
		if (reader->read < extent.size && !(extent.open && whole_only)) {
			hand_over(reader, &extent, ret_page);
			if (ret_page->entries || ret_page->lost)
				return 1;
			rec_ring_read_done(reader);
			continue;
		}
		if (extent.open)
			return 0;
		r = swap(reader, whole_only);
		if (r <= 0)
			return r;
	}
	/* A writer that discards as fast as we look. */
	return -EAGAIN;
}

uint64_t rec_ring_unreported(const struct rec_ring_reader *reader)
{
	const struct rec_lane *lane = reader->lane;
	const uint64_t refused = rec_load_relaxed(&lane->dropped) + rec_load_relaxed(&lane->commit_overrun) +
				 rec_load_relaxed(&lane->too_long) + rec_load_relaxed(&lane->nested_limit);
	const uint64_t seen = reader->pending.data ? reader->pending_refused : reader->refused;

	return refused > seen ? refused - seen : 0;
}

int rec_ring_count(const struct rec_ring_reader *reader, uint64_t *ret_committed, uint64_t *ret_oldest)
{
	const uint64_t commit = rec_load_acquire(&reader->lane->commit);
	uint32_t holder, head = REC_POS_ID(commit);
	uint64_t link;

	if (head >= reader->nr_subbufs)
		return -EBADMSG;
	*ret_committed = reader->subbufs[head].first + REC_POS_COUNT(commit);
	*ret_oldest = reader->next_event;
	/* What the reader page still holds is the oldest; behind it comes the head, unless everything is on the reader page. */
	if (head != reader->page && find_head(reader, &holder, &link) > 0 && link_id(reader, link) < reader->nr_subbufs) {
		struct extent extent;

		if (page_extent(reader, reader->page, commit, &extent) == 0 && reader->read >= extent.size)
			*ret_oldest = reader->subbufs[link_id(reader, link)].first;
	}
	return 0;
}
