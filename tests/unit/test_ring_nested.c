/* SPDX-License-Identifier: MIT */
/*
 * Handlers in the short moments between two steps of a writer: their events are visible as soon as no event is open,
 * and none is lost or torn. test_ring_nested_times.c tests the times, and events that are left. Linked with
 * --wrap=rec_clock_mono: each reading of the clock is later than the one before.
 */
#include "actor_steps.h"
#include "ledger.h"
#include "steps.h"

#include <criterion/criterion.h>
#include <string.h>

#define SIZE 24u

uint64_t __wrap_rec_clock_mono(void);

uint64_t __wrap_rec_clock_mono(void)
{
	static uint64_t now = UINT64_C(1000000000);

	/* The store is one instruction, because it may be interrupted as well. */
	return __atomic_fetch_add(&now, 10, __ATOMIC_RELAXED);
}

static struct ledger book;

static void write_one(struct ring *ring)
{
	(void)ring;
	ledger_write(&book, SIZE);
}

static void check_visible(unsigned int instruction)
{
	const struct rec_lane *lane = book.ring->handle.lane;

	cr_assert_eq(lane->tail, lane->commit, "instruction %u", instruction);
	cr_assert_eq(lane->open, 0, "instruction %u", instruction);
	cr_assert_eq(lane->torn, 0, "instruction %u", instruction);
}

/* -------------------------------------------------------------------------------------------------------- discards */

static struct rec_slot slot;
static void *payload;

static void discard(struct ring *ring)
{
	(void)ring;
	counting = true;
	ledger_discard(&book, &slot, payload);
	counting = false;
}

#define DISCARDS 100u

/*
 * Hundreds of discards, each of which is interrupted after the same instruction by a handler that writes. Then one
 * event with another one nested in it, and some more.
 */
static bool interrupt_discards(unsigned int instruction)
{
	unsigned int i, struck = 0;

	book = ledger_new(64, true);
	book.nested = true;
	for (i = 0; i < DISCARDS; i++) {
		struct film film = { .ring = book.ring,
				     .cuts = { { .level = 1, .when = at_first, .act = write_one, .unseen = true } },
				     .cuts_only = true };

		write_one(NULL);
		payload = ledger_reserve(&book, SIZE, &slot);
		count_to(instruction, 0);
		film_shoot(&film, discard);
		struck += film.cuts[0].done;
		check_visible(instruction);
	}
	cr_assert(struck == 0 || struck == DISCARDS);
	payload = ledger_reserve(&book, SIZE, &slot);
	write_one(NULL);
	ledger_commit(&book, &slot);
	check_visible(instruction);
	for (i = 0; i < 100; i++)
		write_one(NULL);
	check_visible(instruction);
	ledger_close(&book);
	cr_assert_eq(book.lost, 0);
	return struck;
}

Test(nested, handlers_in_discards, .timeout = 600)
{
	struct steps steps;
	bool came;

	FILM_OR_SKIP();
	steps = steps_begin(5, 40);
	do
		came = interrupt_discards(steps.at);
	while (steps_next(&steps, came));
}

/* --------------------------------------------------------------------------------------------------------- commits */

static void commit(struct ring *ring)
{
	(void)ring;
	counting = true;
	ledger_commit(&book, &slot);
	counting = false;
}

/*
 * Two handlers write, each after an instruction of a commit that has `inside` others to publish. Returns whether both
 * handlers ran.
 */
static bool interrupt_commit_twice(unsigned int first, unsigned int second, unsigned int inside, bool *ret_first_came)
{
	struct film film;
	unsigned int i;

	book = ledger_new(8, true);
	book.nested = true;
	film = (struct film){ .ring = book.ring,
			      .cuts = { { .level = 1, .when = at_first, .act = write_one, .unseen = true },
					{ .level = 1, .when = at_second, .act = write_one, .unseen = true } },
			      .cuts_only = true };
	write_one(NULL);
	write_one(NULL);
	payload = ledger_reserve(&book, SIZE, &slot);
	for (i = 0; i < inside; i++)
		write_one(NULL);
	count_to(first, second);
	film_shoot(&film, commit);
	check_visible(first);
	for (i = 0; i < 5; i++) {
		write_one(NULL);
		check_visible(first);
	}
	ledger_close(&book);
	cr_assert_eq(book.lost, 0);
	*ret_first_came = film.cuts[0].done;
	return film.cuts[1].done;
}

static void interrupt_commits(unsigned int inside)
{
	struct steps steps = steps_begin(5, 40);
	bool came, both;
	unsigned int second;

	do {
		second = steps.at + 1 + steps.at % 7;
		do {
			both = interrupt_commit_twice(steps.at, second, inside, &came);
			second += 7;
		} while (both);
	} while (steps_next(&steps, came));
}

Test(nested, two_handlers_in_a_commit, .timeout = 600)
{
	FILM_OR_SKIP();
	interrupt_commits(1);
}

/* Here the commit crosses the end of a sub-buffer. */
Test(nested, two_handlers_in_a_commit_of_many, .timeout = 600)
{
	FILM_OR_SKIP();
	interrupt_commits(80);
}

/* --------------------------------------------------------------------------------------------- between C, D and E */

static struct ring *ring;
static uint64_t before_then, tail_then;

static bool is_room(void)
{
	return REC_POS_OFF(ring->handle.lane->tail) + rec_event_total(SIZE) <= ring->handle.capacity * 4;
}

static bool has_left_the_page(const struct ring *what)
{
	return REC_POS_ID(rec_load_relaxed(&what->handle.lane->tail)) != REC_POS_ID(tail_then);
}

static bool is_about_to_exchange(const struct ring *what)
{
	return rec_load_relaxed(&what->handle.lane->before) != before_then;
}

static void write_and_be_interrupted(struct ring *what)
{
	before_then = rec_load_relaxed(&what->handle.lane->before);
	write_one(what);
}

/*
 * A writer has moved the tail to the next sub-buffer, but has not yet stored the counts of the previous one. A nested
 * writer's exchange fails then, because a third writer came. That must not affect the previous sub-buffer.
 */
Test(nested, a_retry_leaves_the_size_of_another_page)
{
	unsigned int i;

	FILM_OR_SKIP();
	book = ledger_new(8, true);
	book.nested = true;
	ring = book.ring;
	while (is_room())
		write_one(NULL);
	tail_then = ring->handle.lane->tail;
	struct film film = { .ring = ring,
			     .cuts = { { .level = 1, .when = has_left_the_page, .act = write_and_be_interrupted },
				       { .level = 2, .when = is_about_to_exchange, .act = write_one, .unseen = true } },
			     .cuts_only = true };
	film_shoot(&film, write_one);
	cr_assert(film.cuts[0].done && film.cuts[1].done);
	check_visible(0);
	cr_assert_eq(ring->handle.subbufs[REC_POS_ID(tail_then)].entries, REC_POS_COUNT(tail_then));
	for (i = 0; i < 200; i++)
		write_one(NULL);
	ledger_close(&book);
	cr_assert_eq(book.lost, 0);
}

#define LARGE 1000u

static void write_large(struct ring *what)
{
	(void)what;
	ledger_write(&book, LARGE);
}

/* Some events go to the sub-buffer with the tail, the others to the next one. */
static void write_over_the_end(struct ring *what)
{
	const uint32_t id = REC_POS_ID(what->handle.lane->tail);

	while (REC_POS_ID(what->handle.lane->tail) == id)
		write_one(what);
}

static unsigned int pages_over;

static void write_some_pages(struct ring *what)
{
	unsigned int i;

	for (i = 0; i < pages_over; i++)
		write_over_the_end(what);
}

static void check_old_size(bool below_another)
{
	uint32_t id, entries;
	struct rec_slot outer;
	unsigned int i;

	book = ledger_new(8, true);
	book.nested = true;
	ring = book.ring;
	/* Room for a small event, and not for a large one. */
	while (REC_POS_OFF(ring->handle.lane->tail) + 4 * rec_event_total(SIZE) <= ring->handle.capacity * 4)
		write_one(NULL);
	if (below_another)
		cr_assert_not_null(ledger_reserve(&book, SIZE, &outer));
	id = REC_POS_ID(ring->handle.lane->tail);
	before_then = ring->handle.lane->before;
	struct film film = {
		.ring = ring,
		.cuts = { { .level = 1, .when = is_about_to_exchange, .act = write_over_the_end, .unseen = true } },
		.cuts_only = true
	};
	film_shoot(&film, write_large);
	cr_assert(film.cuts[0].done);
	entries = ring->handle.subbufs[id].entries;
	write_over_the_end(ring);
	cr_assert_eq(ring->handle.subbufs[id].entries, entries);
	if (below_another)
		ledger_commit(&book, &outer);
	check_visible(0);
	for (i = 0; i < 200; i++)
		write_one(NULL);
	ledger_close(&book);
	cr_assert_eq(book.lost, 0);
}

/*
 * A writer is about to leave a sub-buffer when others interrupt it, write there, and leave it. The first writer's own
 * attempt then fails, and must not affect that sub-buffer.
 */
Test(nested, a_retry_does_not_put_an_old_size_back)
{
	FILM_OR_SKIP();
	check_old_size(false);
	check_old_size(true);
}

/* A writer must not count events that others wrote to the sub-buffer that it has entered and left. */
Test(nested, a_sub_buffer_is_left_before_its_first_event_is_there)
{
	unsigned int pages, i;

	FILM_OR_SKIP();
	for (pages = 1; pages < 4; pages++) {
		book = ledger_new(8, true);
		book.nested = true;
		ring = book.ring;
		while (is_room())
			write_one(NULL);
		pages_over = pages;
		tail_then = ring->handle.lane->tail;
		struct film film = {
			.ring = ring,
			.cuts = { { .level = 1, .when = has_left_the_page, .act = write_some_pages, .unseen = true } },
			.cuts_only = true
		};
		film_shoot(&film, write_one);
		cr_assert(film.cuts[0].done);
		check_visible(0);
		for (i = 0; i < 200; i++)
			write_one(NULL);
		ledger_close(&book);
		cr_assert_eq(book.lost, 0);
	}
}
