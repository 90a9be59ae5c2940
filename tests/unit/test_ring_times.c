/* SPDX-License-Identifier: MIT */
/*
 * Times of events, with a clock that the test sets (linked with --wrap=rec_clock_mono): time extends, absolute stamps,
 * a clock that steps back or has its top bits set.
 */
#include "hand_clock.h"
#include "raw.h"

#include <criterion/criterion.h>
#include <string.h>

#define CAPACITY 4080u
#define RESTATE	 24u /* a marker and an absolute stamp, with which each sub-buffer begins */

Test(forms, time_extends)
{
	static const uint64_t deltas[] = { 0,
					   1,
					   REC_DELTA_MAX,
					   REC_DELTA_MAX + UINT64_C(1),
					   160 * MSEC,
					   UINT64_C(1) << 40,
					   (UINT64_C(1) << 58) + 12345 };
	unsigned int i;

	for (i = 0; i < sizeof(deltas) / sizeof(deltas[0]); i++) {
		struct ring *ring = ring_new(2, 4096, true);
		const uint64_t start = now;
		struct rec_page page;
		uint64_t time[3];
		uint32_t at = RESTATE;
		struct raw raw;

		ring_write(ring, 1, 16);
		now += deltas[i];
		ring_write(ring, 2, 16);
		page = raw_page(ring);
		cr_assert(raw_next(&page, &at, &raw));
		cr_assert_eq(raw.type, 4);
		cr_assert(raw_next(&page, &at, &raw));
		if (deltas[i] > REC_DELTA_MAX) {
			cr_assert_eq(raw.type, REC_TYPE_TIME_EXTEND);
			cr_assert_eq(raw_value(&raw), deltas[i]);
			/* The extend's event follows directly, with a delta of 0. */
			cr_assert(raw_next(&page, &at, &raw));
			cr_assert_eq(raw.delta, 0);
		} else {
			cr_assert_eq(raw.delta, deltas[i]);
		}
		cr_assert_eq(raw.type, 4);
		cr_assert_not(raw_next(&page, &at, &raw));
		cr_assert_eq(raw_times(&page, time, 3), 2);
		cr_assert_eq(time[0], start);
		cr_assert_eq(time[1], start + deltas[i]);
		ring_free(ring);
		now = UINT64_C(1000000000);
	}
}

/*
 * The event alone would fit in the page, but not with its extend. So it goes to the next page, where it needs no
 * extend.
 */
Test(forms, an_extend_stays_with_its_event)
{
	struct ring *ring = ring_new(2, 4096, true);
	struct rec_page page;
	uint64_t time[2];
	uint32_t at = 0;
	struct raw raw;

	ring_write(ring, 1, CAPACITY - RESTATE - 20 - 4 - 8);
	now += 160 * MSEC;
	ring_write(ring, 2, 16);
	page = raw_page(ring);
	cr_assert_eq(page.entries, 1);
	page = raw_page(ring);
	cr_assert_eq(page.entries, 1);
	raw_find(&page, &at, REC_TYPE_TIME_STAMP);
	cr_assert(raw_next(&page, &at, &raw));
	cr_assert_eq(raw.type, 4);
	cr_assert_eq(raw.delta, 0);
	cr_assert_eq(raw_times(&page, time, 2), 1);
	cr_assert_eq(time[0], now);
	ring_free(ring);
}

/* Every page begins with an absolute stamp, and so does an event on another CPU; both give the time itself. */
Test(forms, absolute_stamps)
{
	struct ring *ring = ring_new(2, 4096, true);
	struct rec_subbuf_header header;
	struct rec_page page;
	uint64_t time[3];
	uint32_t at = 0;
	struct raw raw;

	ring_write(ring, 1, 16);
	now += 5;
	ring->cpu = 7;
	ring_write(ring, 2, 16);
	now += 6;
	ring_write(ring, 3, 16);
	page = raw_page(ring);
	memcpy(&header, page.data, sizeof(header));
	cr_assert_eq(header.time_stamp, now - 11);
	raw = raw_find(&page, &at, REC_TYPE_TIME_STAMP);
	cr_assert_eq(raw_value(&raw), now - 11);
	raw = raw_find(&page, &at, REC_TYPE_PADDING);
	cr_assert_eq(raw.total, REC_MARKER_SIZE);
	raw = raw_find(&page, &at, REC_TYPE_TIME_STAMP);
	cr_assert_eq(raw_value(&raw), now - 6);
	cr_assert_eq(raw_times(&page, time, 3), 3);
	cr_assert_eq(time[0], now - 11);
	cr_assert_eq(time[1], now - 6);
	cr_assert_eq(time[2], now);
	ring_free(ring);
}

/* Facts B2.5: a clock that steps back gives its event the time of the one before, and never a huge delta. */
Test(forms, a_clock_that_steps_back)
{
	struct ring *ring = ring_new(2, 4096, true);
	const uint64_t start = now;
	struct rec_page page;
	uint64_t time[4];

	ring_write(ring, 1, 16);
	now -= 500;
	ring_write(ring, 2, 16);
	cr_assert_eq(ring->handle.lane->time_back, 1);
	now = start - 100;
	ring_write(ring, 3, 16);
	cr_assert_eq(ring->handle.lane->time_back, 2);
	now = start + 30;
	ring_write(ring, 4, 16);
	cr_assert_eq(ring->handle.lane->time_back, 2);
	page = raw_page(ring);
	cr_assert_eq(raw_times(&page, time, 4), 4);
	cr_assert_eq(time[0], start);
	cr_assert_eq(time[1], start);
	cr_assert_eq(time[2], start);
	cr_assert_eq(time[3], start + 30);
	ring_free(ring);
}

Test(forms, a_clock_that_steps_back_at_the_end_of_a_page)
{
	struct ring *ring = ring_new(2, 4096, true);
	const uint64_t start = now;
	struct rec_subbuf_header header;
	struct rec_page page;
	uint64_t time[2];

	ring_write(ring, 1, CAPACITY - RESTATE - 8);
	now -= 1000 * MSEC;
	ring_write(ring, 2, 16);
	page = raw_page(ring);
	page = raw_page(ring);
	memcpy(&header, page.data, sizeof(header));
	cr_assert_eq(header.time_stamp, start);
	cr_assert_eq(raw_times(&page, time, 2), 1);
	cr_assert_eq(time[0], start);
	cr_assert_eq(ring->handle.lane->time_back, 1);
	ring_free(ring);
}

/* An absolute stamp has 59 bits; the bits above are those of the page's time (facts A2.7). */
Test(forms, times_beyond_59_bits)
{
	static const uint64_t starts[] = { (UINT64_C(1) << 59) - 10, (UINT64_C(1) << 59) + 7, (UINT64_C(31) << 59) - 3,
					   (UINT64_C(1) << 63) + 99 };
	unsigned int i;

	for (i = 0; i < 4; i++) {
		struct ring *ring = ring_new(2, 4096, true);
		struct rec_page page;
		uint64_t time[3];

		now = starts[i];
		ring_write(ring, 1, 16);
		now += 20;
		ring->cpu++;
		ring_write(ring, 2, 16);
		now += 160 * MSEC;
		ring_write(ring, 3, 16);
		page = raw_page(ring);
		cr_assert_eq(raw_times(&page, time, 3), 3);
		cr_assert_eq(time[0], starts[i]);
		cr_assert_eq(time[1], starts[i] + 20);
		cr_assert_eq(time[2], starts[i] + 20 + 160 * MSEC);
		ring_free(ring);
	}
}
