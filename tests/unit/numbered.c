/* SPDX-License-Identifier: MIT */
#include "numbered.h"
#include "librecorder/process/lane_private.h"
#include "librecorder/process/process.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <librecorder/event.h>
#include <librecorder/reader.h>
#include <stdlib.h>
#include <string.h>

unsigned char *seen;
uint32_t *seen_tids;
uint64_t numbered_next;

void numbered_begin(unsigned int subbufs, unsigned int lanes)
{
	struct rec_options options = REC_OPTIONS_INIT;

	options.lane_size = subbufs * 4080ul;
	/* rec_configure() computes a lane's stride from its sizes. Then the memory for the lanes can be set. */
	options.memory_max = lanes ? 1 : 0;
	cr_assert_eq(rec_configure(&options), 0);
	if (lanes) {
		options.memory_max = lanes * rec_pool.geometry.lane_stride;
		cr_assert_eq(rec_configure(&options), 0);
		cr_assert_eq(rec_pool.geometry.max_lanes, lanes);
	}
	cr_assert_eq(rec_enable("numbered:step"), 1);
	seen = calloc(NUMBERED_MAX, 1);
	seen_tids = calloc(NUMBERED_MAX, sizeof(*seen_tids));
}

void numbered_write(uint64_t number)
{
	REC(numbered, step, number, number);
}

void numbered_write_some(unsigned int events)
{
	while (events--)
		numbered_write(numbered_next++);
}

unsigned int numbered_lane(void)
{
	unsigned int lane = 99;

	cr_assert_eq(rec_thread_lane(&lane), 0);
	return lane;
}

void numbered_want_growth(unsigned int seconds)
{
	struct rec_view *view = NULL;

	cr_assert_eq(rec_view_open(rec_process_path(), &view), 0);
	cr_assert_eq(rec_view_grow(view, seconds), 0);
	rec_view_close(view);
}

static void take_page(const struct rec_page *page, struct sums *sums)
{
	struct rec_page_iter iter;
	struct rec_record record;
	struct {
		struct rec_event_common common;
		uint64_t number, copy;
	} event;

	sums->reported += page->lost;
	rec_page_iter_init(&iter, page->data, page->size);
	while (rec_page_next(&iter, &record) > 0) {
		if (record.offset < page->from)
			continue;
		memcpy(&event, record.payload, sizeof(event));
		cr_assert_lt(event.number, NUMBERED_MAX);
		cr_assert_eq(event.number, event.copy);
		cr_assert_eq(seen[event.number]++, 0, "event %d came twice", (int)event.number);
		seen_tids[event.number] = (uint32_t)event.common.pid;
		sums->events++;
	}
}

struct sums numbered_read_of(const char *path)
{
	struct rec_view_losses losses;
	struct rec_view *view = NULL;
	struct rec_lane_stats stats;
	struct sums sums = { 0 };
	struct rec_page page;
	unsigned int lane;
	int r;

	r = rec_view_open(path, &view);
	cr_assert_eq(r, 0, "%s: %d", path, r);
	for (lane = 0; lane < rec_view_lanes(view); lane++) {
		while ((r = rec_view_read(view, lane, 0, &page)) > 0)
			take_page(&page, &sums);
		cr_assert(r == 0 || r == -EAGAIN, "lane %u: %d", lane, r);
		if (rec_view_stats(view, lane, &stats) < 0)
			continue;
		cr_assert_eq(stats.broken, 0);
		sums.torn += stats.torn;
		sums.lost += stats.lost_unread;
	}
	sums.lost += sums.reported;
	rec_view_losses(view, &losses);
	sums.no_lane = losses.no_lane;
	rec_view_close(view);
	return sums;
}

struct sums numbered_read(void)
{
	return numbered_read_of(rec_process_path());
}

void numbered_expect_no_owner(void)
{
	unsigned int lane;

	for (lane = 0; lane < rec_lanes(); lane++)
		cr_assert_eq(rec_lane_at(lane)->owner, 0, "lane %u is %u's", lane, rec_lane_at(lane)->owner);
}
