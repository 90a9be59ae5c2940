/* SPDX-License-Identifier: MIT */
/*
 * The reader's side of a ring. The reader takes the head out of the ring and puts its reader page in the head's place.
 *
 * Guarantees. Nothing is copied, and no writer has to wait. A page that was taken stays private until the next one is
 * requested. Nothing after the commit position is handed over. A reader killed at any instruction leaves a lane that
 * the next one takes over without loss, at the same position: the page that was handed over last, if the reader had not
 * finished with it, is returned once more, with the same event numbers. Whatever the shared words contain, nothing
 * outside the mapping is touched and every loop ends.
 *
 * The swap is that of the kernel's design text. The search for the head starts at a remembered link. This may be
 * between an UPDATE link and the head that a mover has just set after it. So a head is valid only if the link into the
 * sub-buffer before it is unmarked.
 */
#include "librecorder/ring/ring_private.h"
#include "librecorder/core/atomic.h"

#include <errno.h>
#include <librecorder/page.h>
#include <string.h>

/*
 * The number of links that all searches of one call may examine, as a number of rounds of the ring. After the first
 * round the head is near.
 */
#define CALL_ROUNDS 12u

/*
 * The number of calls in a row that may go round the whole ring and find no event. If damaged links form a wrong
 * circle, calls would do this for ever.
 */
#define VAIN_MAX 8u

/* Swaps lost to a moving writer in one call before the caller gets -EAGAIN. */
#define SWAP_TRIES 3

static uint64_t read_link(const struct rec_ring_reader *reader, uint32_t id)
{
	return rec_load_acquire(&reader->links[id].next);
}

/* The id in a link, or nr_subbufs if it is out of range. */
static uint32_t link_id(const struct rec_ring_reader *reader, uint64_t link)
{
	const uint32_t id = REC_LINK_ID(link);

	return id < reader->nr_subbufs ? id : reader->nr_subbufs;
}

int rec_ring_extent(const struct rec_ring_reader *reader, uint32_t id, uint64_t commit, struct rec_extent *ret_extent)
{
	struct rec_extent extent = { .open = REC_POS_ID(commit) == id };

	if (extent.open) {
		extent.size = REC_POS_OFF(commit);
		extent.entries = REC_POS_COUNT(commit);
	} else {
		extent.size = rec_page_size(rec_reader_page(reader, id));
		extent.entries = rec_load_relaxed(&reader->subbufs[id].entries);
	}
	if (extent.size > reader->subbuf_size - REC_SUBBUF_HEADER_SIZE || extent.size % 4 ||
	    extent.entries > REC_POS_COUNT_MASK)
		return -EBADMSG;
	*ret_extent = extent;
	return 0;
}

/* ------------------------------------------------------------------------------------------------------ account */

/*
 * The number of the first event that counts as lost if it was overwritten: earlier ones were reported, or a reset has
 * removed them from the counts.
 */
static uint64_t events_settled(const struct rec_lane_reader *words, uint64_t next_event)
{
	const struct rec_lane_bases *bases = rec_bases_of(words);
	const uint64_t base = rec_load_relaxed(&bases->read) + rec_load_relaxed(&bases->overrun);

	return next_event > base ? next_event : base;
}

/* The number of refusals that were reported, or that a reset has removed from the counts. */
static uint64_t refusals_reported(const struct rec_lane_reader *words, uint64_t reported)
{
	const struct rec_lane_bases *bases = rec_bases_of(words);
	const uint64_t base = rec_load_relaxed(&bases->dropped) + rec_load_relaxed(&bases->commit_overrun) +
			      rec_load_relaxed(&bases->too_long) + rec_load_relaxed(&bases->nested_limit);

	return reported > base ? reported : base;
}

uint64_t rec_gap_time(const struct rec_lane *lane, uint64_t number)
{
	uint64_t time = 0;
	uint32_t i;

	/* A slot that was never used also begins with event 0, but has no time. */
	for (i = 0; i < 2 && !time; i++)
		if (rec_load_relaxed(&lane->gaps[i].first) == number)
			time = rec_load_relaxed(&lane->gaps[i].time);
	return time;
}

struct rec_loss rec_reader_loss(const struct rec_lane *lane, const struct rec_lane_reader *words, uint64_t read,
				const struct rec_subbuf *page)
{
	const struct rec_reader_account *account = &words->account[REC_POS_SEQ(read) & 1];
	const uint64_t first = rec_load_relaxed(&page->first);
	const uint64_t expected = rec_load_relaxed(&account->next_event);
	const uint64_t reported = refusals_reported(words, rec_load_relaxed(&account->refused));
	struct rec_loss loss = {
		.time = rec_load_relaxed(&account->lost_time), .refused = reported, .reported = reported
	};

	if (rec_load_relaxed(&page->refused) > reported) {
		loss.refused = rec_load_relaxed(&page->refused);
		loss.time = rec_earlier(loss.time, rec_load_relaxed(&page->refused_time));
	}
	if (first > expected) {
		loss.gap = first - expected;
		loss.time = rec_earlier(loss.time, rec_gap_time(lane, expected));
	}
	if (first > events_settled(words, expected))
		loss.count = first - events_settled(words, expected);
	loss.count += loss.refused - reported;
	/*
	 * If a reset happened during a run of refusals, the run began before the reset, and its time is not reported.
	 */
	if (!loss.count || loss.time < rec_load_relaxed(&rec_bases_of(words)->time))
		loss.time = 0;
	return loss;
}

/* Other processes may read the account meanwhile, so each word is stored by itself. */
static void put_account(struct rec_reader_account *to, const struct rec_reader_account *from)
{
	rec_store_relaxed(&to->next_event, from->next_event);
	rec_store_relaxed(&to->refused, from->refused);
	rec_store_relaxed(&to->events_lost, from->events_lost);
	rec_store_relaxed(&to->lost_time, from->lost_time);
}

void rec_reader_leave(const struct rec_lane *lane, struct rec_lane_reader *words, const struct rec_subbuf *page)
{
	const uint64_t read = words->read;
	const struct rec_reader_account *now = &words->account[REC_POS_SEQ(read) & 1];
	const struct rec_loss loss = rec_reader_loss(lane, words, read, page);
	struct rec_reader_account next = *now;

	if (REC_POS_COUNT(read)) {
		/* The loss before the first event was reported with that event. */
		next.next_event = rec_load_relaxed(&page->first) + REC_POS_COUNT(read);
		next.refused = loss.refused;
		next.events_lost = now->events_lost + loss.gap;
		next.lost_time = 0;
	} else if (loss.count) {
		next.lost_time = loss.time;
	}
	/* A process that sees any word of the new account also sees that `read` has moved on (edge A1). */
	rec_fence_release();
	put_account(&words->account[(REC_POS_SEQ(read) + 1) & 1], &next);
	REC_TESTPOINT(leave_account);
}

void rec_ring_set_read(struct rec_ring_reader *reader, uint32_t events, uint32_t size)
{
	reader->read = REC_POS(reader->page, REC_POS_SEQ(reader->read), events, size);
	/*
	 * This is one store. If the reader dies before it, its successor gets all of these events; if it dies after it,
	 * none.
	 */
	rec_store_release(&reader->words->read, reader->read);
	REC_TESTPOINT(done_read);
}

/* ----------------------------------------------------------------------------------------------------- takeover */

/*
 * Find the reader page, which is the sub-buffer that is not in the ring. Its id is the sum of all ids minus the sum of
 * those in the ring. If a reader died between its exchange and the store that records it, the shared words name another
 * sub-buffer (`named`); but the link of any sub-buffer leads into the ring. A walk that returns to its first sub-buffer
 * has passed none twice. The walk repairs each `prev`. Returns nr_subbufs if the links form no ring.
 */
static uint32_t find_reader_page(struct rec_ring_reader *reader, uint32_t named)
{
	const uint32_t first = link_id(reader, read_link(reader, named));
	uint64_t rest = (uint64_t)reader->nr_subbufs * (reader->nr_subbufs - 1) / 2;
	uint32_t id = first, next, steps = 0;
	bool met = false;

	do {
		if (id == reader->nr_subbufs)
			return id;
		met |= id == named;
		next = link_id(reader, read_link(reader, id));
		if (next < reader->nr_subbufs && rec_load_relaxed(&reader->links[next].prev) != id)
			rec_store_relaxed(&reader->links[next].prev, id);
		REC_TESTPOINT(take_prev);
		rest -= id;
		id = next;
	} while (++steps < reader->nr_subbufs && id != first);
	if (!met)
		return named;
	/* If another process changed the links meanwhile, a sub-buffer may have been passed twice after all. */
	return steps == reader->nr_subbufs - 1 && rest < reader->nr_subbufs ? (uint32_t)rest : reader->nr_subbufs;
}

/* Called if a reader died in a swap, after the exchange: do its remaining stores. */
static void finish_swap(struct rec_ring_reader *reader, uint64_t read, uint32_t page)
{
	struct rec_lane_reader *words = reader->words;
	const uint64_t next = rec_reader_next(read, page);

	rec_store_relaxed(&words->hint, REC_POS_ID(read));
	REC_TESTPOINT(take_hint);
	if ((words->pages_read & REC_POS_SEQ_MASK) != REC_POS_SEQ(next))
		rec_store_relaxed(&words->pages_read, words->pages_read + 1);
	REC_TESTPOINT(take_pages_read);
	rec_store_release(&words->read, next);
	REC_TESTPOINT(take_read);
}

int rec_ring_reader_init(struct rec_ring_reader *reader)
{
	struct rec_lane_reader *words = reader->words;
	const uint64_t read = rec_load_acquire(&words->read);
	uint32_t page;
	int r;

	if (REC_POS_ID(read) >= reader->nr_subbufs || rec_load_relaxed(&words->hint) >= reader->nr_subbufs)
		return -EBADMSG;
	page = find_reader_page(reader, REC_POS_ID(read));
	if (page == reader->nr_subbufs)
		return -EBADMSG;
	if (page != REC_POS_ID(read))
		finish_swap(reader, read, page);
	reader->read = words->read;
	reader->page = page;
	r = rec_ring_extent(reader, page, rec_load_acquire(&reader->lane->commit), &reader->extent);
	if (r < 0)
		return r;
	if (REC_POS_OFF(reader->read) > reader->extent.size || REC_POS_COUNT(reader->read) > reader->extent.entries)
		return -EBADMSG;
	rec_page_iter_init(&reader->iter, rec_reader_page(reader, page), 0);
	reader->pending = (struct rec_page){ 0 };
	reader->idle = false;
	return 0;
}

/* --------------------------------------------------------------------------------------------------------- swap */

/*
 * Find the link that leads to the head. 1: found. 0: a writer is moving it. -EBADMSG: it is not among the next *steps
 * links. The number of examined links is subtracted from *steps. Acquire: the writer that set the flag (edge L1) had
 * closed the sub-buffers before.
 */
static int find_head(const struct rec_ring_reader *reader, uint64_t *steps, uint32_t *ret_holder, uint64_t *ret_link)
{
	uint32_t holder = rec_load_relaxed(&reader->words->hint);

	for (; *steps && holder < reader->nr_subbufs; --*steps) {
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

/*
 * Put the reader page in the head's place. 1: done; 0: nothing to take; -EAGAIN; -EBADMSG. `steps`: see
 * find_head().
 */
static int swap(struct rec_ring_reader *reader, bool whole_only, uint64_t *steps)
{
	struct rec_lane_reader *words = reader->words;
	const uint32_t page = reader->page;
	unsigned int tries;

	for (tries = 0; tries < SWAP_TRIES; tries++) {
		uint32_t holder, head, next;
		uint64_t link, commit;
		int r = find_head(reader, steps, &holder, &link);

		if (r < 0)
			return r;
		if (r == 0)
			continue;
		head = link_id(reader, link);
		/* Read after the link: if the exchange succeeds, the head was the same from there to here. */
		commit = rec_load_acquire(&reader->lane->commit);
		if (REC_POS_ID(commit) == head && (whole_only || REC_POS_OFF(commit) == 0))
			return 0;
		if (head == reader->nr_subbufs)
			return -EBADMSG;
		next = link_id(reader, read_link(reader, head));
		if (next == reader->nr_subbufs)
			return -EBADMSG;
		/*
		 * This comes before the page goes into the ring: from then on its descriptor belongs to the writer
		 * again.
		 */
		rec_reader_leave(reader->lane, words, &reader->subbufs[page]);
		rec_store_relaxed(&reader->links[page].prev, holder);
		REC_TESTPOINT(swap_prev);
		rec_store_release(&reader->links[page].next,
				  REC_LINK(next, REC_LINK_HEAD, REC_LINK_GEN(read_link(reader, page)) + 1));
		REC_TESTPOINT(swap_next);
		/* The linearisation point. Releases the link of the page that goes in, and the account (edge L3). */
		if (!rec_cmpxchg64(&reader->links[holder].next, &link,
				   REC_LINK(page, REC_LINK_NORMAL, REC_LINK_GEN(link) + 1)))
			continue;
		REC_TESTPOINT(swap_exchange);
		rec_store_relaxed(&reader->links[next].prev, page);
		REC_TESTPOINT(swap_next_prev);
		rec_store_relaxed(&words->hint, page);
		REC_TESTPOINT(swap_hint);
		rec_store_relaxed(&words->pages_read, words->pages_read + 1);
		REC_TESTPOINT(swap_pages_read);
		reader->read = rec_reader_next(reader->read, head);
		reader->page = head;
		reader->swaps++;
		/* This store is the last: a successor that finds the old page here does the stores that are missing. */
		rec_store_release(&words->read, reader->read);
		REC_TESTPOINT(swap_read);
		reader->extent = (struct rec_extent){ 0 };
		rec_page_iter_init(&reader->iter, rec_reader_page(reader, head), 0);
		return 1;
	}
	return -EAGAIN;
}

/* Numbers only grow: links that lead back to the same place would return the same events for ever. */
static bool number_is_sane(const struct rec_ring_reader *reader)
{
	const struct rec_reader_account *account = &reader->words->account[REC_POS_SEQ(reader->read) & 1];
	const uint64_t first = rec_load_relaxed(&reader->subbufs[reader->page].first);

	return first < REC_NUMBER_MAX &&
	       (REC_POS_COUNT(reader->read) || first >= rec_load_relaxed(&account->next_event));
}

int rec_ring_turn(struct rec_ring_reader *reader, bool whole_only, uint32_t *pages)
{
	uint64_t steps = (uint64_t)reader->nr_subbufs * CALL_ROUNDS;

	/* A sub-buffer that contains only discarded events is swapped out as well. */
	for (; *pages <= reader->nr_subbufs; ++*pages) {
		/* Acquire: pairs with the release of the commit position (edge C1): data, size, numbers. */
		const uint64_t commit = rec_load_acquire(&reader->lane->commit);
		int r = rec_ring_extent(reader, reader->page, commit, &reader->extent);

		if (r < 0)
			return r;
		if (REC_POS_COUNT(reader->read) < reader->extent.entries &&
		    REC_POS_OFF(reader->read) < reader->extent.size && !(reader->extent.open && whole_only)) {
			reader->vain = 0;
			return number_is_sane(reader) ? 1 : -EBADMSG;
		}
		if (reader->extent.open)
			return 0;
		r = swap(reader, whole_only, &steps);
		if (r <= 0)
			return r;
	}
	/*
	 * The writer may have discarded events as fast as we took sub-buffers. After VAIN_MAX such calls in a row, the
	 * ring counts as damaged.
	 */
	return ++reader->vain < VAIN_MAX ? -EAGAIN : -EBADMSG;
}

/* ------------------------------------------------------------------------------------------------- whole pages */

void rec_ring_read_done(struct rec_ring_reader *reader)
{
	const struct rec_page *page = &reader->pending;

	if (!page->data)
		return;
	rec_ring_set_read(reader, REC_POS_COUNT(reader->read) + page->entries, page->size);
	reader->pending.data = NULL;
}

int rec_ring_read(struct rec_ring_reader *reader, bool whole_only, struct rec_page *ret_page)
{
	const struct rec_subbuf *subbuf;
	struct rec_loss loss = { 0 };
	uint64_t touched;
	uint32_t pages = 0;
	int r;

	rec_ring_read_done(reader);
	/*
	 * A reader that polls for whole pages reads a line that the writer changes once a page, not its hot line. The
	 * count is read before the commit position and raised after it, so a page that was missed shows in the count
	 * (edge T1).
	 */
	touched = rec_load_acquire(&reader->lane->pages_touched);
	if (whole_only && reader->idle && touched == reader->touched)
		return 0;
	r = rec_ring_turn(reader, whole_only, &pages);
	reader->idle = whole_only && r == 0;
	reader->touched = touched;
	if (r <= 0)
		return r;
	subbuf = &reader->subbufs[reader->page];
	if (REC_POS_COUNT(reader->read) == 0)
		loss = rec_reader_loss(reader->lane, reader->words, reader->read, subbuf);
	reader->pending = (struct rec_page){
		.data = rec_reader_page(reader, reader->page),
		.size = reader->extent.size,
		.from = REC_POS_OFF(reader->read),
		.entries = reader->extent.entries - REC_POS_COUNT(reader->read),
		.first = rec_load_relaxed(&subbuf->first) + REC_POS_COUNT(reader->read),
		.lost = loss.count,
		.lost_time = loss.time,
	};
	*ret_page = reader->pending;
	return 1;
}
