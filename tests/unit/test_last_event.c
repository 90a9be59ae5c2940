/* SPDX-License-Identifier: MIT */
/* The time of a buffer's last event, found by reading only a few of its events. */
#include "cli/recording/last_event.h"
#include "lane_fixture.h"

#include <criterion/criterion.h>
#include <librecorder/lane.h>
#include <time.h>

#define PAGES 64u
#define EVENT 92u

static unsigned int nr_read;
static uint64_t latest_read; /* the time of an event */

/* Linked with --wrap=rec_iter_next. */
int __real_rec_iter_next(struct rec_iter *iter, struct rec_view_event *ret_event);
int __wrap_rec_iter_next(struct rec_iter *iter, struct rec_view_event *ret_event);

int __wrap_rec_iter_next(struct rec_iter *iter, struct rec_view_event *ret_event)
{
	const int ret = __real_rec_iter_next(iter, ret_event);

	nr_read++;
	if (ret == 1 && ret_event->record.time > latest_read)
		latest_read = ret_event->record.time;
	return ret;
}

static void begin(void)
{
	lane_begin(PAGES, false);
}

TestSuite(last_event, .init = begin, .fini = lane_end);

static uint64_t time_of_newest(void)
{
	struct rec_view_event event = { .number = 0 };
	struct rec_iter *iter;

	cr_assert_eq(rec_iter_open(view, 0, &iter), 0);
	while (__real_rec_iter_next(iter, &event) == 1)
		;
	rec_iter_close(iter);
	return event.record.time;
}

/* Checks that the newest event is among those that are read, and that the seconds are between `from` and now. */
static void check_time(time_t from, unsigned int at_most)
{
	uint64_t seconds = 0;

	nr_read = 0;
	latest_read = 0;
	cr_assert(last_event_time(view, &seconds));
	cr_assert_eq(latest_read, time_of_newest());
	cr_assert_geq(seconds + 1, (uint64_t)from);
	cr_assert_leq(seconds, (uint64_t)time(NULL) + 1);
	cr_assert_leq(nr_read, at_most, "%u events were read", nr_read);
}

Test(last_event, is_found_in_a_full_lane)
{
	const time_t from = time(NULL);

	lane_write(0, 1, EVENT);
	check_time(from, 2);
	lane_write(1, 1000, EVENT);
	check_time(from, 3);
	/* The oldest ones are overwritten. */
	lane_write(1000, 20000, EVENT);
	check_time(from, 3);
}

Test(last_event, is_found_after_a_reader)
{
	const time_t from = time(NULL);
	struct rec_view_event event;

	lane_write(0, 1000, EVENT);
	for (unsigned int i = 0; i < 500; i++)
		cr_assert_eq(rec_view_consume(view, 0, &event), 1);
	check_time(from, 3);
}

Test(last_event, an_empty_buffer_has_none)
{
	uint64_t seconds = 1;

	nr_read = 0;
	cr_assert_not(last_event_time(view, &seconds));
	cr_assert_eq(seconds, 0u);
	cr_assert_leq(nr_read, 1u);
}
