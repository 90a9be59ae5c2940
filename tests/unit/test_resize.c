/* SPDX-License-Identifier: MIT */
/* A ring that is resized, or started anew with another sub-buffer size, between events. */
#include "ring_fixture.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <librecorder/page.h>
#include <string.h>

/* Of these, 10 lie on a sub-buffer. */
#define SIZE 396u
#define PER_PAGE 10u

/* What came out: numbers [first, first + events) without a hole, `lost` before them. */
struct read {
	uint64_t first;
	uint64_t events;
	uint64_t lost;
	uint64_t lost_time;
};

static void write_events(struct ring *ring, uint64_t *next, uint64_t count)
{
	while (count--)
		ring_write(ring, (*next)++, SIZE);
}

static struct read read_all(struct ring *ring)
{
	struct read read = { 0 };
	struct rec_page page;
	struct rec_page_iter iter;
	struct rec_record record;
	uint64_t number = 0;

	while (rec_ring_read(&ring->reader, false, &page) > 0) {
		cr_assert(page.lost == 0 || read.events == 0, "a hole behind %llu events", (unsigned long long)read.events);
		read.lost += page.lost;
		read.lost_time = page.lost ? page.lost_time : read.lost_time;
		rec_page_iter_init(&iter, page.data, page.size);
		while (rec_page_next(&iter, &record) > 0) {
			if (record.offset < page.from)
				continue;
			cr_assert(ring_is_intact(record.payload, SIZE, &number));
			if (!read.events)
				read.first = number;
			cr_assert_eq(number, read.first + read.events++);
		}
	}
	return read;
}

static uint32_t marks(const struct ring *ring)
{
	uint32_t id, marked = 0;

	for (id = 0; id < ring->handle.nr_subbufs; id++)
		if (!ring->handle.links[id].spare)
			marked += REC_LINK_FLAG(ring->handle.links[id].next) != REC_LINK_NORMAL;
	return marked;
}

Test(resize, growing_keeps_what_is_there_and_makes_room)
{
	struct ring *ring = ring_new_spare(2, 4, 4096, true);
	struct read read;
	uint64_t next = 0;

	write_events(ring, &next, 2 * PER_PAGE);
	cr_assert_eq(rec_ring_resize(&ring->handle, 6), 0);
	write_events(ring, &next, 4 * PER_PAGE);
	read = read_all(ring);
	cr_assert_eq(read.lost, 0);
	cr_assert_eq(read.events, 6 * PER_PAGE);
	cr_assert_eq(marks(ring), 1);
	ring_free(ring);
}

Test(resize, growing_a_full_lane_in_discard_mode_lets_events_in_again)
{
	struct ring *ring = ring_new_spare(2, 1, 4096, false);
	uint64_t next = 0;

	write_events(ring, &next, 2 * PER_PAGE);
	cr_assert_not(ring_write(ring, next, SIZE));
	cr_assert_eq(rec_ring_resize(&ring->handle, 3), 0);
	cr_assert(ring_write(ring, next, SIZE));
	ring_free(ring);
}

Test(resize, shrinking_takes_empty_sub_buffers_first)
{
	struct ring *ring = ring_new(8, 4096, true);
	struct read read;
	uint64_t next = 0;

	write_events(ring, &next, 2 * PER_PAGE);
	cr_assert_eq(rec_ring_resize(&ring->handle, 2), 0);
	read = read_all(ring);
	cr_assert_eq(read.lost, 0);
	cr_assert_eq(read.events, 2 * PER_PAGE);
	ring_free(ring);
}

Test(resize, shrinking_keeps_the_newest_and_counts_the_others)
{
	struct ring *ring = ring_new(8, 4096, true);
	struct read read;
	uint64_t next = 0;

	write_events(ring, &next, 20 * PER_PAGE + 3);
	cr_assert_eq(rec_ring_resize(&ring->handle, 3), 0);
	cr_assert_eq(marks(ring), 1);
	read = read_all(ring);
	cr_assert_eq(read.events, 2 * PER_PAGE + 3);
	cr_assert_eq(read.first + read.events, next);
	cr_assert_eq(read.lost + read.events, next);
	cr_assert_eq(ring->handle.lane->pages_lost, 21 - 3);
	ring_free(ring);
}

Test(resize, with_the_writer_on_the_reader_page)
{
	uint32_t pages;

	for (pages = 2; pages <= 6; pages++) {
		struct ring *ring = ring_new_spare(4, 2, 4096, true);
		struct read read;
		uint64_t next = 0;

		write_events(ring, &next, PER_PAGE + 1);
		cr_assert_eq(read_all(ring).events, PER_PAGE + 1);
		cr_assert_eq(REC_POS_ID(ring->handle.lane->commit), ring->reader.page);
		cr_assert_eq(rec_ring_resize(&ring->handle, pages), 0);
		write_events(ring, &next, (pages + 1) * PER_PAGE - 1);
		read = read_all(ring);
		cr_assert_eq(read.lost, 0, "%u sub-buffers: %llu lost", pages, (unsigned long long)read.lost);
		cr_assert_eq(read.events, (pages + 1) * PER_PAGE - 1);
		ring_free(ring);
	}
}

Test(resize, what_goes_out_comes_in_again)
{
	struct ring *ring = ring_new(6, 4096, true);
	uint64_t next = 0, events = 0;
	struct rec_page page;
	unsigned int i;

	for (i = 0; i < 200; i++) {
		cr_assert_eq(rec_ring_resize(&ring->handle, 2 + i % 5), 0);
		write_events(ring, &next, 7 + i % 40);
		while (i % 3 == 0 && rec_ring_read(&ring->reader, false, &page) > 0)
			events += page.entries + page.lost;
		cr_assert_eq(marks(ring), 1);
	}
	while (rec_ring_read(&ring->reader, false, &page) > 0)
		events += page.entries + page.lost;
	cr_assert_eq(events, next);
	ring_free(ring);
}

Test(resize, needs_memory_for_it)
{
	struct ring *ring = ring_new_spare(2, 1, 4096, true);

	cr_assert_eq(rec_ring_resize(&ring->handle, 4), -EINVAL);
	cr_assert_eq(rec_ring_resize(&ring->handle, 1), -EINVAL);
	cr_assert_eq(ring->handle.lane->nr_pages, 2);
	ring_free(ring);
}

/* A writer that has looked at the tail and was interrupted by the resize must look again. */
Test(resize, spoils_a_reservation_that_had_begun)
{
	struct ring *ring = ring_new(4, 4096, true);
	const uint64_t before = ring->handle.lane->tail;

	cr_assert_eq(rec_ring_resize(&ring->handle, 2), 0);
	cr_assert_neq(ring->handle.lane->tail, before);
	cr_assert_eq(ring->handle.lane->commit, ring->handle.lane->tail);
	ring_free(ring);
}

/*
 * The marks `spare` are all wrong in the allowed direction, and a count is
 * missing: what a writer killed in between leaves.
 */
Test(resize, a_writer_that_dies_in_it_is_repaired)
{
	struct ring *ring = ring_new_spare(3, 2, 4096, true);
	uint64_t next = 0;
	uint32_t id;

	write_events(ring, &next, 30 * PER_PAGE);
	for (id = 1; id <= 3; id++)
		ring->handle.links[id].spare = 1;
	ring->handle.lane->nr_pages = 5;
	ring->handle.lane->resizing = REC_LANE_RESIZING;
	rec_ring_repair(&ring->handle);
	cr_assert_eq(ring->handle.lane->broken, 0);
	cr_assert_eq(ring->handle.lane->nr_pages, 3);
	for (id = 1; id <= 3; id++)
		cr_assert_eq(ring->handle.links[id].spare, 0);
	cr_assert_eq(ring->handle.links[4].spare, 1);
	cr_assert_eq(rec_ring_resize(&ring->handle, 5), 0);
	write_events(ring, &next, 4 * PER_PAGE);
	cr_assert_geq(read_all(ring).events, 4 * PER_PAGE);
	ring_free(ring);
}

Test(resize, a_restart_drops_and_counts)
{
	struct ring *ring = ring_new(4, 4096, true);
	struct read read;
	uint64_t next = 0, first_time;

	write_events(ring, &next, 3 * PER_PAGE);
	memcpy(&first_time, ring->reader.pages + ring->reader.subbuf_size, sizeof(first_time));
	rec_ring_restart(&ring->handle, 3, rec_ring_oldest_time(&ring->handle));
	write_events(ring, &next, 5);
	cr_assert_eq(rec_ring_reader_init(&ring->reader, false), 0);
	read = read_all(ring);
	cr_assert_eq(read.lost, 3 * PER_PAGE);
	cr_assert_eq(read.first, 3 * PER_PAGE);
	cr_assert_eq(read.lost_time, first_time);
	cr_assert_eq(read.events, 5);
	ring_free(ring);
}
