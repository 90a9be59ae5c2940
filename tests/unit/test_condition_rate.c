/* SPDX-License-Identifier: MIT */
/*
 * Rates: the number of events of a kind that may pass in each second, also by several threads; conditions that change
 * while threads write.
 */
#include "condition_fixture.h"

#include <criterion/criterion.h>
#include <librecorder/event.h>
#include <limits.h>
#include <pthread.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

TestSuite(condition, .init = begin, .fini = lane_end);

static uint64_t suppressed(unsigned int rate)
{
	struct rec_view_rate is;

	cr_assert(rec_view_rate(view, ONE.id, &is));
	cr_assert_eq(is.rate, rate);
	return is.suppressed;
}

#define SECOND UINT64_C(1000000000)

Test(condition, a_rate_is_kept_in_each_second)
{
	clock_ns = 7 * SECOND;
	cr_assert_eq(rec_enable("cond:one rate 3"), 1);
	expect(3, 3);
	cr_assert_eq(suppressed(3), 7);
	clock_ns = 8 * SECOND - 1;
	expect(0, 0);
	clock_ns = 8 * SECOND;
	expect(3, 3);
	clock_ns = 8 * SECOND - 1;
	expect(0, 0);
	clock_ns = 4000000000 * SECOND;
	cr_assert_eq(suppressed(3), 34);
	/* The filter comes first: what it drops does not count for the rate. */
	cr_assert_eq(rec_enable("cond:one rate 2 if n >= 5"), 1);
	expect(2, 11);
	cr_assert_eq(suppressed(2), 3);
	cr_assert_eq(rec_enable("cond:one rate 2 if n >= 5"), 1, "it begins anew");
	cr_assert_eq(suppressed(2), 0);
	expect(2, 11);
	cr_assert_eq(rec_enable("cond:one"), 1);
	cr_assert_not(rec_view_rate(view, ONE.id, &(struct rec_view_rate){ 0, 0 }));
	expect(10, 45);
}

/* Lives until the other end of the pipe is closed. */
static void stay(struct rec_handle *handle, int pipe)
{
	char byte;

	(void)handle;
	if (read(pipe, &byte, sizeof(byte)) < 0)
		_exit(1);
}

/* A forked child has its parent's rate, and not what its parent suppressed. */
Test(condition, a_child_counts_what_it_suppresses)
{
	struct rec_view *const parents = view;
	char path[PATH_MAX];
	int pipe, status = -1;
	pid_t child;

	clock_ns = 7 * SECOND;
	cr_assert_eq(rec_enable("cond:one rate 3"), 1);
	expect(3, 3);
	cr_assert_eq(suppressed(3), 7);
	child = reader_child(stay, path, &pipe);
	view = reader_view_of(path);
	cr_expect_eq(suppressed(3), 0);
	rec_view_close(view);
	view = parents;
	cr_assert_eq(suppressed(3), 7);
	close(pipe);
	cr_assert_eq(waitpid(child, &status, 0), child);
	cr_assert_eq(status, 0);
}

#define THREADS 4u
#define EACH	20000u

static pthread_barrier_t barrier;

static void *write_many(void *arg)
{
	(void)arg;
	pthread_barrier_wait(&barrier);
	for (uint32_t i = 0; i < EACH; i++)
		REC(cond, one, i, "x");
	return NULL;
}

/*
 * All threads write in one endless second: the number of events that pass is exactly the rate, and every event is
 * accounted for.
 */
Test(condition, threads_share_a_rate)
{
	struct rec_view_event event;
	pthread_t threads[THREADS];
	unsigned int count = 0;

	clock_ns = 5 * SECOND;
	cr_assert_eq(rec_enable("cond:one rate 1000"), 1);
	pthread_barrier_init(&barrier, NULL, THREADS);
	for (unsigned int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, write_many, NULL);
	for (unsigned int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	while (rec_view_consume(view, REC_ALL_LANES, &event) == 1)
		count++;
	cr_assert_eq(count, 1000);
	cr_assert_eq(suppressed(1000), THREADS * EACH - 1000);
}

static bool over;

static void *write_until_over(void *arg)
{
	(void)arg;
	while (!rec_load_relaxed(&over))
		for (uint32_t i = 0; i < 100; i++)
			REC(cond, one, i, i % 2 ? "odd" : "even");
	return NULL;
}

/* Conditions are exchanged while events are written: each event in the lane passed one of them. */
Test(condition, exchanged_under_a_writer)
{
	static const char *const selectors[] = { "cond:one if n < 10", "cond:one if n >= 90 && text == 'odd'",
					      "cond:one if text == 'even' && n < 20" };
	struct rec_view_event event;
	unsigned int seen = 0;
	pthread_t thread;

	cr_assert_eq(rec_view_switch(view, selectors[0], true), 1);
	pthread_create(&thread, NULL, write_until_over, NULL);
	/* The thread may not have begun yet. */
	for (unsigned int round = 0; round < 300 || !seen; round++) {
		cr_assert_eq(rec_view_switch(view, selectors[round % 3], true), 1);
		while (rec_view_consume(view, REC_ALL_LANES, &event) == 1) {
			uint32_t n;

			memcpy(&n, (const char *)event.record.payload + REC_EVENT_COMMON_SIZE, sizeof(n));
			cr_assert(n < 10 || (n >= 90 && n % 2) || (n < 20 && n % 2 == 0), "%u", n);
			seen++;
		}
	}
	rec_store_relaxed(&over, true);
	pthread_join(thread, NULL);
}
