/* SPDX-License-Identifier: MIT */
/*
 * Figures 32 to 51 of the kernel's design text, its section "Nested writes": see test_design.c. A film's levels are the
 * text's first, second and third writer; each frame is a figure or lies between two.
 */
#include "film.h"
#include "ledger.h"
#include "steps.h"

#include <criterion/criterion.h>
#include <string.h>

#define SIZE	 1000u
#define PER_PAGE 4u

static struct ledger book;

static void write_some(struct ring *ring, unsigned int events)
{
	(void)ring;
	while (events--)
		ledger_write(&book, SIZE);
}

static void write_one(struct ring *ring)
{
	write_some(ring, 1);
}

/* The ring in which page `tail` of the second round is full, so that the next write has to push the head. */
static struct ring *new_ring(unsigned int pages_written)
{
	book = ledger_new(4, true);
	book.nested = true;
	write_some(book.ring, pages_written * PER_PAGE);
	return book.ring;
}

/* All events after the first `pages_lost` pages are read. */
static void expect_lost(uint64_t pages_lost)
{
	struct rec_lane *lane = book.ring->handle.lane;

	while (ledger_read(&book, false) > 0)
		;
	cr_assert_eq(book.lost, pages_lost * PER_PAGE);
	cr_assert_eq(book.read, book.written - book.lost);
	cr_assert_eq(lane->commit_overrun, 0);
	ledger_close(&book);
}

static void write_page(struct ring *ring)
{
	write_some(ring, PER_PAGE);
}

/*
 * Nested events, each with a marker and a stamp: there is room for one more on the page after it, also for the first
 * writer's.
 */
static void write_page_and_one(struct ring *ring)
{
	write_some(ring, PER_PAGE);
}

static bool before_differs(const struct ring *ring)
{
	return rec_load_relaxed(&ring->handle.lane->before) != rec_load_relaxed(&ring->handle.lane->after);
}

/*
 * Figures 32 and 33: temp page and tail page are the same; a nested write moves the tail; the exchange fails, and the
 * writer tries again on the new tail page. Our exchange is of page and index together; the cut is at the store before
 * it.
 */
Test(design, figures_32_and_33_a_nested_writer_moves_the_tail)
{
	static const char *const frames[] = {
		/* 32 */
		"1: 0->1 : 1-> 2-> 3-> 4-H> : commit 2 tail 2",
		"2: 0->1 : 1-> 2-> 3-> 4-H> : commit 2 tail 2",
		"2: 0->1 : 1-> 2-> 3-> 4-H> : commit 2 tail 3",
		"2: 0->1 : 1-> 2-> 3-> 4-H> : commit 3 tail 3",
		/* 33: the first writer's event goes there, too; the tail page does not move again. */
		"1: 0->1 : 1-> 2-> 3-> 4-H> : commit 3 tail 3",
		NULL,
	};
	struct ring *ring = new_ring(2);
	struct film film = { .ring = ring, .cuts = { { .level = 1, .when = before_differs, .act = write_one } } };

	FILM_OR_SKIP();
	film_shoot(&film, write_one);
	film_expect(&film, frames);
	cr_assert_eq(REC_POS_COUNT(ring->handle.lane->tail), 2);
	expect_lost(0);
}

#define HEAD_AHEAD   "0->1 : 1-> 2-H> 3-> 4-> : commit 2 tail 2"
#define FIRST_UPDATE "0->1 : 1-> 2-U> 3-> 4-> : commit 2 tail 2"

/*
 * Figures 34 to 38: a nested writer comes between HEAD->UPDATE and the new head, helps, and leaves the removal of
 * UPDATE to its owner.
 */
Test(design, figures_34_to_38_a_nested_writer_moves_the_head)
{
	static const char *const frames[] = {
		/* 34, 35 */
		"1: " HEAD_AHEAD,
		"1: " FIRST_UPDATE,
		/* The nested writer sees UPDATE: it is nested in a mover. */
		"2: " FIRST_UPDATE,
		/* 36: it sets the new head. */
		"2: 0->1 : 1-> 2-U> 3-H> 4-> : commit 2 tail 2",
		/*
		 * 37: it moves the tail, and leaves UPDATE. In our ring it is the outermost writer: the first has
		 * nothing reserved yet.
		 */
		"2: 0->1 : 1-> 2-U> 3-H> 4-> : commit 2 tail 3",
		"2: 0->1 : 1-> 2-U> 3-H> 4-> : commit 3 tail 3",
		"1: 0->1 : 1-> 2-U> 3-H> 4-> : commit 3 tail 3",
		/* 38: the writer that made it UPDATE makes it NORMAL. */
		"1: 0->1 : 1-> 2-> 3-H> 4-> : commit 3 tail 3",
		NULL,
	};
	struct ring *ring = new_ring(4 + 2);
	struct film film = { .ring = ring, .cuts = { { .level = 1, .at = FIRST_UPDATE, .act = write_one } } };

	FILM_OR_SKIP();
	film_shoot(&film, write_one);
	film_expect(&film, frames);
	cr_assert_eq(REC_POS_COUNT(ring->handle.lane->tail), 2);
	expect_lost(3);
}

#define THIRD_UU   "0->1 : 1-> 2-U> 3-U> 4-> : commit 2 tail 3"
#define THIRD_UUH  "0->1 : 1-> 2-U> 3-U> 4-H> : commit 2 tail 3"
#define THIRD_U_H  "0->1 : 1-> 2-U> 3-> 4-H> : commit 2 tail 3"
#define FIRST_U_H  "0->1 : 1-> 2-U> 3-> 4-H> : commit 4 tail 4"
#define FIRST_DONE "0->1 : 1-> 2-> 3-> 4-H> : commit 4 tail 4"

/*
 * Figures 39 to 51: three writers. In the text the second is interrupted before it has moved the tail; here immediately
 * after the exchange that reserves its place and moves the tail at once. figures_39_to_51_with_a_retry has it before.
 *
 * In figure 48 the first writer, which cannot know whether the tail moved, marks a second head; in 49 it checks, in 50
 * it takes the mark back. In our ring this state does not exist: the first writer checks first, and its exchange
 * expects the link as it was before that check, including the generation. So 47 is followed by 51.
 */
Test(design, figures_39_to_51_three_writers_move_the_head)
{
	static const char *const frames[] = {
		/* (first writer) 39, 40 */
		"1: " HEAD_AHEAD,
		"1: " FIRST_UPDATE,
		/* (second writer) 41: sets up the new head; 42: moves the tail, does not touch the old mark. */
		"2: " FIRST_UPDATE,
		"2: 0->1 : 1-> 2-U> 3-H> 4-> : commit 2 tail 2",
		"2: 0->1 : 1-> 2-U> 3-H> 4-> : commit 2 tail 3",
		/* (third writer) 43: HEAD to UPDATE; 44: the head moves; 45: UPDATE, which is its own, to NORMAL. */
		"3: 0->1 : 1-> 2-U> 3-H> 4-> : commit 2 tail 3",
		"3: " THIRD_UU,
		"3: " THIRD_UUH,
		"3: " THIRD_U_H,
		/* It moves the tail, and (second writer) 46. */
		"3: 0->1 : 1-> 2-U> 3-> 4-H> : commit 2 tail 4",
		"2: 0->1 : 1-> 2-U> 3-> 4-H> : commit 2 tail 4",
		"2: " FIRST_U_H,
		/* (first writer) 47. 48, 49, 50: see above. 51: its UPDATE is removed. */
		"1: " FIRST_U_H,
		"1: " FIRST_DONE,
		NULL,
	};
	struct ring *ring = new_ring(4 + 2);
	struct film film = {
		.ring = ring,
		.cuts = { { .level = 1, .at = FIRST_UPDATE, .act = write_one },
			  { .level = 2, .at = "0->1 : 1-> 2-U> 3-H> 4-> : commit 2 tail 3", .act = write_page } }
	};
	unsigned int heads;

	FILM_OR_SKIP();
	film_shoot(&film, write_one);
	film_expect(&film, frames);
	cr_assert_eq(film_marks(ring, &heads), 1);
	cr_assert_eq(heads, 1);
	expect_lost(4);
}

/* The same as in the text: the second writer's exchange fails, "so it will try again". */
Test(design, figures_39_to_51_with_a_retry)
{
	static const char *const frames[] = {
		"1: " HEAD_AHEAD,
		"1: " FIRST_UPDATE,
		"2: " FIRST_UPDATE,
		"2: 0->1 : 1-> 2-U> 3-H> 4-> : commit 2 tail 2",
		"3: 0->1 : 1-> 2-U> 3-H> 4-> : commit 2 tail 2",
		/* 42, by the third writer's first event, which is published: no writer below has anything reserved. */
		"3: 0->1 : 1-> 2-U> 3-H> 4-> : commit 2 tail 3",
		"3: 0->1 : 1-> 2-U> 3-H> 4-> : commit 3 tail 3",
		/* 43, 44, 45 */
		"3: 0->1 : 1-> 2-U> 3-U> 4-> : commit 3 tail 3",
		"3: 0->1 : 1-> 2-U> 3-U> 4-H> : commit 3 tail 3",
		"3: 0->1 : 1-> 2-U> 3-> 4-H> : commit 3 tail 3",
		"3: 0->1 : 1-> 2-U> 3-> 4-H> : commit 3 tail 4",
		"3: " FIRST_U_H,
		/* 46: the second writer's exchange fails; its event goes after the third's, on page 4. */
		"2: " FIRST_U_H,
		/* 47, 51 */
		"1: " FIRST_U_H,
		"1: " FIRST_DONE,
		NULL,
	};
	struct ring *ring = new_ring(4 + 2);
	struct film film = { .ring = ring,
			     .cuts = { { .level = 1, .at = FIRST_UPDATE, .act = write_one },
				       { .level = 2,
					 .at = "0->1 : 1-> 2-U> 3-H> 4-> : commit 2 tail 2",
					 .act = write_page_and_one } } };

	FILM_OR_SKIP();
	film_shoot(&film, write_one);
	film_expect(&film, frames);
	cr_assert_eq(REC_POS_COUNT(ring->handle.lane->tail), 3);
	expect_lost(4);
}

/* After the k-th instruction of an actor while UPDATE is set; and there is never more than one HEAD. */
static unsigned int instruction, target;

static bool at_target(const struct ring *ring)
{
	unsigned int heads;

	film_marks(ring, &heads);
	cr_assert_leq(heads, 1, "%s", film_picture(ring));
	return REC_LINK_FLAG(rec_load_relaxed(&ring->handle.links[2].next)) == REC_LINK_UPDATE &&
	       ++instruction == target;
}

/*
 * A nested writer comes after such instructions of the first writer (`level` 1), or of the second, which finds the
 * first one's UPDATE and helps. There are never two heads, and in the end there is one.
 */
static void interrupt(unsigned int level, film_act nested, struct steps steps)
{
	const struct film_cut strike = { .level = level, .when = at_target, .act = nested, .unseen = true };
	const struct film_cut help = { .level = 1, .at = FIRST_UPDATE, .act = write_one };
	unsigned int heads;
	bool cut;

	do {
		struct film film = { .ring = new_ring(4 + 2), .cuts = { strike }, .cuts_only = level == 1 };

		if (level == 2)
			film.cuts[1] = help;
		instruction = 0;
		target = steps.at;
		film_shoot(&film, write_one);
		cut = film.cuts[0].done;
		cr_assert_eq(film_marks(film.ring, &heads), 1, "instruction %u: %s", target, film_picture(film.ring));
		cr_assert_eq(heads, 1);
		ledger_close(&book);
	} while (steps_next(&steps, cut));
}

static void write_round(struct ring *ring)
{
	write_some(ring, 10 * PER_PAGE);
}

/*
 * At each instruction between UPDATE and NORMAL the first writer is interrupted: by nested writers that enter the old
 * head, that leave it, or that wrap as often as they can.
 */
Test(design, figures_47_to_51_at_every_instruction)
{
	FILM_OR_SKIP();
	interrupt(1, write_one, steps_begin_all(5));
	interrupt(1, write_page_and_one, steps_begin_all(5));
	interrupt(1, write_round, steps_begin_all(5));
}

/* An interruption at every instruction would take half a minute. */
Test(design, figures_41_to_46_at_any_instruction)
{
	FILM_OR_SKIP();
	interrupt(2, write_page_and_one, steps_begin(5, 50));
}
