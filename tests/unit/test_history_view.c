/* SPDX-License-Identifier: MIT */
/*
 * Bugs of the kernel's ring (test_history.c) that show in readers of whole buffers: resets, iterators, waiting, pages
 * for binary readers, damaged headers.
 */
#include "history_lane.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <librecorder/buffer.h>
#include <librecorder/page.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

TestSuite(history, .init = begin, .fini = lane_end, .timeout = 600);

/* Reset while a commit is open: the open event belongs to the time after it. */
Test(history, h03_reset_while_a_commit_is_open)
{
	struct rec_view_event event;
	struct rec_slot slot;
	void *payload;

	write_some(25);
	payload = rec_reserve(lane, SIZE, &slot);
	cr_assert_eq(rec_view_reset(view, 0), 0);
	cr_assert_eq(stats_of(0).entries, 0);
	cr_assert_eq(rec_view_consume(view, 0, &event), 0);
	ring_fill(payload, 77, SIZE);
	rec_commit(&slot);
	cr_assert_eq(stats_of(0).entries, 1);
	cr_assert_eq(stats_of(0).overrun, 0);
	cr_assert_eq(rec_view_consume(view, 0, &event), 1);
	cr_assert_eq(reader_number(&event), 77);
	cr_assert_eq(event.lost, 0);
	cr_assert_eq(stats_of(0).read_events, 1);
}

/* Discarded events are not entries, whether their room is given back or not. */
Test(history, h04_discarded_events_are_not_counted)
{
	struct rec_slot outer, inner;
	void *payload;
	unsigned int i;

	for (i = 0; i < 12; i++) {
		payload = rec_reserve(lane, SIZE, &outer);
		if (i % 2) {
			ring_fill(rec_reserve(lane, SIZE, &inner), next++, SIZE);
			rec_commit(&inner);
		}
		rec_discard(&outer, payload);
	}
	cr_assert_eq(stats_of(0).entries, 6);
	cr_assert_eq(consume_all(0), 6);
	cr_assert_eq(stats_of(0).entries, 0);
	cr_assert_eq(stats_of(0).read_events, 6);
	cr_assert_eq(stats_of(0).overrun, 0);
}

/* An iterator that is started again and again beside a consumer reaches its end each time. */
Test(history, h07_iterator_beside_a_consumer)
{
	struct rec_view_event event;
	struct rec_iter *iter;
	unsigned int round, events;
	int r = 0;

	cr_assert_eq(rec_iter_open(view, 0, &iter), 0);
	for (round = 0; round < 100; round++) {
		write_some(1 + round % 13);
		if (round % 3 == 0)
			rec_iter_reset(iter);
		for (events = 0; events < 100 && (r = rec_iter_next(iter, &event)) == 1; events++)
			if (events % 4 == 1)
				rec_view_consume(view, 0, &event);
		cr_assert_lt(events, 100);
		cr_assert_eq(r, 0);
	}
	rec_iter_close(iter);
}

/* An event that an iterator or a peek returned does not change while it is in use, even if there is a second peek. */
Test(history, h08_an_event_does_not_change_under_its_user)
{
	struct rec_view_event event, again;
	unsigned char copy[SIZE];
	struct rec_iter *iter;

	write_some(5);
	cr_assert_eq(rec_iter_open(view, 0, &iter), 0);
	cr_assert_eq(rec_iter_next(iter, &event), 1);
	memcpy(copy, event.record.payload, SIZE);
	write_some(10 * PAGES * PER_PAGE);
	cr_assert_eq(memcmp(copy, event.record.payload, SIZE), 0);
	cr_assert_eq(reader_number(&event), 0);
	rec_iter_close(iter);

	cr_assert_eq(rec_view_peek(view, 0, &event), 1);
	memcpy(copy, event.record.payload, SIZE);
	write_some(10 * PAGES * PER_PAGE);
	cr_assert_eq(rec_view_peek(view, 0, &again), 1);
	cr_assert_eq(again.record.payload, event.record.payload);
	cr_assert_eq(again.number, event.number);
	cr_assert_eq(memcmp(copy, again.record.payload, SIZE), 0);
}

/* A binary reader sees losses: in the commit word's bits, and their number after the data. */
Test(history, h10_losses_on_the_page)
{
	_Alignas(8) unsigned char bytes[4096];
	struct rec_subbuf_header header;
	struct rec_page page;

	write_some(PAGES * PER_PAGE);
	write_some(2 * PER_PAGE);
	/* Two pages were overwritten. */
	cr_assert_eq(rec_view_read_page(view, 0, 0, bytes, sizeof(bytes), &page), 1);
	memcpy(&header, bytes, sizeof(header));
	cr_assert(header.commit & REC_COMMIT_LOST);
	cr_assert(header.commit & REC_COMMIT_LOST_STORED);
	cr_assert_eq(rec_page_lost(bytes, 4080), 2 * PER_PAGE);
	cr_assert_eq(rec_view_read_page(view, 0, 0, bytes, sizeof(bytes), &page), 1);
	cr_assert_eq(rec_page_lost(bytes, 4080), 0);
}

/* The longest event through an iterator. */
Test(history, h22_the_longest_event_and_an_iterator)
{
	struct rec_view_event event;
	struct rec_iter *iter;

	cr_assert(reader_write(lane, 1, 4096 - 16 - 24 - 8));
	cr_assert(reader_write(lane, 2, 4096 - 16 - 24 - 8));
	cr_assert_eq(rec_iter_open(view, 0, &iter), 0);
	cr_assert_eq(rec_iter_next(iter, &event), 1);
	cr_assert_eq(reader_number(&event), 1);
	cr_assert_eq(rec_iter_next(iter, &event), 1);
	cr_assert_eq(reader_number(&event), 2);
	cr_assert_eq(rec_iter_next(iter, &event), 0);
	rec_iter_close(iter);
}

/* After overwriting, `bytes` counts what is still there. */
Test(history, h25_bytes_after_overwriting)
{
	static const unsigned int events[] = { 0, 3, 10, 40, 41, 55, 400, 1234 };
	unsigned int i;

	for (i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
		uint64_t bytes;

		write_some(events[i]);
		bytes = stats_of(0).bytes;
		cr_assert_eq(sum_of_bytes(), bytes, "%u events", events[i]);
		cr_assert_eq(stats_of(0).bytes, 0);
	}
}

/* A wait for a percentage does not end at a lower fill. */
Test(history, h26_a_percentage_is_kept_to)
{
	write_some(1);
	cr_assert_eq(rec_view_wait(view, 0, 0, 0), 1);
	cr_assert_eq(rec_view_wait(view, 0, 50, 0), 0);
	cr_assert_eq(rec_view_wait(view, 0, 100, 0), 0);
	write_some(PER_PAGE);
	cr_assert_eq(rec_view_wait(view, 0, 50, 0), 1);
	cr_assert_eq(rec_view_wait(view, 0, 75, 0), 0);
	write_some(2 * PER_PAGE);
	cr_assert_eq(rec_view_wait(view, 0, 100, 0), 1);
}

/* A reader that wants whole pages gets the rest of one that was read in part as soon as the writer has left it. */
Test(history, h27_the_rest_of_a_page)
{
	struct rec_page page;

	write_some(3);
	cr_assert_eq(rec_view_read(view, 0, 0, &page), 1);
	cr_assert_eq(page.entries, 3);
	cr_assert_eq(rec_view_read(view, 0, REC_READ_WHOLE, &page), 0);
	write_some(PER_PAGE);
	cr_assert_eq(rec_view_read(view, 0, REC_READ_WHOLE, &page), 1);
	cr_assert_eq(page.entries, PER_PAGE - 3);
	cr_assert_eq(rec_view_read(view, 0, REC_READ_WHOLE, &page), 0);
}

/* Offsets in the header that point beyond the file, or whose sums overflow: refused, and nothing outside is mapped. */
Test(history, h31_offsets_beyond_the_buffer)
{
	static const uint64_t values[] = { UINT64_MAX, UINT64_MAX - 4095, UINT64_C(1) << 63, UINT64_C(1) << 44 };
	static const size_t fields[] = {
		offsetof(struct rec_buffer_header, enable),	 offsetof(struct rec_buffer_header, log),
		offsetof(struct rec_buffer_header, log_size),	 offsetof(struct rec_buffer_header, lanes),
		offsetof(struct rec_buffer_header, lane_stride), offsetof(struct rec_buffer_header, lane_reader),
		offsetof(struct rec_buffer_header, lane_meta)
	};
	char copy[PATH_MAX + 8], command[2 * PATH_MAX + 32];
	unsigned int f, v;
	uint64_t right;
	int fd;

	snprintf(copy, sizeof(copy), "%s.copy", rec_process_path());
	snprintf(command, sizeof(command), "cp --sparse=always '%s' '%s'", rec_process_path(), copy);
	cr_assert_eq(system(command), 0);
	fd = open(copy, O_RDWR | O_CLOEXEC);
	cr_assert_geq(fd, 0);
	for (f = 0; f < sizeof(fields) / sizeof(fields[0]); f++) {
		cr_assert_eq(pread(fd, &right, 8, (off_t)fields[f]), 8);
		for (v = 0; v < sizeof(values) / sizeof(values[0]); v++) {
			struct rec_view *bad = NULL;

			cr_assert_eq(pwrite(fd, &values[v], 8, (off_t)fields[f]), 8);
			cr_assert_eq(rec_view_open(copy, &bad), -EBADMSG, "offset %zu: %llx", fields[f],
				     (unsigned long long)values[v]);
		}
		cr_assert_eq(pwrite(fd, &right, 8, (off_t)fields[f]), 8);
	}
	close(fd);
	unlink(copy);
}
