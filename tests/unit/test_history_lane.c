/* SPDX-License-Identifier: MIT */
/*
 * Bugs of the kernel's ring (test_history.c) in cases where threads change their lanes, or lanes change their size:
 * swaps, resizes, forks, first leases.
 */
#include "history_lane.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <librecorder/lane.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* The ring is in discard mode and has room for larger sub-buffers. */
static void begin_large(void)
{
	lane_begin(4 * PAGES, true);
}

TestSuite(history, .init = begin, .fini = lane_end, .timeout = 600);
TestSuite(history_large, .init = begin_large, .fini = lane_end, .timeout = 600);

/* This thread's own lane, which is the second one. */
static struct rec_handle *own_lane(unsigned int *ret_lane)
{
	cr_assert_eq(rec_thread_attach(), 0);
	cr_assert_eq(rec_thread_lane(ret_lane), 0);
	return rec_thread_handle;
}

/* The rings are swapped during a write: the event must not go to the other one. */
Test(history, h02_swap_in_the_middle_of_an_event)
{
	struct rec_handle *own;
	struct rec_slot slot;
	unsigned int number, old = 0;
	void *payload;

	own = own_lane(&number);
	cr_assert(reader_write(own, 1, SIZE));
	payload = rec_reserve(own, SIZE, &slot);
	cr_assert_eq(rec_lane_swap(&old), -EBUSY);
	ring_fill(payload, 2, SIZE);
	rec_commit(&slot);
	cr_assert_eq(stats_of(number).entries, 2);
	cr_assert_eq(rec_lane_swap(&old), 0);
	cr_assert_eq(old, number);
	cr_assert(reader_write(rec_thread_handle, 3, SIZE));
	cr_assert_eq(stats_of(old).entries, 2);
	cr_assert_eq(rec_thread_lane(&number), 0);
	cr_assert_neq(number, old);
	cr_assert_eq(stats_of(number).entries, 1);
	cr_assert_eq(rec_lane_release(old), 0);
}

/* Random resizes, readers and resets: each event is read, or counted, or was there at a reset. */
Test(history, h11_resize_and_readers)
{
	unsigned int seed = 11, i, number, resized = 0;
	uint64_t events = 0, gone = 0;
	struct rec_view_event event;

	own_lane(&number);
	for (i = 0; i < 3000; i++) {
		const unsigned int n = (unsigned int)rand_r(&seed) % 9;
		unsigned int k;

		for (k = 0; k < n; k++)
			cr_assert(reader_write(rec_thread_handle, next++, SIZE));
		own_lane(&number);
		for (k = (unsigned int)rand_r(&seed) % 12; k && rec_view_consume(view, number, &event) == 1; k--) {
			events++;
			gone += event.lost;
		}
		if (rand_r(&seed) % 16 == 0) {
			gone += stats_of(number).entries + stats_of(number).lost_unread;
			cr_assert_eq(rec_view_reset(view, number), 0);
		}
		if (rand_r(&seed) % 4 == 0) {
			const uint32_t pages = 2 + (uint32_t)rand_r(&seed) % (PAGES - 1);

			cr_assert_eq(rec_lane_resize(number, pages * 4080ul), 0);
			own_lane(&number);
			cr_assert_eq(stats_of(number).nr_pages, pages);
			resized++;
		}
		/* A new reader. */
		if (rand_r(&seed) % 16 == 0) {
			rec_view_close(view);
			view = reader_view();
		}
	}
	for (number = 1; number < rec_view_lanes(view); number++) {
		while (rec_view_consume(view, number, &event) == 1) {
			events++;
			gone += event.lost;
		}
		gone += stats_of(number).lost_unread;
		cr_assert_eq(stats_of(number).broken, 0);
	}
	cr_assert_gt(resized, 100);
	cr_assert_gt(events, 1000);
	cr_assert_gt(gone, 100);
	cr_assert_eq(events + gone, next);
}

static int said;

static void *wait_for_all(void *arg)
{
	(void)arg;
	said = rec_view_wait(view, REC_ALL_LANES, 0, -1);
	return NULL;
}

/*
 * A reader waits for a thread's events; the thread continues in another ring: the reader must not stay with the old
 * one.
 */
Test(history, h12_a_waiting_reader_and_a_swap)
{
	struct rec_view_event event;
	struct rec_handle *own;
	unsigned int number, old = 0;
	pthread_t thread;

	own = own_lane(&number);
	cr_assert(reader_write(own, 1, SIZE));
	cr_assert_eq(consume_all(REC_ALL_LANES), 1);
	cr_assert_eq(pthread_create(&thread, NULL, wait_for_all, NULL), 0);
	cr_assert_eq(rec_lane_swap(&old), 0);
	cr_assert(reader_write(rec_thread_handle, 2, SIZE));
	cr_assert_eq(pthread_join(thread, NULL), 0);
	cr_assert_eq(said, 1);
	cr_assert_eq(rec_view_consume(view, REC_ALL_LANES, &event), 1);
	cr_assert_eq(reader_number(&event), 2);
	cr_assert_neq(event.lane, old);
	rec_lane_release(old);
}

/* Rings are swapped while a requested resize has not taken place yet: nothing is lost, and both rings are intact. */
Test(history, h23_a_swap_while_resizing)
{
	struct rec_handle *own;
	struct rec_slot slot;
	unsigned int number, old = 0, i;
	uint64_t events = 0;

	own = own_lane(&number);
	for (i = 0; i < 30; i++) {
		void *payload = rec_reserve(own, SIZE, &slot);

		/* The resize is requested inside an event, so it has to wait. */
		cr_assert_eq(rec_lane_resize(number, (2 + i % 3) * 4080), 0);
		ring_fill(payload, i, SIZE);
		rec_commit(&slot);
		cr_assert_eq(rec_lane_swap(&old), 0);
		cr_assert(reader_write(rec_thread_handle, i, SIZE));
		events += consume_all(old);
		cr_assert_eq(rec_lane_release(old), 0);
		cr_assert_eq(rec_thread_lane(&number), 0);
		own = rec_thread_handle;
		events += consume_all(number);
	}
	cr_assert_eq(events, 60);
}

/* Sizes near the end of their type. */
Test(history, h28_sizes_that_overflow)
{
	static const size_t sizes[] = { SIZE_MAX, SIZE_MAX - 1, SIZE_MAX - 4095, SIZE_MAX / 2 + 1, (size_t)1 << 44 };
	unsigned int i;

	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		cr_assert_eq(rec_lane_resize(0, sizes[i]), -EINVAL, "%zx", sizes[i]);
		cr_assert_eq(rec_subbuf_resize(sizes[i]), -EINVAL, "%zx", sizes[i]);
	}
	write_some(PAGES * PER_PAGE);
	cr_assert_eq(stats_of(0).entries, PAGES * PER_PAGE);
	cr_assert_eq(stats_of(0).nr_pages, PAGES);
}

/* Mappings are not counted, so a fork cannot falsify their count; but a child must not write to its parent's lanes. */
Test(history, h32_a_forked_child_leaves_its_parents_lanes_alone)
{
	struct rec_slot slot;
	unsigned int number;
	void *payload;
	int status;
	pid_t pid;

	own_lane(&number);
	/* The fork is in the middle of an event, and the child continues it. */
	payload = rec_reserve(rec_thread_handle, SIZE, &slot);
	cr_assert_not_null(payload);
	pid = fork();
	if (pid == 0) {
		/* What the child does with its parent's event has no effect; and it has no lane of its parent's. */
		rec_discard(&slot, payload);
		_exit(rec_thread_handle->lane != NULL);
	}
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_assert_eq(status, 0);
	cr_assert_eq(stats_of(number).entries, 0);
	rec_commit(&slot);
	cr_assert_eq(stats_of(number).entries, 1);
}

#define THREADS 16

static void *attach_and_write(void *arg)
{
	cr_assert_eq(rec_thread_attach(), 0);
	cr_assert(reader_write(rec_thread_handle, 5, SIZE));
	return arg;
}

/* A reader that sees a lane's number finds the lane complete, at once. */
Test(history, h37_a_lane_is_there_when_it_is_counted)
{
	pthread_t threads[THREADS];
	uint64_t events = 0;
	unsigned int i, lanes;

	for (i = 0; i < THREADS; i++)
		cr_assert_eq(pthread_create(&threads[i], NULL, attach_and_write, NULL), 0);
	do {
		struct rec_view_event event;

		lanes = rec_view_lanes(view);
		for (i = 0; i < lanes; i++) {
			const int r = rec_view_consume(view, i, &event);

			cr_assert(r == 0 || r == 1, "lane %u: %d", i, r);
			events += (unsigned int)r;
		}
	} while (events < THREADS);
	for (i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
}

/* After a change of the sub-buffer size, earlier events are still there, and the counters of both lanes are right. */
Test(history_large, h40_counters_after_another_sub_buffer_size)
{
	struct rec_lane_stats stats;
	struct rec_handle *own;
	unsigned int old, number;
	uint64_t i;

	own = own_lane(&old);
	for (i = 0; i < 25; i++)
		cr_assert(reader_write(own, i, SIZE));
	cr_assert_eq(rec_subbuf_resize(8192), 0);
	cr_assert(reader_write(rec_thread_handle, 25, SIZE));
	stats = stats_of(old);
	cr_assert_eq(stats.subbuf_size, 4096);
	cr_assert_eq(stats.entries, 25);
	cr_assert_eq(consume_all(old), 25);
	own_lane(&number);
	stats = stats_of(number);
	cr_assert_eq(stats.subbuf_size, 8192);
	cr_assert_eq(stats.entries, 1);
	cr_assert_eq(stats.overrun, 0);
	cr_assert_eq(stats.bytes, 24 + 8 + SIZE);
	cr_assert_eq(consume_all(number), 1);
	stats = stats_of(number);
	cr_assert_eq(stats.entries, 0);
	cr_assert_eq(stats.bytes, 0);
}

/* `bytes` does not drift, even if events are discarded, nested, or read in part. */
Test(history_large, h40_bytes_do_not_drift)
{
	unsigned int seed = 40, i;
	struct rec_slot slot;
	struct rec_page page;

	for (i = 0; i < 2000; i++) {
		const uint32_t size = 8 + (uint32_t)rand_r(&seed) % 700;
		void *payload = rec_reserve(lane, size, &slot);

		if (payload) {
			memset(payload, 0, size);
			if (rand_r(&seed) % 3 == 0)
				reader_write(lane, i, 16);
			if (rand_r(&seed) % 4 == 0)
				rec_discard(&slot, payload);
			else
				rec_commit(&slot);
		}
		if (rand_r(&seed) % 8 == 0)
			rec_view_read(view, 0, 0, &page);
		if (i % 100 == 99) {
			struct rec_view_event event;
			uint64_t bytes;

			/* The page of the last read is finished now. */
			rec_view_peek(view, 0, &event);
			bytes = stats_of(0).bytes;
			cr_assert_eq(sum_of_bytes(), bytes, "event %u", i);
			cr_assert_eq(stats_of(0).bytes, 0);
		}
	}
}
