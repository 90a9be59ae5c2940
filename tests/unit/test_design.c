/* SPDX-License-Identifier: MIT */
/*
 * The figures of the kernel's design text ("Lockless Ring Buffer Design", for 2.6.31), each reproduced on our ring.
 * They are numbered in the order of the text; docs/DESIGN-FIGURES.md lists them all. Figures 1 to 31 are here; 32 to
 * 51, on nested writers, are in test_design_nested.c.
 *
 * Where our ring differs from the text's: tail page and write index are one word, and so are commit page and index;
 * there is no filler and no count of nesting; links carry ids and a generation instead of addresses; only the reader
 * uses `prev`.
 */
#include "film.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

/* Four events fit on a sub-buffer: 24 bytes of marker and stamp, 4 x 1008, 24 left. */
#define SIZE	 1000u
#define TOTAL	 (8 + SIZE)
#define PER_PAGE 4u
/* The same for events that interrupt others, each of which has a marker and a stamp. */
#define NESTED_PER_PAGE 3u

static uint64_t number;

static void write_one(struct ring *ring)
{
	ring_write(ring, number++, SIZE);
}

static void write_some(struct ring *ring, unsigned int events)
{
	while (events--)
		cr_assert(ring_write(ring, number++, SIZE));
}

static void read_one(struct ring *ring)
{
	struct rec_page page;

	rec_ring_read(&ring->reader, false, &page);
}

static struct rec_slot reserve(struct ring *ring)
{
	struct rec_slot slot;
	void *payload = rec_reserve(&ring->handle, SIZE, &slot);

	cr_assert_not_null(payload);
	ring_fill(payload, number++, SIZE);
	return slot;
}

static uint32_t tail_at(const struct ring *ring)
{
	return REC_POS_OFF(ring->handle.lane->tail);
}

static uint32_t commit_at(const struct ring *ring)
{
	return REC_POS_OFF(ring->handle.lane->commit);
}

#define PICTURE(ring, text) cr_assert_str_eq(film_picture(ring), text)

/*
 * ----------------------------------------------------------------------------------------- The Generic Ring Buffer
 */

Test(design, text_at_initialization)
{
	struct ring *ring = ring_new(3, 4096, true);

	/* Head, tail and commit are one page; the reader page leads to it, and back to the page before it. */
	PICTURE(ring, "0->1 : 1-> 2-> 3-H> : commit 1 tail 1");
	cr_assert_eq(ring->handle.links[0].prev, 3);
	ring_free(ring);
}

/* Figure 1: writers are a stack. Each begins inside the one before and ends before that one continues. */
Test(design, figure_01_writers_are_a_stack)
{
	struct ring *ring = ring_new(3, 4096, true);
	struct rec_slot writer1 = reserve(ring), writer2 = reserve(ring), writer3 = reserve(ring);
	struct rec_page_iter iter;
	struct rec_record record;
	struct rec_page page;
	uint64_t i, n = 0;

	rec_commit(&writer3);
	rec_commit(&writer2);
	cr_assert_eq(rec_ring_read(&ring->reader, false, &page), 0);
	rec_commit(&writer1);
	cr_assert_eq(rec_ring_read(&ring->reader, false, &page), 1);
	rec_page_iter_init(&iter, page.data, page.size);
	for (i = 0; i < 3; i++) {
		cr_assert_eq(rec_page_next(&iter, &record), 1);
		cr_assert(ring_is_intact(record.payload, SIZE, &n));
		cr_assert_eq(n, i);
	}
	ring_free(ring);
}

static bool is_exchanged(const struct ring *ring)
{
	return REC_LINK_ID(rec_load_relaxed(&ring->handle.links[3].next)) == 0;
}

static uint32_t prev_at_exchange;

static void look_at_prev(struct ring *ring)
{
	prev_at_exchange = ring->handle.links[2].prev;
}

/*
 * Figures 2 to 5: the swap without flags (20 to 24 are the same with them). Ours differs only in that prev is merely a
 * hint for the search.
 */
Test(design, figures_02_to_05_the_reader_page_is_swapped)
{
	struct ring *ring = ring_new(3, 4096, true);
	struct film film = { .ring = ring, .cuts = { { .level = 1, .when = is_exchanged, .act = look_at_prev } } };

	FILM_OR_SKIP();
	write_some(ring, 3 * PER_PAGE);
	film_shoot(&film, read_one);
	/* 2: the reader page outside. 3: it leads to the page after the head, and back to the one before it. */
	cr_assert_str_eq(film.frames[0], "1: 0->1 : 1-> 2-> 3-H> : commit 3 tail 3");
	cr_assert_eq(REC_LINK_ID(ring->handle.links[0].next), 2);
	cr_assert_eq(ring->handle.links[0].prev, 3);
	/* 4: the page before leads to it, and the page after leads back to it. */
	cr_assert_eq(REC_LINK_ID(ring->handle.links[3].next), 0);
	cr_assert_eq(ring->handle.links[2].prev, 0);
	/* 5: what was the head is the reader page. */
	cr_assert_eq(ring->reader.page, 1);
	ring_free(ring);
}

/*
 * Figure 6: less than a page is in the ring, so the reader gets the page of commit and tail; it leads on into the ring.
 */
Test(design, figure_06_commit_and_tail_page_are_swapped)
{
	struct ring *ring = ring_new(4, 4096, true);

	write_some(ring, 1);
	read_one(ring);
	PICTURE(ring, "1->2 : 0-H> 2-> 3-> 4-> : commit 1 tail 1");
	/* "When the writer leaves the page, it simply goes into the ring buffer." */
	write_some(ring, PER_PAGE);
	PICTURE(ring, "1->2 : 0-H> 2-> 3-> 4-> : commit 2 tail 2");
	ring_free(ring);
}

Test(design, figure_07_write_reserve)
{
	struct ring *ring = ring_new(3, 4096, true);
	struct rec_slot slot;
	uint32_t written;

	write_some(ring, 1);
	written = commit_at(ring);
	slot = reserve(ring);
	cr_assert_eq(REC_POS_OFF(slot.old), written);
	cr_assert_eq(commit_at(ring), written);
	cr_assert_eq(tail_at(ring), written + TOTAL);
	ring_free(ring);
}

Test(design, figure_08_write_commit)
{
	struct ring *ring = ring_new(3, 4096, true);
	struct rec_slot slot;
	uint32_t written;

	write_some(ring, 1);
	written = commit_at(ring);
	slot = reserve(ring);
	rec_commit(&slot);
	cr_assert_eq(commit_at(ring), written + TOTAL);
	cr_assert_eq(tail_at(ring), commit_at(ring));
	ring_free(ring);
}

/*
 * Figures 9 to 11: a second write inside the first. The text's "pending commit" is simply a commit position that is not
 * moved.
 */
Test(design, figures_09_to_11_a_write_inside_the_first)
{
	struct ring *ring = ring_new(3, 4096, true);
	struct rec_slot first, second;
	struct rec_page page;
	uint32_t written;

	write_some(ring, 1);
	written = commit_at(ring);
	/* 9 */
	first = reserve(ring);
	second = reserve(ring);
	cr_assert_eq(REC_POS_OFF(first.end), written + TOTAL);
	cr_assert_eq(REC_POS_OFF(second.end), tail_at(ring));
	cr_assert_gt(tail_at(ring), REC_POS_OFF(first.end));
	cr_assert_eq(commit_at(ring), written);
	/* 10: the second has committed: pending. */
	rec_commit(&second);
	cr_assert_eq(commit_at(ring), written);
	cr_assert_eq(rec_ring_read(&ring->reader, false, &page), 1);
	cr_assert_eq(page.entries, 1);
	/* 11 */
	rec_commit(&first);
	cr_assert_eq(commit_at(ring), tail_at(ring));
	cr_assert_eq(rec_ring_read(&ring->reader, false, &page), 1);
	cr_assert_eq(page.entries, 2);
	ring_free(ring);
}

/* Figure 12: head, commit and tail in this order, the tail ahead of the commit because a writer was interrupted. */
Test(design, figure_12_head_commit_tail)
{
	struct ring *ring = ring_new(4, 4096, true);
	struct rec_slot outer;

	write_some(ring, 2 * PER_PAGE + 1);
	outer = reserve(ring);
	write_some(ring, PER_PAGE);
	PICTURE(ring, "0->1 : 1-> 2-> 3-> 4-H> : commit 3 tail 4");
	rec_commit(&outer);
	PICTURE(ring, "0->1 : 1-> 2-> 3-> 4-H> : commit 4 tail 4");
	ring_free(ring);
}

/* "If the tail page catches up to the commit page then no more writes may take place (regardless of the mode)." */
Test(design, text_the_tail_meets_the_commit)
{
	unsigned int overwrite;

	for (overwrite = 0; overwrite < 2; overwrite++) {
		struct ring *ring = ring_new(4, 4096, overwrite);
		struct rec_slot outer;

		/* The head mark is removed, so that, as in discard mode, only the commit page stops the tail. */
		write_some(ring, PER_PAGE + 1);
		read_one(ring);
		outer = reserve(ring);
		write_some(ring, NESTED_PER_PAGE - 2 + 3 * NESTED_PER_PAGE);
		PICTURE(ring, "1->2 : 0-H> 2-> 3-> 4-> : commit 2 tail 0");
		cr_assert_not(ring_write(ring, number, SIZE));
		cr_assert_eq(ring->handle.lane->commit_overrun, 1);
		PICTURE(ring, "1->2 : 0-H> 2-> 3-> 4-> : commit 2 tail 0");
		rec_commit(&outer);
		ring_free(ring);
	}
}

/*
 * Figure 13: the head comes after commit and tail, because these are on the reader page; it stays when they come back.
 */
Test(design, figure_13_head_after_commit_and_tail)
{
	struct ring *ring = ring_new(4, 4096, true);
	struct rec_page page;

	write_some(ring, 1);
	read_one(ring);
	PICTURE(ring, "1->2 : 0-H> 2-> 3-> 4-> : commit 1 tail 1");
	/* "The reader cannot swap a page into the ring buffer if the commit page is still on that page." */
	cr_assert_eq(rec_ring_read(&ring->reader, false, &page), 0);
	PICTURE(ring, "1->2 : 0-H> 2-> 3-> 4-> : commit 1 tail 1");
	write_some(ring, PER_PAGE - 1);
	write_some(ring, 3 * PER_PAGE);
	PICTURE(ring, "1->2 : 0-H> 2-> 3-> 4-> : commit 4 tail 4");
	ring_free(ring);
}

/* "If the read meets the last commit (real commit not pending or reserved), then there is nothing more to read." */
Test(design, text_pending_is_empty)
{
	struct ring *ring = ring_new(3, 4096, true);
	struct rec_slot outer, nested;
	struct rec_page page;

	write_some(ring, 1);
	read_one(ring);
	outer = reserve(ring);
	nested = reserve(ring);
	rec_commit(&nested);
	cr_assert_eq(rec_ring_read(&ring->reader, false, &page), 0);
	rec_commit(&outer);
	cr_assert_eq(rec_ring_read(&ring->reader, false, &page), 1);
	cr_assert_eq(page.entries, 2);
	ring_free(ring);
}

/*
 * Figures 14 to 16: overwrite mode, the tail before the head; the head is pushed on by one page, then the tail follows.
 */
Test(design, figures_14_to_16_overwrite_mode)
{
	struct ring *ring = ring_new(4, 4096, true);
	struct film film = { .ring = ring };

	FILM_OR_SKIP();
	write_some(ring, (4 + 2) * PER_PAGE);
	PICTURE(ring, "0->1 : 1-> 2-H> 3-> 4-> : commit 2 tail 2");
	film_shoot(&film, write_one);
	cr_assert(film_has(&film, "1: 0->1 : 1-> 2-> 3-H> 4-> : commit 2 tail 2"));
	PICTURE(ring, "0->1 : 1-> 2-> 3-H> 4-> : commit 3 tail 3");
	/*
	 * "The reader page will still point to the previous head page. But when a swap takes place, it will use the
	 * most recent."
	 */
	read_one(ring);
	cr_assert_eq(ring->reader.page, 4);
	ring_free(ring);
}

/* "If the buffer is in producer/consumer mode, the write will fail." */
Test(design, text_producer_consumer_mode)
{
	struct ring *ring = ring_new(4, 4096, false);

	write_some(ring, 4 * PER_PAGE);
	cr_assert_not(ring_write(ring, number, SIZE));
	cr_assert_eq(ring->handle.lane->dropped, 1);
	PICTURE(ring, "0->1 : 1-> 2-> 3-> 4-H> : commit 4 tail 4");
	ring_free(ring);
}

/*
 * ------------------------------------------------------------------------------------ Making the Ring Buffer
 * Lockless
 */

/* Figure 17: HEADER in the link before the head. */
Test(design, figure_17_the_header_flag)
{
	struct ring *ring = ring_new(4, 4096, true);

	write_some(ring, (4 + 2) * PER_PAGE);
	PICTURE(ring, "0->1 : 1-> 2-H> 3-> 4-> : commit 2 tail 2");
	cr_assert_eq(REC_LINK_FLAG(ring->handle.links[2].next), REC_LINK_HEAD);
	cr_assert_eq(REC_LINK_ID(ring->handle.links[2].next), 3);
	ring_free(ring);
}

static int reader_said;
static uint32_t reader_had;

static void try_to_read(struct ring *ring)
{
	struct rec_page page;

	reader_said = rec_ring_read(&ring->reader, false, &page);
	reader_had = ring->reader.page;
}

/* Figures 18 and 19: the tail reaches the head and makes it UPDATE. A reader that comes now takes nothing. */
Test(design, figures_18_and_19_header_becomes_update)
{
	struct ring *ring = ring_new(4, 4096, true);
	struct film film = {
		.ring = ring,
		.cuts = { { .level = 1, .at = "0->1 : 1-> 2-U> 3-> 4-> : commit 2 tail 2", .act = try_to_read } }
	};

	FILM_OR_SKIP();
	write_some(ring, (4 + 2) * PER_PAGE);
	film_shoot(&film, write_one);
	cr_assert_str_eq(film.frames[0], "1: 0->1 : 1-> 2-H> 3-> 4-> : commit 2 tail 2");
	cr_assert_str_eq(film.frames[1], "1: 0->1 : 1-> 2-U> 3-> 4-> : commit 2 tail 2");
	cr_assert(film.cuts[0].done);
	cr_assert_eq(reader_said, -EAGAIN);
	cr_assert_eq(reader_had, 0);
	ring_free(ring);
}

/* Figures 20 to 24: the swap with HEADER. */
Test(design, figures_20_to_24_the_reader_swaps)
{
	static const char *const frames[] = {
		/* 20 */
		"1: 0->1 : 1-> 2-> 3-H> : commit 3 tail 3",
		/* 21: the reader page leads to the page after the head, as HEADER. */
		"1: 0-H>2 : 1-> 2-> 3-H> : commit 3 tail 3",
		/* 22: the exchange. The link has no HEADER now: the head moved on with the same instruction. */
		"1: 1->2 : 0-H> 2-> 3-> : commit 3 tail 3",
		NULL,
	};
	struct ring *ring = ring_new(3, 4096, true), *again = ring_new(3, 4096, true);
	struct film film = { .ring = ring };
	struct film looks = { .ring = again, .cuts = { { .level = 1, .when = is_exchanged, .act = look_at_prev } } };

	FILM_OR_SKIP();
	write_some(ring, 3 * PER_PAGE);
	film_shoot(&film, read_one);
	film_expect(&film, frames);
	write_some(again, 3 * PER_PAGE);
	film_shoot(&looks, read_one);
	/* 23: the new head's prev is set after the exchange. 24: the reader knows its page. */
	cr_assert(looks.cuts[0].done);
	cr_assert_eq(prev_at_exchange, 1);
	cr_assert_eq(again->handle.links[2].prev, 0);
	cr_assert_eq(again->reader.page, 1);
	ring_free(ring);
	ring_free(again);
}

/*
 * Figure 25: the reader page is recognised because the page before it does not lead to it. Every page of the ring is
 * its prev's next.
 */
Test(design, figure_25_how_to_tell_a_reader_page)
{
	struct ring *ring = ring_new(4, 4096, true);
	const struct rec_link *links = ring->handle.links;
	uint32_t round, id;

	for (round = 0; round < 12; round++) {
		for (id = 0; id < 5; id++)
			cr_assert_eq(REC_LINK_ID(links[links[id].prev].next) != id, id == ring->reader.page,
				     "round %u, sub-buffer %u: %s", round, id, film_picture(ring));
		write_some(ring, 1 + round);
		read_one(ring);
	}
	cr_assert_neq(ring->reader.page, 0);
	ring_free(ring);
}

/* Figures 26 to 30: the head moves forward, the simple case. */
Test(design, figures_26_to_30_the_head_moves_forward)
{
	static const char *const frames[] = {
		/* 26 */
		"1: 0->1 : 1-> 2-H> 3-> 4-> : commit 2 tail 2",
		/* 27: until we are finished, no other reader or writer swaps or moves it. */
		"1: 0->1 : 1-> 2-U> 3-> 4-> : commit 2 tail 2",
		/* 28: the following page is the new head. */
		"1: 0->1 : 1-> 2-U> 3-H> 4-> : commit 2 tail 2",
		/* 29: the old mark is removed. */
		"1: 0->1 : 1-> 2-> 3-H> 4-> : commit 2 tail 2",
		/* 30: now the tail may move. */
		"1: 0->1 : 1-> 2-> 3-H> 4-> : commit 2 tail 3",
		/* The commit moves, too, which the figure does not draw. */
		"1: 0->1 : 1-> 2-> 3-H> 4-> : commit 3 tail 3",
		NULL,
	};
	struct ring *ring = ring_new(4, 4096, true);
	struct film film = { .ring = ring };

	FILM_OR_SKIP();
	write_some(ring, (4 + 2) * PER_PAGE);
	film_shoot(&film, write_one);
	film_expect(&film, frames);
	ring_free(ring);
}

/* Figure 31: the commit is on the reader page, the tail has wrapped and reaches the head. It must not push the head. */
Test(design, figure_31_wrapped_while_the_commit_is_on_the_reader_page)
{
	struct ring *ring = ring_new(4, 4096, true);
	struct rec_slot outer;
	struct rec_page page;
	uint64_t read = 0;

	write_some(ring, 1);
	read_one(ring);
	outer = reserve(ring);
	write_some(ring, NESTED_PER_PAGE - 2 + 4 * NESTED_PER_PAGE);
	PICTURE(ring, "1->2 : 0-H> 2-> 3-> 4-> : commit 1 tail 0");
	cr_assert_not(ring_write(ring, number, SIZE));
	cr_assert_eq(ring->handle.lane->commit_overrun, 1);
	PICTURE(ring, "1->2 : 0-H> 2-> 3-> 4-> : commit 1 tail 0");
	rec_commit(&outer);
	PICTURE(ring, "1->2 : 0-H> 2-> 3-> 4-> : commit 0 tail 0");
	while (rec_ring_read(&ring->reader, false, &page) > 0)
		read += page.entries;
	cr_assert_eq(read, NESTED_PER_PAGE - 1 + 4 * NESTED_PER_PAGE);
	ring_free(ring);
}
