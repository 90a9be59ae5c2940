/* SPDX-License-Identifier: MIT */
/* Reading a lane without consuming. */
#include "lane_fixture.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define EVENT 92u

static struct rec_iter *iter;

static void begin(void)
{
	lane_begin(4, false);
	cr_assert_eq(rec_iter_open(view, 0, &iter), 0);
}

static void end(void)
{
	rec_iter_close(iter);
	lane_end();
}

TestSuite(reader_iter, .init = begin, .fini = end);

static void write_some(uint64_t from, uint64_t to)
{
	lane_write(from, to, EVENT);
}

/* Reads to the end: numbers must be consecutive, except for reported losses. */
static uint64_t read_on(struct rec_iter *from, uint64_t expected, uint64_t *lost)
{
	struct rec_view_event event;
	int r;

	while ((r = rec_iter_next(from, &event)) == 1) {
		*lost += event.lost;
		cr_assert_eq(event.number, expected + event.lost, "%lu after %lu, %lu lost", event.number, expected,
			     event.lost);
		cr_assert_eq(reader_number(&event), event.number);
		expected = event.number + 1;
	}
	cr_assert_eq(r, 0);
	return expected;
}

Test(reader_iter, arguments)
{
	struct rec_iter *none;

	cr_assert_eq(rec_iter_open(view, 1, &none), -EINVAL);
	cr_assert_null(rec_iter_close(NULL));
}

Test(reader_iter, follows_the_writer_and_consumes_nothing)
{
	struct rec_lane_stats stats;
	struct rec_view_event event;
	uint64_t lost = 0, at = 0, written = 0, n;

	cr_assert_eq(rec_iter_next(iter, &event), 0);
	for (n = 1; written < 2000; n = n % 7 + 1) {
		write_some(written, written + n);
		written += n;
		at = read_on(iter, at, &lost);
		cr_assert_eq(at, written);
	}
	cr_assert_eq(lost, 0);
	cr_assert_eq(rec_view_stats(view, 0, &stats), 0);
	cr_assert_eq(stats.read_events, 0);
	cr_assert_eq(stats.entries + stats.overrun, written);
}

Test(reader_iter, what_was_overwritten_is_counted_exactly)
{
	struct rec_lane_stats stats;
	struct rec_view_event event;
	uint64_t lost = 0, time;

	write_some(0, 10);
	for (uint64_t i = 0; i < 5; i++) {
		cr_assert_eq(rec_iter_next(iter, &event), 1);
		cr_assert_eq(event.number, i);
	}
	time = event.record.time;
	write_some(10, 3000);
	/* The copy has events 5 to 9, which are no longer in the ring. */
	for (uint64_t i = 5; i < 10; i++) {
		cr_assert_eq(rec_iter_next(iter, &event), 1);
		cr_assert_eq(event.number, i);
		cr_assert_eq(event.lost, 0);
	}
	cr_assert_eq(rec_view_stats(view, 0, &stats), 0);
	cr_assert_eq(read_on(iter, 10, &lost), 3000);
	cr_assert_eq(lost, stats.overrun - 10);
	(void)time;
}

/* Facts H8: a second call does not change what the first one has returned so far. */
Test(reader_iter, a_returned_event_does_not_change)
{
	struct rec_view_event event;
	struct rec_iter *other;

	write_some(0, 1);
	cr_assert_eq(rec_iter_next(iter, &event), 1);
	cr_assert_eq(rec_iter_open(view, 0, &other), 0);
	write_some(1, 5000);
	rec_iter_close(other);
	cr_assert_eq(reader_number(&event), 0);
}

/* Facts H22: an event of the maximum size. */
Test(reader_iter, the_largest_event)
{
	struct rec_view_event event;
	const uint32_t size = 4096 - 16 - 24 - 8;

	for (uint64_t i = 0; i < 20; i++) {
		cr_assert(reader_write(lane, i, size));
		cr_assert_eq(rec_iter_next(iter, &event), 1);
		cr_assert_eq(event.record.size, size);
		cr_assert_eq(reader_number(&event), i);
	}
}

Test(reader_iter, begins_after_what_was_read)
{
	struct rec_view_event event;
	struct rec_page page;
	uint64_t lost = 0;

	write_some(0, 100);
	for (int i = 0; i < 50; i++)
		cr_assert_eq(rec_view_consume(view, 0, &event), 1);
	rec_iter_reset(iter);
	cr_assert_eq(rec_iter_next(iter, &event), 1);
	cr_assert_eq(event.number, 50);
	cr_assert_eq(event.lost, 0);
	cr_assert_eq(read_on(iter, 51, &lost), 100);
	while (rec_view_read(view, 0, 0, &page) == 1)
		continue;
	rec_iter_reset(iter);
	cr_assert_eq(rec_iter_next(iter, &event), 0);
	write_some(100, 101);
	cr_assert_eq(rec_iter_next(iter, &event), 1);
	cr_assert_eq(event.number, 100);
}

/* Facts H7: a reset while a consumer reads terminates, and the iterator continues where the consumer is. */
Test(reader_iter, reset_beside_a_consumer)
{
	struct rec_view_event event;
	uint64_t written = 0, consumed = 0;

	for (unsigned int turn = 0; turn < 500; turn++) {
		write_some(written, written + 20);
		written += 20;
		while (consumed < written - turn % 20) {
			cr_assert_eq(rec_view_consume(view, 0, &event), 1);
			consumed = event.number + 1;
		}
		rec_iter_reset(iter);
		if (consumed == written) {
			cr_assert_eq(rec_iter_next(iter, &event), 0);
			continue;
		}
		cr_assert_eq(rec_iter_next(iter, &event), 1);
		cr_assert_eq(event.number, consumed);
	}
}

/* A loss before the reader's next event is reported to an iterator that begins there. */
Test(reader_iter, begins_with_the_loss_that_the_reader_would_get)
{
	struct rec_lane_stats stats;
	struct rec_view_event event;

	write_some(0, 3000);
	rec_iter_reset(iter);
	cr_assert_eq(rec_view_stats(view, 0, &stats), 0);
	cr_assert_eq(rec_iter_next(iter, &event), 1);
	cr_assert_eq(event.lost, stats.overrun);
	cr_assert_eq(event.number, stats.overrun);
	cr_assert_gt(event.lost_time, 0);
	cr_assert_lt(event.lost_time, event.record.time);
}

/* The reader page is outside the ring and unchanged, however far the writer goes. */
Test(reader_iter, the_reader_page_is_seen_too)
{
	struct rec_view_event event;
	uint64_t lost = 0, on_page;

	write_some(0, 100);
	cr_assert_eq(rec_view_consume(view, 0, &event), 1);
	for (on_page = 1; on_page < 42; on_page++)
		;
	write_some(100, 4000);
	rec_iter_reset(iter);
	for (uint64_t i = 1; i < on_page; i++) {
		cr_assert_eq(rec_iter_next(iter, &event), 1);
		cr_assert_eq(event.number, i);
		cr_assert_eq(event.lost, 0);
		cr_assert_eq(reader_number(&event), i);
	}
	cr_assert_eq(read_on(iter, on_page, &lost), 4000);
	cr_assert_gt(lost, 3000);
}

Test(reader_iter, refusals_are_reported)
{
	struct rec_view_event event;
	uint64_t lost = 0;

	write_some(0, 1);
	cr_assert_eq(rec_iter_next(iter, &event), 1);
	for (int i = 0; i < 7; i++)
		cr_assert_not(reader_write(lane, 0, 4096));
	write_some(1, 150);
	/* Numbers are consecutive; a refused event has none. */
	for (uint64_t i = 1; i < 150; i++) {
		cr_assert_eq(rec_iter_next(iter, &event), 1);
		cr_assert_eq(event.number, i);
		lost += event.lost;
	}
	cr_assert_eq(lost, 7);
}

/* If a descriptor claims more events than its sub-buffer has, the result is an error, not an endless search. */
Test(reader_iter, a_promise_that_is_not_kept, .timeout = 300)
{
	const uint32_t padding = REC_TYPE_PADDING;
	struct rec_view_event event;
	uint32_t id;

	write_some(0, 10);
	id = REC_POS_ID(lane->lane->commit);
	memcpy(lane->data + ((size_t)id << lane->shift), &padding, sizeof(padding));
	cr_assert_eq(rec_iter_next(iter, &event), -EBADMSG);
}

/* An iterator that is opened while the lane has no shape still begins at the reader's position. */
Test(reader_iter, opened_while_the_lane_is_made_anew)
{
	struct rec_view_event event;
	struct rec_iter *one;

	write_some(0, 20);
	for (uint64_t i = 0; i < 15; i++)
		cr_assert_eq(rec_view_consume(view, 0, &event), 1);
	lane->lane->subbuf_size = 0;
	cr_assert_eq(rec_iter_open(view, 0, &one), 0);
	cr_assert_eq(rec_iter_next(one, &event), 0);
	lane->lane->subbuf_size = 4096;
	cr_assert_eq(rec_iter_next(one, &event), 1);
	cr_assert_eq(event.number, 15);
	cr_assert_eq(event.lost, 0);
	rec_iter_close(one);
}

/* ------------------------------------------------------------------------------------------- beside a live writer */

static void write_for_ever(struct rec_handle *to, int pipe)
{
	(void)pipe;
	for (uint64_t i = 0;; i++)
		reader_write(to, i, 12 + 4 * (uint32_t)(i * 7 % 300));
}

/* Writer and iterator run at full speed, in two processes: each event is whole, and the numbers add up. */
Test(reader_iter, beside_a_writer_that_wraps)
{
	struct rec_view *theirs;
	struct rec_iter *one;
	struct rec_view_event event;
	char path[PATH_MAX];
	uint64_t expected = 0, seen = 0, lost = 0, again = 0;
	int pipe, r;
	pid_t pid = reader_child(write_for_ever, path, &pipe);

	theirs = reader_view_of(path);
	cr_assert_eq(rec_iter_open(theirs, 0, &one), 0);
	while (seen < 40000 || lost < 1000) {
		r = rec_iter_next(one, &event);
		again += r == -EAGAIN;
		if (r == -EAGAIN || r == 0)
			continue;
		cr_assert_eq(r, 1, "%d", r);
		cr_assert_eq(event.number, expected + event.lost);
		cr_assert_eq(reader_number(&event), event.number);
		expected = event.number + 1;
		lost += event.lost;
		seen++;
	}
	kill(pid, SIGKILL);
	cr_assert_eq(waitpid(pid, NULL, 0), pid);
	/* The dead program's file is read to its end. */
	expected = read_on(one, expected, &lost);
	cr_log_info("%lu seen, %lu lost, %lu times again", seen, lost, again);
	rec_iter_close(one);
	rec_view_close(theirs);
}

/* A consumer is in another process: whether it consumed an event or not, what the iterator returns is right. */
Test(reader_iter, beside_a_writer_and_a_consumer)
{
	struct rec_view *theirs;
	struct rec_iter *one;
	struct rec_view_event event;
	char path[PATH_MAX];
	/* Where the iterator begins is not known: the consumer may have taken events already. */
	uint64_t expected = UINT64_MAX, seen = 0, lost = 0, calls = 0;
	int pipe, r;
	pid_t pid = reader_child(write_for_ever, path, &pipe), consumer;

	consumer = fork();
	if (consumer == 0) {
		struct rec_view *mine = reader_view_of(path);
		struct rec_page page;

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		/* Whole pages are read, so that there usually are events that the iterator does not have yet. */
		for (;;)
			rec_view_read(mine, 0, REC_READ_WHOLE, &page);
	}
	theirs = reader_view_of(path);
	cr_assert_eq(rec_iter_open(theirs, 0, &one), 0);
	while (seen < 30000) {
		if (++calls % 2000 == 0) {
			rec_iter_reset(one);
			expected = UINT64_MAX;
		}
		r = rec_iter_next(one, &event);
		if (r == -EAGAIN || r == 0)
			continue;
		cr_assert_eq(r, 1, "%d", r);
		if (expected != UINT64_MAX)
			/* If `lost` counted a refusal, which has no number, the numbers would not add up. */
			cr_assert_eq(event.number, expected + event.lost, "number %lu, expected %lu + %lu, stored %lu",
				     event.number, expected, event.lost, reader_number(&event));
		cr_assert_eq(reader_number(&event), event.number);
		expected = event.number + 1;
		lost += event.lost;
		seen++;
	}
	cr_log_info("%lu seen, %lu lost", seen, lost);
	kill(consumer, SIGKILL);
	kill(pid, SIGKILL);
	cr_assert_eq(waitpid(consumer, NULL, 0), consumer);
	cr_assert_eq(waitpid(pid, NULL, 0), pid);
	rec_iter_close(one);
	rec_view_close(theirs);
}

#define DIES_INSIDE 30u

/*
 * A writer dies inside an event just after the end of a page: the events that it was about to overwrite are not
 * returned.
 */
static void die_inside(struct rec_handle *to, int pipe)
{
	struct rec_slot slots[DIES_INSIDE];

	(void)pipe;
	for (uint64_t i = 0; i < 1000; i++)
		reader_write(to, i, EVENT);
	/* The nested events fill more than a page, are never committed, and are all in this lane. */
	to->on_stuck = NULL;
	for (unsigned int i = 0; i < DIES_INSIDE; i++)
		memset(rec_reserve(to, 300, &slots[i]), 0xee, 300);
	kill(getpid(), SIGKILL);
}

Test(reader_iter, a_dead_writers_torn_events_are_not_shown)
{
	struct rec_view *theirs;
	struct rec_iter *one;
	struct rec_lane_stats stats;
	char path[PATH_MAX];
	uint64_t lost = 0;
	int pipe;
	const pid_t pid = reader_child(die_inside, path, &pipe);

	cr_assert_eq(waitpid(pid, NULL, 0), pid);
	theirs = reader_view_of(path);
	cr_assert_eq(rec_iter_open(theirs, 0, &one), 0);
	cr_assert_eq(read_on(one, 0, &lost), 1000);
	cr_assert_eq(rec_view_stats(theirs, 0, &stats), 0);
	cr_assert_eq(stats.torn, DIES_INSIDE);
	cr_assert_eq(lost, stats.overrun);
	rec_iter_close(one);
	rec_view_close(theirs);
}
