/* SPDX-License-Identifier: MIT */
/*
 * Questions of the design's review (test_review.c) about readers: R3, R4, R7 and R8.
 */
#include "review_actor.h"

#include <criterion/criterion.h>
#include <errno.h>

/* ------------------------------------------------------------------------------------------------------------- R3 */

static void read_all(struct ring *ring)
{
	(void)ring;
	while (ledger_read(&book, false) > 0)
		;
}

/* The reader itself runs under the trap flag; its events are entered when it has stopped. */
static struct rec_page got[8];
static unsigned int nr_got;

static void read_one(struct ring *ring)
{
	if (rec_ring_read(&ring->reader, false, &got[nr_got]) > 0)
		nr_got++;
}

static void write_round(struct ring *ring)
{
	(void)ring;
	ledger_write_some(&book, 3 * PER_PAGE + 1, SIZE);
}

static void interrupt_reader(film_act nested, unsigned int before, bool overwrite)
{
	struct steps steps = steps_begin(STRIDE, INSTRUCTIONS);
	bool cut;

	do {
		book = ledger_new(2, overwrite);
		ledger_write_some(&book, before, SIZE);
		nr_got = 0;
		cut = cut_at_instruction(read_one, nested, steps.at);
		if (nr_got)
			ledger_enter(&book, &got[0]);
		ledger_close(&book);
	} while (steps_next(&steps, cut));
}

/* A reader on the writer's CPU, interrupted by writers at any instruction: one machine with one CPU must work. */
Test(review, r03_a_reader_is_interrupted_by_writers)
{
	FILM_OR_SKIP();
	interrupt_reader(write_one, 2, true);
	interrupt_reader(write_one, 2 * PER_PAGE, true);
	interrupt_reader(write_round, 3 * PER_PAGE - 1, true);
	interrupt_reader(write_round, 2 * PER_PAGE, false);
}

/*
 * "A reader can not interrupt a writer": in the kernel's ring such a reader would spin. In our ring the reader gives up
 * and reports that, whatever the writer's instruction. So nothing hangs if a handler reads, or if a writer is stopped
 * for good.
 */
Test(review, r03_a_reader_interrupts_a_writer)
{
	struct steps steps;
	bool cut;

	FILM_OR_SKIP();
	steps = steps_begin(STRIDE, INSTRUCTIONS);
	do {
		book = ledger_new(2, true);
		ledger_write_some(&book, 4 * PER_PAGE, SIZE);
		cut = cut_at_instruction(write_one, read_all, steps.at);
		ledger_close(&book);
	} while (steps_next(&steps, cut));
}

/* ------------------------------------------------------------------------------------------------------------- R4 */

static int said;
static uint32_t page_before, page_after;

/* Repeat from every place where the search for the head may begin, until the reader gets a page. */
static void read_from_everywhere(struct ring *ring)
{
	uint32_t hint;

	page_before = ring->reader.page;
	for (hint = 0; hint < ring->handle.nr_subbufs; hint++) {
		ring->reader.words->hint = hint;
		said = rec_ring_read(&ring->reader, false, &got[0]);
		if (said != -EAGAIN)
			break;
	}
	page_after = ring->reader.page;
}

static void freeze_writer_at(const char *picture)
{
	struct film film = { .cuts = { { .level = 1, .at = picture, .act = read_from_everywhere } } };

	book = ledger_new(4, true);
	ledger_write_some(&book, (4 + 2) * PER_PAGE, SIZE);
	film.ring = book.ring;
	film_shoot(&film, write_one);
	cr_assert(film.cuts[0].done, "%s was not met", picture);
	cr_assert_eq(said, -EAGAIN, "%s: %d", picture, said);
	cr_assert_eq(page_before, page_after);
	ledger_close(&book);
}

/*
 * "Does the reader directly try to find ahead the next page pointer which has the H flag, or does it spin on U?"
 * Neither: it returns -EAGAIN, wherever it begins to look, including the place between U and the new H.
 */
Test(review, r04_update_keeps_the_reader_off)
{
	FILM_OR_SKIP();
	freeze_writer_at("0->1 : 1-> 2-U> 3-> 4-> : commit 2 tail 2");
	freeze_writer_at("0->1 : 1-> 2-U> 3-H> 4-> : commit 2 tail 2");
}

/*
 * "Why can't this be done only through HEAD and NORMAL": from the moment at which UPDATE is gone the reader gets the
 * new head.
 */
Test(review, r04_without_update_the_reader_gets_the_new_head)
{
	struct film film = {
		.cuts = { { .level = 1, .at = "0->1 : 1-> 2-> 3-H> 4-> : commit 2 tail 2", .act = read_all } }
	};

	FILM_OR_SKIP();
	book = ledger_new(4, true);
	ledger_write_some(&book, (4 + 2) * PER_PAGE, SIZE);
	film.ring = book.ring;
	film_shoot(&film, write_one);
	cr_assert(film.cuts[0].done);
	/* Pages 4, 1 and 2, in this order: the ledger checks the numbers. */
	cr_assert_eq(book.read, 3 * PER_PAGE);
	cr_assert_eq(book.lost, 3 * PER_PAGE);
	ledger_close(&book);
}

/* ------------------------------------------------------------------------------------------------------------- R7 */

Test(review, r07_a_page_belongs_to_its_reader)
{
	struct rec_page page;
	unsigned char copy[4096];
	unsigned int round;

	book = ledger_new(2, true);
	ledger_write_some(&book, 3 * PER_PAGE, SIZE);
	cr_assert_eq(rec_ring_read(&book.ring->reader, true, &page), 1);
	memcpy(copy, page.data, sizeof(copy));
	for (round = 0; round < 1000; round++) {
		ledger_write_some(&book, 2 * PER_PAGE, SIZE);
		cr_assert_eq(memcmp(copy, page.data, sizeof(copy)), 0, "round %u", round);
	}
	/* Nothing was copied: what was handed over is the ring's own memory. */
	cr_assert((const unsigned char *)page.data >= book.ring->reader.pages);
	cr_assert((const unsigned char *)page.data < (unsigned char *)book.ring->memory + book.ring->size);
	ledger_enter(&book, &page);
	ledger_close(&book);
}

/* ------------------------------------------------------------------------------------------------------------- R8 */

static void write_page(struct ring *ring)
{
	(void)ring;
	ledger_write_some(&book, PER_PAGE, SIZE);
}

/*
 * "The head flag can end up set twice after deep nesting": the design text's figures 39 to 51, where the outermost
 * writer removes the second mark. Our ring never has a second mark (test_design_nested.c); until the outermost writer
 * clears its UPDATE, the reader finds the right head, or none.
 */
Test(review, r08_deep_nesting_leaves_one_head)
{
	struct film film = {
		.cuts = { { .level = 1, .at = "0->1 : 1-> 2-U> 3-> 4-> : commit 2 tail 2", .act = write_one },
			  { .level = 2, .at = "0->1 : 1-> 2-U> 3-H> 4-> : commit 2 tail 3", .act = write_page },
			  { .level = 1,
			    .at = "0->1 : 1-> 2-U> 3-> 4-H> : commit 4 tail 4",
			    .act = read_from_everywhere,
			    .unseen = true } }
	};
	unsigned int heads, i;

	FILM_OR_SKIP();
	book = ledger_new(4, true);
	book.nested = true;
	ledger_write_some(&book, (4 + 2) * PER_PAGE, SIZE);
	film.ring = book.ring;
	film_shoot(&film, write_one);
	cr_assert(film.cuts[2].done);
	for (i = 0; i < film.nr_frames; i++)
		cr_assert(!strstr(film.frames[i], "H>") || !strstr(strstr(film.frames[i], "H>") + 1, "H>"), "%s",
			  film.frames[i]);
	/*
	 * A search that begins before the head finds it: the link from 4 leads to 1, which is the oldest page now. A
	 * search that begins at 2 finds UPDATE first.
	 */
	cr_assert(said == -EAGAIN ? page_after == page_before : page_after == 1, "%d: %u", said, page_after);
	if (said > 0)
		ledger_enter(&book, &got[0]);
	cr_assert_eq(film_marks(book.ring, &heads), 1);
	cr_assert_eq(heads, 1);
	ledger_close(&book);
}
