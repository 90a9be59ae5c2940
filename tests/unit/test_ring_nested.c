/* SPDX-License-Identifier: MIT */
/*
 * Handlers in the short moments between two steps of a writer: what is committed in them is visible as soon as nothing
 * is open, every event has its own time and CPU, and exactly what was left is torn. The test sets the clock (linked
 * with --wrap=rec_clock_mono).
 */
#include "film.h"
#include "ledger.h"
#include "steps.h"

#include <criterion/criterion.h>
#include <setjmp.h>
#include <string.h>

#define SIZE 24u

/* ------------------------------------------------------------------------------------------------------- the clock */

static volatile uint64_t now = UINT64_C(1000000000);
static uint64_t tick = 10;

/* What interrupts the next read of the clock; it may set `now`, and what that read returns. */
static void (*at_clock)(void);
static uint64_t stands_still;

uint64_t __wrap_rec_clock_mono(void);

uint64_t __wrap_rec_clock_mono(void)
{
	void (*const interrupt)(void) = at_clock;
	uint64_t time;

	at_clock = NULL;
	if (interrupt)
		interrupt();
	/* In one instruction: it may be interrupted as well. */
	time = __atomic_fetch_add(&now, tick, __ATOMIC_RELAXED);
	if (stands_still)
		time = stands_still;
	stands_still = 0;
	return time;
}

/* --------------------------------------------------------------------------------------- after a given instruction */

/* Instructions of an actor, from start_counting() to stop_counting(). */
static volatile bool counting;
static volatile unsigned int counted, first_target, second_target;

static bool at_first(const struct ring *ring)
{
	(void)ring;
	return counting && ++counted == first_target;
}

static bool at_second(const struct ring *ring)
{
	(void)ring;
	return counting && counted >= first_target && ++counted == second_target;
}

static void count_to(unsigned int first, unsigned int second)
{
	counted = 0;
	first_target = first;
	second_target = second;
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
 * ran.
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

/* Here the commit goes over the end of a sub-buffer. */
Test(nested, two_handlers_in_a_commit_of_many, .timeout = 600)
{
	FILM_OR_SKIP();
	interrupt_commits(80);
}

/* -------------------------------------------------------------------------------------------------- times and CPUs */

#define EVENTS 1000u

static struct {
	uint64_t since, until;
	uint32_t cpu;
	bool is_read;
} event[EVENTS];

static struct ring *ring;
static uint64_t next;

static uint64_t ask(uint32_t cpu)
{
	ring->cpu = cpu;
	cr_assert_lt(next, EVENTS);
	event[next].since = now;
	event[next].cpu = cpu;
	event[next].is_read = false;
	return next++;
}

static void put(uint32_t cpu)
{
	const uint64_t number = ask(cpu);

	cr_assert(ring_write(ring, number, SIZE));
	event[number].until = now;
}

/* Each event once, with its own time and CPU. Returns their number. */
static unsigned int read_events(unsigned int instruction)
{
	struct rec_page page;
	struct rec_page_iter iter;
	struct rec_record record;
	uint64_t number, last = 0;
	unsigned int n = 0;

	while (rec_ring_read(&ring->reader, false, &page) > 0) {
		cr_assert_eq(page.lost, 0);
		rec_page_iter_init(&iter, page.data, page.size);
		while (rec_page_next(&iter, &record) > 0) {
			if (record.offset < page.from)
				continue;
			cr_assert(ring_is_intact(record.payload, SIZE, &number) && number < next,
				  "instruction %u", instruction);
			cr_assert(!event[number].is_read, "instruction %u", instruction);
			event[number].is_read = true;
			cr_assert(record.time >= event[number].since && record.time <= event[number].until,
				  "instruction %u, event %u: time %lld, not %lld to %lld", instruction,
				  (unsigned int)number, (long long)record.time, (long long)event[number].since,
				  (long long)event[number].until);
			cr_assert_eq(record.cpu, event[number].cpu, "instruction %u, event %u: CPU %u, not %u",
				     instruction, (unsigned int)number, record.cpu, event[number].cpu);
			cr_assert_geq(record.time, last, "instruction %u", instruction);
			last = record.time;
			n++;
		}
	}
	return n;
}

/* The innermost of three: much later than the one that it interrupts. */
static void put_innermost(struct ring *unused)
{
	(void)unused;
	now = 300000;
	put(0);
	now = 350000;
}

static void put_counted(struct ring *unused)
{
	const uint64_t number = ask(0);
	struct rec_slot mine;
	void *to;

	(void)unused;
	counting = true;
	to = rec_reserve(&ring->handle, SIZE, &mine);
	counting = false;
	cr_assert_not_null(to);
	event[number].until = now;
	ring_fill(to, number, SIZE);
	rec_commit(&mine);
}

static struct film middle;

static void put_in_the_middle(void)
{
	now = 200000;
	film_shoot(&middle, put_counted);
	/*
	 * The clock does not advance, or has stepped back to where it was: the outermost reads what the middle one
	 * read.
	 */
	stands_still = 200000;
}

/*
 * The outermost writer's read of the clock is interrupted by a second writer, which is interrupted after an instruction
 * of its reservation by a third one. Returns whether it was.
 */
static bool stand_still(unsigned int instruction)
{
	uint64_t number;

	ring = ring_new(4, 4096, true);
	next = 0;
	tick = 0;
	now = 100000;
	put(0);
	now = 150000;
	put(0);
	middle = (struct film){ .ring = ring,
				.cuts = { { .level = 1, .when = at_first, .act = put_innermost, .unseen = true } },
				.cuts_only = true };
	count_to(instruction, 0);
	at_clock = put_in_the_middle;
	number = ask(0);
	cr_assert(ring_write(ring, number, SIZE));
	event[number].until = now;
	now = 360000;
	put(0);
	now = 370000;
	put(0);
	cr_assert_eq(read_events(instruction), next);
	ring_free(ring);
	return middle.cuts[0].done;
}

Test(nested, a_clock_that_stands_still, .timeout = 600)
{
	struct steps steps;
	bool came;

	FILM_OR_SKIP();
	steps = steps_begin_all(30);
	do
		came = stand_still(steps.at);
	while (steps_next(&steps, came));
}

/* --------------------------------------------------------------------------------------------- left, two in one gap */

static sigjmp_buf back;
static bool outer_is_reserved;
static uint32_t outer_cpu, inner_cpu;

/* Reserve one more, and leave both. */
static void leave_two(struct ring *unused)
{
	const uint64_t number = ask(inner_cpu);
	struct rec_slot mine;
	void *to;

	(void)unused;
	counting = false;
	outer_is_reserved = ring->handle.lane->tail != ring->handle.lane->commit;
	now += 5000000;
	to = rec_reserve(&ring->handle, SIZE, &mine);
	cr_assert_not_null(to);
	ring_fill(to, number, SIZE);
	now += 5000000;
	siglongjmp(back, 1);
}

static void put_outer(struct ring *unused)
{
	const uint64_t number = ask(outer_cpu);
	struct rec_slot mine;
	void *to;

	(void)unused;
	counting = true;
	to = rec_reserve(&ring->handle, SIZE, &mine);
	counting = false;
	cr_assert_not_null(to);
	event[number].until = now;
	ring_fill(to, number, SIZE);
	rec_commit(&mine);
}

/* All that is in the ring, unseen. */
static void drain(void)
{
	struct rec_page page;

	while (rec_ring_read(&ring->reader, false, &page) > 0)
		;
}

static bool is_room(void)
{
	return REC_POS_OFF(ring->handle.lane->tail) + rec_event_total(SIZE) <= ring->handle.capacity * 4;
}

/*
 * An event is interrupted after an instruction of its reservation, and left with another one inside it. Those after it
 * are written from a frame above it. If `at_end`, the event begins a sub-buffer. Returns whether it was interrupted.
 */
static bool leave_two_in_a_gap(unsigned int instruction, bool at_end)
{
	static struct film film;
	volatile bool left = false;
	unsigned int i;

	ring = ring_new(4, 4096, true);
	next = 0;
	tick = 10;
	/* Once round, so that the sub-buffers have old bytes and old times. */
	for (i = 0; i < 700; i++)
		put(0);
	drain();
	for (i = 0; at_end ? is_room() : i < 1; i++)
		put(0);
	drain();
	now += 5000000;
	film = (struct film){ .ring = ring,
			      .cuts = { { .level = 1, .when = at_first, .act = leave_two, .unseen = true } },
			      .cuts_only = true };
	count_to(instruction, 0);
	if (sigsetjmp(back, 1) == 0)
		film_shoot(&film, put_outer);
	else
		left = true;
	for (i = 0; i < 3; i++)
		put(0);
	if (left) {
		cr_assert_eq(read_events(instruction), 3, "instruction %u", instruction);
		cr_assert_eq(ring->handle.lane->torn, 1u + outer_is_reserved, "instruction %u", instruction);
	} else {
		cr_assert_eq(read_events(instruction), 4);
		cr_assert_eq(ring->handle.lane->torn, 0);
	}
	cr_assert_eq(ring->handle.lane->open, 0);
	cr_assert_eq(ring->handle.lane->broken, 0);
	/* And once round again. */
	for (i = 0; i < 100; i++)
		put(i % 3);
	cr_assert_eq(read_events(instruction), 100);
	ring_free(ring);
	return left;
}

/* Both on the CPU of those before and after them, or each on one of its own. */
static void leave_two_everywhere(bool at_end)
{
	struct steps steps = steps_begin_all(40);
	bool came;

	do {
		outer_cpu = inner_cpu = 0;
		came = leave_two_in_a_gap(steps.at, at_end);
		outer_cpu = 1;
		inner_cpu = 2;
		leave_two_in_a_gap(steps.at, at_end);
	} while (steps_next(&steps, came));
}

Test(nested, two_are_left_in_one_gap, .timeout = 600)
{
	FILM_OR_SKIP();
	leave_two_everywhere(false);
}

Test(nested, two_are_left_at_the_end_of_a_page, .timeout = 600)
{
	FILM_OR_SKIP();
	leave_two_everywhere(true);
}

/* --------------------------------------------------------------------------------------------- between C, D and E */

static uint64_t before_then, tail_then;

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
 * A writer has moved the tail to the next sub-buffer, but has not yet noted what is on the one before. A nested
 * writer's exchange fails there, because a third one came. That does not affect the sub-buffer before.
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

/* Some go to the sub-buffer where the tail is, and the others to the next one. */
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
 * A writer was about to leave a sub-buffer. Others came that wrote there, and left it. Its own attempt, which fails,
 * does not affect that sub-buffer any more.
 */
Test(nested, a_retry_does_not_put_an_old_size_back)
{
	FILM_OR_SKIP();
	check_old_size(false);
	check_old_size(true);
}

/* Nor does it count what others wrote to the sub-buffer that it has entered, and left. */
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
