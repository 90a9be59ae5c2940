/* SPDX-License-Identifier: MIT */
/* The events of all lanes by time. */
#include "lane_fixture.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define EVENT 92u

static void begin(void)
{
	reader_begin(8, false);
}

TestSuite(reader_merge, .init = begin, .fini = lane_end);

static unsigned int seed;

static unsigned int draw(unsigned int n)
{
	return (unsigned int)rand_r(&seed) % n;
}

/*
 * Compared with a list of all lanes' events in the order in which they were written, which is their time order.
 */
Test(reader_merge, all_lanes_by_time)
{
	struct rec_handle *handles[9];
	struct rec_view_event event;
	uint64_t written = 0, read = 0, last_time = 0;
	unsigned int lanes = 0, last_lane = 0, held[4096];

	seed = 3;
	view = reader_view();
	cr_assert_eq(rec_view_consume(view, REC_ALL_LANES, &event), 0, "no lanes yet");
	while (written < 3000) {
		unsigned int n = draw(40);

		/* New lanes join. */
		if (lanes < 9 && written >= lanes * 250u) {
			handles[lanes] = reader_lane();
			lanes++;
		}
		while (n--) {
			const unsigned int one = draw(lanes);

			held[written % 4096] = one;
			cr_assert(reader_write(handles[one], written++, 12 + 4 * draw(20)));
		}
		for (n = draw(60); n && read < written; n--) {
			struct rec_view_event peeked;

			if (draw(4) == 0) {
				cr_assert_eq(rec_view_peek(view, REC_ALL_LANES, &peeked), 1);
				cr_assert_eq(reader_number(&peeked), read);
			}
			cr_assert_eq(rec_view_consume(view, REC_ALL_LANES, &event), 1);
			cr_assert_eq(reader_number(&event), read, "%lu instead of %lu (seed 3)", reader_number(&event),
				     read);
			cr_assert_eq(event.lane, held[read % 4096]);
			cr_assert_geq(event.record.time, last_time);
			cr_assert(event.record.time > last_time || event.lane >= last_lane,
				  "ties: the lowest lane first");
			last_time = event.record.time;
			last_lane = event.lane;
			read++;
		}
	}
	while (rec_view_consume(view, REC_ALL_LANES, &event) == 1)
		cr_assert_eq(reader_number(&event), read++);
	cr_assert_eq(read, written);
}

/* Reading one lane by itself in between does not disturb the merge of the others. */
Test(reader_merge, single_lanes_in_between)
{
	struct rec_handle *handles[4];
	struct rec_view_event event;
	struct rec_page page;
	bool read[400] = { false };
	uint64_t number;
	unsigned int done = 0, i;

	seed = 5;
	for (i = 0; i < 4; i++)
		handles[i] = reader_lane();
	view = reader_view();
	for (i = 0; i < 400; i++)
		cr_assert(reader_write(handles[draw(4)], i, EVENT));
	while (done < 400) {
		struct rec_page_iter iter;
		struct rec_record record;
		const unsigned int from = draw(8);

		if (from < 3 && rec_view_consume(view, from, &event) == 1) {
			number = reader_number(&event);
			cr_assert_not(read[number]);
			read[number] = true;
			done++;
		} else if (from == 3 && rec_view_read(view, from, 0, &page) == 1) {
			rec_page_iter_init(&iter, page.data, page.size);
			while (rec_page_next(&iter, &record) > 0)
				if (record.offset >= page.from) {
					cr_assert(ring_is_intact(record.payload, record.size, &number));
					cr_assert_not(read[number]);
					read[number] = true;
					done++;
				}
		} else if (rec_view_consume(view, REC_ALL_LANES, &event) == 1) {
			number = reader_number(&event);
			cr_assert_not(read[number]);
			for (i = 0; i < number; i++)
				cr_assert(read[i], "%u was before %lu and not read yet", i, number);
			read[number] = true;
			done++;
		}
	}
	cr_assert_eq(rec_view_consume(view, REC_ALL_LANES, &event), 0);
}

/* Exchange the marks on the links, as a writer that moves the head would. */
static void mark(const struct rec_handle *handle, uint32_t from, uint32_t to)
{
	for (uint32_t id = 0; id < handle->nr_subbufs; id++) {
		const uint64_t link = handle->links[id].next;

		if (REC_LINK_FLAG(link) == from)
			handle->links[id].next = REC_LINK(REC_LINK_ID(link), to, REC_LINK_GEN(link) + 1);
	}
}

/* While a lane cannot be examined, no later event of another one is returned. */
Test(reader_merge, no_event_overtakes_a_lane_that_returns_eagain)
{
	struct rec_handle *first = reader_lane(), *second = reader_lane();
	struct rec_view_event event;

	view = reader_view();
	cr_assert(reader_write(first, 0, EVENT));
	cr_assert(reader_write(second, 1, EVENT));
	mark(first, REC_LINK_HEAD, REC_LINK_UPDATE);
	for (unsigned int i = 0; i < 3; i++)
		cr_assert_eq(rec_view_consume(view, REC_ALL_LANES, &event), -EAGAIN);
	mark(first, REC_LINK_UPDATE, REC_LINK_HEAD);
	for (uint64_t i = 0; i < 2; i++) {
		cr_assert_eq(rec_view_consume(view, REC_ALL_LANES, &event), 1);
		cr_assert_eq(reader_number(&event), i);
	}
}

/* The same if the lane was readable before, and its page ends between two of its events. */
Test(reader_merge, no_event_overtakes_at_the_end_of_a_page)
{
	struct rec_handle *first = reader_lane(), *second = reader_lane();
	struct rec_view_event event;

	view = reader_view();
	for (uint64_t i = 0; i < 50; i++)
		cr_assert(reader_write(first, i, EVENT));
	cr_assert(reader_write(second, 50, EVENT));
	cr_assert_eq(rec_view_peek(view, REC_ALL_LANES, &event), 1);
	mark(first, REC_LINK_HEAD, REC_LINK_UPDATE);
	for (uint64_t i = 0; i < 42; i++) {
		cr_assert_eq(rec_view_consume(view, REC_ALL_LANES, &event), 1);
		cr_assert_eq(reader_number(&event), i);
	}
	for (unsigned int i = 0; i < 3; i++)
		cr_assert_eq(rec_view_consume(view, REC_ALL_LANES, &event), -EAGAIN);
	mark(first, REC_LINK_UPDATE, REC_LINK_HEAD);
	for (uint64_t i = 42; i < 51; i++) {
		cr_assert_eq(rec_view_consume(view, REC_ALL_LANES, &event), 1);
		cr_assert_eq(reader_number(&event), i);
	}
}

/*
 * The reader knows the events of two lanes; then `spoil` makes the event of one of them disappear. The other lane's
 * event is returned, once, and then the end.
 */
static void check_left_out(void (*spoil)(const struct rec_handle *spoiled))
{
	struct rec_handle *other = reader_lane(), *spoiled = reader_lane();
	struct rec_view_event event;
	unsigned int calls = 0;
	int r;

	view = reader_view();
	cr_assert(reader_write(spoiled, 0, EVENT));
	cr_assert(reader_write(other, 1, EVENT));
	cr_assert_eq(rec_view_peek(view, REC_ALL_LANES, &event), 1);
	cr_assert_eq(event.lane, 1);
	spoil(spoiled);
	do {
		r = rec_view_consume(view, REC_ALL_LANES, &event);
		cr_assert(r == 1 || r == -EAGAIN, "%d", r);
	} while (r != 1 && ++calls < 10);
	cr_assert_eq(r, 1);
	cr_assert_eq(reader_number(&event), 1);
	cr_assert_eq(rec_view_consume(view, REC_ALL_LANES, &event), 0);
	cr_assert_eq(rec_view_wait(view, REC_ALL_LANES, 0, 0), 0);
}

/* The header states a smaller number of lanes. */
static void lower_lanes(const struct rec_handle *spoiled)
{
	(void)spoiled;
	rec_process_header()->nr_lanes = 1;
}

Test(reader_merge, a_lane_that_is_counted_no_more)
{
	struct rec_lane_stats stats;
	struct rec_view_event event;
	struct rec_iter *iter;
	struct rec_page page;

	check_left_out(lower_lanes);
	cr_assert_eq(rec_view_lanes(view), 1);
	cr_assert_eq(rec_view_read(view, 1, 0, &page), -EINVAL);
	cr_assert_eq(rec_view_consume(view, 1, &event), -EINVAL);
	cr_assert_eq(rec_view_wait(view, 1, 0, 0), -EINVAL);
	cr_assert_eq(rec_view_stats(view, 1, &stats), -EINVAL);
	cr_assert_eq(rec_view_reset(view, 1), -EINVAL);
	cr_assert_eq(rec_iter_open(view, 1, &iter), -EINVAL);
	rec_view_unread(view, 1);
}

/* Damages the bytes at the position of the lane's event, so that they cannot be an event. */
static void damage(const struct rec_handle *spoiled)
{
	for (uint32_t id = 0; id < spoiled->nr_subbufs; id++)
		memset(spoiled->data + ((size_t)id << spoiled->shift), 0xff, 64);
}

Test(reader_merge, a_lane_that_is_damaged)
{
	check_left_out(damage);
}
