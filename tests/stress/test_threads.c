/* SPDX-License-Identifier: MIT */
/*
 * Threads of one process, so that the thread sanitizer can examine them: a writer and a reader on one ring, in the same
 * mapping; threads that come and go, write, name themselves, while others switch events, resize and disable lanes, and
 * save. Every event is read or counted as lost.
 */
#include "librecorder/process/lane_private.h"
#include "librecorder/process/process.h"
#include "tests/unit/ring_fixture.h"
#include "tests/unit/weave_fixture.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <librecorder/buffer.h>
#include <librecorder/event.h>
#include <librecorder/lane.h>
#include <librecorder/page.h>
#include <librecorder/reader.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------------------------------------- a ring, two threads */

#define RING_EVENTS 60000u
#define DEPTH	    3

/* The payload's size follows from its number. */
static uint32_t size_of(uint64_t number)
{
	return 8 + (uint32_t)(number * 68 / 25 % 120);
}

struct made {
	struct ring *ring;
	uint64_t next;
	uint64_t committed, refused;
	unsigned int seed;
	uint32_t done;
};

/* Writes an event with others inside it, as if from signal handlers; discards some of them. */
static void write_nested(struct made *made, unsigned int depth)
{
	const uint64_t number = made->next++;
	struct rec_slot slot;
	void *payload = rec_reserve(&made->ring->handle, size_of(number), &slot);

	if (!payload) {
		made->refused++;
		return;
	}
	while (depth && rand_r(&made->seed) % 4 == 0)
		write_nested(made, depth - 1);
	ring_fill(payload, number, size_of(number));
	if (rand_r(&made->seed) % 16 == 0) {
		rec_discard(&slot, payload);
		return;
	}
	rec_commit(&slot);
	made->committed++;
}

static void *write_ring(void *arg)
{
	struct made *made = arg;

	while (made->next < RING_EVENTS) {
		write_nested(made, DEPTH);
		/* Now and then the CPU changes, so a marker is written. Only the writer uses this word. */
		made->ring->cpu = (uint32_t)made->next / 500 % 3;
		if (made->next % 1000 == 0)
			sched_yield();
	}
	rec_store_release(&made->done, 1);
	return NULL;
}

struct had {
	uint64_t events, lost, time;
};

static void check_page(struct had *had, const struct rec_page *page)
{
	struct rec_page_iter iter;
	struct rec_record record;
	uint64_t number, events = 0;
	int r;

	rec_page_iter_init(&iter, page->data, page->size);
	while ((r = rec_page_next(&iter, &record)) > 0) {
		if (record.offset < page->from)
			continue;
		memcpy(&number, record.payload, sizeof(number));
		cr_assert(ring_is_intact(record.payload, size_of(number), &number));
		cr_assert_geq(record.time, had->time);
		had->time = record.time;
		events++;
	}
	cr_assert_eq(r, 0);
	cr_assert_eq(events, page->entries);
	had->events += events;
	had->lost += page->lost;
}

static void ring_and_reader(uint32_t pages, bool overwrite)
{
	struct made made = { .ring = ring_new(pages, 4096, overwrite), .seed = pages };
	struct rec_ring_counts counts;
	struct had had = { 0 };
	struct rec_page page;
	pthread_t writer;
	bool done = false;
	int r = 0;

	cr_assert_eq(pthread_create(&writer, NULL, write_ring, &made), 0);
	while (!done) {
		done = rec_load_acquire(&made.done);
		while ((r = rec_ring_read(&made.ring->reader, false, &page)) > 0)
			check_page(&had, &page);
		cr_assert(r == 0 || r == -EAGAIN, "%d", r);
		sched_yield();
	}
	cr_assert_eq(r, 0);
	pthread_join(writer, NULL);
	cr_assert_eq(rec_ring_count(&made.ring->reader, false, &counts), 0);
	cr_assert_eq(counts.entries, 0);
	cr_assert_eq(had.events + had.lost + counts.lost_unread, made.committed + made.refused);
	cr_assert_gt(had.events, 0);
	ring_free(made.ring);
}

Test(threads, a_ring_of_two_overwriting)
{
	ring_and_reader(2, true);
}

Test(threads, a_ring_of_sixteen_overwriting)
{
	ring_and_reader(16, true);
}

Test(threads, a_ring_of_two_discarding)
{
	ring_and_reader(2, false);
}

Test(threads, a_ring_of_sixteen_discarding)
{
	ring_and_reader(16, false);
}

/* ------------------------------------------------------------------------------------------------ a whole process */

REC_EVENT(threads, step, u64(number), u64(thread));
REC_EVENT(threads, other, string(text));

#define ROUNDS	8u
#define THREADS 4u
#define EVENTS	1500u

static void configure(void)
{
	struct rec_options options = REC_OPTIONS_INIT;
	char directory[256];

	snprintf(directory, sizeof(directory), "%s", fixture_path("rec"));
	setenv("RECORDER_DIR", directory, 1);
	options.lane_size = 1 << 17;
	options.lane_max = 1 << 18;
	cr_assert_eq(rec_configure(&options), 0);
	cr_assert_eq(rec_enable("threads:step"), 1);
	cr_assert_gt(rec_enable("ftrace:*"), 0);
}

static void *write_and_end(void *arg)
{
	const uint64_t thread = (uint64_t)(uintptr_t)arg;
	uint64_t number;

	for (number = 0; number < EVENTS; number++) {
		REC(threads, step, number, thread);
		REC(threads, other, "sometimes");
		if (number % 500 == 0)
			rec_printf("%d of %s", (int)number, "this");
	}
	rec_thread_name("one of four");
	return NULL;
}

static uint32_t stop;

/* What a controlling thread does, in any order. */
static void *control(void *arg)
{
	unsigned int seed = 7, lane;

	while (!rec_load_acquire(&stop)) {
		lane = (unsigned int)rand_r(&seed) % THREADS;
		switch (rand_r(&seed) % 6) {
		case 0:
			rec_disable("threads:other");
			break;
		case 1:
			rec_enable("threads:other");
			break;
		case 2:
			rec_stop();
			rec_start();
			break;
		case 3:
			if (rec_lane_disable(lane) == 0)
				rec_lane_enable(lane);
			break;
		case 4:
			rec_lane_resize(lane, (16u + (unsigned int)rand_r(&seed) % 48) * 4096u);
			break;
		default:
			sched_yield();
		}
	}
	return arg;
}

static void run_writers(void)
{
	pthread_t threads[THREADS];
	unsigned int round;
	size_t i;

	for (round = 0; round < ROUNDS; round++) {
		for (i = 0; i < THREADS; i++)
			cr_assert_eq(pthread_create(&threads[i], NULL, write_and_end, (void *)(uintptr_t)i), 0);
		for (i = 0; i < THREADS; i++)
			pthread_join(threads[i], NULL);
	}
}

static uint64_t save(uint64_t *lost)
{
	const char *path = fixture_path("saved.dat");
	const int err = rec_save(path);
	struct seen *seen;
	uint64_t steps = 0;
	size_t i;

	cr_assert_eq(err, 0, "%s", strerror(-err));
	seen = seen_read(path);
	for (i = 0; i < seen->nr; i++)
		steps += strcmp(seen->events[i].name, "threads:step") == 0;
	*lost += seen->lost;
	seen_free(seen);
	return steps;
}

static void *save_now_and_then(void *arg)
{
	uint64_t *sums = arg;

	while (!rec_load_acquire(&stop)) {
		sums[0] += save(&sums[1]);
		sched_yield();
	}
	return NULL;
}

/* Nothing switches events, so the events made are those saved and those lost. */
Test(threads, leases_and_saves)
{
	uint64_t sums[2] = { 0, 0 };
	pthread_t saver;

	configure();
	cr_assert_eq(pthread_create(&saver, NULL, save_now_and_then, sums), 0);
	run_writers();
	rec_store_release(&stop, 1);
	pthread_join(saver, NULL);
	sums[0] += save(&sums[1]);
	cr_assert_leq(sums[0], ROUNDS * THREADS * EVENTS);
	/* Three call-site records a thread may be among the lost. */
	cr_assert_geq(sums[0] + sums[1], ROUNDS * THREADS * EVENTS);
	cr_assert_leq(sums[0] + sums[1], ROUNDS * THREADS * (EVENTS + 3));
}

#define SHARERS 12u

/* Eight lanes, of which two are shared, for twice as many threads; an event that finds both held is counted. */
Test(threads, lanes_that_are_shared)
{
	struct rec_options options = REC_OPTIONS_INIT;
	uint64_t steps, lost = 0;
	pthread_t threads[SHARERS];
	size_t i;

	configure();
	options.lane_size = 1 << 20;
	options.memory_max = 9 << 20;
	cr_assert_eq(rec_configure(&options), 0);
	cr_assert_eq(rec_pool.geometry.shared_max, 2);
	for (i = 0; i < SHARERS; i++)
		cr_assert_eq(pthread_create(&threads[i], NULL, write_and_end, (void *)(uintptr_t)i), 0);
	for (i = 0; i < SHARERS; i++)
		pthread_join(threads[i], NULL);
	steps = save(&lost);
	cr_assert_geq(steps + lost, SHARERS * EVENTS);
	/* Three call-site records a thread may be among the lost. */
	cr_assert_leq(steps + lost, SHARERS * (EVENTS + 3));
}

Test(threads, everything_at_once)
{
	uint64_t sums[2] = { 0, 0 };
	struct rec_lane_stats stats;
	struct rec_view *view = NULL;
	pthread_t saver, controller, writer;
	unsigned int lane;

	configure();
	cr_assert_eq(pthread_create(&saver, NULL, save_now_and_then, sums), 0);
	cr_assert_eq(pthread_create(&controller, NULL, control, NULL), 0);
	run_writers();
	rec_store_release(&stop, 1);
	pthread_join(saver, NULL);
	pthread_join(controller, NULL);
	/* The controller may have stopped all recording before; from here on, recording is started. */
	cr_assert_eq(pthread_create(&writer, NULL, write_and_end, NULL), 0);
	pthread_join(writer, NULL);
	sums[0] += save(&sums[1]);
	cr_assert_gt(sums[0], 0);
	cr_assert_eq(rec_view_open(rec_process_path(), &view), 0);
	for (lane = 0; lane < rec_view_lanes(view); lane++) {
		int r = rec_view_stats(view, lane, &stats);

		/* A thread has counted this lane, and then found another one; so this lane was not made. */
		if (r == -EAGAIN)
			continue;
		cr_assert_eq(r, 0);
		cr_assert_eq(stats.broken, 0);
		cr_assert_eq(stats.owner, 0);
	}
	rec_view_close(view);
}
