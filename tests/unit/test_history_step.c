/* SPDX-License-Identifier: MIT */
/*
 * Bugs of the kernel's ring (test_history.c) in which a writer is interrupted between two instructions: by the
 * processor's single-step flag, after each instruction that STEPS selects (steps.h).
 */
#include "step_clock.h"
#include "film.h"
#include "ledger.h"
#include "steps.h"

#include <criterion/criterion.h>
#include <string.h>

/* Four to a sub-buffer. */
#define SIZE	 1000u
#define PER_PAGE 4u

/* The default of STEPS (steps.h), and the number of instructions that each actor has at least. */
#define STRIDE	     11
#define INSTRUCTIONS 50u

static struct ledger book;

static unsigned int instruction, target;

static bool at_target(const struct ring *ring)
{
	(void)ring;
	return ++instruction == target;
}

/* Events in the order in which they came, with the clock before and after each reservation. */
static struct made {
	uint64_t from;
	uint64_t until;
} made[64];

static void write_timed(uint32_t size)
{
	struct made times = { .from = __atomic_load_n(&now, __ATOMIC_RELAXED) };
	struct rec_slot slot;
	const uint64_t number = book.next;
	void *payload = ledger_reserve(&book, size, &slot);

	if (!payload)
		return;
	times.until = __atomic_load_n(&now, __ATOMIC_RELAXED);
	memcpy(&made[number % 64], &times, sizeof(times));
	ledger_commit(&book, &slot);
}

static void write_small(struct ring *ring)
{
	(void)ring;
	write_timed(16);
}

static void write_large(struct ring *ring)
{
	(void)ring;
	write_timed(SIZE);
}

static void write_and_cross(struct ring *ring)
{
	unsigned int i;

	(void)ring;
	for (i = 0; i < PER_PAGE + 1; i++)
		write_timed(SIZE);
}

static void discard_one(struct ring *ring)
{
	struct rec_slot slot;
	void *payload = ledger_reserve(&book, 16, &slot);

	(void)ring;
	if (payload)
		ledger_discard(&book, &slot, payload);
}

static void (*check)(void);

/*
 * Runs `outer` after `before` events, and interrupts it by `nested` after each selected instruction; then calls
 * `check`.
 */
static void at_instructions(unsigned int before, film_act outer, film_act nested)
{
	struct steps steps = steps_begin(STRIDE, INSTRUCTIONS);
	bool cut;

	do {
		struct film film = { .cuts = { { .level = 1, .when = at_target, .act = nested, .unseen = true } },
				     .cuts_only = true };

		book = ledger_new(4, true);
		book.nested = true;
		film.ring = book.ring;
		ledger_write_some(&book, before, SIZE);
		instruction = 0;
		target = steps.at;
		film_shoot(&film, outer);
		cut = film.cuts[0].done;
		check();
		ledger_close(&book);
	} while (steps_next(&steps, cut));
}

static void check_published(void)
{
	cr_assert_eq(book.ring->handle.lane->commit, book.ring->handle.lane->tail, "instruction %u", target);
}

/* A nested writer commits beyond the outer one, which has to be recognised as the committer all the same. */
Test(history, h01_the_commit_never_gets_stuck)
{
	FILM_OR_SKIP();
	check = check_published;
	at_instructions(1, write_small, write_small);
	at_instructions(PER_PAGE, write_large, write_and_cross);
	at_instructions(1, discard_one, write_small);
}

static bool tail_is_within(const struct ring *ring)
{
	cr_assert_leq(REC_POS_OFF(rec_load_relaxed(&ring->handle.lane->tail)), 4080);
	cr_assert_leq(REC_POS_OFF(rec_load_relaxed(&ring->handle.lane->commit)), 4080);
	return at_target(ring);
}

static struct rec_page got;
static bool has_got;

static void read_whole(struct ring *ring)
{
	has_got = rec_ring_read(&ring->reader, true, &got) > 0;
}

/* No write index is ever beyond the end of its page, so a reader need not wait for it to come back. */
Test(history, h14_the_tail_is_never_beyond_the_page)
{
	struct steps steps;
	bool cut;

	FILM_OR_SKIP();
	steps = steps_begin(STRIDE, INSTRUCTIONS);
	do {
		struct film film = {
			.cuts = { { .level = 1, .when = tail_is_within, .act = read_whole, .unseen = true } },
			.cuts_only = true
		};

		book = ledger_new(2, true);
		film.ring = book.ring;
		ledger_write_some(&book, 2 * PER_PAGE, SIZE);
		instruction = 0;
		target = steps.at;
		has_got = false;
		film_shoot(&film, write_large);
		cut = film.cuts[0].done;
		if (has_got)
			ledger_enter(&book, &got);
		ledger_close(&book);
	} while (steps_next(&steps, cut));
}

static void check_touched(void)
{
	/* Each page that the tail has moved to. The sequence began at 1. */
	cr_assert_eq(book.ring->handle.lane->pages_touched, REC_POS_SEQ(book.ring->handle.lane->commit) - 1,
		     "instruction %u", target);
}

/* Two writers want to move the tail; one of them does, and only that one counts the page. */
Test(history, h15_a_page_is_counted_once)
{
	FILM_OR_SKIP();
	check = check_touched;
	at_instructions(PER_PAGE, write_large, write_large);
	at_instructions(4 * PER_PAGE, write_large, write_large);
}

static void check_times(void)
{
	struct rec_page_iter iter;
	struct rec_record record;
	struct rec_page page;
	uint64_t number;

	while (rec_ring_read(&book.ring->reader, false, &page) > 0) {
		rec_page_iter_init(&iter, page.data, page.size);
		while (rec_page_next(&iter, &record) > 0) {
			memcpy(&number, record.payload, sizeof(number));
			number &= (UINT64_C(1) << 48) - 1;
			if (!made[number % 64].until)
				continue;
			cr_assert(record.time > made[number % 64].from && record.time <= made[number % 64].until,
				  "instruction %u, event %llu: %llu is not in (%llu, %llu]", target,
				  (unsigned long long)number, (unsigned long long)record.time,
				  (unsigned long long)made[number % 64].from,
				  (unsigned long long)made[number % 64].until);
		}
		ledger_enter(&book, &page);
	}
	memset(made, 0, sizeof(made));
}

/*
 * An interrupted reservation never uses an old clock reading: each event's time lies between the two readings around
 * its own reservation.
 */
Test(history, h17_no_stale_stamp)
{
	FILM_OR_SKIP();
	check = check_times;
	at_instructions(1, write_small, write_small);
	at_instructions(1, write_small, discard_one);
	at_instructions(PER_PAGE, write_large, write_small);
	at_instructions(1, discard_one, write_small);
}

/* The thread is moved to another CPU, and its first event there is taken back. */
static void discard_elsewhere(struct ring *ring)
{
	ring->cpu = 1;
	discard_one(ring);
}

static void check_cpu(void)
{
	struct rec_page_iter iter;
	struct rec_record record = { 0 };
	struct rec_page page;
	int r = 0;

	ledger_write(&book, SIZE);
	while (rec_ring_read(&book.ring->reader, false, &page) > 0) {
		rec_page_iter_init(&iter, page.data, page.size);
		while ((r = rec_page_next(&iter, &record)) > 0)
			;
		cr_assert_eq(r, 0);
		ledger_enter(&book, &page);
	}
	cr_assert_eq(record.cpu, book.ring->cpu, "instruction %u", target);
}

/* A bug of ours: a marker that was taken back with its event must not be relied on. */
Test(history, h00_the_cpu_after_a_discard)
{
	FILM_OR_SKIP();
	check = check_cpu;
	at_instructions(1, write_small, discard_elsewhere);
	at_instructions(PER_PAGE, write_large, discard_elsewhere);
}

/* Moves to another CPU and back, with a clock that does not advance meanwhile. */
static void write_elsewhere(struct ring *ring)
{
	ring->cpu = 1;
	write_small(ring);
	ring->cpu = 0;
}

Test(history, h00_the_cpu_after_a_nested_event)
{
	FILM_OR_SKIP();
	check = check_cpu;
	tick = 0;
	at_instructions(PER_PAGE, write_large, write_elsewhere);
}

static unsigned int interruptions;

/* The interruption always comes between the writer's steps C and D, so the writer can never succeed. */
static bool disturb(const struct ring *ring)
{
	const struct rec_lane *lane = ring->handle.lane;
	struct rec_slot slot;

	if (rec_load_relaxed(&lane->before) == rec_load_relaxed(&lane->after) || rec_load_relaxed(&lane->nested_limit))
		return false;
	interruptions++;
	if (ledger_reserve(&book, 8, &slot))
		ledger_commit(&book, &slot);
	return false;
}

static void nothing(struct ring *ring)
{
	(void)ring;
}

/*
 * A bug of ours: the limit of attempts is reached after a thousand; that is counted as a refusal and reported as a
 * loss, and the lane continues.
 */
Test(history, h00_the_retry_bound)
{
	struct film film = { .cuts = { { .level = 1, .when = disturb, .act = nothing } }, .cuts_only = true };

	FILM_OR_SKIP();
	book = ledger_new(2, true);
	book.nested = true;
	film.ring = book.ring;
	ledger_write(&book, SIZE);
	film_shoot(&film, write_large);
	cr_assert_eq(book.ring->handle.lane->nested_limit, 1);
	cr_assert_geq(interruptions, 1000);
	cr_assert_eq(book.refused, 1);
	cr_assert(ledger_write(&book, SIZE));
	ledger_close(&book);
}

/* Whether an outermost writer is between its steps C and D: it is inside, and has nothing reserved. */
static bool has_gone_inside(const struct ring *ring)
{
	const struct rec_lane *lane = ring->handle.lane;

	return rec_load_relaxed(&lane->open) && rec_load_relaxed(&lane->tail) == rec_load_relaxed(&lane->commit);
}

/* Whether a writer that interrupts it has reached the target instruction, and is not inside yet. */
static bool is_going_inside(const struct ring *ring)
{
	return !REC_OPEN_DEPTH(rec_load_relaxed(&ring->handle.lane->open)) && at_target(ring);
}

/* Writes from one sub-buffer to the next. */
static void write_a_page(struct ring *ring)
{
	(void)ring;
	ledger_write_some(&book, PER_PAGE, SIZE);
}

static unsigned int asked;

static struct rec_handle *count_asked(struct rec_handle *handle)
{
	asked++;
	return handle;
}

/*
 * Ours alone: a handler that publishes while another one finds out whether the lane is stuck does not make it seem so.
 * The writer below them has nothing reserved, so what they write is published at once.
 */
Test(history, h00_a_lane_that_moves_is_not_stuck)
{
	struct steps steps;
	bool cut;

	FILM_OR_SKIP();
	steps = steps_begin_all(30);
	do {
		struct film film = {
			.cuts = { { .level = 1, .when = has_gone_inside, .act = write_large },
				  { .level = 2, .when = is_going_inside, .act = write_a_page, .unseen = true } },
			.cuts_only = true
		};

		book = ledger_new(8, true);
		book.nested = true;
		book.ring->handle.on_stuck = count_asked;
		film.ring = book.ring;
		ledger_write(&book, SIZE);
		instruction = 0;
		target = steps.at;
		film_shoot(&film, write_large);
		cr_assert(film.cuts[0].done);
		cut = film.cuts[1].done;
		cr_assert_eq(asked, 0, "instruction %u", target);
		check_published();
		ledger_close(&book);
	} while (steps_next(&steps, cut));
}
