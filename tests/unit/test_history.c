/* SPDX-License-Identifier: MIT */
/*
 * Forty bugs that the kernel's ring had over the years, as scenarios on ours. They are numbered as in
 * docs/DESIGN-FIGURES.md, with the commits that fixed them. The bugs that a ring alone can show are here;
 * test_history_view.c has those of whole buffers, test_history_step.c those in which an actor must be stopped between
 * two instructions.
 */
#include "step_clock.h"
#include "ledger.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <librecorder/page.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* Four to a sub-buffer. */
#define SIZE	 1000u
#define PER_PAGE 4u
#define CAPACITY 4080u
#define MSEC	 UINT64_C(1000000)

static void discard_one(struct ledger *book, uint32_t size)
{
	struct rec_slot slot;
	void *payload = ledger_reserve(book, size, &slot);

	cr_assert_not_null(payload);
	ledger_discard(book, &slot, payload);
}

/* Time of the first event of a page, and the delta in its own word. */
static uint64_t first_time(const struct rec_page *page, uint32_t *ret_delta)
{
	struct rec_page_iter iter;
	struct rec_record record;
	uint32_t word;

	rec_page_iter_init(&iter, page->data, page->size);
	cr_assert_eq(rec_page_next(&iter, &record), 1);
	memcpy(&word, (const char *)page->data + REC_SUBBUF_HEADER_SIZE + record.offset, sizeof(word));
	*ret_delta = word >> REC_TYPE_BITS;
	return record.time;
}

/* A filter rejects every event, with pauses that need a time extend for each: the extends must not fill the ring. */
Test(history, h05_rejected_events_leave_nothing)
{
	struct ledger book = ledger_new(3, true);
	struct rec_lane *lane = book.ring->handle.lane;
	unsigned int i;
	uint64_t tail;

	ledger_write(&book, SIZE);
	tail = lane->tail;
	for (i = 0; i < 1000; i++) {
		now += 160 * MSEC;
		discard_one(&book, 16);
		cr_assert_eq(lane->tail, tail, "after %u discards", i + 1);
	}
	/* The same at the end of a page, where one extend stays. */
	ledger_write_some(&book, PER_PAGE - 1, SIZE);
	for (i = 0; i < 1000; i++) {
		now += 160 * MSEC;
		discard_one(&book, SIZE);
	}
	cr_assert_eq(REC_POS_SEQ(lane->tail) - REC_POS_SEQ(tail), 1);
	cr_assert_leq(REC_POS_OFF(lane->tail), 24);
	ledger_close(&book);
	cr_assert_eq(book.read, PER_PAGE);
}

/* The time of a page is that of its first event, which has delta 0; otherwise the whole page is skewed. */
Test(history, h06_a_page_begins_with_its_time)
{
	struct ledger book = ledger_new(4, true);
	struct rec_subbuf_header header;
	struct rec_page page;
	uint32_t delta, pages;

	for (pages = 0; pages < 50; pages++) {
		now += pages * 40 * MSEC;
		ledger_write(&book, 3000);
		if (pages % 5 == 0)
			discard_one(&book, 300);
		if (pages % 3)
			continue;
		while (rec_ring_read(&book.ring->reader, true, &page) > 0) {
			memcpy(&header, page.data, sizeof(header));
			cr_assert_eq(first_time(&page, &delta), header.time_stamp);
			cr_assert_eq(delta, 0);
			ledger_enter(&book, &page);
		}
	}
	cr_assert_gt(book.read, 30);
	ledger_close(&book);
}

/*
 * All pages were read, and then an event that crosses a page is discarded: by its pointers the ring is not empty, but
 * no reader spins.
 */
Test(history, h09_a_discarded_event_that_crossed_a_page)
{
	struct ledger book = ledger_new(3, true);
	unsigned int round, i;

	for (round = 0; round < 20; round++) {
		ledger_write_some(&book, PER_PAGE, SIZE);
		while (ledger_read(&book, false) > 0)
			;
		discard_one(&book, SIZE);
		for (i = 0; i < 5; i++) {
			cr_assert_eq(ledger_read(&book, false), 0);
			cr_assert_eq(ledger_read(&book, true), 0);
		}
	}
	cr_assert_eq(book.read, 20 * PER_PAGE);
	ledger_close(&book);
}

/* Reader and writer on one page, at full speed: the commit is never seen before the data. */
Test(history, h13_reader_and_writer_on_one_page)
{
	static const uint64_t events = 300000;
	struct ring *ring = ring_new(2, 4096, true);
	struct rec_page_iter iter;
	struct rec_record record;
	struct rec_page page;
	uint64_t n, seen = 0, last = 0, i;
	int status = -1;
	const pid_t pid = fork();

	if (pid == 0) {
		for (i = 1; i <= events; i++)
			ring_write(ring, i, 24);
		_exit(0);
	}
	for (;;) {
		const int r = rec_ring_read(&ring->reader, false, &page);

		if (r <= 0) {
			if (status == 0)
				break;
			waitpid(pid, &status, WNOHANG);
			continue;
		}
		rec_page_iter_init(&iter, page.data, page.size);
		while (rec_page_next(&iter, &record) > 0) {
			if (record.offset < page.from)
				continue;
			cr_assert(ring_is_intact(record.payload, 24, &n), "after event %llu",
				  (unsigned long long)last);
			cr_assert_gt(n, last);
			last = n;
			seen++;
		}
	}
	cr_assert_eq(last, events);
	cr_assert_gt(seen, 0);
	ring_free(ring);
}

/* A reader that waits for the whole ring to fill is woken: the page that is being written counts. */
Test(history, h16_a_hundred_percent_can_be_met)
{
	struct ledger book = ledger_new(4, false);
	const struct rec_lane *lane = book.ring->handle.lane;
	const struct rec_lane_reader *words = book.ring->reader.words;
	unsigned int pages;

	for (pages = 1; pages <= 4; pages++) {
		cr_assert_eq(rec_ring_is_hit(lane, words, 100), pages > 4, "%u pages", pages);
		cr_assert_eq(ledger_write_some(&book, PER_PAGE, SIZE), PER_PAGE);
		cr_assert_eq(rec_ring_is_hit(lane, words, 100), pages == 4, "%u pages full", pages);
	}
	cr_assert_not(ledger_write(&book, SIZE));
	cr_assert(rec_ring_is_hit(lane, words, 100));
	while (ledger_read(&book, false) > 0)
		;
	cr_assert_not(rec_ring_is_hit(lane, words, 100));
	ledger_close(&book);
}

/*
 * After discards the next event has its own time, however many events were discarded, with or without nested ones.
 */
Test(history, h18_time_after_a_discard)
{
	struct ring *ring = ring_new(4, 4096, true);
	struct rec_slot outer, inner;
	struct rec_page_iter iter;
	struct rec_record record;
	uint64_t from[200], until[200], number = 0;
	struct rec_page page;
	void *payload;
	unsigned int i, n = 0;

	for (i = 0; i < 100; i++) {
		now += i * 3 * MSEC;
		payload = rec_reserve(&ring->handle, 32, &outer);
		cr_assert_not_null(payload);
		if (i % 2) {
			now += 1000;
			from[n] = __wrap_rec_clock_mono();
			memcpy(rec_reserve(&ring->handle, 8, &inner), &number, 8);
			until[n++] = __wrap_rec_clock_mono();
			rec_commit(&inner);
		}
		now += 1000;
		rec_discard(&outer, payload);
		from[n] = __wrap_rec_clock_mono();
		ring_write(ring, number, 8);
		until[n++] = __wrap_rec_clock_mono();
	}
	for (i = 0; rec_ring_read(&ring->reader, false, &page) > 0;) {
		cr_assert_eq(page.lost, 0);
		rec_page_iter_init(&iter, page.data, page.size);
		for (; rec_page_next(&iter, &record) > 0; i++)
			cr_assert(record.time >= from[i] && record.time <= until[i], "event %u", i);
	}
	cr_assert_eq(i, n);
	ring_free(ring);
}

#define WRITERS_MAX (1 + REC_OPEN_DEPTH_MAX)

/*
 * There are no recursion bits to go wrong: writers nest as deep as the open word counts and the ring has room. Anything
 * deeper is refused, and counted.
 */
Test(history, h19_deep_nesting)
{
	struct ledger book = ledger_new(8, false);
	struct rec_slot slots[WRITERS_MAX], deeper;
	unsigned int depth, i;

	for (depth = 0; depth < WRITERS_MAX; depth++)
		cr_assert_not_null(ledger_reserve(&book, 16, &slots[depth]));
	for (i = 0; i < 3; i++)
		cr_assert_null(ledger_reserve(&book, 16, &deeper));
	cr_assert_eq(book.ring->handle.lane->nested_limit, 3);
	/* When one writer has ended, there is room for another. */
	ledger_commit(&book, &slots[--depth]);
	cr_assert(ledger_write(&book, 16));
	while (depth--)
		ledger_commit(&book, &slots[depth]);
	cr_assert_eq(book.ring->handle.lane->commit, book.ring->handle.lane->tail);
	cr_assert_eq(book.ring->handle.lane->open, 0);
	cr_assert_eq(book.ring->handle.lane->nested_limit, 3);
	ledger_close(&book);
	cr_assert_eq(book.read, WRITERS_MAX + 1);
}

/* A clock with bits 59 and up, nested and on other CPUs, so that there are absolute stamps. */
Test(history, h20_a_clock_with_its_top_bits)
{
	struct ledger book = ledger_new(4, true);
	struct rec_page_iter iter;
	struct rec_record record;
	struct rec_page page;
	uint64_t low, high;
	unsigned int i;

	now = UINT64_C(0xf800000000000000);
	low = __wrap_rec_clock_mono();
	for (i = 0; i < 40; i++) {
		book.ring->cpu = i / 3;
		now += i * 10 * MSEC;
		ledger_write(&book, 64);
		discard_one(&book, 64);
	}
	high = __wrap_rec_clock_mono();
	cr_assert_eq(rec_ring_read(&book.ring->reader, false, &page), 1);
	rec_page_iter_init(&iter, page.data, page.size);
	while (rec_page_next(&iter, &record) > 0)
		cr_assert(record.time >= low && record.time <= high);
	ledger_enter(&book, &page);
	ledger_close(&book);
}

/* The longest event comes after a pause that needs a time extend: the attempt must not repeat without end. */
Test(history, h21_the_longest_event_after_a_pause)
{
	struct ledger book = ledger_new(3, true);
	unsigned int i;

	for (i = 0; i < 20; i++) {
		now += 200 * MSEC;
		cr_assert(ledger_write(&book, CAPACITY - 24 - 8));
		now += 200 * MSEC;
		cr_assert(ledger_write(&book, i + 8));
	}
	cr_assert_eq(book.ring->handle.lane->nested_limit, 0);
	ledger_close(&book);
}

/*
 * The bug itself cannot occur: nothing is aligned to eight bytes, so an event's length needs no correction. Every
 * payload is at a multiple of 4.
 */
Test(history, h29_alignment)
{
	struct ring *ring = ring_new(3, 4096, true);
	struct rec_slot slot;
	uint32_t size;

	for (size = 0; size < 300; size++) {
		const uint64_t old = ring->handle.lane->tail;
		void *payload = rec_reserve(&ring->handle, size, &slot);

		cr_assert_eq((uintptr_t)payload % 4, 0);
		if (REC_POS_ID(old) == REC_POS_ID(slot.end) && REC_POS_OFF(old) != 0)
			cr_assert_eq(REC_POS_OFF(slot.end) - REC_POS_OFF(old), rec_event_total(size));
		memset(payload, 0, size);
		rec_commit(&slot);
	}
	ring_free(ring);
}

/*
 * A commit overrun while the commit is on the reader page: for the reader it is not an error, but a loss that is
 * reported.
 */
Test(history, h30_commit_overrun_on_the_reader_page)
{
	struct ledger book = ledger_new(2, true);
	struct rec_slot outer;
	uint64_t refused;

	ledger_write(&book, SIZE);
	cr_assert_eq(ledger_read(&book, false), 1);
	cr_assert_not_null(ledger_reserve(&book, SIZE, &outer));
	while (ledger_write(&book, SIZE))
		;
	refused = book.refused;
	cr_assert_eq(book.ring->handle.lane->commit_overrun, refused);
	cr_assert_eq(ledger_read(&book, false), 0);
	ledger_commit(&book, &outer);
	while (ledger_read(&book, false) > 0)
		;
	ledger_write(&book, SIZE);
	while (ledger_read(&book, false) > 0)
		;
	ledger_close(&book);
	cr_assert_eq(book.lost, refused);
	cr_assert_eq(book.read, book.written);
}

/* A record's length is checked before it is followed: whatever bytes are there, the reader stays on the page. */
Test(history, h34_lengths_from_damaged_memory)
{
	static const uint32_t lengths[] = { 0,	  1,	3,	    4,		100,	    4000,
					    4076, 4080, 0x7fffffff, 0x80000000, 0xfffffff0, 0xffffffff };
	unsigned char *pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct rec_page_iter iter;
	struct rec_record record;
	uint32_t type, at, i;

	/* Bytes after the page must not be touched. */
	cr_assert_eq(mprotect(pages + 4096, 4096, PROT_NONE), 0);
	for (type = 0; type < 32; type++)
		for (i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++)
			for (at = 0; at <= CAPACITY - 8; at += CAPACITY - 8) {
				const uint32_t word = 1u << REC_TYPE_BITS | type;
				uint32_t records = 0;

				/* Events of 8 bytes up to `at`, and there the damaged one. */
				memset(pages, 0, 4096);
				for (uint32_t o = 0; o < at; o += 8)
					pages[16 + o] = 1;
				memcpy(pages + 16 + at, &word, 4);
				memcpy(pages + 20 + at, &lengths[i], 4);
				rec_page_iter_init(&iter, pages, CAPACITY);
				while (rec_page_next(&iter, &record) > 0) {
					cr_assert_leq((const unsigned char *)record.payload + record.size,
						      pages + 4096);
					cr_assert_lt(++records, 1000);
				}
				cr_assert_leq(iter.offset, CAPACITY);
			}
	munmap(pages, 8192);
}

/* After a recovery each page has the right count of events. */
Test(history, h35_counts_after_a_recovery)
{
	struct ledger book = ledger_new(6, true);
	struct rec_slot slot;
	uint64_t torn = 0;
	unsigned int i;

	for (i = 0; i < 20; i++) {
		ledger_write_some(&book, 1 + i % 6, SIZE);
		/*
		 * The writer is killed here, inside a reservation, with nested events after it that cross zero to three
		 * page ends. All of them are torn.
		 */
		cr_assert_not_null(ledger_reserve(&book, SIZE, &slot));
		torn++;
		{
			unsigned int nested = i % 13;
			struct rec_slot inner;

			for (; nested--; torn++) {
				if (!ledger_reserve(&book, SIZE, &inner))
					break;
				rec_commit(&inner);
			}
		}
		rec_ring_repair(&book.ring->handle);
		cr_assert_eq(book.ring->handle.lane->torn, torn);
		cr_assert_eq(book.ring->handle.lane->tail, book.ring->handle.lane->commit);
		if (i % 3 == 0)
			ledger_read(&book, i % 2);
	}
	/* ledger_enter() compares the events of a page with the page's count; the sum is checked at the end. */
	ledger_close(&book);
}

/* A damaged page costs only the events on it. */
Test(history, h36_one_damaged_page)
{
	struct ring *ring = ring_new(4, 4096, true);
	struct rec_page_iter iter;
	struct rec_record record;
	struct rec_page page;
	unsigned int pages = 0, good = 0;
	uint64_t i, n = 0;

	for (i = 0; i < 4 * PER_PAGE; i++)
		ring_write(ring, i, SIZE);
	memset((unsigned char *)ring->handle.data + (2u << ring->handle.shift), 0xee, CAPACITY);
	while (rec_ring_read(&ring->reader, false, &page) > 0) {
		unsigned int events = 0;

		rec_page_iter_init(&iter, page.data, page.size);
		while (rec_page_next(&iter, &record) > 0 && record.size >= SIZE)
			events += ring_is_intact(record.payload, SIZE, &n);
		cr_assert_eq(events, pages == 1 ? 0 : PER_PAGE);
		pages++;
		good += events;
	}
	cr_assert_eq(pages, 4);
	cr_assert_eq(good, 3 * PER_PAGE);
	ring_free(ring);
}

/* The writer died while the reader had the commit page. */
Test(history, h39_recovery_with_the_commit_on_the_reader_page)
{
	struct ledger book = ledger_new(3, true);
	struct rec_slot slot;
	unsigned int round;

	for (round = 0; round < 12; round++) {
		struct rec_slot inner;
		unsigned int nested = round;

		cr_assert(ledger_write(&book, SIZE));
		while (ledger_read(&book, false) > 0)
			;
		cr_assert_eq(REC_POS_ID(book.ring->handle.lane->commit), book.ring->reader.page);
		cr_assert_not_null(ledger_reserve(&book, SIZE, &slot));
		while (nested-- && ledger_reserve(&book, SIZE, &inner))
			rec_commit(&inner);
		rec_ring_repair(&book.ring->handle);
		/* The next reader begins where the last one stopped. */
		rec_ring_read_done(&book.ring->reader);
		cr_assert_eq(rec_ring_reader_init(&book.ring->reader), 0);
		cr_assert_eq(ledger_read(&book, false), 0);
	}
	cr_assert_eq(book.read, 12);
	ledger_close(&book);
}
