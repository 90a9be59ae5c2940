/* SPDX-License-Identifier: MIT */
/* The ring compared with a list that is trivially right: nested writers, discards, a reader in between, both modes. */
#include "ring_fixture.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <librecorder/page.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define EVENTS_MAX 4000

/* The events written, their outcomes, and the events read. */
struct model {
	struct ring *ring;
	struct ring_order order;
	uint64_t next_number;
	uint64_t refused;
	uint64_t read;
	uint64_t lost;
	uint64_t last_time;
	unsigned int seed;
	uint32_t size; /* the size of each event */
};

static unsigned int draw(struct model *m, unsigned int n)
{
	return (unsigned int)rand_r(&m->seed) % n;
}

/* A writer that may be interrupted by another one between reserve and commit, to a given depth. */
static void write_nested(struct model *m, unsigned int depth)
{
	const uint64_t number = m->next_number++;
	struct rec_slot slot;
	void *payload = rec_reserve(&m->ring->handle, m->size, &slot);

	if (!payload) {
		m->refused++;
		return;
	}
	ring_place(&m->order, number);
	ring_fill(payload, number, m->size);
	while (depth && draw(m, 3) == 0)
		write_nested(m, depth - 1);
	if (draw(m, 8) == 0) {
		rec_discard(&slot, payload);
		ring_take_back(&m->order, number);
	} else {
		rec_commit(&slot);
	}
}

static void read_page(struct model *m, const struct rec_page *page)
{
	struct rec_page_iter iter;
	struct rec_record record;
	uint64_t events = 0, number = 0;

	m->lost += page->lost;
	rec_page_iter_init(&iter, page->data, page->size);
	while (rec_page_next(&iter, &record) > 0) {
		if (record.offset < page->from)
			continue;
		cr_assert(ring_is_intact(record.payload, m->size, &number));
		cr_assert(ring_meet(&m->order, number), "event %llu came out of order or twice",
			  (unsigned long long)number);
		cr_assert_geq(record.time, m->last_time);
		m->last_time = record.time;
		cr_assert_eq(record.cpu, m->ring->cpu);
		events++;
	}
	cr_assert_eq(events, page->entries);
	m->read += events;
}

static void read_some(struct model *m, unsigned int pages)
{
	struct rec_page page;

	while (pages-- && rec_ring_read(&m->ring->reader, false, &page) > 0)
		read_page(m, &page);
}

static void run(unsigned int seed, uint32_t pages, bool overwrite, uint32_t size)
{
	struct model m = { .seed = seed, .size = size, .ring = ring_new(pages, 4096, overwrite) };

	while (m.next_number < EVENTS_MAX - 100) {
		write_nested(&m, 3);
		if (draw(&m, 40) == 0)
			read_some(&m, draw(&m, 4));
	}
	read_some(&m, UINT32_MAX);
	m.lost += ring_unreported(m.ring);
	cr_assert_eq(m.read + m.lost, m.order.placed + m.refused,
		     "seed %u: %llu read, %llu lost of %u written, %llu refused", seed, (unsigned long long)m.read,
		     (unsigned long long)m.lost, m.order.placed, (unsigned long long)m.refused);
	if (!overwrite)
		cr_assert_eq(m.read, m.order.placed);
	ring_free(m.ring);
}

Test(ring, random_nesting_in_overwrite_mode)
{
	unsigned int seed;

	for (seed = 1; seed <= 300; seed++)
		run(seed, 2 + seed % 4, true, 8 + seed % 300);
}

Test(ring, random_nesting_in_discard_mode)
{
	unsigned int seed;

	for (seed = 1; seed <= 300; seed++)
		run(seed, 2 + seed % 4, false, 8 + seed % 300);
}

Test(ring, events_that_fill_a_page)
{
	unsigned int seed;

	for (seed = 1; seed <= 20; seed++)
		run(seed, 2, seed % 2, 4096 - 16 - 24 - 8);
}

Test(ring, too_long_is_refused_and_counted)
{
	struct ring *ring = ring_new(2, 4096, true);
	struct rec_slot slot;

	cr_assert_not_null(rec_reserve(&ring->handle, 4048, &slot));
	rec_commit(&slot);
	cr_assert_null(rec_reserve(&ring->handle, 4049, &slot));
	cr_assert_eq(ring->handle.lane->too_long, 1);
	ring_free(ring);
}

Test(ring, nested_event_is_invisible_until_the_outermost_commits)
{
	struct ring *ring = ring_new(2, 4096, true);
	struct rec_slot outer, inner;
	struct rec_page page;
	void *p = rec_reserve(&ring->handle, 16, &outer);
	void *q = rec_reserve(&ring->handle, 16, &inner);

	memset(p, 0, 16);
	memset(q, 0, 16);
	rec_commit(&inner);
	cr_assert_eq(rec_ring_read(&ring->reader, false, &page), 0);
	rec_commit(&outer);
	cr_assert_eq(rec_ring_read(&ring->reader, false, &page), 1);
	cr_assert_eq(page.entries, 2);
	ring_free(ring);
}

Test(ring, empty_gives_nothing)
{
	struct ring *ring = ring_new(2, 4096, true);
	struct rec_page page;

	cr_assert_eq(rec_ring_read(&ring->reader, false, &page), 0);
	cr_assert_eq(rec_ring_read(&ring->reader, true, &page), 0);
	ring_free(ring);
}

Test(ring, whole_only_leaves_the_writers_page)
{
	struct ring *ring = ring_new(3, 4096, true);
	struct rec_page page;
	uint64_t i;

	for (i = 0; i < 10; i++)
		ring_write(ring, i, 16);
	cr_assert_eq(rec_ring_read(&ring->reader, true, &page), 0);
	for (; i < 250; i++)
		ring_write(ring, i, 16);
	cr_assert_eq(rec_ring_read(&ring->reader, true, &page), 1);
	cr_assert_eq(rec_ring_read(&ring->reader, true, &page), 0);
	cr_assert_eq(rec_ring_read(&ring->reader, false, &page), 1);
	ring_free(ring);
}

Test(ring, a_change_of_cpu_is_marked)
{
	struct ring *ring = ring_new(2, 4096, true);
	struct rec_page_iter iter;
	struct rec_record record;
	struct rec_page page;
	uint32_t i;

	for (i = 0; i < 6; i++) {
		ring->cpu = i / 2;
		ring_write(ring, i, 16);
	}
	cr_assert_eq(rec_ring_read(&ring->reader, false, &page), 1);
	cr_assert_eq(page.entries, 6);
	rec_page_iter_init(&iter, page.data, page.size);
	for (i = 0; i < 6; i++) {
		cr_assert_eq(rec_page_next(&iter, &record), 1);
		cr_assert_eq(record.cpu, i / 2);
	}
	cr_assert_eq(rec_page_next(&iter, &record), 0);
	ring_free(ring);
}

Test(ring, a_page_that_was_taken_stays_as_it_is)
{
	struct ring *ring = ring_new(2, 4096, true);
	struct rec_page page;
	unsigned char copy[4096];
	uint64_t i;

	for (i = 0; i < 300; i++)
		ring_write(ring, i, 16);
	cr_assert_eq(rec_ring_read(&ring->reader, true, &page), 1);
	memcpy(copy, page.data, sizeof(copy));
	for (; i < 300000; i++)
		ring_write(ring, i, 16);
	cr_assert_eq(memcmp(copy, page.data, sizeof(copy)), 0);
	ring_free(ring);
}

Test(ring, a_reader_that_died_in_the_swap_is_succeeded)
{
	struct ring *ring = ring_new(3, 4096, true);
	struct rec_lane_reader before;
	struct rec_page page;
	uint64_t i, events;

	for (i = 0; i < 600; i++)
		ring_write(ring, i, 16);
	before = *ring->reader.words;
	cr_assert_eq(rec_ring_read(&ring->reader, true, &page), 1);
	events = page.entries;
	/* Acts like a reader that died immediately after the exchange, before it wrote its own words. */
	*ring->reader.words = before;
	cr_assert_eq(rec_ring_reader_init(&ring->reader), 0);
	cr_assert_eq(rec_ring_read(&ring->reader, true, &page), 1);
	cr_assert_eq(page.entries, events);
	ring_free(ring);
}

static struct rec_link *protected_links;

/* The store to the links that faulted is repeated after this; another fault ends the test. */
static void change_links(int number)
{
	signal(number, SIG_DFL);
	if (mprotect(protected_links, 4096, PROT_READ | PROT_WRITE) < 0)
		_exit(1);
	protected_links[2].next = REC_LINK(3, REC_LINK_NORMAL, 0);
	protected_links[3].next = REC_LINK(4, REC_LINK_NORMAL, 0);
}

/*
 * The links lead 2, 4, 3, 2. When the walk from 4 repairs the prev of 2, the links change: the walk passes 3 twice, and
 * returns to 4 after as many steps as a ring of four has. The sum of the ids is then too large: computed from it, the
 * reader page's id would be negative.
 */
Test(ring, links_that_change_during_the_search_for_the_reader_page)
{
	struct ring *ring = ring_new(4, 4096, true);
	struct rec_ring_reader *reader = &ring->reader;
	struct rec_link *links = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	cr_assert_neq(links, MAP_FAILED);
	links[2] = (struct rec_link){ .next = REC_LINK(4, REC_LINK_HEAD, 0), .prev = 0 };
	links[4] = (struct rec_link){ .next = REC_LINK(3, REC_LINK_NORMAL, 0), .prev = 2 };
	links[3] = (struct rec_link){ .next = REC_LINK(2, REC_LINK_NORMAL, 0), .prev = 4 };
	reader->words->read = REC_POS(2, 1, 0, 0);
	reader->links = protected_links = links;
	cr_assert_eq(mprotect(links, 4096, PROT_READ), 0);
	signal(SIGSEGV, change_links);
	cr_assert_eq(rec_ring_reader_init(reader), -EBADMSG);
	cr_assert_eq(links[3].next, REC_LINK(4, REC_LINK_NORMAL, 0));
	munmap(links, 4096);
	ring_free(ring);
}

Test(ring, a_writer_that_died_is_repaired)
{
	struct ring *ring = ring_new(3, 4096, true);
	struct rec_slot slot;
	struct rec_page page;

	ring_write(ring, 1, 16);
	cr_assert_not_null(rec_reserve(&ring->handle, 3000, &slot));
	cr_assert_not_null(rec_reserve(&ring->handle, 3000, &slot));
	rec_ring_repair(&ring->handle);
	cr_assert_eq(ring->handle.lane->torn, 2);
	ring_write(ring, 2, 16);
	cr_assert_eq(rec_ring_read(&ring->reader, false, &page), 1);
	cr_assert_eq(page.entries, 2);
	ring_free(ring);
}

Test(ring, events_after_many_that_were_discarded)
{
	struct ring *ring = ring_new(16, 4096, true);
	struct rec_slot slot;
	struct rec_page page;
	unsigned int i;
	void *payload;

	for (i = 0; i < 20000; i++) {
		payload = rec_reserve(&ring->handle, 16, &slot);
		cr_assert_not_null(payload);
		rec_discard(&slot, payload);
	}
	ring_write(ring, 1, 16);
	cr_assert_eq(rec_ring_read(&ring->reader, false, &page), 1);
	cr_assert_eq(page.entries, 1);
	cr_assert_eq(page.lost, 0);
	ring_free(ring);
}

/* A reader sees the time at which an event was reserved, even if the event before it was taken back. */
static void nested_in_a_discarded_one(uint32_t size)
{
	struct ring *ring = ring_new(2, 4096, true);
	struct rec_slot outer, inner;
	struct rec_record record;
	struct rec_page_iter iter;
	struct rec_page page;
	uint64_t before, after, i;
	void *payload, *nested;

	/* The first event states time and CPU; the discarded one must hold a delta. */
	ring_write(ring, 1, 16);
	before = rec_clock_mono();
	for (i = 0; rec_clock_mono() - before < 100000; i++)
		;
	payload = rec_reserve(&ring->handle, size, &outer);
	before = rec_clock_mono();
	nested = rec_reserve(&ring->handle, 16, &inner);
	after = rec_clock_mono();
	memset(nested, 0, 16);
	rec_commit(&inner);
	rec_discard(&outer, payload);
	cr_assert_eq(rec_ring_read(&ring->reader, false, &page), 1);
	cr_assert_eq(page.entries, 2);
	rec_page_iter_init(&iter, page.data, page.size);
	cr_assert_eq(rec_page_next(&iter, &record), 1);
	cr_assert_eq(rec_page_next(&iter, &record), 1);
	cr_assert(record.time >= before && record.time <= after);
	cr_assert_eq(rec_page_next(&iter, &record), 0);
	ring_free(ring);
}

Test(ring, the_time_after_a_discarded_event_stands)
{
	nested_in_a_discarded_one(4);
	nested_in_a_discarded_one(16);
	nested_in_a_discarded_one(200);
}

Test(ring, repair_leaves_a_whole_ring_alone)
{
	struct ring *ring = ring_new(4, 4096, true);
	struct rec_link before[5];
	uint64_t i;

	for (i = 0; i < 3000; i++)
		ring_write(ring, i, 16);
	memcpy(before, ring->handle.links, sizeof(before));
	rec_ring_repair(&ring->handle);
	cr_assert_eq(memcmp(before, ring->handle.links, sizeof(before)), 0);
	ring_free(ring);
}
