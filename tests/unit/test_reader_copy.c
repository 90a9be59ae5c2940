/* SPDX-License-Identifier: MIT */
/* Copies of pages as the kernel's read_page makes them: partial, cut to a size, with their losses. */
#include "step_clock.h"
#include "lane_fixture.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static uint64_t bytes[65536 / 8];

static void begin(void)
{
	lane_begin(4, false);
	memset(bytes, 0xa5, sizeof(bytes));
}

TestSuite(reader_copy, .init = begin, .fini = lane_end);

/*
 * Reads the copy independently, from its header on; returns the number of its events, which are `from` and following.
 */
static uint32_t walk(const struct rec_page *page, size_t size, uint64_t from, uint64_t *last_time)
{
	struct rec_page_iter iter;
	struct rec_record record;
	uint64_t number, stored = 0;
	uint32_t n = 0, data = rec_page_size(bytes), i;

	cr_assert_eq(page->data, bytes);
	cr_assert_eq(page->size, data);
	cr_assert_leq(data, size - REC_SUBBUF_HEADER_SIZE);
	rec_page_iter_init(&iter, bytes, data);
	while (rec_page_next(&iter, &record) > 0) {
		cr_assert(ring_is_intact(record.payload, record.size, &number));
		cr_assert_eq(number, from + n, "%lu instead of %lu", number, from + n);
		cr_assert_geq(record.time, *last_time);
		if (n == 0) {
			cr_assert_leq(bytes[0], record.time, "the page begins with its first event, or before");
			cr_assert_geq(bytes[0], *last_time);
		}
		*last_time = record.time;
		n++;
	}
	cr_assert_eq(n, page->entries);
	cr_assert_eq(page->first, from);
	cr_assert_eq(iter.offset, data);
	/* After the data come the number of lost events and zeros. */
	if (page->lost && size - REC_SUBBUF_HEADER_SIZE - data >= 8) {
		memcpy(&stored, (unsigned char *)bytes + REC_SUBBUF_HEADER_SIZE + data, sizeof(stored));
		data += 8;
	}
	cr_assert_eq(stored, page->lost);
	for (i = REC_SUBBUF_HEADER_SIZE + data; i < size; i++)
		cr_assert_eq(((unsigned char *)bytes)[i], 0, "byte %u is not cleared", i);
	cr_assert_eq(((unsigned char *)bytes)[size], 0xa5, "not a byte more than asked for");
	return n;
}

Test(reader_copy, a_page_that_fits_is_the_sub_buffer_itself)
{
	struct rec_page copy, page;
	uint64_t time = 0;

	lane_write(0, 30, 60);
	cr_assert_eq(rec_view_read(view, 0, 0, &page), 1);
	rec_view_unread(view, 0);
	cr_assert_eq(rec_view_read_page(view, 0, 0, bytes, 4096, &copy), 1);
	cr_assert_eq(copy.size, page.size);
	cr_assert_eq(memcmp(page.data, bytes, 8), 0, "the same time");
	cr_assert_eq(memcmp((char *)page.data + 16, bytes + 2, page.size), 0);
	cr_assert_eq(walk(&copy, 4096, 0, &time), 30);
	cr_assert_eq(rec_view_read_page(view, 0, 0, bytes, 4096, &copy), 0);
}

/* Each copy has the events added since the previous copy, and none twice, and states the CPU again. */
Test(reader_copy, partial_pages_follow_each_other)
{
	struct rec_page_iter iter;
	struct rec_record record;
	struct rec_page copy;
	uint64_t time = 0, read = 0, i;

	for (i = 0; i < 200; i += 3) {
		lane_write(i, i + 3, 28);
		cr_assert_eq(rec_view_read_page(view, 0, 0, bytes, 4096, &copy), 1);
		read += walk(&copy, 4096, read, &time);
		rec_page_iter_init(&iter, bytes, copy.size);
		cr_assert_eq(rec_page_next(&iter, &record), 1);
		cr_assert_neq(record.cpu, REC_CPU_UNKNOWN);
	}
	/* The rest may be in more than one copy, because a sub-buffer ends there. */
	while (rec_view_read_page(view, 0, 0, bytes, 4096, &copy) == 1)
		read += walk(&copy, 4096, read, &time);
	cr_assert_eq(read, i);
}

/* Every size, from nothing on (facts C8, C10): as many whole events as fit; an error if not even one fits. */
Test(reader_copy, cut_to_any_size)
{
	struct rec_view_event event;
	struct rec_page copy;
	uint64_t time = 0, read = 0, written = 0;
	size_t size;
	int r;

	for (size = 0; size < 4096; size += 4) {
		while (written < read + 40)
			lane_write(written, written + 1, 12 + 4 * (uint32_t)(written % 50)), written++;
		memset(bytes, 0xa5, sizeof(bytes));
		r = rec_view_read_page(view, 0, 0, bytes, size, &copy);
		if (r == -EMSGSIZE) {
			/* The longest here takes 216 bytes. */
			cr_assert_lt(size, 16 + 220);
			cr_assert_eq(((unsigned char *)bytes)[size], 0xa5);
			continue;
		}
		cr_assert_eq(r, 1, "%d at %zu", r, size);
		cr_assert_gt(copy.entries, 0);
		read += walk(&copy, size, read, &time);
		/* The next event would not have fitted, unless it begins another sub-buffer. */
		if (rec_view_peek(view, 0, &event) == 1 && event.record.offset > 24)
			cr_assert_gt(16 + copy.size + rec_event_total(event.record.size), size);
	}
	cr_assert_gt(read, 1000);
}

/* An event fits exactly. With one word less it does not fit, and stays in the lane. */
Test(reader_copy, the_smallest_size_for_an_event)
{
	struct rec_page copy;
	uint64_t time = 0;

	lane_write(0, 2, 300);
	cr_assert_eq(rec_view_read_page(view, 0, 0, bytes, 16, &copy), -EMSGSIZE);
	cr_assert_eq(rec_view_read_page(view, 0, 0, bytes, 16 + 307, &copy), -EMSGSIZE);
	cr_assert_eq(rec_view_read_page(view, 0, 0, bytes, 16 + 308, &copy), 1);
	cr_assert_eq(walk(&copy, 16 + 308, 0, &time), 1);
	/* With 24 bytes more, the copy also states the CPU. */
	memset(bytes, 0xa5, sizeof(bytes));
	cr_assert_eq(rec_view_read_page(view, 0, 0, bytes, 16 + 308 + 24, &copy), 1);
	cr_assert_eq(copy.size, 308 + 24);
	cr_assert_eq(walk(&copy, 16 + 308 + 24, 1, &time), 1);
}

/* Time extends: an event more than 2^27 ns after the one before, and what follows. */
Test(reader_copy, a_time_extend_stays_with_its_event)
{
	struct rec_view_event event;
	struct rec_page copy;
	uint64_t times[3], time = 0;

	lane_write(0, 1, 28);
	now += 140000000;
	lane_write(1, 3, 28);
	for (int i = 0; i < 3; i++) {
		struct rec_iter *iter;

		cr_assert_eq(rec_iter_open(view, 0, &iter), 0);
		for (int j = 0; j <= i; j++)
			cr_assert_eq(rec_iter_next(iter, &event), 1);
		times[i] = event.record.time;
		rec_iter_close(iter);
	}
	cr_assert_gt(times[1] - times[0], 134000000);
	cr_assert_eq(rec_view_read_page(view, 0, 0, bytes, 16 + 32, &copy), 1);
	cr_assert_eq(walk(&copy, 16 + 32, 0, &time), 1);
	cr_assert_eq(time, times[0]);
	memset(bytes, 0xa5, sizeof(bytes));
	cr_assert_eq(rec_view_read_page(view, 0, 0, bytes, 16 + 32, &copy), 1);
	cr_assert_eq(walk(&copy, 16 + 32, 1, &time), 1);
	cr_assert_eq(time, times[1]);
	cr_assert_eq(rec_view_read_page(view, 0, 0, bytes, 16 + 32, &copy), 1);
	cr_assert_eq(walk(&copy, 16 + 32, 2, &time), 1);
	cr_assert_eq(time, times[2]);
}

/*
 * Facts A1.2, A1.4, H10: the bits, the number where there is room, and an event first, because libtraceevent needs
 * that.
 */
Test(reader_copy, losses_are_on_the_page)
{
	struct rec_page_iter iter;
	struct rec_record record;
	struct rec_page copy;
	uint64_t time = 0, read;
	const uint64_t *commit = &bytes[1];

	lane_write(0, 1, 60);
	cr_assert_eq(rec_view_read_page(view, 0, 0, bytes, 4096, &copy), 1);
	cr_assert_eq(*commit & (REC_COMMIT_LOST | REC_COMMIT_LOST_STORED), 0);
	lane_write(1, 1000, 60);
	read = 1;
	do {
		memset(bytes, 0xa5, sizeof(bytes));
		cr_assert_eq(rec_view_read_page(view, 0, 0, bytes, 4096, &copy), 1);
		if (!copy.lost)
			read += walk(&copy, 4096, read, &time);
	} while (!copy.lost);
	cr_assert_eq(*commit >> 30, 3, "%lx", (unsigned long)*commit);
	cr_assert_eq(rec_page_lost(bytes, 4080), copy.lost);
	cr_assert_eq(bytes[2] & 31, 15, "an event of 60 bytes comes first");
	cr_assert_eq(bytes[2] & 0xffffffe0, 0, "without a delta");
	cr_assert_gt(copy.lost_time, 0);
	rec_page_iter_init(&iter, bytes, copy.size);
	for (int i = 0; i < 2; i++)
		cr_assert_eq(rec_page_next(&iter, &record), 1);
	cr_assert_neq(record.cpu, REC_CPU_UNKNOWN, "the marker comes after the first event");
	read += copy.lost;
	read += walk(&copy, 4096, read, &time);
	while (rec_view_read_page(view, 0, 0, bytes, 4096, &copy) == 1) {
		cr_assert_eq(*commit & (REC_COMMIT_LOST | REC_COMMIT_LOST_STORED), 0);
		read += walk(&copy, 4096, read, &time);
	}
	cr_assert_eq(read, 1000);
}

/* Facts A1.4: no room for the number, so the copy only shows that some were lost. */
Test(reader_copy, a_loss_without_room_for_its_number)
{
	struct rec_view_event event;
	struct rec_page copy;

	lane_write(0, 1, 60);
	cr_assert_eq(rec_view_consume(view, 0, &event), 1);
	lane_write(1, 1000, 60);
	while (rec_view_peek(view, 0, &event) == 1 && !event.lost)
		rec_view_consume(view, 0, &event);
	cr_assert_eq(rec_view_read_page(view, 0, 0, bytes, 16 + 64, &copy), 1);
	cr_assert_eq(bytes[1] >> 30, 2, "%lx", (unsigned long)bytes[1]);
	cr_assert_eq(rec_page_lost(bytes, 64), REC_LOST_UNKNOWN);
	cr_assert_eq(copy.lost, event.lost);
}

/* Facts H27: of a page that was read in part, the rest is returned as a whole. */
Test(reader_copy, whole_pages_only)
{
	struct rec_view_event event;
	struct rec_page copy;
	uint64_t time = 0, read = 3;
	uint32_t n;

	lane_write(0, 10, 60);
	cr_assert_eq(rec_view_read_page(view, 0, REC_READ_WHOLE, bytes, 4096, &copy), 0, "the writer is on it");
	lane_write(10, 100, 60);
	for (int i = 0; i < 3; i++)
		cr_assert_eq(rec_view_consume(view, 0, &event), 1);
	cr_assert_eq(rec_view_read_page(view, 0, REC_READ_WHOLE, bytes, 1024, &copy), -EMSGSIZE);
	cr_assert_eq(rec_view_read_page(view, 0, REC_READ_WHOLE, bytes, 4096, &copy), 1);
	n = walk(&copy, 4096, read, &time);
	cr_assert_gt(n, 50);
	read += n;
	cr_assert_eq(rec_view_read_page(view, 0, REC_READ_WHOLE, bytes, 4096, &copy), 0);
	cr_assert_eq(rec_view_read_page(view, 0, 0, bytes, 4096, &copy), 1);
	read += walk(&copy, 4096, read, &time);
	cr_assert_eq(read, 100);
}

/* Each kind of call in turn, at random: every event once, in order, each loss reported once. */
Test(reader_copy, mixed_with_the_other_calls)
{
	uint64_t written = 0, read = 0, lost = 0;
	unsigned int seed = 11;
	struct rec_lane_stats stats;

	while (written < 20000) {
		struct rec_view_event event;
		struct rec_page page;
		unsigned int n = (unsigned int)rand_r(&seed) % 300;

		for (; n; n--)
			cr_assert(reader_write(lane, written++, 12 + 4 * ((unsigned int)rand_r(&seed) % 40)));
		for (n = (unsigned int)rand_r(&seed) % 20; n; n--) {
			switch (rand_r(&seed) % 3) {
			case 0:
				if (rec_view_consume(view, 0, &event) != 1)
					break;
				read += event.lost;
				lost += event.lost;
				cr_assert_eq(reader_number(&event), read++, "seed 11");
				break;
			case 1:
				if (rec_view_read(view, 0, 0, &page) != 1)
					break;
				read += page.lost;
				lost += page.lost;
				cr_assert_eq(page.first, read, "seed 11");
				read += page.entries;
				break;
			default:
				if (rec_view_read_page(view, 0, 0, bytes,
						       256 + 16 * ((unsigned int)rand_r(&seed) % 240), &page) != 1)
					break;
				read += page.lost;
				lost += page.lost;
				cr_assert_eq(page.first, read, "seed 11");
				read += page.entries;
			}
		}
	}
	cr_assert_gt(lost, 1000);
	cr_assert_eq(rec_view_stats(view, 0, &stats), 0);
	cr_assert_leq(stats.read_events, read - lost);
	cr_assert_eq(stats.entries + stats.overrun + stats.read_events, written);
}
