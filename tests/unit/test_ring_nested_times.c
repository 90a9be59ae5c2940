/* SPDX-License-Identifier: MIT */
/*
 * Handlers in the short moments between two steps of a writer, continued: every event has its own time and CPU,
 * whatever the clock does, and exactly the events that were left are torn. The test sets the clock (linked with
 * --wrap=rec_clock_mono).
 */
#include "actor_steps.h"
#include "steps.h"

#include <criterion/criterion.h>
#include <setjmp.h>

#define SIZE 24u

/* ------------------------------------------------------------------------------------------------------- the clock */

static volatile uint64_t now = UINT64_C(1000000000);
static uint64_t tick = 10;

/* The function that interrupts the next clock reading; it may set `now` and the result of that reading. */
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
	/* The store is one instruction, because it may be interrupted as well. */
	time = __atomic_fetch_add(&now, tick, __ATOMIC_RELAXED);
	if (stands_still)
		time = stands_still;
	stands_still = 0;
	return time;
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

/* The innermost of three events, much later than the event that it interrupts. */
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
	 * The clock does not advance, or has stepped back: the outermost writer reads the time that the middle one
	 * read.
	 */
	stands_still = 200000;
}

/*
 * The outermost writer's read of the clock is interrupted by a second writer, which is interrupted after an instruction
 * of its reservation by a third one. Returns whether the third one ran.
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

/* Reserve one more event, and leave both. */
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

/* Read all events in the ring without checking them. */
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
 * An event is interrupted after an instruction of its reservation, and left with another event inside it. Later events
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
	/* One round of the ring, so that the sub-buffers have old bytes and old times. */
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
	/* Another round of the ring. */
	for (i = 0; i < 100; i++)
		put(i % 3);
	cr_assert_eq(read_events(instruction), 100);
	ring_free(ring);
	return left;
}

/* The two events are on the CPU of the events before and after them, or each is on a CPU of its own. */
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
