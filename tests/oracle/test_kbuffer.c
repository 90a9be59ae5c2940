/* SPDX-License-Identifier: MIT */
/*
 * libtraceevent's kbuffer reads the pages of our rings: whatever the writers did, it finds the events that were
 * committed, in their order, at their times, and the loss before them. The test sets the clock.
 */
#include "page_walk.h"
#include "tests/unit/ring_fixture.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EVENTS_MAX 6000
#define DEPTH	   3
#define STEP_BACK  1000

struct pages {
	struct ring *ring;
	struct page_walk walk;
	uint32_t subbuf_size;
	uint32_t size_max;
	struct ring_order order;
	struct {
		uint64_t from, to;
	} written[EVENTS_MAX]; /* the time before and after each event was written, by number */
	uint64_t next_number;
	uint64_t last_time;
	uint64_t refused, read, lost;
	unsigned int seed;
	bool in_place;
	unsigned char *copy;
};

/* How the clock advances with each reading. */
static struct {
	uint64_t now;
	uint64_t latest; /* an event takes the time of the one before it when the clock has stepped back */
	unsigned int seed;
	bool jumps; /* across 2^27, and back */
} test_clock;

uint64_t __wrap_rec_clock_mono(void);

uint64_t __wrap_rec_clock_mono(void)
{
	const unsigned int kind = (unsigned int)rand_r(&test_clock.seed) % 64;

	if (test_clock.jumps && kind == 0)
		test_clock.now += (1u << 27) - 2 + (unsigned int)rand_r(&test_clock.seed) % 4;
	else if (test_clock.jumps && kind == 1)
		test_clock.now += UINT64_C(1) << (27 + (unsigned int)rand_r(&test_clock.seed) % 12);
	else if (test_clock.jumps && kind == 2)
		test_clock.now -= STEP_BACK;
	else if (kind < 48)
		test_clock.now += (unsigned int)rand_r(&test_clock.seed) % 2000;
	if (test_clock.latest < test_clock.now)
		test_clock.latest = test_clock.now;
	return test_clock.now;
}

static unsigned int draw(struct pages *p, unsigned int n)
{
	return (unsigned int)rand_r(&p->seed) % n;
}

static uint32_t draw_size(struct pages *p)
{
	switch (draw(p, 8)) {
	case 0:
		return 8 + draw(p, p->size_max - 7);
	case 1:
		return p->size_max - draw(p, 40);
	case 2:
		return 100 + draw(p, 40);
	default:
		return 8 + draw(p, 60);
	}
}

/* A writer that others may interrupt, and that sometimes changes its CPU, or discards its event. */
static void write_nested(struct pages *p, unsigned int depth)
{
	const uint64_t number = p->next_number++;
	const uint32_t size = draw_size(p);
	struct rec_slot slot;
	void *payload;

	if (draw(p, 50) == 0)
		p->ring->cpu = draw(p, 4);
	/* Within the call, too, the clock may step back, a few times. */
	p->written[number].from = test_clock.now - (test_clock.jumps ? 10 * STEP_BACK : 0);
	payload = rec_reserve(&p->ring->handle, size, &slot);
	p->written[number].to = test_clock.latest;
	if (!payload) {
		p->refused++;
		return;
	}
	ring_place(&p->order, number);
	ring_fill(payload, number, size);
	while (depth && draw(p, 3) == 0)
		write_nested(p, depth - 1);
	if (draw(p, 6) == 0) {
		rec_discard(&slot, payload);
		ring_take_back(&p->order, number);
	} else {
		rec_commit(&slot);
	}
}

static bool check_event(void *data, struct page_walk *walk, const struct rec_record *record)
{
	struct pages *p = data;
	uint64_t number;
	const unsigned char *payload = record->payload;
	uint32_t size = record->size;

	/* Up to four bytes of rounding: eight bytes are stored as twelve. */
	while (size > 8 && size + 4 > record->size && !ring_is_intact(payload, size, &number))
		size--;
	if (!ring_is_intact(payload, size, &number)) {
		snprintf(walk->why, sizeof(walk->why), "at %u: no event of ours", record->offset);
		return false;
	}
	if (!ring_meet(&p->order, number) || record->time < p->last_time || record->time < p->written[number].from ||
	    record->time > p->written[number].to) {
		snprintf(walk->why, sizeof(walk->why),
			 "event %" PRIu64 " out of order, or its time %" PRIu64 " is not its own", number,
			 record->time);
		return false;
	}
	p->last_time = record->time;
	p->read++;
	return true;
}

/*
 * Copies the page as it leaves the ring, with the loss in its header where the kernel puts it. In half of the pages
 * with a loss, the marker and stamp at the beginning are left out, so that kbuffer reports the loss; their first event
 * has delta 0.
 */
static void copy_page(struct pages *p, const struct rec_page *page)
{
	const uint32_t lead = page->lost && draw(p, 2) ? REC_MARKER_SIZE + REC_TIME_EXTEND_SIZE : 0;
	const uint32_t size = page->size - lead;
	const uint32_t room = p->subbuf_size - REC_SUBBUF_HEADER_SIZE - size;
	unsigned char *data = p->copy + REC_SUBBUF_HEADER_SIZE;
	uint64_t commit = size;

	memcpy(p->copy, page->data, REC_SUBBUF_HEADER_SIZE);
	memcpy(data, (const unsigned char *)page->data + REC_SUBBUF_HEADER_SIZE + lead, size);
	memset(data + size, 0, room);
	if (page->lost)
		commit |= REC_COMMIT_LOST;
	if (page->lost && room >= sizeof(page->lost)) {
		commit |= REC_COMMIT_LOST_STORED;
		memcpy(data + size, &page->lost, sizeof(page->lost));
	}
	memcpy(p->copy + 8, &commit, sizeof(commit));
}

/* Whole pages that the writer has left, in place; or pieces, as rec_view_read_page() copies them. */
static int next_page(struct pages *p, bool last, struct rec_page *ret_page)
{
	const uint64_t hidden = p->walk.hidden_losses;
	size_t size = p->subbuf_size;
	int r;

	if (p->in_place) {
		r = rec_ring_read(&p->ring->reader, !last, ret_page);
		if (r > 0)
			copy_page(p, ret_page);
	} else {
		if (draw(p, 2))
			size = REC_SUBBUF_HEADER_SIZE + 1 + draw(p, p->subbuf_size - REC_SUBBUF_HEADER_SIZE);
		r = rec_ring_copy(&p->ring->reader, false, p->copy, size, ret_page);
		if (r == -EMSGSIZE)
			r = rec_ring_copy(&p->ring->reader, false, p->copy, size = p->subbuf_size, ret_page);
	}
	cr_assert_geq(r, 0);
	if (r == 0)
		return 0;
	cr_assert(page_walk_compare(&p->walk, p->copy, (uint32_t)size, check_event, p), "%s", p->walk.why);
	/* A copy shows its loss to kbuffer, too. */
	cr_assert(p->in_place || p->walk.hidden_losses == hidden);
	return 1;
}

static void read_pages(struct pages *p, unsigned int max, bool last)
{
	struct rec_page page;
	uint64_t read = p->read;

	while (max-- && next_page(p, last, &page)) {
		cr_assert_eq(p->read - read, page.entries);
		read = p->read;
		p->lost += page.lost;
	}
}

static uint64_t lost_behind(const struct ring *ring)
{
	struct rec_ring_counts counts;

	cr_assert_eq(rec_ring_count(&ring->reader, false, &counts), 0);
	return counts.lost_unread;
}

static void run(unsigned int seed, uint32_t pages, uint32_t subbuf_size, bool overwrite, uint64_t start,
		struct page_walk *total)
{
	struct pages *p = calloc(1, sizeof(*p));

	p->seed = test_clock.seed = seed;
	p->in_place = seed % 4 < 2;
	test_clock.now = test_clock.latest = start;
	p->ring = ring_new(pages, subbuf_size, overwrite);
	p->subbuf_size = subbuf_size;
	p->size_max = subbuf_size - REC_SUBBUF_HEADER_SIZE - 24 - 8;
	p->copy = malloc(subbuf_size);
	page_walk_init(&p->walk);
	while (p->next_number < EVENTS_MAX - 200) {
		write_nested(p, DEPTH);
		if (draw(p, 30) == 0)
			read_pages(p, draw(p, 4), false);
	}
	read_pages(p, UINT32_MAX, true);
	p->lost += lost_behind(p->ring);
	cr_assert_eq(p->read + p->lost, p->order.placed + p->refused,
		     "seed %u: %" PRIu64 " read, %" PRIu64 " lost of %u", seed, p->read, p->lost, p->order.placed);
	total->events += p->walk.events;
	total->extends += p->walk.extends;
	total->stamps += p->walk.stamps;
	total->paddings += p->walk.paddings;
	total->long_events += p->walk.long_events;
	total->counted_losses += p->walk.counted_losses;
	total->uncounted_losses += p->walk.uncounted_losses;
	total->padded_times += p->walk.padded_times;
	total->hidden_losses += p->walk.hidden_losses;
	page_walk_free(&p->walk);
	ring_free(p->ring);
	free(p->copy);
	free(p);
}

/* Check that every kind of content occurred. */
static void check_variety(const struct page_walk *total, bool jumps)
{
	cr_assert_gt(total->events, 10000);
	cr_assert_gt(total->stamps, 1000);
	cr_assert_gt(total->paddings, 1000);
	cr_assert_gt(total->long_events, 1000);
	cr_assert_gt(total->counted_losses, 10);
	cr_assert_gt(total->uncounted_losses, 0);
	cr_assert_gt(total->hidden_losses, 10);
	/*
	 * The event after a discarded one has a stamp. So readers that add a padding record's delta see the same time
	 * as others.
	 */
	cr_assert_eq(total->padded_times, 0);
	if (jumps)
		cr_assert_gt(total->extends, 100);
}

Test(kbuffer, reads_our_pages)
{
	struct page_walk total = { 0 };
	unsigned int seed;

	for (seed = 1; seed <= 40; seed++)
		run(seed, 2 + seed % 5, 4096, seed & 1, UINT64_C(1) << 40, &total);
	check_variety(&total, false);
}

Test(kbuffer, reads_time_extends_and_a_clock_that_jumps)
{
	struct page_walk total = { 0 };
	unsigned int seed;

	test_clock.jumps = true;
	for (seed = 1; seed <= 40; seed++)
		run(seed, 2 + seed % 5, 4096, seed & 1, UINT64_C(1) << 40, &total);
	check_variety(&total, true);
}

Test(kbuffer, reads_larger_sub_buffers)
{
	struct page_walk total = { 0 };
	unsigned int seed;

	test_clock.jumps = true;
	for (seed = 1; seed <= 8; seed++) {
		run(seed, 2, 8192, seed & 1, UINT64_C(1) << 40, &total);
		run(seed, 2, 65536, seed & 1, UINT64_C(1) << 40, &total);
	}
	cr_assert_gt(total.events, 10000);
	cr_assert_gt(total.extends, 100);
}

/* Absolute stamps hold 59 bits; what is above comes from the page's own time. */
Test(kbuffer, reads_times_beyond_59_bits)
{
	struct page_walk total = { 0 };
	unsigned int seed;

	test_clock.jumps = true;
	for (seed = 1; seed <= 4; seed++)
		run(seed, 3, 4096, seed & 1, (UINT64_C(5) << 59) - 100000, &total);
	cr_assert_gt(total.events, 1000);
}
