/* SPDX-License-Identifier: MIT */
/*
 * Tests two shortcuts. A refusal without a plan, is_full() in ring_enter.c, must agree with the complete computation. A
 * poll for whole pages that does not read the writer's hot line, rec_ring_read() in ring_reader.c, must miss no page.
 * The clock does not advance, because a pause between two events would need room for a time extend.
 */
#include "hand_clock.h"
#include "ring_fixture.h"
#include "trap_flag.h"

#include <criterion/criterion.h>
#include <librecorder/page.h>
#include <signal.h>
#include <stddef.h>

#define PAGES	    3
#define SUBBUF_SIZE 4096
#define CAPACITY    (SUBBUF_SIZE - REC_SUBBUF_HEADER_SIZE)

/* A discard ring whose tail is on the last free sub-buffer, and that has refused an event since it got there. */
static struct ring *new_full_ring(void)
{
	struct ring *ring = ring_new(PAGES, SUBBUF_SIZE, false);
	unsigned int i;

	for (i = 0; i < PAGES; i++)
		cr_assert(ring_write(ring, i, 2048));
	cr_assert_not(ring_write(ring, i, 2048));
	cr_assert_eq(ring->handle.lane->dropped, 1);
	cr_assert_neq(ring->handle.lane->refused_time, 0);
	return ring;
}

static uint32_t left(const struct ring *ring)
{
	return CAPACITY - REC_POS_OFF(ring->handle.lane->tail);
}

/* An event that leaves `bytes` of the sub-buffer free; it has a length word. */
static void fill_but(struct ring *ring, uint32_t bytes)
{
	cr_assert(ring_write(ring, 0, left(ring) - bytes - 8));
	cr_assert_eq(left(ring), bytes);
}

Test(full, what_fits_is_written_and_what_does_not_is_dropped)
{
	uint32_t room, size;

	for (room = 8; room <= 160; room += 4) {
		for (size = 8; size <= 160; size++) {
			struct ring *ring = new_full_ring();
			const struct rec_lane *lane = ring->handle.lane;
			const bool fits = rec_event_total(size) <= room;

			fill_but(ring, room);
			cr_assert_eq(ring_write(ring, 1, size), fits, "an event of %u bytes into %u", size, room);
			cr_assert_eq(lane->dropped, fits && left(ring) != room ? 1 : 2);
			cr_assert_eq(lane->too_long + lane->commit_overrun + lane->disabled, 0);
			ring_free(ring);
		}
	}
}

Test(full, too_long_is_not_dropped)
{
	struct ring *ring = new_full_ring();
	const struct rec_lane *lane = ring->handle.lane;
	uint32_t size, longest = 0;

	/* In an empty sub-buffer an event also needs a marker, a stamp, its event word and its length word. */
	for (size = CAPACITY - 64; size < CAPACITY + 64; size++) {
		const uint64_t dropped = lane->dropped, too_long = lane->too_long;

		cr_assert_not(ring_write(ring, 1, size));
		if (lane->dropped == dropped + 1 && lane->too_long == too_long)
			longest = size;
		else
			cr_assert(lane->dropped == dropped && lane->too_long == too_long + 1);
	}
	cr_assert_eq(longest, CAPACITY - REC_MARKER_SIZE - REC_TIME_EXTEND_SIZE - 8);
	cr_assert_not(ring_write(ring, 1, UINT32_MAX));
	cr_assert_not(ring_write(ring, 1, UINT32_MAX - 3));
	cr_assert_eq(lane->dropped + lane->too_long, 1 + 128 + 2);
	ring_free(ring);
}

Test(full, a_closed_gate_is_not_full)
{
	struct ring *ring = new_full_ring();

	rec_gate_close(&ring->handle);
	cr_assert_not(ring_write(ring, 1, 2048));
	cr_assert_eq(ring->handle.lane->dropped, 1);
	cr_assert_eq(ring->handle.lane->disabled, 1);
	ring_free(ring);
}

Test(full, room_is_found_again)
{
	struct ring *ring = new_full_ring();
	struct rec_page page;
	unsigned int i;

	for (i = 0; i < 100; i++) {
		cr_assert_not(ring_write(ring, 1, 2048));
		cr_assert_eq(rec_ring_read(&ring->reader, true, &page), 1);
		cr_assert(ring_write(ring, 1, 2048));
		cr_assert_not(ring_write(ring, 1, 2048));
	}
	cr_assert_eq(ring->handle.lane->dropped, 1 + 2 * 100);
	ring_free(ring);
}

/* A nested writer that comes when the commit position lags by a sub-buffer is refused for another reason. */
Test(full, a_nested_writer_that_wraps_is_an_overrun)
{
	struct ring *ring = ring_new(PAGES, SUBBUF_SIZE, false);
	const struct rec_lane *lane = ring->handle.lane;
	struct rec_slot slot;
	unsigned int i;

	cr_assert_not_null(rec_reserve(&ring->handle, 2048, &slot));
	for (i = 1; i < PAGES; i++)
		cr_assert(ring_write(ring, i, 2048));
	cr_assert_not(ring_write(ring, i, 2048));
	cr_assert_not(ring_write(ring, i, 2048));
	cr_assert_eq(lane->commit_overrun, 2);
	cr_assert_eq(lane->dropped, 0);
	rec_commit(&slot);
	cr_assert_not(ring_write(ring, i, 2048));
	cr_assert_eq(lane->dropped, 1);
	ring_free(ring);
}

Test(full, an_overwriting_ring_never_is)
{
	struct ring *ring = ring_new(PAGES, SUBBUF_SIZE, true);
	unsigned int i;

	cr_assert_not(ring_write(ring, 0, CAPACITY));
	for (i = 0; i < 100; i++) {
		cr_assert(ring_write(ring, i, 2048));
		/* The event is refused, and the lane remembers that until the next change of sub-buffer. */
		cr_assert_not(ring_write(ring, 0, CAPACITY));
		cr_assert_neq(ring->handle.lane->refused_time, 0);
	}
	cr_assert_eq(ring->handle.lane->dropped, 0);
	ring_free(ring);
}

/* Several pages become whole at once. While they are read, the count that the poll looks at does not change. */
Test(poll, all_that_are_whole_are_found)
{
	struct ring *ring = ring_new(PAGES, SUBBUF_SIZE, true);
	struct rec_page page;
	unsigned int i;

	cr_assert_eq(rec_ring_read(&ring->reader, true, &page), 0);
	for (i = 0; i < PAGES; i++)
		cr_assert(ring_write(ring, i, 2048));
	for (i = 0; i < PAGES - 1; i++)
		cr_assert_eq(rec_ring_read(&ring->reader, true, &page), 1);
	cr_assert_eq(rec_ring_read(&ring->reader, true, &page), 0);
	ring_free(ring);
}

Test(poll, no_whole_page_is_missed)
{
	struct ring *ring = ring_new(PAGES, SUBBUF_SIZE, true);
	struct rec_page page;
	unsigned int i;

	for (i = 0; i < 100; i++) {
		cr_assert_eq(rec_ring_read(&ring->reader, true, &page), 0);
		cr_assert_eq(rec_ring_read(&ring->reader, true, &page), 0);
		cr_assert(ring_write(ring, i, 2048));
		if (i == 0)
			continue;
		cr_assert_eq(rec_ring_read(&ring->reader, true, &page), 1);
		cr_assert_eq(page.entries, 1);
		cr_assert_eq(page.first, i - 1);
	}
	/* A poll finds no whole page. A read of some events follows, after which the next poll starts anew. */
	cr_assert_eq(rec_ring_read(&ring->reader, true, &page), 0);
	cr_assert_eq(rec_ring_read(&ring->reader, false, &page), 1);
	cr_assert_eq(page.first, 99);
	cr_assert_eq(rec_ring_read(&ring->reader, true, &page), 0);
	ring_free(ring);
}

Test(poll, the_hot_line_is_left_alone)
{
	struct ring *ring = ring_new(PAGES, SUBBUF_SIZE, true);
	const uint64_t commit = ring->handle.lane->commit;
	struct rec_page page;

	cr_assert_neq(offsetof(struct rec_lane, pages_touched) / REC_CACHE_LINE,
		      offsetof(struct rec_lane, tail) / REC_CACHE_LINE);
	cr_assert_eq(rec_ring_read(&ring->reader, true, &page), 0);
	/* The lane is damaged so that a poll that read it would fail. */
	ring->handle.lane->commit = UINT64_MAX;
	cr_assert_eq(rec_ring_read(&ring->reader, true, &page), 0);
	cr_assert_lt(rec_ring_read(&ring->reader, false, &page), 0);
	ring->handle.lane->commit = commit;
	ring_free(ring);
}

/*
 * Left out under sanitizers: the thread sanitizer delays signals, and the address sanitizer executes ten times the
 * instructions.
 */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define UNDER_SANITIZER 1
#elif defined(__has_feature)
#define UNDER_SANITIZER (__has_feature(address_sanitizer) || __has_feature(thread_sanitizer))
#else
#define UNDER_SANITIZER 0
#endif
#if defined(__x86_64__) && !UNDER_SANITIZER

static struct ring *stepped;
static unsigned int steps, gate_at;

static void close_gate_in_step(int signal)
{
	(void)signal;
	if (++steps == gate_at)
		rec_gate_close(&stepped->handle);
}

/*
 * Another thread closes the gate at any instruction: an event for which there is room is written, or refused for that
 * reason.
 */
Test(full, a_gate_that_closes_drops_nothing)
{
	const struct sigaction action = { .sa_handler = close_gate_in_step };
	const char payload[16] = "";
	int r;

	sigaction(SIGTRAP, &action, NULL);
	do {
		stepped = new_full_ring();
		/* Another CPU keeps the writer off the fast path, so it reads the gate. */
		stepped->cpu++;
		gate_at++;
		steps = 0;
		trap_flag_set();
		r = rec_write(&stepped->handle, payload, sizeof(payload));
		trap_flag_clear();
		cr_assert_eq(stepped->handle.lane->dropped, 1, "instruction %u", gate_at);
		cr_assert_eq(stepped->handle.lane->disabled, r < 0);
		ring_free(stepped);
	} while (steps >= gate_at);
	cr_assert_gt(gate_at, 50);
}

#endif
