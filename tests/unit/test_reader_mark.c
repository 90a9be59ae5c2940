/* SPDX-License-Identifier: MIT */
/*
 * Snapshots: a lane's pages are copied without being consumed, from where the previous copy ended, including consumed
 * ones.
 */
#include "lane_fixture.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <librecorder/lane.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGES 8u
#define EVENT 92u

static void begin(void)
{
	lane_begin(PAGES, false);
}

TestSuite(reader_mark, .init = begin, .fini = lane_end);

/* The least number of snapshots of a program that writes at full speed. */
#define SNAPSHOTS   300u
#define ENOUGH	    20000u /* the least number of events copied, and of events lost */
#define COPIED_MAX 100u /* limit of pages, because the writer does not stop */

struct copied {
	uint64_t first, next; /* numbers of events */
	uint64_t events, lost;
	uint64_t lost_first; /* events lost before the first one */
	unsigned int pages;
};

/*
 * Checks all pages: each has the events that its header counts, in order, and reports the events missing before it.
 */
static struct copied copy(struct rec_iter *iter)
{
	struct copied copied = { .pages = 0 };
	struct rec_page_iter walk;
	struct rec_record record;
	struct rec_page page;
	uint64_t number;

	while (copied.pages < COPIED_MAX && rec_iter_page(iter, &page) == 1) {
		if (copied.pages++)
			cr_assert_eq(page.first, copied.next + page.lost);
		else
			copied = (struct copied){ .first = page.first, .lost_first = page.lost, .pages = 1 };
		copied.next = page.first;
		copied.lost += page.lost;
		rec_page_iter_init(&walk, page.data, page.size);
		while (rec_page_next(&walk, &record) == 1) {
			if (record.offset < page.from)
				continue;
			cr_assert(ring_is_intact(record.payload, EVENT, &number));
			cr_assert_eq(number, copied.next++);
		}
		cr_assert_eq(copied.next - page.first, page.entries);
		copied.events += page.entries;
	}
	return copied;
}

/* A snapshot: from the lane's mark on, and the mark is moved. */
static struct copied snapshot(void)
{
	struct rec_lane_mark mark;
	struct rec_iter *iter;
	struct copied copied;

	cr_assert_eq(rec_view_mark(view, 0, &mark), 0);
	cr_assert_eq(rec_iter_open(view, 0, &iter), 0);
	rec_iter_continue(iter, &mark);
	copied = copy(iter);
	rec_iter_mark(iter, &mark);
	cr_assert_eq(rec_view_set_mark(view, 0, &mark), 0);
	rec_iter_close(iter);
	return copied;
}

static uint64_t consume_all(void)
{
	struct rec_view_event event;
	uint64_t events = 0;

	while (rec_view_consume(view, 0, &event) == 1)
		events++;
	return events;
}

Test(reader_mark, what_was_consumed_is_still_there)
{
	struct copied copied;

	lane_write(0, 100, EVENT);
	cr_assert_eq(consume_all(), 100);
	copied = snapshot();
	cr_assert_eq(copied.first, 0);
	cr_assert_eq(copied.events, 100);
	cr_assert_eq(copied.lost, 0);
	cr_assert_gt(copied.pages, 2);
}

Test(reader_mark, one_after_the_other)
{
	uint64_t next = 0;
	unsigned int i;

	/* Within a page, and across pages. */
	for (i = 1; i < 50; i += 7) {
		struct copied copied;

		lane_write(next, next + i, EVENT);
		copied = snapshot();
		cr_assert_eq(copied.first, next);
		cr_assert_eq(copied.events, i);
		cr_assert_eq(copied.lost, 0);
		next += i;
		cr_assert_eq(snapshot().pages, 0);
	}
	/* No event was taken from the reader. */
	cr_assert_eq(consume_all(), next);
}

Test(reader_mark, what_was_overwritten_in_between_is_reported)
{
	struct copied copied;

	lane_write(0, 10, EVENT);
	cr_assert_eq(snapshot().events, 10);
	lane_write(10, 5000, EVENT);
	copied = snapshot();
	cr_assert_gt(copied.first, 10);
	cr_assert_eq(copied.lost, copied.first - 10);
	cr_assert_eq(copied.lost + copied.events, 4990);
}

/* Before the first snapshot nothing can be missing. */
Test(reader_mark, the_first_begins_with_the_oldest)
{
	struct copied copied;

	lane_write(0, 5000, EVENT);
	copied = snapshot();
	cr_assert_eq(copied.lost, 0);
	cr_assert_eq(copied.next, 5000);
	cr_assert_gt(copied.events, (PAGES - 1) * 40);
}

/* The snapshot has the page that the reader has left, if it is not yet overwritten, and the pages in the ring. */
Test(reader_mark, a_reader_in_the_middle)
{
	struct rec_page page;
	struct copied copied;

	lane_write(0, 200, EVENT);
	cr_assert_eq(rec_view_read(view, 0, 0, &page), 1);
	cr_assert_eq(rec_view_read(view, 0, 0, &page), 1);
	copied = snapshot();
	cr_assert_eq(copied.first, 0);
	cr_assert_eq(copied.events, 200);
	cr_assert_eq(page.first + page.entries + consume_all(), 200);
}

Test(reader_mark, no_such_lane)
{
	struct rec_lane_mark mark = { 1, 2 };

	cr_assert_eq(rec_view_mark(view, 1, &mark), -EINVAL);
	cr_assert_eq(rec_view_set_mark(view, 1, &mark), -EINVAL);
	cr_assert_eq(mark.next, 1);
}

static void write_for_ever(struct rec_handle *handle, int pipe)
{
	(void)pipe;
	for (uint64_t i = 0;; i++) {
		reader_write(handle, i, EVENT);
		/* Sometimes the marks are switched back and forth, with a pause in which the snapshot can succeed. */
		if (i % 5000 == 0)
			usleep(50);
	}
}

/*
 * The writer wraps while copies are made, and a reader takes pages away meanwhile, so that the copies are of its page,
 * of those that it has put back, and of others: each event is whole, none comes twice, and what is missing is reported.
 */
Test(reader_mark, beside_a_writer, .timeout = 300)
{
	uint64_t events = 0, lost = 0, read = 0;
	struct rec_lane_mark mark = { 0, 0 };
	struct rec_view *reader;
	char path[PATH_MAX];
	struct rec_page page;
	struct copied copied;
	unsigned int i, tries;
	pid_t pid;
	int pipe;

	rec_view_close(view);
	pid = reader_child(write_for_ever, path, &pipe);
	view = reader_view_of(path);
	reader = reader_view_of(path);
	for (i = 0; i < SNAPSHOTS || events < ENOUGH || lost < ENOUGH || !read; i++) {
		for (tries = i % 5; tries--;)
			read += rec_view_read(reader, 0, 0, &page) == 1;
		copied = snapshot();
		if (copied.pages && events)
			cr_assert_eq(copied.first - copied.lost_first, mark.next);
		events += copied.events;
		lost += copied.lost;
		cr_assert_eq(rec_view_mark(view, 0, &mark), 0);
		cr_assert(!copied.pages || mark.next == copied.next);
	}
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	rec_view_close(reader);
	close(pipe);
}
