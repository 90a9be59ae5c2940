/* SPDX-License-Identifier: MIT */
/*
 * Buffers made so that a reader would continue without end, or ask for memory without a bound: links in a circle that
 * the commit position is not in, numbers that begin again, sizes that no program makes. Cases that the fuzzers find by
 * chance are certain to occur here.
 */
#include "lane_fixture.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stddef.h>
#include <string.h>

#define PAGES 4u

/* Calls that a reader may make before it learns that the lane is damaged. */
#define CALLS_MAX 100u

static void begin(void)
{
	lane_begin(PAGES, false);
}

TestSuite(view_bounds, .init = begin, .fini = lane_end, .timeout = 300);

/*
 * Sub-buffers 1 to 3 form a circle, 0 is the reader page, and the commit position is on 4, to which no link leads.
 * `entries` events on each sub-buffer, numbered as if they continued.
 */
static void make_circle(uint32_t entries)
{
	struct rec_link *links = lane->links;

	for (uint32_t id = 1; id <= 3; id++) {
		links[id].next = REC_LINK(id < 3 ? id + 1 : 1, id == 3 ? REC_LINK_HEAD : REC_LINK_NORMAL, 9);
		links[id].prev = id > 1 ? id - 1 : 3;
	}
	links[0].next = REC_LINK(1, REC_LINK_NORMAL, 9);
	lane->reader->hint = 3;
	for (uint32_t id = 0; id <= PAGES; id++) {
		unsigned char *page = lane->data - REC_SUBBUF_HEADER_SIZE + ((size_t)id << lane->shift);
		const struct rec_subbuf_header header = { 1000, entries * 12ul };

		memset(page, 0, 4096);
		memcpy(page, &header, sizeof(header));
		for (uint32_t i = 0; i < entries; i++)
			memcpy(page + REC_SUBBUF_HEADER_SIZE + i * 12, &(uint32_t){ 2 }, 4);
		lane->subbufs[id] =
			(struct rec_subbuf){ .first = (uint64_t)id * entries, .entries = entries, .visit = id + 1 };
	}
	lane->lane->commit = REC_POS(4, 9, entries, entries * 12);
	lane->lane->tail = lane->lane->commit;
}

Test(view_bounds, circle_without_events)
{
	struct rec_page page;
	unsigned int calls = 0;
	int r;

	make_circle(0);
	do {
		r = rec_view_read(view, 0, 0, &page);
		cr_assert_lt(++calls, CALLS_MAX);
	} while (r == -EAGAIN);
	cr_expect_eq(r, -EBADMSG);
}

static unsigned int read_all(int (*read)(void))
{
	unsigned int calls = 0;
	int r;

	do {
		r = read();
		cr_assert_lt(++calls, CALLS_MAX);
	} while (r > 0);
	cr_expect_eq(r, -EBADMSG);
	return calls;
}

static int read_page(void)
{
	struct rec_page page;

	return rec_view_read(view, 0, REC_READ_WHOLE, &page);
}

static int read_copy(void)
{
	unsigned char copy[4096] __attribute__((aligned(8)));
	struct rec_page page;

	return rec_view_read_page(view, 0, 0, copy, sizeof(copy), &page);
}

static int consume(void)
{
	struct rec_view_event event;

	return rec_view_consume(view, 0, &event);
}

/* There are four sub-buffers, and then the first of them comes again. */
Test(view_bounds, circle_of_pages)
{
	make_circle(3);
	cr_expect_eq(read_all(read_page), 5);
}

Test(view_bounds, circle_of_copies)
{
	make_circle(3);
	cr_expect_eq(read_all(read_copy), 5);
}

Test(view_bounds, circle_of_events)
{
	make_circle(3);
	cr_expect_eq(read_all(consume), 13);
}

Test(view_bounds, reset_of_a_circle)
{
	make_circle(3);
	/* The numbers in the lane claim so many events that a reader would never finish skipping them. */
	lane->subbufs[4].first = UINT64_C(1) << 40;
	cr_expect_eq(rec_view_reset(view, 0), -EBADMSG);
	cr_expect_eq(consume(), -EBADMSG);
}

/* The page has become shorter than what was walked over. */
Test(view_bounds, page_that_shrinks)
{
	struct rec_page_iter walk;
	struct rec_record record;

	make_circle(3);
	rec_page_iter_init(&walk, lane->data - REC_SUBBUF_HEADER_SIZE, 36);
	cr_assert_eq(rec_page_next(&walk, &record), 1);
	cr_assert_eq(rec_page_next(&walk, &record), 1);
	for (walk.size = 0; walk.size < walk.offset + 8; walk.size++)
		cr_assert_eq(rec_page_next(&walk, &record), 0);
}

/* Numbers that overflow begin at 0 again. */
Test(view_bounds, numbers_at_their_end)
{
	struct rec_view_event event;
	unsigned int events = 0;
	struct rec_iter *iter;
	int r;

	make_circle(3);
	for (uint32_t id = 0; id <= PAGES; id++)
		lane->subbufs[id].first = UINT64_MAX - 8 + id * 3;
	cr_assert_eq(rec_iter_open(view, 0, &iter), 0);
	while ((r = rec_iter_next(iter, &event)) > 0)
		cr_assert_lt(++events, CALLS_MAX);
	rec_iter_close(iter);
	cr_expect_eq(read_page(), -EBADMSG);
}

/* A wait for events that the counts claim and that do not exist. */
Test(view_bounds, wait_for_a_promise)
{
	make_circle(0);
	lane->subbufs[4].first = 1000;
	lane->lane->commit = REC_POS(4, 9, 5, 60);
	for (unsigned int i = 0; i < 20; i++)
		cr_assert_neq(rec_view_wait(view, 0, 0, 0), -EINVAL);
	cr_expect_leq(rec_view_wait(view, 0, 0, 0), 0);
}

static void expect_refused(size_t offset, uint64_t value, size_t size)
{
	unsigned char *at = (unsigned char *)rec_process_header() + offset;
	struct rec_view *other = NULL;
	uint64_t before = 0;

	memcpy(&before, at, size);
	memcpy(at, &value, size);
	cr_expect_eq(rec_view_open(rec_process_path(), &other), -EBADMSG, "%zu: %llx", offset,
		     (unsigned long long)value);
	memcpy(at, &before, size);
	cr_expect_eq(rec_view_open(rec_process_path(), &other), 0);
	rec_view_close(other);
}

#define EXPECT_REFUSED(field, value)                                                                                   \
	expect_refused(offsetof(struct rec_buffer_header, field), value,                                               \
		       sizeof(((struct rec_buffer_header *)NULL)->field))

Test(view_bounds, headers_that_no_program_makes)
{
	EXPECT_REFUSED(magic, 0);
	EXPECT_REFUSED(clock, 0);
	EXPECT_REFUSED(clock, 3);
	EXPECT_REFUSED(clock, 64403);
	EXPECT_REFUSED(subbuf_size, 0);
	EXPECT_REFUSED(subbuf_size, 4097);
	EXPECT_REFUSED(subbuf_size, 1u << 20);
	EXPECT_REFUSED(nr_subbufs, 2);
	EXPECT_REFUSED(nr_subbufs, 65536);
	EXPECT_REFUSED(max_subbufs, 65536);
	EXPECT_REFUSED(max_subbufs, UINT32_MAX);
	EXPECT_REFUSED(max_lanes, 0);
	EXPECT_REFUSED(max_lanes, 65536);
	EXPECT_REFUSED(max_lanes, UINT32_MAX);
	EXPECT_REFUSED(log_size, (UINT64_C(16) << 20) + 4096);
	EXPECT_REFUSED(log_size, UINT64_MAX);
	EXPECT_REFUSED(log, UINT64_MAX - 4095);
	EXPECT_REFUSED(enable, 4097);
	EXPECT_REFUSED(enable, UINT64_C(1) << 62);
	EXPECT_REFUSED(rules, UINT64_C(1) << 62);
	EXPECT_REFUSED(lanes, UINT64_C(1) << 62);
	EXPECT_REFUSED(lane_stride, 0);
	EXPECT_REFUSED(lane_stride, UINT64_MAX - 4095);
	EXPECT_REFUSED(lane_reader, 0);
	EXPECT_REFUSED(lane_reader, UINT64_MAX - 4095);
	EXPECT_REFUSED(lane_meta, 0);
	EXPECT_REFUSED(lane_meta, UINT64_MAX - 4095);
}

/* Invalid shapes of a lane are found when it is opened. */
Test(view_bounds, shapes_that_no_program_makes)
{
	static const uint32_t shapes[][2] = { { 4096, 0 },	    { 4096, 2 },   { 4096, 65535 },
					      { 4096, UINT32_MAX }, { 2048, 5 },   { 4095, 5 },
					      { 1u << 31, 5 },	    { 524288, 5 }, { UINT32_MAX, UINT32_MAX } };
	struct rec_lane_stats stats;

	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		lane->lane->subbuf_size = shapes[i][0];
		lane->lane->nr_subbufs = shapes[i][1];
		cr_expect_eq(rec_view_stats(view, 0, &stats), -EBADMSG, "shape %zu", i);
	}
	cr_expect_eq(read_page(), -EBADMSG);
}
