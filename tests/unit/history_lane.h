/* SPDX-License-Identifier: MIT */
/* Lanes of four sub-buffers, with events of which ten fill one. For inclusion in one source file. */
#ifndef HISTORY_LANE_H
#define HISTORY_LANE_H

#include "lane_fixture.h"

#include <criterion/criterion.h>

/* Ten to a page, which then holds CPU marker and stamp (24), 10 x 396, and 96 bytes in which no event fits. */
#define SIZE	 388u
#define PER_PAGE 10u
#define PAGES	 4u

static uint64_t next;

static inline void begin(void)
{
	lane_begin(PAGES, false);
}

static inline void write_some(unsigned int events)
{
	while (events--)
		cr_assert(reader_write(lane, next++, SIZE));
}

static inline struct rec_lane_stats stats_of(unsigned int number)
{
	struct rec_lane_stats stats;

	cr_assert_eq(rec_view_stats(view, number, &stats), 0);
	return stats;
}

static inline uint64_t consume_all(unsigned int number)
{
	struct rec_view_event event;
	uint64_t events = 0;

	while (rec_view_consume(view, number, &event) == 1)
		events++;
	return events;
}

static inline uint64_t sum_of_bytes(void)
{
	struct rec_page page;
	uint64_t bytes = 0;

	while (rec_view_read(view, 0, 0, &page) == 1)
		bytes += page.size - page.from;
	return bytes;
}

#endif
