/* SPDX-License-Identifier: MIT */
/*
 * Questions that were asked about the design in its review on the mailing list in June 2009 (Desnoyers, Ying,
 * Weisbecker and others), each as a test on our ring. R1 to R11 are the numbers of docs/DESIGN-FIGURES.md, which also
 * lists the remarks that need no test, with their answers.
 */
#include "review_actor.h"
#include "tell.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

/* ------------------------------------------------------------------------------------------------------------- R1 */

static uint64_t page_and_offset(uint64_t pos)
{
	return pos & ~(REC_POS_SEQ_MASK << REC_POS_SEQ_SHIFT);
}

/*
 * Nested writers go round the whole ring, at least once, until the tail is at exactly the position (page, count,
 * offset) where the interrupted writer saw it. In the kernel's ring this cannot happen, because the outermost writer
 * has announced itself. In our ring it can: nested writers that find nothing reserved are outermost. The interrupted
 * writer notices it, because the sequence number in the position has changed.
 */
static void go_round(struct ring *ring)
{
	const uint64_t tail = ring->handle.lane->tail;
	unsigned int events = 0;

	do
		ledger_write(&book, SIZE);
	while (page_and_offset(ring->handle.lane->tail) != page_and_offset(tail) && ++events < 100);
	/*
	 * If the outer writer has already reserved, the tail cannot return to its position, because the ring is full
	 * before.
	 */
}

/* The remark says: "concurrently, a reader is consuming all the data". */
static void go_round_with_a_reader(struct ring *ring)
{
	const uint64_t tail = ring->handle.lane->tail;
	unsigned int events = 0;

	do {
		ledger_write(&book, SIZE);
		ledger_read(&book, false);
	} while (page_and_offset(ring->handle.lane->tail) != page_and_offset(tail) && ++events < 100);
}

static void wrap_at_instructions(film_act nested, unsigned int before, bool overwrite)
{
	struct steps steps = steps_begin(STRIDE, INSTRUCTIONS);
	bool cut;

	do {
		book = ledger_new(2, overwrite);
		book.nested = true;
		ledger_write_some(&book, before, SIZE);
		cut = cut_at_instruction(write_one, nested, steps.at);
		ledger_close(&book);
	} while (steps_next(&steps, cut));
	tell("%u instructions", steps.looks);
}

Test(review, r01_the_tail_comes_back_to_where_it_was)
{
	FILM_OR_SKIP();
	/* The interrupted writer is at the end of a page before the head, and in the middle of a page. */
	wrap_at_instructions(go_round, 4 * PER_PAGE, true);
	wrap_at_instructions(go_round, 4 * PER_PAGE + 2, true);
}

Test(review, r01_the_same_with_a_reader_that_consumes_all)
{
	FILM_OR_SKIP();
	wrap_at_instructions(go_round_with_a_reader, 2 * PER_PAGE, true);
	wrap_at_instructions(go_round_with_a_reader, PER_PAGE, false);
}

static bool has_not_moved_head(const struct ring *ring)
{
	return REC_LINK_FLAG(rec_load_relaxed(&ring->handle.links[2].next)) == REC_LINK_HEAD && ++instruction == target;
}

/* The tail comes to the same page, before the head again, but the page is only half full: the head need not move. */
static void go_round_and_half(struct ring *ring)
{
	unsigned int events;

	for (events = 0; events < 100; events++) {
		if (events && REC_POS_ID(ring->handle.lane->tail) == 2 && REC_POS_COUNT(ring->handle.lane->tail) == 2)
			break;
		ledger_write(&book, SIZE);
	}
}

/* "The same concern applies to moving the head page": the link is as it was, except its generation. */
Test(review, r01_the_head_comes_back_to_where_it_was)
{
	struct steps steps;
	unsigned int i;
	bool cut;

	FILM_OR_SKIP();
	steps = steps_begin(STRIDE, 20);
	do {
		struct film film = {
			.cuts = { { .level = 1, .when = has_not_moved_head, .act = go_round_and_half, .unseen = true } }
		};

		book = ledger_new(3, true);
		book.nested = true;
		ledger_write_some(&book, (3 + 2) * PER_PAGE, SIZE);
		film.ring = book.ring;
		cr_assert_str_eq(film_picture(book.ring), "0->1 : 1-> 2-H> 3-> : commit 2 tail 2");
		instruction = 0;
		target = steps.at;
		film_shoot(&film, write_one);
		cut = film.cuts[0].done;
		for (i = 0; cut && i < film.nr_frames; i++)
			cr_assert_null(strstr(film.frames[i], "U>"), "instruction %u: a head was moved for nothing",
				       target);
		ledger_close(&book);
	} while (steps_next(&steps, cut));
}

/*
 * ---------------------------------------------------------------------------------------------------------- R2, R10
 */

/*
 * Nesting that wraps the ring is refused, in overwrite mode too; each refusal is counted, and the rest stays valid. Two
 * pages, as in the ring of which Rostedt says that he "could easily trigger" it.
 */
static void wrap_inside_a_reservation(bool overwrite, bool on_reader_page)
{
	struct rec_slot slot;
	unsigned int i;

	book = ledger_new(2, overwrite);
	ledger_write(&book, SIZE);
	if (on_reader_page)
		cr_assert_eq(ledger_read(&book, false), 1);
	cr_assert_not_null(ledger_reserve(&book, SIZE, &slot));
	for (i = 0; i < 1000; i++)
		ledger_write(&book, SIZE);
	cr_assert_gt(book.refused, 900);
	cr_assert_eq(book.ring->handle.lane->commit_overrun, book.refused);
	cr_assert_eq(book.ring->handle.lane->dropped, 0);
	ledger_commit(&book, &slot);
	/* All events that were not refused are there. */
	while (ledger_read(&book, false) > 0)
		;
	cr_assert_eq(book.read, book.written);
	cr_assert(ledger_write(&book, SIZE));
	ledger_close(&book);
}

Test(review, r02_nesting_that_wraps_is_refused_in_overwrite_mode)
{
	wrap_inside_a_reservation(true, false);
	wrap_inside_a_reservation(true, true);
}

/*
 * Where the reader holds the commit page, only the head stops the tail: discard mode must not mistake it for "full".
 */
Test(review, r02_and_in_discard_mode)
{
	wrap_inside_a_reservation(false, false);
	wrap_inside_a_reservation(false, true);
}

Test(review, r10_every_refusal_is_counted)
{
	struct rec_lane *lane;
	struct rec_slot slot;
	unsigned int i;

	book = ledger_new(2, false);
	lane = book.ring->handle.lane;
	for (i = 0; i < 20; i++)
		ledger_write(&book, SIZE);
	cr_assert_eq(lane->dropped, 20 - 2 * PER_PAGE);
	for (i = 0; i < 5; i++)
		cr_assert_not(ledger_write(&book, 5000));
	cr_assert_eq(lane->too_long, 5);
	while (ledger_read(&book, false) > 0)
		;
	/* The losses were reported with the next page, and only once. */
	cr_assert_eq(book.lost, 0);
	ledger_write(&book, SIZE);
	cr_assert_not_null(ledger_reserve(&book, SIZE, &slot));
	for (i = 0; i < 20; i++)
		ledger_write(&book, SIZE);
	cr_assert_gt(lane->commit_overrun, 0);
	ledger_commit(&book, &slot);
	cr_assert_eq(lane->dropped + lane->too_long + lane->commit_overrun, book.refused);
	ledger_close(&book);
}

/* ------------------------------------------------------------------------------------------------------------- R5 */

Test(review, r05_nothing_beyond_the_outermost_commit_is_read)
{
	struct rec_slot outer, nested;
	unsigned int depth;

	book = ledger_new(4, true);
	ledger_write(&book, SIZE);
	cr_assert_not_null(ledger_reserve(&book, SIZE, &outer));
	/* The nested events are on the same page and on others. */
	for (depth = 0; depth < 3 * PER_PAGE; depth++) {
		cr_assert_not_null(ledger_reserve(&book, SIZE, &nested));
		ledger_commit(&book, &nested);
		while (ledger_read(&book, false) > 0)
			;
		cr_assert_eq(book.read, 1, "%u nested events: %llu were read", depth + 1,
			     (unsigned long long)book.read);
	}
	ledger_commit(&book, &outer);
	while (ledger_read(&book, false) > 0)
		;
	cr_assert_eq(book.read, 2 + 3 * PER_PAGE);
	ledger_close(&book);
}

/* "How do you check that? Is there a nesting counter?" No: by the commit position, which must be where we began. */
Test(review, r05_who_is_the_outermost)
{
	struct rec_lane *lane;
	struct rec_slot a, b, c;
	uint64_t commit;

	book = ledger_new(2, true);
	lane = book.ring->handle.lane;
	ledger_write(&book, 16);
	commit = lane->commit;
	cr_assert_not_null(ledger_reserve(&book, 16, &a));
	cr_assert_not_null(ledger_reserve(&book, 16, &b));
	ledger_commit(&book, &b);
	cr_assert_not_null(ledger_reserve(&book, 16, &c));
	ledger_commit(&book, &c);
	cr_assert_eq(lane->commit, commit);
	ledger_commit(&book, &a);
	cr_assert_eq(lane->commit, lane->tail);
	ledger_close(&book);
}

/* ------------------------------------------------------------------------------------------------------------- R9 */

/*
 * No lock replaces a missing instruction, neither at build time nor at run time: such a machine is not supported.
 */
_Static_assert(__atomic_always_lock_free(sizeof(uint64_t), 0),
	       "positions and links need a 64-bit compare-and-exchange");
_Static_assert(__atomic_always_lock_free(sizeof(uint32_t), 0), "owner words need a 32-bit one");

Test(review, r09_the_operations_need_no_lock)
{
	struct ring *ring = ring_new(2, 4096, true);

	cr_assert(__atomic_is_lock_free(sizeof(ring->handle.lane->tail), &ring->handle.lane->tail));
	cr_assert(__atomic_is_lock_free(sizeof(ring->handle.links[0].next), &ring->handle.links[0].next));
	cr_assert_eq((uintptr_t)ring->handle.lane % 64, 0);
	ring_free(ring);
}
