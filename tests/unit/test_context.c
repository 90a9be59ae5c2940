/* SPDX-License-Identifier: MIT */
/*
 * The context values of a thread: which records are written, and when; and that the values of all later events are
 * known, also if the oldest events are overwritten, and whichever lane the thread writes to.
 */
#include "tests/unit/beside.h"
#include "tests/unit/context_fixture.h"
#include "tests/unit/forbid.h"

#include "librecorder/process/lane_private.h"
#include "librecorder/process/process.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <librecorder/reader.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGES 8u

/* No value is wrong or unknown; `begins` changes were written. */
static struct verdict expect_known(unsigned int events, unsigned int begins)
{
	const struct verdict verdict = context_judge();

	cr_assert_eq(verdict.wrong, 0, "%u of %u", verdict.wrong, verdict.events);
	cr_assert_eq(verdict.unknown, 0, "%u of %u", verdict.unknown, verdict.events);
	cr_assert_geq(verdict.events, events);
	cr_assert_eq(verdict.begins, begins, "%u", verdict.begins);
	return verdict;
}

Test(context, a_value_is_written_when_it_changes)
{
	context_begin(PAGES, 0, false);
	errno = 77;
	context_set_number(5);
	context_write(5, 3, 0);
	context_set_number(5);
	context_write(5, 3, 0);
	context_set_number(6);
	context_write(6, 3, 0);
	context_set_number(0);
	context_write(0, 3, 0);
	context_set_number(0);
	cr_assert_eq(errno, 77);
	cr_assert_eq(expect_known(12, 3).repeats, 0);
}

Test(context, limits)
{
	static const char *const bad[] = { "", "1a", "a b", "a-b", "a.b", "\xc3\xa4", NULL };
	char longest[REC_CONTEXT_VALUE_MAX + 2] = { 0 }, key[REC_CONTEXT_KEY_MAX + 2] = { 0 };

	context_begin(PAGES, 0, false);
	for (unsigned int i = 0; bad[i]; i++)
		cr_assert_eq(rec_context_set(bad[i], "x"), -EINVAL, "%s", bad[i]);
	cr_assert_eq(rec_context_set(NULL, "x"), -EINVAL);
	memset(longest, 'x', sizeof(longest) - 1);
	memset(key, 'k', sizeof(key) - 1);
	cr_assert_eq(rec_context_set(key, "x"), -EINVAL);
	cr_assert_eq(rec_context_set("n", longest), -E2BIG);
	key[REC_CONTEXT_KEY_MAX] = '\0';
	longest[REC_CONTEXT_VALUE_MAX] = '\0';
	cr_assert_eq(rec_context_set(key, longest), 0);
	for (unsigned int i = 1; i < REC_CONTEXT_KEYS_MAX; i++) {
		snprintf(key, sizeof(key), "key_%u", i);
		cr_assert_eq(rec_context_set(key, longest), 0, "%s", key);
	}
	cr_assert_eq(rec_context_set("n", "1"), -ENOSPC);
	/*
	 * Removing a value from a key that never had one needs no room; removing the value of another key makes room.
	 */
	cr_assert_eq(rec_context_set("n", NULL), 0);
	cr_assert_eq(rec_context_set("key_3", ""), 0);
	context_set_number(1);
	context_write(1, 1, 0);
	cr_assert_eq(rec_context_set("key_3", "x"), -ENOSPC);
	expect_known(1, 1);
}

/* The value is kept while the event is off, and written when the lane enters another sub-buffer. */
Test(context, switched_on_later)
{
	struct verdict verdict;

	context_begin(PAGES, 0, false);
	context_write(0, 2, 0);
	cr_assert_gt(rec_disable("*"), 0);
	context_set_number(7);
	cr_assert_gt(rec_enable("*"), 0);
	context_write(7, 20, 300);
	verdict = expect_known(22, 0);
	cr_assert_eq(verdict.repeats, 1);
}

/* The lane is overwritten many times. Values change seldom, or more often than the writer enters a sub-buffer. */
Test(context, all_events_that_are_left_are_known)
{
	static const unsigned int each[] = { 1, 3, 50, 700, 5000 };

	context_begin(PAGES, 0, false);
	for (unsigned int i = 0; i < sizeof(each) / sizeof(each[0]); i++) {
		struct verdict verdict;

		for (unsigned int n = 0; n < 10000; n += each[i]) {
			context_set_number(n + 1);
			context_write(n + 1, each[i], n % 40);
		}
		verdict = context_judge();
		cr_assert_eq(verdict.wrong + verdict.unknown, 0, "each %u: %u wrong, %u unknown", each[i],
			     verdict.wrong,
			     verdict.unknown);
		cr_assert_gt(verdict.events, 50);
		cr_assert_lt(verdict.events, 10000);
		cr_assert_geq(verdict.repeats, PAGES - 1);
	}
}

/* Eight values of full length, and events of all sizes: often the values do not fit into the rest of a sub-buffer. */
Test(context, values_that_do_not_fit_into_the_rest)
{
	char longest[REC_CONTEXT_VALUE_MAX + 1] = { 0 }, key[8];

	context_begin(PAGES, 0, false);
	memset(longest, 'x', REC_CONTEXT_VALUE_MAX);
	for (unsigned int i = 1; i < REC_CONTEXT_KEYS_MAX; i++) {
		snprintf(key, sizeof(key), "key_%u", i);
		cr_assert_eq(rec_context_set(key, longest), 0);
	}
	context_set_number(3);
	for (unsigned int size = 0; size < 3990; size += 17) {
		struct verdict verdict;

		context_write(3, 3, size);
		verdict = context_judge();
		cr_assert_eq(verdict.wrong + verdict.unknown, 0, "size %u", size);
	}
}

/* If the record of a change was refused, later records have the value. */
Test(context, a_change_that_was_lost)
{
	struct rec_view *view = NULL;
	struct rec_page page;
	struct verdict verdict;

	context_begin(PAGES, 0, true);
	context_set_number(4);
	do
		context_write(4, 1, 200);
	while (!rec_thread_handle->lane->dropped);
	context_set_number(9);
	cr_assert_eq(rec_view_open(rec_process_path(), &view), 0);
	for (unsigned int i = 0; i < PAGES; i++)
		cr_assert_eq(rec_view_read(view, 0, 0, &page), 1);
	rec_view_close(view);
	context_write(9, 40, 200);
	verdict = context_judge();
	cr_assert_eq(verdict.wrong, 0);
	cr_assert_geq(verdict.events, 40);
	cr_assert_eq(verdict.unknown, 0);
}

static void set_without_a_lane(void *data)
{
	static const struct {
		const char *value;
		unsigned int lost;
	} sets[] = { { "a", 1 }, { "a", 1 }, { "b", 2 }, { NULL, 3 }, { "", 3 } };

	(void)data;
	/* A thread that may not ask for the pid gets no lane. */
	forbid_call(SYS_getpid);
	if (rec_context_set("other", NULL) != 0 || rec_process_header()->lost_no_lane != 0)
		_exit(9);
	for (unsigned int i = 0; i < sizeof(sets) / sizeof(sets[0]); i++)
		if (rec_context_set("key", sets[i].value) != 0 ||
		    rec_process_header()->lost_no_lane != sets[i].lost)
			_exit(10 + (int)i);
	_exit(0);
}

/* Each change that is not recorded is counted once, and nothing else. */
Test(context, changes_without_a_lane)
{
	int status = -1;

	context_begin(PAGES, 0, false);
	/* The event is declared. */
	cr_assert_eq(rec_context_set("first", NULL), 0);
	cr_assert_gt(waitpid(beside_run(set_without_a_lane, NULL), &status, 0), 0);
	cr_assert(WIFEXITED(status));
	cr_assert_eq(WEXITSTATUS(status), 0, "%d", WEXITSTATUS(status));
}

static unsigned int lane_of_thread(void)
{
	unsigned int lane = 99;

	cr_assert_eq(rec_thread_lane(&lane), 0);
	return lane;
}

/* A lane that is new to the thread has the thread's values, even if the records in its former lane were read. */
Test(context, another_lane)
{
	unsigned int first, second, held = 99;
	struct rec_view *view = NULL;
	struct rec_page page;
	struct verdict verdict;

	context_begin(PAGES, 0, false);
	context_set_number(2);
	context_write(2, 3, 0);
	first = lane_of_thread();
	for (unsigned int round = 0; round < 3; round++) {
		if (round == 2)
			cr_assert_eq(rec_lane_swap(&held), 0);
		else
			cr_assert_eq(rec_lane_resize(lane_of_thread(), (5 + round) * 4080ul), 0);
		second = lane_of_thread();
		cr_assert_neq(first, second);
		context_write(2, 3, 0);
		cr_assert_eq(rec_view_open(rec_process_path(), &view), 0);
		for (unsigned int lane = 0; lane < rec_view_lanes(view); lane++)
			while (lane != second && rec_view_read(view, lane, 0, &page) == 1)
				;
		rec_view_close(view);
		verdict = context_judge();
		cr_assert_eq(verdict.events, 3, "round %u: %u", round, verdict.events);
		cr_assert_eq(verdict.wrong + verdict.unknown, 0, "round %u", round);
		cr_assert_eq(verdict.repeats, 1);
		first = second;
	}
}

#define THREADS 40u

static pthread_barrier_t barrier;

static void *be_one_of_many(void *arg)
{
	const uint64_t value = (uintptr_t)arg;

	context_set_number(value);
	for (unsigned int round = 0; round < 60; round++) {
		pthread_barrier_wait(&barrier);
		context_write(value, 20, 0);
	}
	/* No thread ends before the check. */
	pthread_barrier_wait(&barrier);
	pthread_barrier_wait(&barrier);
	return NULL;
}

/* Most of the threads share two lanes, which are overwritten many times over. */
Test(context, shared_lanes)
{
	pthread_t threads[THREADS];
	struct verdict verdict;

	context_begin(32, 8, false);
	pthread_barrier_init(&barrier, NULL, THREADS + 1);
	for (uintptr_t i = 0; i < THREADS; i++)
		cr_assert_eq(pthread_create(&threads[i], NULL, be_one_of_many, (void *)(i + 1)), 0);
	for (unsigned int round = 0; round < 61; round++)
		pthread_barrier_wait(&barrier);
	cr_assert_gt(rec_pool.nr_shared, 0);
	verdict = context_judge();
	cr_assert_eq(verdict.wrong, 0);
	/* In the oldest eighth of the ring a value may be unknown that was written just before it. */
	cr_assert_leq(verdict.unknown, verdict.events / 8, "%u of %u", verdict.unknown, verdict.events);
	cr_assert_gt(verdict.events, 1000);
	pthread_barrier_wait(&barrier);
	for (unsigned int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
}

static void *set_and_end(void *arg)
{
	(void)arg;
	context_set_number(8);
	context_write(8, 1, 0);
	return NULL;
}

/* The last record of a thread removes the value, so that a later thread with the same id does not have it. */
Test(context, a_thread_that_ends)
{
	pthread_t thread;

	context_begin(PAGES, 0, false);
	cr_assert_eq(pthread_create(&thread, NULL, set_and_end, NULL), 0);
	pthread_join(thread, NULL);
	expect_known(1, 2);
}

Test(context, a_forked_child_has_the_values)
{
	struct verdict verdict;
	int status = 0;
	pid_t pid;

	context_begin(PAGES, 0, false);
	context_set_number(4);
	context_write(4, 1, 0);
	pid = fork();
	if (!pid) {
		context_write(4, 5, 0);
		verdict = context_judge();
		_exit(verdict.events == 5 && !verdict.wrong && !verdict.unknown && !verdict.begins ? 0 : 1);
	}
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_assert_eq(status, 0);
	context_write(4, 1, 0);
	expect_known(2, 1);
}
