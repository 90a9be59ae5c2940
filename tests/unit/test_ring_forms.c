/* SPDX-License-Identifier: MIT */
/*
 * Every form that an event and a sub-buffer can have, to the byte, with a clock that the test sets (linked with
 * --wrap=rec_clock_mono): lengths, end of page, discards, one-call writes, refusals. test_ring_times.c has the times.
 */
#include "hand_clock.h"
#include "ledger.h"
#include "raw.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

#define CAPACITY 4080u
#define RESTATE	 24u /* a marker and an absolute stamp, with which each sub-buffer begins */

/*
 * --------------------------------------------------------------------------------------------------------- lengths
 */

/* Facts A2.8 and A3.1: what was measured on the kernel. */
Test(forms, the_length_of_an_event)
{
	static const struct {
		uint32_t size, type, total;
	} expected[] = { { 0, 1, 8 },	   { 1, 1, 8 },	    { 4, 1, 8 },     { 5, 3, 16 },    { 8, 3, 16 },
			 { 12, 3, 16 },	   { 13, 4, 20 },   { 16, 4, 20 },   { 17, 5, 24 },   { 109, 28, 116 },
			 { 112, 28, 116 }, { 113, 0, 124 }, { 116, 0, 124 }, { 128, 0, 136 }, { 1000, 0, 1008 } };
	struct ring *ring = ring_new(2, 4096, true);
	struct rec_page page;
	struct rec_slot slot;
	struct raw raw;
	uint32_t at = 0;
	unsigned int i;

	for (i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
		void *payload = rec_reserve(&ring->handle, expected[i].size, &slot);

		cr_assert_not_null(payload);
		cr_assert_eq((uintptr_t)payload % 4, 0);
		memset(payload, 0x5a, expected[i].size);
		rec_commit(&slot);
	}
	page = raw_page(ring);
	cr_assert_eq(page.entries, i);
	/* The page begins with a marker and a stamp. */
	cr_assert(raw_next(&page, &at, &raw) && raw.type == REC_TYPE_PADDING && raw.total == REC_MARKER_SIZE &&
		  raw.delta == 1);
	cr_assert(raw_next(&page, &at, &raw) && raw.type == REC_TYPE_TIME_STAMP);
	for (i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
		cr_assert(raw_next(&page, &at, &raw));
		cr_assert_eq(raw.type, expected[i].type, "size %u", expected[i].size);
		cr_assert_eq(raw.total, expected[i].total, "size %u", expected[i].size);
		if (raw.type == 0)
			cr_assert_eq(raw.second, expected[i].total - 4);
	}
	cr_assert_not(raw_next(&page, &at, &raw));
	ring_free(ring);
}

/*
 * The longest event fills a sub-buffer to its last byte: 4048 at 4096. The kernel's is 24 longer, because its pages do
 * not begin with a marker and a stamp. One byte more is refused, and counted, which the kernel does not do.
 */
Test(forms, payload_up_to_the_page)
{
	static const uint32_t sizes[] = { 4096, 8192, 65536, 524288 };
	unsigned int i;

	for (i = 0; i < 4; i++) {
		struct ring *ring = ring_new(3, sizes[i], true);
		const uint32_t longest = sizes[i] - 16 - RESTATE - 8;
		struct rec_page page;
		uint64_t number = 0, n = 0;
		struct rec_record record;
		struct rec_page_iter iter;

		/* The event before it varies: none, one of the same length, a short one. */
		cr_assert(ring_write(ring, number++, longest));
		cr_assert(ring_write(ring, number++, longest));
		cr_assert_eq(REC_POS_OFF(ring->handle.lane->tail), sizes[i] - 16);
		cr_assert(ring_write(ring, number++, 8));
		now += UINT64_C(1) << 30;
		cr_assert(ring_write(ring, number++, longest));
		errno = 77;
		cr_assert_not(ring_write(ring, number, longest + 1));
		cr_assert_not(ring_write(ring, number, sizes[i]));
		cr_assert_null(rec_reserve(&ring->handle, UINT32_MAX, &(struct rec_slot){ 0 }));
		cr_assert_null(rec_reserve(&ring->handle, UINT32_MAX - 7, &(struct rec_slot){ 0 }));
		cr_assert_eq(errno, 77);
		cr_assert_eq(ring->handle.lane->too_long, 4);
		/* Four pages were needed and there are three: the first event was overwritten. */
		for (number = 1; number < 4; number++) {
			page = raw_page(ring);
			rec_page_iter_init(&iter, page.data, page.size);
			cr_assert_eq(rec_page_next(&iter, &record), 1);
			cr_assert(ring_is_intact(record.payload, number == 2 ? 8 : longest, &n));
			cr_assert_eq(n, number);
		}
		ring_free(ring);
	}
}

/*
 * ----------------------------------------------------------------------------------------------------- end of page
 */

/* There is no filler: the page ends with its last event, as its header shows, whatever room remains. */
Test(forms, the_end_of_a_page)
{
	uint32_t left;

	for (left = 0; left <= 64; left += 4) {
		struct ring *ring = ring_new(2, 4096, true);
		const uint32_t first = CAPACITY - RESTATE - left - 8;
		struct rec_subbuf_header header;
		struct rec_page page;
		uint64_t n = 0;

		cr_assert(ring_write(ring, 1, first));
		cr_assert_eq(REC_POS_OFF(ring->handle.lane->tail), CAPACITY - left);
		/* Needs 68 bytes. */
		cr_assert(ring_write(ring, 2, 64));
		cr_assert_eq(REC_POS_ID(ring->handle.lane->tail), 2);
		page = raw_page(ring);
		cr_assert_eq(page.size, CAPACITY - left);
		cr_assert_eq(page.entries, 1);
		memcpy(&header, page.data, sizeof(header));
		cr_assert_eq(header.commit, CAPACITY - left);
		cr_assert_eq(header.time_stamp, now);
		page = raw_page(ring);
		cr_assert_eq(page.entries, 1);
		cr_assert(ring_is_intact((const char *)page.data + 16 + RESTATE + 4, 64, &n));
		cr_assert_eq(n, 2);
		ring_free(ring);
	}
}

Test(forms, an_event_that_just_fits)
{
	struct ring *ring = ring_new(2, 4096, true);
	struct rec_page page;

	cr_assert(ring_write(ring, 1, CAPACITY - RESTATE - 68 - 8));
	cr_assert(ring_write(ring, 2, 64));
	cr_assert_eq(REC_POS_ID(ring->handle.lane->tail), 1);
	cr_assert_eq(REC_POS_OFF(ring->handle.lane->tail), CAPACITY);
	/* The tail is at the very end: no writer has entered the next page. */
	cr_assert(ring_write(ring, 3, 64));
	cr_assert_eq(REC_POS_ID(ring->handle.lane->tail), 2);
	page = raw_page(ring);
	cr_assert_eq(page.size, CAPACITY);
	cr_assert_eq(page.entries, 2);
	ring_free(ring);
}

/*
 * ----------------------------------------------------------------------------------------------------------- discard
 */

Test(forms, the_last_event_is_unreserved)
{
	struct ring *ring = ring_new(2, 4096, true);
	const uint64_t start = now;
	uint64_t before, time[3];
	struct rec_page page;
	struct rec_slot slot;
	void *payload;

	ring_write(ring, 1, 16);
	before = ring->handle.lane->tail;
	now += 10;
	payload = rec_reserve(&ring->handle, 200, &slot);
	cr_assert_neq(ring->handle.lane->tail, before);
	rec_discard(&slot, payload);
	cr_assert_eq(ring->handle.lane->tail, before);
	cr_assert_eq(ring->handle.lane->commit, before);
	now += 10;
	ring_write(ring, 2, 16);
	page = raw_page(ring);
	cr_assert_eq(page.entries, 2);
	cr_assert_eq(raw_times(&page, time, 3), 2);
	cr_assert_eq(time[0], start);
	/* The event's delta does not count from the event that was taken back (facts H18). */
	cr_assert_eq(time[1], start + 20);
	ring_free(ring);
}

/*
 * An event is discarded after another one was reserved, so its room becomes padding. Some readers add a padding
 * record's delta, others do not. Both find the same times of later events, except for the delta of 1 that padding must
 * have (facts A4.2).
 */
static void discard_below_another(uint32_t size, uint64_t gap)
{
	struct ring *ring = ring_new(2, 4096, true);
	const uint64_t start = now;
	uint64_t time[3], with_padding = 0;
	struct rec_slot outer, inner;
	struct rec_page page;
	void *payload, *nested;
	unsigned int paddings = 0;
	uint32_t at = RESTATE;
	struct raw raw;

	ring_write(ring, 1, 16);
	now += gap;
	payload = rec_reserve(&ring->handle, size, &outer);
	memset(payload, 0xff, size);
	now += 10;
	nested = rec_reserve(&ring->handle, 16, &inner);
	memset(nested, 0, 16);
	rec_commit(&inner);
	rec_discard(&outer, payload);
	cr_assert_eq(ring->handle.lane->commit, ring->handle.lane->tail);
	page = raw_page(ring);
	cr_assert_eq(page.entries, 2);
	cr_assert_eq(raw_times(&page, time, 3), 2);
	cr_assert_eq(time[0], start);
	cr_assert_eq(time[1], start + gap + 10);
	for (with_padding = start; raw_next(&page, &at, &raw);) {
		if (raw.type == REC_TYPE_TIME_STAMP)
			with_padding = raw_value(&raw);
		else
			with_padding += raw.type == REC_TYPE_TIME_EXTEND ? raw_value(&raw) : raw.delta;
		paddings += raw.type == REC_TYPE_PADDING;
	}
	cr_assert_leq(with_padding - time[1], paddings);
	ring_free(ring);
}

Test(forms, a_discarded_event_that_is_not_the_last_becomes_padding)
{
	static const uint32_t sizes[] = { 4, 12, 16, 112, 116, 1000 };
	unsigned int i;

	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		discard_below_another(sizes[i], 0);
		discard_below_another(sizes[i], 1);
		discard_below_another(sizes[i], 1000);
		discard_below_another(sizes[i], 160 * MSEC);
	}
}

/* A whole page of padding counts as no event, and the reader skips it. */
Test(forms, a_page_of_padding)
{
	struct ledger book = ledger_new(3, true);
	struct rec_slot outer[8], last;
	void *payload[8];
	unsigned int i;

	for (i = 0; i < 8; i++)
		payload[i] = ledger_reserve(&book, 1000, &outer[i]);
	cr_assert_not_null(ledger_reserve(&book, 16, &last));
	ledger_commit(&book, &last);
	for (i = 8; i--;)
		ledger_discard(&book, &outer[i], payload[i]);
	cr_assert_eq(ledger_read(&book, false), 1);
	cr_assert_eq(book.read, 1);
	ledger_close(&book);
}

/* ------------------------------------------------------------------------------------------------- one-call write */

Test(forms, one_call_write)
{
	static const uint32_t sizes[] = { 1, 4, 8, 12, 13, 112, 113, 1000, 4048 };
	struct ring *ring = ring_new(8, 4096, true);
	unsigned char bytes[4049];
	struct rec_page_iter iter;
	struct rec_record record;
	struct rec_page page = { 0 };
	unsigned int i;

	for (i = 0; i < sizeof(bytes); i++)
		bytes[i] = (unsigned char)(i * 7 + 3);
	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		now += 3;
		cr_assert_eq(rec_write(&ring->handle, bytes, sizes[i]), 0);
		cr_assert_eq(ring->handle.lane->commit, ring->handle.lane->tail);
		page = raw_page(ring);
		cr_assert_eq(page.entries, 1);
		rec_page_iter_init(&iter, page.data, page.size);
		do
			cr_assert_eq(rec_page_next(&iter, &record), 1);
		while (record.offset < page.from);
		cr_assert_geq(record.size, sizes[i]);
		cr_assert_eq(memcmp(record.payload, bytes, sizes[i]), 0);
		cr_assert_eq(record.time, now);
	}
	errno = 77;
	cr_assert_eq(rec_write(&ring->handle, bytes, 4049), -EBUSY);
	cr_assert_eq(ring->handle.lane->too_long, 1);
	cr_assert_eq(errno, 77);
	ring_free(ring);
}

/* Code that can read only the TSC finds no room on a lane with another clock. */
Test(ring_forms, the_gate_depends_on_the_clock)
{
	struct ring *ring = ring_new(4, 4096, true);
	struct rec_handle *handle = &ring->handle;

	cr_expect_eq(handle->clock, REC_CLOCK_MONO);
	cr_expect_eq(handle->room, 0);
	cr_expect_eq(handle->any_room, handle->capacity);
	cr_expect(rec_gate_is_open(handle));
	ring_set_clock(ring, REC_CLOCK_TSC);
	cr_expect_eq(handle->room, handle->capacity);
	cr_expect_eq(handle->any_room, handle->capacity);
	rec_gate_close(handle);
	cr_expect_eq(handle->room, 0);
	cr_expect_eq(handle->any_room, 0);
	cr_expect_not(rec_gate_is_open(handle));
	ring_free(ring);
}

/*
 * Short events, of 16 to 64 bytes, are copied by code of their own, in other moves above 32. Each payload is a block of
 * exactly its length.
 */
static void write_each_length(uint32_t clock)
{
	struct ring *ring = ring_new(8, 4096, true);
	struct rec_page_iter iter;
	struct rec_record record;
	struct rec_page page;
	unsigned char *bytes;
	uint32_t size, i;

	ring_set_clock(ring, clock);
	/* The events of all lengths fit into a sub-buffer, so all except the first are plain. */
	for (size = 1; size <= 80; size++) {
		bytes = malloc(size);
		cr_assert_not_null(bytes);
		for (i = 0; i < size; i++)
			bytes[i] = (unsigned char)(i * 7 + size);
		cr_assert_eq(rec_write(&ring->handle, bytes, size), 0);
		free(bytes);
	}
	cr_assert_eq(ring->handle.lane->commit, ring->handle.lane->tail);
	page = raw_page(ring);
	cr_assert_eq(page.entries, 80);
	rec_page_iter_init(&iter, page.data, page.size);
	for (size = 1; size <= 80; size++) {
		cr_assert_eq(rec_page_next(&iter, &record), 1);
		cr_assert(record.size >= size && record.size < size + 8);
		for (i = 0; i < size; i++)
			cr_assert_eq(((const unsigned char *)record.payload)[i], (unsigned char)(i * 7 + size),
				     "byte %u of %u", i, size);
	}
	cr_assert_eq(rec_page_next(&iter, &record), 0);
	ring_free(ring);
}

Test(forms, one_call_write_of_each_short_length)
{
	write_each_length(REC_CLOCK_MONO);
	if (REC_HAS_TSC)
		write_each_length(REC_CLOCK_TSC);
}

Test(forms, one_call_write_is_refused_as_any_other)
{
	struct ring *ring = ring_new(2, 4096, false);
	const unsigned char bytes[1000] = { 1 };
	unsigned int i;

	for (i = 0; i < 8; i++)
		cr_assert_eq(rec_write(&ring->handle, bytes, sizeof(bytes)), 0);
	cr_assert_eq(rec_write(&ring->handle, bytes, sizeof(bytes)), -EBUSY);
	cr_assert_eq(ring->handle.lane->dropped, 1);
	ring_free(ring);
}

/*
 * ---------------------------------------------------------------------------------------------------------- refusals
 */

/* A child that came back from a fork into the middle of an event has a handle that was zeroed. */
Test(forms, without_a_lane_nothing_happens)
{
	struct ring *ring = ring_new(2, 4096, true), copy = *ring;
	struct rec_slot slot;
	uint64_t tail, commit;
	void *payload;

	ring_write(ring, 1, 16);
	payload = rec_reserve(&ring->handle, 16, &slot);
	tail = ring->handle.lane->tail;
	commit = ring->handle.lane->commit;
	memset(&ring->handle, 0, sizeof(ring->handle));
	rec_discard(&slot, payload);
	cr_assert_eq(copy.handle.lane->tail, tail);
	cr_assert_eq(copy.handle.lane->commit, commit);
	ring->handle = copy.handle;
	ring_free(ring);
}

/*
 * Each kind has its counter, none counts another's, and their sum is the loss that is reported to the reader.
 */
Test(forms, each_refusal_has_its_counter)
{
	struct ledger book = ledger_new(2, false);
	struct rec_lane *lane = book.ring->handle.lane;
	struct rec_slot slot;

	while (ledger_write(&book, 1000))
		;
	cr_assert_eq(lane->dropped, 1);
	ledger_write(&book, 4049);
	cr_assert_eq(lane->too_long, 1);
	cr_assert_eq(ledger_read(&book, false), 1);
	cr_assert_eq(ledger_read(&book, false), 1);
	cr_assert(ledger_write(&book, 16));
	cr_assert_not_null(ledger_reserve(&book, 16, &slot));
	while (ledger_write(&book, 1000))
		;
	cr_assert_eq(lane->commit_overrun, 1);
	ledger_commit(&book, &slot);
	cr_assert_eq(lane->dropped, 1);
	cr_assert_eq(lane->too_long, 1);
	cr_assert_eq(lane->commit_overrun, 1);
	cr_assert_eq(lane->nested_limit, 0);
	cr_assert_eq(book.refused, 3);
	ledger_close(&book);
}
