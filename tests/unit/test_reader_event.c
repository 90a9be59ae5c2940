/* SPDX-License-Identifier: MIT */
/* Events one by one: peeking, consuming, losses, successors, whole pages in between, all lanes by time. */
#include "lane_fixture.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define EVENT 92u /* 96 bytes with its word */

static void overwrite(void)
{
	lane_begin(4, false);
}

TestSuite(reader_event, .init = overwrite, .fini = lane_end);

static void write_some(uint64_t from, uint64_t to)
{
	lane_write(from, to, EVENT);
}

Test(reader_event, peeking_consumes_nothing)
{
	struct rec_view_event event;
	struct rec_lane_stats stats;

	write_some(0, 3);
	for (int i = 0; i < 3; i++) {
		cr_assert_eq(rec_view_peek(view, 0, &event), 1);
		cr_assert_eq(reader_number(&event), 0);
		cr_assert_eq(event.number, 0);
		cr_assert_eq(event.lost, 0);
		cr_assert_eq(event.lane, 0);
	}
	cr_assert_eq(rec_view_stats(view, 0, &stats), 0);
	cr_assert_eq(stats.entries, 3);
	cr_assert_eq(stats.read_events, 0);
	for (uint64_t i = 0; i < 3; i++) {
		cr_assert_eq(rec_view_consume(view, 0, &event), 1);
		cr_assert_eq(reader_number(&event), i);
	}
	cr_assert_eq(rec_view_peek(view, 0, &event), 0);
	cr_assert_eq(rec_view_consume(view, 0, &event), 0);
	cr_assert_eq(rec_view_stats(view, 0, &stats), 0);
	cr_assert_eq(stats.entries, 0);
	cr_assert_eq(stats.read_events, 3);
	/* The writer continues on the same page that the reader has. */
	write_some(3, 4);
	cr_assert_eq(rec_view_consume(view, 0, &event), 1);
	cr_assert_eq(reader_number(&event), 3);
	cr_assert_eq(event.number, 3);
}

Test(reader_event, no_such_lane)
{
	struct rec_view_event event;

	cr_assert_eq(rec_view_peek(view, 1, &event), -EINVAL);
	cr_assert_eq(rec_view_consume(view, 77, &event), -EINVAL);
}

/* Facts C4, H10: the loss is reported with the first event after it, by each peek, and by one consume. */
Test(reader_event, a_loss_is_reported_with_the_first_event_after_it)
{
	struct rec_view_event event;
	struct rec_lane_stats stats;
	uint64_t first_time, expected;
	uint32_t page;

	write_some(0, 1);
	cr_assert_eq(rec_view_peek(view, 0, &event), 1);
	first_time = event.record.time;
	/* The peek took the page with event 0; the loss comes after it. */
	write_some(1, 1000);
	cr_assert_eq(rec_view_stats(view, 0, &stats), 0);
	cr_assert_gt(stats.overrun, 500);
	cr_assert_eq(stats.entries + stats.overrun, 1000);
	for (expected = 0; rec_view_peek(view, 0, &event) == 1 && !event.lost; expected++) {
		cr_assert_eq(rec_view_consume(view, 0, &event), 1);
		cr_assert_eq(reader_number(&event), expected);
	}
	cr_assert_eq(event.lost, stats.overrun);
	cr_assert_eq(event.number, expected + stats.overrun);
	cr_assert_eq(reader_number(&event), event.number);
	page = event.record.offset;
	cr_assert_eq(rec_view_peek(view, 0, &event), 1);
	cr_assert_eq(event.lost, stats.overrun, "a peek does not clear it");
	cr_assert_gt(event.lost_time, first_time, "the time of the first lost event, not of the last one read");
	cr_assert_lt(event.lost_time, event.record.time);
	cr_assert_eq(rec_view_consume(view, 0, &event), 1);
	cr_assert_eq(event.lost, stats.overrun);
	cr_assert_eq(event.record.offset, page);
	for (expected = event.number + 1; rec_view_consume(view, 0, &event) == 1; expected++) {
		cr_assert_eq(reader_number(&event), expected);
		cr_assert_eq(event.lost, 0, "reported once");
		cr_assert_eq(event.lost_time, 0);
	}
	cr_assert_eq(expected, 1000);
	cr_assert_eq(rec_view_stats(view, 0, &stats), 0);
	cr_assert_eq(stats.read_events + stats.overrun, 1000);
	cr_assert_eq(stats.lost_unread, 0);
}

/* The reported time of a loss is that of the first lost event. */
Test(reader_event, the_time_of_a_loss_is_the_first_lost_events)
{
	struct rec_view_event event;
	struct rec_iter *iter;
	uint64_t times[2000];
	uint64_t lost_from;

	write_some(0, 1);
	cr_assert_eq(rec_view_peek(view, 0, &event), 1);
	cr_assert_eq(rec_iter_open(view, 0, &iter), 0);
	/* An iterator keeps up and notes each event's time. */
	for (uint64_t i = 1; i < 1000; i++) {
		write_some(i, i + 1);
		while (rec_iter_next(iter, &event) == 1)
			times[event.number] = event.record.time;
	}
	rec_iter_close(iter);
	do
		cr_assert_eq(rec_view_consume(view, 0, &event), 1);
	while (!event.lost);
	lost_from = event.number - event.lost;
	cr_assert_eq(event.lost_time, times[lost_from], "%lu, not %lu", event.lost_time, times[lost_from]);
}

Test(reader_event, payloads_stay_until_the_next_call)
{
	struct rec_view_event event;

	write_some(0, 10);
	cr_assert_eq(rec_view_consume(view, 0, &event), 1);
	/* The writer goes round the ring many times; the consumed event is on the reader's page. */
	write_some(10, 2000);
	cr_assert_eq(reader_number(&event), 0);
}

Test(reader_event, whole_pages_and_events_share_one_position)
{
	struct rec_view_event event;
	struct rec_page page;
	struct rec_page_iter iter;
	struct rec_record record;
	uint64_t expected = 0, number;

	write_some(0, 100);
	for (unsigned int turn = 0; expected < 100; turn++) {
		if (turn % 3 == 2) {
			cr_assert_eq(rec_view_read(view, 0, 0, &page), 1);
			cr_assert_eq(page.first, expected);
			rec_page_iter_init(&iter, page.data, page.size);
			while (rec_page_next(&iter, &record) > 0)
				if (record.offset >= page.from) {
					cr_assert(ring_is_intact(record.payload, record.size, &number));
					cr_assert_eq(number, expected++);
				}
			cr_assert_eq(expected, page.first + page.entries);
		} else {
			cr_assert_eq(rec_view_consume(view, 0, &event), 1);
			cr_assert_eq(reader_number(&event), expected++);
		}
	}
	cr_assert_eq(rec_view_read(view, 0, 0, &page), 0);
	/* A page that was not used is returned again, as events. */
	write_some(100, 105);
	cr_assert_eq(rec_view_read(view, 0, 0, &page), 1);
	rec_view_unread(view, 0);
	cr_assert_eq(rec_view_consume(view, 0, &event), 1);
	cr_assert_eq(reader_number(&event), 100);
}

Test(reader_event, time_and_cpu_stand_after_a_page_that_was_read_in_part)
{
	struct rec_view_event event;
	struct rec_page page;
	uint64_t last;
	uint32_t cpu;

	write_some(0, 2);
	cr_assert_eq(rec_view_consume(view, 0, &event), 1);
	cr_assert_eq(rec_view_consume(view, 0, &event), 1);
	last = event.record.time;
	cpu = event.record.cpu;
	cr_assert_neq(cpu, REC_CPU_UNKNOWN);
	write_some(2, 4);
	cr_assert_eq(rec_view_read(view, 0, 0, &page), 1);
	write_some(4, 5);
	cr_assert_eq(rec_view_consume(view, 0, &event), 1);
	cr_assert_eq(reader_number(&event), 4);
	cr_assert_gt(event.record.time, last);
	cr_assert_leq(event.record.time, rec_clock_mono());
	cr_assert_neq(event.record.cpu, REC_CPU_UNKNOWN);
}

/* A later view continues after the last event consumed, in the middle of a page. */
Test(reader_event, a_successor_continues_after_the_last_event)
{
	struct rec_view_event event;

	write_some(0, 60);
	for (uint64_t i = 0; i < 45; i++)
		cr_assert_eq(rec_view_consume(view, 0, &event), 1);
	cr_assert_eq(rec_view_peek(view, 0, &event), 1);
	rec_view_close(view);
	view = reader_view();
	cr_assert_eq(rec_view_consume(view, 0, &event), 1);
	cr_assert_eq(reader_number(&event), 45);
	cr_assert_eq(event.number, 45);
	cr_assert_neq(event.record.cpu, REC_CPU_UNKNOWN);
}

static void consume_a_few(const char *path, int out)
{
	struct rec_view *mine = NULL;
	struct rec_view_event event;
	uint64_t number = 0;

	if (rec_view_open(path, &mine) < 0)
		_exit(2);
	while (number < 29 && rec_view_consume(mine, 0, &event) == 1)
		if (!ring_is_intact(event.record.payload, event.record.size, &number) ||
		    write(out, &event.number, sizeof(event.number)) != sizeof(event.number))
			_exit(3);
	kill(getpid(), SIGKILL);
}

/* The same for a reader that is killed: no event twice, and none missing. */
Test(reader_event, the_successor_of_a_killed_reader)
{
	char path[PATH_MAX];
	struct rec_view_event event;
	uint64_t number, expected = 0;
	int ends[2], status;
	pid_t pid;

	write_some(0, 60);
	snprintf(path, sizeof(path), "%s", rec_process_path());
	cr_assert_eq(pipe(ends), 0);
	pid = fork();
	if (pid == 0)
		consume_a_few(path, ends[1]);
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	close(ends[1]);
	while (read(ends[0], &number, sizeof(number)) == sizeof(number))
		cr_assert_eq(number, expected++);
	cr_assert_eq(expected, 30);
	while (rec_view_consume(view, 0, &event) == 1)
		cr_assert_eq(reader_number(&event), expected++);
	cr_assert_eq(expected, 60);
}

Test(reader_event, another_view_of_the_same_process_is_another_reader)
{
	struct rec_view *other = reader_view();
	struct rec_view_event event;

	write_some(0, 4);
	cr_assert_eq(rec_view_consume(view, 0, &event), 1);
	cr_assert_eq(rec_view_consume(other, 0, &event), -EBUSY);
	cr_assert_eq(rec_view_consume(other, REC_ALL_LANES, &event), 0, "left out of the merge");
	view = rec_view_close(view);
	cr_assert_eq(rec_view_consume(other, 0, &event), 1);
	cr_assert_eq(reader_number(&event), 1);
	rec_view_close(other);
}

/*
 * A forked child closes the view that it inherited, with its parent's page of that time. The parent is still the lane's
 * reader, and its position stays.
 */
Test(reader_event, a_child_closes_the_view_of_its_parent)
{
	struct rec_view *other = reader_view();
	struct rec_view_event event;
	struct rec_iter *iter;
	struct rec_page page;
	uint64_t expected;
	int ends[2], status;
	pid_t pid;
	char byte;

	write_some(0, 60);
	cr_assert_eq(rec_view_read(view, 0, 0, &page), 1);
	expected = page.entries;
	cr_assert_lt(expected, 50);
	cr_assert_eq(pipe(ends), 0);
	pid = fork();
	if (pid == 0) {
		close(ends[1]);
		status = (int)read(ends[0], &byte, 1);
		rec_view_close(view);
		_exit(status);
	}
	for (int i = 0; i < 5; i++) {
		cr_assert_eq(rec_view_consume(view, 0, &event), 1);
		cr_assert_eq(reader_number(&event), expected++);
	}
	close(ends[1]);
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	close(ends[0]);
	cr_expect_eq(rec_view_consume(other, 0, &event), -EBUSY, "the lane has its reader");
	cr_assert_eq(rec_iter_open(other, 0, &iter), 0);
	cr_assert_eq(rec_iter_next(iter, &event), 1);
	cr_expect_eq(event.number, expected);
	rec_iter_close(iter);
	while (rec_view_consume(view, 0, &event) == 1)
		cr_assert_eq(reader_number(&event), expected++);
	cr_assert_eq(expected, 60);
	rec_view_close(other);
}

/* Facts A5.4, H9: sub-buffers that hold only discarded events. */
Test(reader_event, discarded_events_are_stepped_over)
{
	struct rec_view_event event;
	struct rec_lane_stats stats;

	write_some(0, 1);
	for (unsigned int i = 0; i < 100; i++) {
		struct rec_slot outer, inner;
		void *first = rec_reserve(lane, EVENT, &outer), *second = rec_reserve(lane, EVENT, &inner);

		/* The nested event is taken back, except its marker: so the outer one can only become padding. */
		rec_discard(&inner, second);
		rec_discard(&outer, first);
	}
	cr_assert_eq(rec_view_consume(view, 0, &event), 1);
	cr_assert_eq(rec_view_peek(view, 0, &event), 0);
	cr_assert_eq(event.lost, 0);
	write_some(1, 2);
	cr_assert_eq(rec_view_consume(view, 0, &event), 1);
	cr_assert_eq(reader_number(&event), 1);
	cr_assert_eq(event.number, 1);
	cr_assert_eq(event.lost, 0);
	cr_assert_eq(rec_view_stats(view, 0, &stats), 0);
	cr_assert_eq(stats.read_events, 2);
	cr_assert_eq(stats.entries, 0);
}

/* ------------------------------------------------------------------------------------------------ discard mode */

static void discard(void)
{
	lane_begin(2, true);
}

TestSuite(reader_discard, .init = discard, .fini = lane_end);

/* A loss has a count, and the time of the first refused event, as in Go's profBuf (facts G2). */
Test(reader_discard, refusals_carry_their_number_and_time)
{
	struct rec_view_event event;
	uint64_t written = 0, refused = 0, before, after, expected = 0;

	/* The first one that is refused lies between the two clock readings. */
	do
		before = rec_clock_mono();
	while (reader_write(lane, written++, EVENT));
	after = rec_clock_mono();
	written--;
	for (refused = 1; refused < 300; refused++)
		cr_assert_not(reader_write(lane, 0, EVENT));
	while (rec_view_consume(view, 0, &event) == 1) {
		cr_assert_eq(reader_number(&event), expected++);
		cr_assert_eq(event.lost, 0);
	}
	cr_assert_eq(expected, written);
	/* There are no more events, but each call reports the loss, until an event carries it. */
	cr_assert_eq(event.lost, 300);
	cr_assert_geq(event.lost_time, before);
	cr_assert_leq(event.lost_time, after);
	cr_assert_eq(rec_view_consume(view, 0, &event), 0);
	cr_assert_eq(event.lost, 300);
	cr_assert(reader_write(lane, written, EVENT));
	cr_assert_eq(rec_view_consume(view, 0, &event), 1);
	cr_assert_eq(reader_number(&event), written);
	cr_assert_eq(event.number, written, "refused events have no number");
	cr_assert_eq(event.lost, 300);
	cr_assert_geq(event.lost_time, before);
	cr_assert_leq(event.lost_time, after);
	cr_assert_eq(rec_view_consume(view, 0, &event), 0);
	cr_assert_eq(event.lost, 0);
	/* The loss is reported once, even if further sub-buffers follow. */
	for (uint64_t i = written + 1; i < written + 300; i++) {
		cr_assert(reader_write(lane, i, EVENT));
		cr_assert_eq(rec_view_consume(view, 0, &event), 1);
		cr_assert_eq(event.number, i);
		cr_assert_eq(event.lost, 0);
	}
}
