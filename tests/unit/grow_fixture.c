/* SPDX-License-Identifier: MIT */
#include "grow_fixture.h"

#include "librecorder/process/lane_private.h"

#include <criterion/criterion.h>

void grow_begin(unsigned int pages, unsigned int lanes)
{
	numbered_begin(pages, lanes);
	numbered_want_growth(3600);
}

unsigned int grow_made_lanes(void)
{
	unsigned int lane, made = 0;

	for (lane = 0; lane < rec_lanes(); lane++)
		made += rec_lane_is_made(lane);
	return made;
}

void grow_expect_all(unsigned int events)
{
	const struct sums sums = numbered_read();

	cr_assert_eq(sums.events, events);
	cr_assert_eq(sums.lost + sums.torn + sums.no_lane, 0);
}

void grow_let_worker(unsigned int events)
{
	worker_start(0);
	for (unsigned int i = 1; i < events; i++)
		worker_do(0, worker_write, i);
	worker_stop(0);
	numbered_next = events;
	grow_expect_all(events);
}
