/* SPDX-License-Identifier: MIT */
/*
 * The functional tests of Go's profiling buffer (runtime/profbuf_test.go), on a lane in discard mode: one writer, one
 * reader, losses with their count and the time of the first one, reads that hand out the buffer's own memory until the
 * next read, end of file for readers that wait and for later ones. Each test has the name of its model.
 *
 * Differences: Go's buffer consists of words, ours of pages, so a read ends at the end of a page and room comes back a
 * page at a time; Go's tags are a ring of their own, the closest that we have is the CPU, which is in markers between
 * the events.
 */
#include "lane_fixture.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <limits.h>
#include <librecorder/page.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Ten events fit on a page. */
#define SIZE	 388u
#define PER_PAGE 10u
#define PAGES	 4u
#define FULL	 (PAGES * PER_PAGE)

static uint64_t next; /* number of the next event to be written */
static uint64_t seen; /* number of the next event to be read */

static void begin(void)
{
	lane_begin(PAGES, true);
}

TestSuite(profbuf, .init = begin, .fini = lane_end, .timeout = 600);

static void write_some(unsigned int events)
{
	while (events--)
		cr_assert(reader_write(lane, next++, SIZE));
}

/* Events that the full lane refuses. */
static void lose(unsigned int events, uint64_t *ret_from, uint64_t *ret_until)
{
	unsigned int i;

	*ret_from = rec_clock_mono();
	for (i = 0; i < events; i++) {
		cr_assert_not(reader_write(lane, UINT64_MAX, SIZE));
		if (i == 0)
			*ret_until = rec_clock_mono();
	}
}

/* The events of a page are the next ones, `events` of them. */
static void expect_page(const struct rec_page *page, unsigned int events)
{
	struct rec_page_iter iter;
	struct rec_record record;
	uint64_t number = 0;

	cr_assert_eq(page->entries, events);
	rec_page_iter_init(&iter, page->data, page->size);
	while (rec_page_next(&iter, &record) > 0) {
		if (record.offset < page->from)
			continue;
		cr_assert(ring_is_intact(record.payload, SIZE, &number));
		cr_assert_eq(number, seen++);
		events--;
	}
	cr_assert_eq(events, 0);
}

static struct rec_page read_events(unsigned int events)
{
	struct rec_page page;

	cr_assert_eq(rec_view_read(view, 0, 0, &page), 1);
	expect_page(&page, events);
	return page;
}

static void expect_nothing(void)
{
	struct rec_page page;

	cr_assert_eq(rec_view_read(view, 0, 0, &page), 0);
}

Test(profbuf, BasicWriteRead)
{
	write_some(1);
	cr_assert_eq(read_events(1).lost, 0);
	expect_nothing();
	write_some(1);
	cr_assert_eq(read_events(1).lost, 0);
	expect_nothing();
}

Test(profbuf, ReadMany)
{
	write_some(3);
	read_events(3);
	expect_nothing();
}

/* The data cross the end of the contiguous memory: two reads. */
Test(profbuf, ReadManyShortData)
{
	write_some(PER_PAGE - 1);
	read_events(PER_PAGE - 1);
	write_some(2);
	read_events(1);
	read_events(1);
	expect_nothing();
}

static void write_on_cpu(unsigned int events)
{
	static uint32_t cpu;
	const uint32_t *const before = lane->cpu;

	lane->cpu = &cpu;
	while (events--) {
		cpu++;
		cr_assert(reader_write(lane, next++, SIZE));
	}
	lane->cpu = before;
}

/* Each event of the page has a CPU number that is one higher than that of the event before. */
static void expect_cpus(const struct rec_page *page, uint32_t first)
{
	struct rec_page_iter iter;
	struct rec_record record;

	rec_page_iter_init(&iter, page->data, page->size);
	while (rec_page_next(&iter, &record) > 0)
		if (record.offset >= page->from)
			cr_assert_eq(record.cpu, first++);
}

/* Tags cross the end of their ring. Ours are in the same pages as the data, so only nine events fit. */
Test(profbuf, ReadManyShortTags)
{
	struct rec_page page;

	write_on_cpu(8);
	page = read_events(8);
	expect_cpus(&page, 1);
	write_on_cpu(2);
	page = read_events(1);
	expect_cpus(&page, 9);
	page = read_events(1);
	expect_cpus(&page, 10);
	expect_nothing();
}

/*
 * The lane overflows, the reader makes room, and the writer continues: its next event reports the number and the time
 * of the loss.
 */
Test(profbuf, ReadAfterOverflow1)
{
	uint64_t from, until;
	struct rec_page page;
	unsigned int i;

	write_some(FULL);
	lose(300, &from, &until);
	read_events(PER_PAGE);
	/* A page has become free. */
	write_some(1);
	for (i = 1; i < PAGES; i++)
		cr_assert_eq(read_events(PER_PAGE).lost, 0);
	page = read_events(1);
	cr_assert_eq(page.lost, 300);
	cr_assert(page.lost_time >= from && page.lost_time <= until);
	write_some(1);
	page = read_events(1);
	cr_assert_eq(page.lost, 0);
	cr_assert_eq(page.lost_time, 0);
}

/* When the reader has read all events, the loss is reported to it, although no event carries it yet. */
Test(profbuf, ReadAfterOverflow2)
{
	struct rec_view_event event;
	struct rec_lane_stats stats;
	uint64_t from, until;
	struct rec_page page;
	unsigned int i;

	write_some(FULL);
	lose(301, &from, &until);
	for (i = 0; i < PAGES; i++)
		read_events(PER_PAGE);
	cr_assert_eq(rec_view_peek(view, 0, &event), 0);
	cr_assert_eq(event.lost, 301);
	cr_assert(event.lost_time >= from && event.lost_time <= until);
	cr_assert_eq(rec_view_stats(view, 0, &stats), 0);
	cr_assert_eq(stats.lost_unread, 301);
	cr_assert_eq(stats.dropped_events, 301);
	/* The next write succeeds, and carries the same loss, for readers of pages. */
	write_some(1);
	page = read_events(1);
	cr_assert_eq(page.lost, 301);
	cr_assert_eq(rec_view_peek(view, 0, &event), 0);
	cr_assert_eq(event.lost, 0);
}

static void overflow_and_end(struct rec_handle *handle, int pipe)
{
	uint64_t number = 0;
	unsigned int lost;

	(void)pipe;
	while (reader_write(handle, number, SIZE))
		number++;
	for (lost = 1; lost < 300; lost++)
		reader_write(handle, number, SIZE);
}

/* Overflow, then the end: data, the loss, end of file. */
Test(profbuf, ReadAtEndAfterOverflow)
{
	struct rec_view_event event;
	char path[PATH_MAX];
	unsigned int i;
	int ended;
	pid_t pid;

	rec_view_close(view);
	pid = reader_child(overflow_and_end, path, &ended);
	cr_assert_eq(waitpid(pid, NULL, 0), pid);
	view = reader_view_of(path);
	cr_assert_eq(rec_view_wait(view, 0, 0, -1), 1);
	for (i = 0; i < PAGES; i++)
		read_events(PER_PAGE);
	cr_assert_eq(rec_view_consume(view, 0, &event), 0);
	cr_assert_eq(event.lost, 300);
	cr_assert_neq(event.lost_time, 0);
	cr_assert_eq(rec_view_wait(view, 0, 0, -1), -EPIPE);
	cr_assert_eq(rec_view_wait(view, 0, 0, -1), -EPIPE);
}

/* The child writes one event for each byte that it is sent, and ends when the pipe does. */
static void write_on_demand(struct rec_handle *handle, int pipe)
{
	uint64_t number = 0;
	char byte;

	while (read(pipe, &byte, 1) == 1)
		reader_write(handle, number++, SIZE);
}

/* The result of a waiting thread's call. */
struct waiter {
	pthread_t thread;
	unsigned int percent;
	int said;
	int done;
};

static void *wait_for_more(void *arg)
{
	struct waiter *waiter = arg;

	waiter->said = rec_view_wait(view, 0, waiter->percent, -1);
	__atomic_store_n(&waiter->done, 1, __ATOMIC_RELEASE);
	return NULL;
}

static void start_waiting(struct waiter *waiter, unsigned int percent)
{
	*waiter = (struct waiter){ .percent = percent };
	cr_assert_eq(pthread_create(&waiter->thread, NULL, wait_for_more, waiter), 0);
}

static int stop_waiting(struct waiter *waiter)
{
	cr_assert_eq(pthread_join(waiter->thread, NULL), 0);
	return waiter->said;
}

/* Two reads block until something is written, the third until the end; later ones return the end at once. */
Test(profbuf, BlockingWriteRead)
{
	struct waiter waiter;
	char path[PATH_MAX];
	int pipe;
	pid_t pid;

	rec_view_close(view);
	pid = reader_child(write_on_demand, path, &pipe);
	view = reader_view_of(path);
	start_waiting(&waiter, 0);
	cr_assert_eq(write(pipe, "x", 1), 1);
	cr_assert_eq(stop_waiting(&waiter), 1);
	read_events(1);
	start_waiting(&waiter, 0);
	cr_assert_eq(write(pipe, "x", 1), 1);
	cr_assert_eq(stop_waiting(&waiter), 1);
	read_events(1);
	start_waiting(&waiter, 0);
	close(pipe);
	cr_assert_eq(waitpid(pid, NULL, 0), pid);
	cr_assert_eq(stop_waiting(&waiter), -EPIPE);
	cr_assert_eq(rec_view_wait(view, 0, 0, -1), -EPIPE);
	expect_nothing();
}

/* Ten rounds, with the end at another position each time. */
Test(profbuf, DataWraparound)
{
	unsigned int round, left;

	for (round = 0; round < 10; round++) {
		const unsigned int events = FULL - 7;

		write_some(events);
		for (left = events; left;) {
			struct rec_page page;

			cr_assert_eq(rec_view_read(view, 0, 0, &page), 1);
			cr_assert_leq(page.entries, left);
			left -= page.entries;
			expect_page(&page, page.entries);
		}
		expect_nothing();
	}
}

static void wrap_cpus(unsigned int events)
{
	uint32_t cpu = 1;
	unsigned int round, left;

	for (round = 0; round < 10; round++) {
		write_on_cpu(events);
		for (left = events; left;) {
			struct rec_page page;

			cr_assert_eq(rec_view_read(view, 0, 0, &page), 1);
			expect_cpus(&page, cpu);
			cpu += page.entries;
			left -= page.entries;
			expect_page(&page, page.entries);
		}
		expect_nothing();
	}
}

Test(profbuf, TagWraparound)
{
	wrap_cpus(5);
}

Test(profbuf, BothWraparound)
{
	wrap_cpus(25);
}

#define MANY 1000u

static void write_many(struct rec_handle *handle, int pipe)
{
	uint64_t number;

	(void)pipe;
	for (number = 0; number < MANY; number++)
		reader_write(handle, number, SIZE);
}

/* A thousand writes and the end, at full speed, beside a reader that waits: it must reach the end. */
Test(profbuf, DoubleWakeup)
{
	char path[PATH_MAX];
	uint64_t read = 0, lost = 0;
	struct rec_lane_stats stats;
	struct rec_page page;
	int pipe, r;

	/* The child is to disappear as soon as it has ended, without being waited for. */
	signal(SIGCHLD, SIG_IGN);
	rec_view_close(view);
	reader_child(write_many, path, &pipe);
	view = reader_view_of(path);
	while ((r = rec_view_wait(view, 0, 0, -1)) == 1) {
		while (rec_view_read(view, 0, 0, &page) == 1) {
			read += page.entries;
			lost += page.lost;
		}
	}
	cr_assert_eq(r, -EPIPE);
	cr_assert_eq(rec_view_stats(view, 0, &stats), 0);
	cr_assert_eq(read + lost + stats.lost_unread, MANY);
	cr_assert_gt(read, 0);
	signal(SIGCHLD, SIG_DFL);
}

/* A reader that waits for half of the buffer is not woken before. */
Test(profbuf, Wakeup)
{
	struct waiter waiter;
	const struct rec_lane_reader *words = lane->reader;

	start_waiting(&waiter, 50);
	/* Until the lane shows that the reader waits. */
	while (!__atomic_load_n(&words->waiters, __ATOMIC_ACQUIRE))
		;
	/* Half of four pages is reached when the writer enters the second one. */
	write_some(PER_PAGE - 1);
	cr_assert_not(rec_ring_is_hit(lane->lane, words, 50));
	cr_assert_eq(words->wake, 0);
	cr_assert_eq(__atomic_load_n(&waiter.done, __ATOMIC_ACQUIRE), 0);
	write_some(2);
	cr_assert_eq(stop_waiting(&waiter), 1);
	cr_assert_eq(words->wake, 1);
	read_events(PER_PAGE);
	read_events(1);
}

/*
 * "The caller is assumed to be done with that data at the next read": until then it is the buffer's own, and
 * unchanged.
 */
Test(profbuf, a_read_hands_out_the_buffers_own_memory)
{
	struct rec_page page, again;
	unsigned char copy[4096];
	const void *first;

	write_some(FULL);
	page = read_events(PER_PAGE);
	first = page.data;
	memcpy(copy, page.data, sizeof(copy));
	/* The room of what was read before is free; what is being read is not overwritten. */
	while (reader_write(lane, next, SIZE))
		next++;
	cr_assert_eq(memcmp(copy, page.data, sizeof(copy)), 0);
	cr_assert_eq(seen, PER_PAGE);
	again = read_events(PER_PAGE);
	cr_assert_neq(again.data, first);
	/* Now the first page's memory is in the ring. */
	while (reader_write(lane, next, SIZE))
		next++;
	while (rec_view_read(view, 0, 0, &again) == 1)
		expect_page(&again, again.entries);
	cr_assert_eq(seen, next);
}
