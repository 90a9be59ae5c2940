/* SPDX-License-Identifier: MIT */
/* Reservations that are never finished, in a ring alone; and copies into the ring that cause a fault. */
#include "film.h"
#include "steps.h"
#include "trap_flag.h"

#include <criterion/criterion.h>
#include <librecorder/event.h>
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>

/* ------------------------------------------------------------------------------------------------- a ring by itself */

static struct ring *ring;
static struct ring_order order;
static unsigned int seed;
static uint64_t next;

/* The earliest and the latest time of each reservation, and its CPU. */
static uint64_t since[RING_ORDER_MAX * 2], until[RING_ORDER_MAX * 2];
static uint32_t cpu_of[RING_ORDER_MAX * 2];

/*
 * The expected state of the lane: how many writers are inside, and where the events of the outermost one begin in
 * `order`.
 */
static struct {
	unsigned int inside, begin;
	bool is_deep; /* the outermost one was called from a frame far below the test's own */
	uint64_t torn;
} model;

static unsigned int draw(unsigned int n)
{
	return (unsigned int)rand_r(&seed) % n;
}

static uint32_t size_of(uint64_t number)
{
	return 8 + (uint32_t)(number * 68 / 25 % 200);
}

/* All events from this one on are torn. */
static void tear_from(unsigned int at)
{
	model.torn += order.placed - at;
	order.placed = at;
}

static unsigned int place_of(uint64_t number)
{
	unsigned int at = order.placed;

	while (at-- > 0 && order.numbers[at] != number)
		;
	return at;
}

/*
 * The writer of event `number`, which found `below` others inside, ends. It finds any writer that was left inside it.
 */
static void end_writer(uint64_t number, unsigned int below)
{
	if (model.inside > below + 1)
		tear_from(place_of(number) + 1);
	model.inside = below;
}

/* Write an event with others inside it. False: one of them jumped away, out of this event as well. */
static bool write_some(unsigned int depth, bool is_deep)
{
	const uint64_t number = next++;
	unsigned int below;
	struct rec_slot slot;
	void *payload;

	ring->cpu = draw(8) ? ring->cpu : draw(3);
	cpu_of[number] = ring->cpu;
	/* This frame is above that of the outermost writer, so that one was left. */
	if (model.inside && model.is_deep && !is_deep) {
		tear_from(model.begin);
		model.inside = 0;
	}
	below = model.inside;
	since[number] = rec_clock_mono();
	payload = rec_reserve(&ring->handle, size_of(number), &slot);
	until[number] = rec_clock_mono();
	if (!payload)
		return true;
	if (!below) {
		model.begin = order.placed;
		model.is_deep = is_deep;
	}
	model.inside++;
	ring_place(&order, number);
	while (depth && draw(3) == 0)
		/* Sometimes it was interrupted at a point that no jump passes. */
		if (!write_some(depth - 1, is_deep) && draw(2))
			return false;
	if (depth < 3 && draw(12) == 0)
		return false;
	ring_fill(payload, number, size_of(number));
	end_writer(number, below);
	if (draw(10) == 0) {
		ring_take_back(&order, number);
		rec_discard(&slot, payload);
	} else {
		rec_commit(&slot);
	}
	return true;
}

static __attribute__((noinline)) void write_deeper(void)
{
	volatile char room[4096];

	room[0] = 0;
	write_some(3, true);
	(void)room[0];
}

static uint64_t read_ring(void)
{
	struct rec_page page;
	struct rec_page_iter iter;
	struct rec_record record;
	uint64_t number, events = 0, time = 0, on_page;

	while (rec_ring_read(&ring->reader, false, &page) > 0) {
		on_page = 0;
		rec_page_iter_init(&iter, page.data, page.size);
		while (rec_page_next(&iter, &record) > 0) {
			if (record.offset < page.from)
				continue;
			memcpy(&number, record.payload, sizeof(number));
			cr_assert(ring_is_intact(record.payload, size_of(number), &number), "seed %u", seed);
			cr_assert(ring_meet(&order, number), "event %d, seed %u", (int)number, seed);
			cr_assert_geq(record.time, time);
			time = record.time;
			cr_assert(time >= since[number] && time <= until[number], "event %d, seed %u", (int)number,
				  seed);
			cr_assert_eq(record.cpu, cpu_of[number], "event %d, seed %u", (int)number, seed);
			on_page++;
		}
		cr_assert_eq(on_page, page.entries, "%d, not %d", (int)on_page, (int)page.entries);
		events += on_page;
	}
	return events;
}

static void check_lane(unsigned int first_seed)
{
	const struct rec_lane *lane = ring->handle.lane;

	cr_assert_eq(lane->open != 0, model.inside != 0, "seed %u", first_seed);
	cr_assert_eq(lane->broken, 0);
	if (!model.inside) {
		cr_assert_eq(lane->tail, lane->commit, "seed %u", first_seed);
		cr_assert_eq(lane->torn, model.torn, "seed %u: %d, not %d", first_seed, (int)lane->torn,
			     (int)model.torn);
	}
}

/* Repeatedly: write some events, leave some of them, end the thread, and give the lane to another one. */
static void leave_some(unsigned int first_seed, uint32_t pages, uint32_t subbuf_size, unsigned int events_max)
{
	uint64_t events = 0;
	unsigned int round, i;

	seed = first_seed;
	memset(&order, 0, sizeof(order));
	memset(&model, 0, sizeof(model));
	next = 0;
	ring = ring_new(pages, subbuf_size, true);
	for (round = 0; round < 20; round++) {
		for (i = draw(events_max); i > 0; i--) {
			if (draw(2))
				write_deeper();
			else
				write_some(3, false);
			check_lane(first_seed);
		}
		if (model.inside)
			tear_from(model.begin);
		model.inside = 0;
		rec_ring_repair(&ring->handle);
		check_lane(first_seed);
		events += read_ring();
	}
	if (pages == 64)
		cr_assert_eq(events, order.placed, "seed %u: %d of %u", first_seed, (int)events, order.placed);
	cr_assert_eq(ring->handle.lane->nested_limit, 0);
	cr_assert_gt(model.torn, 0);
	ring_free(ring);
}

Test(torn_ring, what_was_not_left_is_read)
{
	unsigned int s;

	for (s = 1; s <= 400; s++)
		leave_some(s, 64, s % 2 ? 4096 : 8192, 40);
}

/* The tail wraps, and events are refused, while an event is open. */
Test(torn_ring, what_was_not_left_is_read_in_small_rings)
{
	unsigned int s;

	for (s = 1; s <= 400; s++)
		leave_some(s, 2 + s % 3, 4096, 120);
}

/* ---------------------------------------------------------------------------------------- copies that raise a fault */

REC_EVENT(torn, raw, bytes(data));

static sigjmp_buf fault;

static void jump_back(int signal)
{
	(void)signal;
	siglongjmp(fault, 1);
}

/* Memory that cannot be read: a copy from it faults after the reservation, and the handler jumps away. */
static const void *begin_faults(void)
{
	const struct sigaction action = { .sa_handler = jump_back };
	void *none = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	cr_assert_neq(none, MAP_FAILED);
	sigaction(SIGSEGV, &action, NULL);
	return none;
}

static void check_found_out(const struct rec_lane *lane)
{
	cr_assert_eq(lane->torn, 1);
	cr_assert_eq(lane->open, 0);
	cr_assert_eq(lane->tail, lane->commit);
	cr_assert_eq(REC_POS_COUNT(lane->commit), 2);
}

/*
 * If a statement leaves an event, the next event of the same statement finds that out, also if a function of the
 * library makes the reservation.
 */
Test(torn_ring, a_write_that_faults_is_found_out_by_the_next_one)
{
	const void *none = begin_faults();
	const char some[64] = "";
	volatile unsigned int i;

	ring = ring_new(4, 4096, true);
	for (i = 0; i < 3; i++)
		if (sigsetjmp(fault, 1) == 0)
			rec_write(&ring->handle, i == 1 ? none : some, sizeof(some));
	check_found_out(ring->handle.lane);
	ring_free(ring);
}

/* The clock needs a function call. */
Test(torn_ring, an_event_that_faults_is_found_out_by_the_next_one)
{
	const void *none = begin_faults();
	const char some[64] = "";
	volatile unsigned int i;

	cr_assert_eq(rec_enable("torn:raw"), 1);
	cr_assert_eq(rec_thread_attach(), 0);
	rec_thread_handle->clock = REC_CLOCK_MONO;
	rec_gate_open(rec_thread_handle);
	for (i = 0; i < 3; i++)
		if (sigsetjmp(fault, 1) == 0)
			REC(torn, raw, i == 1 ? none : some, sizeof(some));
	check_found_out(rec_thread_handle->lane);
}

/* ------------------------------------------------------------------------------------ published, at any instruction */

#if defined(__x86_64__)

static volatile unsigned int stepped, target;
static volatile bool struck;

static void put_one(void)
{
	ring_place(&order, next);
	since[next] = 0;
	until[next] = UINT64_MAX;
	cr_assert(ring_write(ring, next, size_of(next)));
	next++;
}

static void put_in_step(int signal)
{
	(void)signal;
	if (++stepped == target) {
		struck = true;
		put_one();
	}
}

/*
 * An event publishes the events nested in it, and another event interrupts it after given instructions of the
 * publishing.
 */
static void publish_in_steps(unsigned int nested, uint32_t pages)
{
	const struct sigaction action = { .sa_handler = put_in_step };
	struct steps steps = steps_begin(7, 50);
	struct rec_slot slot;
	unsigned int i;
	void *payload;

	memset(&order, 0, sizeof(order));
	next = 0;
	ring = ring_new(pages, 4096, true);
	sigaction(SIGTRAP, &action, NULL);
	do {
		struck = false;
		target = steps.at;
		stepped = 0;
		ring_place(&order, next);
		since[next] = 0;
		until[next] = UINT64_MAX;
		payload = rec_reserve(&ring->handle, size_of(next), &slot);
		cr_assert_not_null(payload);
		ring_fill(payload, next, size_of(next));
		next++;
		for (i = 0; i < nested; i++)
			put_one();
		trap_flag_set();
		rec_commit(&slot);
		trap_flag_clear();
		cr_assert_eq(ring->handle.lane->tail, ring->handle.lane->commit, "instruction %u", target);
		read_ring();
		cr_assert_eq(order.at, order.placed, "instruction %u", target);
		memset(&order, 0, sizeof(order));
		next = 0;
	} while (steps_next(&steps, struck));
	ring_free(ring);
}

Test(torn_ring, a_handler_while_nested_events_are_published, .timeout = 600)
{
	FILM_OR_SKIP();
	publish_in_steps(1, 64);
	publish_in_steps(2, 64);
	publish_in_steps(45, 64);
}

#endif
