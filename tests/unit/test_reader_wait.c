/* SPDX-License-Identifier: MIT */
/* Waiting for data: percentages, wake-ups, the end. */
#include "librecorder/view/reader_private.h"
#include "lane_fixture.h"
#include "librecorder/core/atomic.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define EVENT	  92u
#define ON_A_PAGE 42u
#define BURSTS	  3000u

/* A long limit: no test depends on it, but a test that hangs is reported. */
#define LONG 60000

static void begin(void)
{
	lane_begin(8, false);
}

TestSuite(reader_wait, .init = begin, .fini = lane_end);

static void write_some(unsigned int n)
{
	static uint64_t number;

	while (n--)
		cr_assert(reader_write(lane, number++, EVENT));
}

static void read_all(void)
{
	struct rec_page page;

	while (rec_view_read(view, 0, 0, &page) == 1)
		continue;
}

Test(reader_wait, arguments)
{
	cr_assert_eq(rec_view_wait(view, 1, 0, 0), -EINVAL);
	cr_assert_eq(rec_view_wait(view, 0, 101, 0), -EINVAL);
	cr_assert_eq(rec_view_wait(view, 0, 100, 0), 0);
}

/* Facts C11, C12: the lane is empty, has one event, and is filled step by step. */
Test(reader_wait, without_blocking)
{
	unsigned int percent, pages;

	for (percent = 0; percent <= 100; percent += 25)
		cr_assert_eq(rec_view_wait(view, 0, percent, 0), 0);
	write_some(1);
	cr_assert_eq(rec_view_wait(view, 0, 0, 0), 1);
	cr_assert_eq(rec_view_wait(view, 0, 50, 0), 0, "one event is not half of it");
	/* Eight sub-buffers; the one that is being written counts as well. */
	for (pages = 1; pages < 8; pages++) {
		write_some(ON_A_PAGE);
		for (percent = 1; percent <= 100; percent++)
			cr_assert_eq(rec_view_wait(view, 0, percent, 0), (pages + 1) * 100 >= percent * 8,
				     "%u pages, %u percent", pages, percent);
	}
	cr_assert_eq(rec_view_wait(view, REC_ALL_LANES, 100, 0), 1);
	read_all();
	cr_assert_eq(rec_view_wait(view, 0, 0, 0), 0);
	cr_assert_eq(rec_view_wait(view, 0, 1, 0), 0);
}

/* The reader is on the writer's page: new events there count only for percent 0. */
Test(reader_wait, on_the_writers_page)
{
	write_some(1);
	read_all();
	write_some(1);
	cr_assert_eq(rec_view_wait(view, 0, 0, 0), 1);
	cr_assert_eq(rec_view_wait(view, 0, 1, 0), 0);
}

/*
 * A commit position that counts events but no bytes claims events that do not exist: the reader relies on it only once.
 */
Test(reader_wait, an_event_that_cannot_be_read)
{
	const uint64_t commit = lane->lane->commit;
	struct rec_view_event event;

	lane->lane->commit = REC_POS(REC_POS_ID(commit), REC_POS_SEQ(commit), 5, 0);
	rec_view_wait(view, 0, 0, 0);
	cr_assert_eq(rec_view_consume(view, 0, &event), 0);
	cr_assert_eq(rec_view_wait(view, 0, 0, 0), 0);
	cr_assert_eq(rec_view_wait(view, REC_ALL_LANES, 0, 0), 0);
	/* An event that exists is still found, however often the reader looks. */
	lane->lane->commit = commit;
	write_some(1);
	cr_assert_eq(rec_view_wait(view, 0, 0, 0), 1);
	cr_assert_eq(rec_view_wait(view, 0, 0, 0), 1);
}

static void write_when_told(struct rec_handle *to, int pipe)
{
	unsigned int n;
	uint64_t number = 0;

	while (read(pipe, &n, sizeof(n)) == sizeof(n)) {
		for (; n; n--)
			reader_write(to, number++, EVENT);
		if (write(pipe, &n, sizeof(n)) != sizeof(n))
			return;
	}
}

static void tell(int pipe, unsigned int n)
{
	cr_assert_eq(write(pipe, &n, sizeof(n)), sizeof(n));
}

/* The child has written the requested events. */
static void wait_for_answer(int pipe)
{
	unsigned int n;

	cr_assert_eq(read(pipe, &n, sizeof(n)), sizeof(n));
}

struct waiter {
	struct rec_view *view;
	uint32_t lane;
	unsigned int percent;
	pthread_t thread;
	pid_t tid;
	int result;
};

static void *wait_in_thread(void *arg)
{
	struct waiter *waiter = arg;

	__atomic_store_n(&waiter->tid, (pid_t)syscall(SYS_gettid), __ATOMIC_RELEASE);
	waiter->result = rec_view_wait(waiter->view, waiter->lane, waiter->percent, LONG);
	__atomic_store_n(&waiter->tid, -1, __ATOMIC_RELEASE);
	return NULL;
}

/* Returns once the thread sleeps, as its state shows, or has finished. */
static void start(struct waiter *waiter)
{
	char path[64], line[512];
	FILE *file;

	waiter->tid = 0;
	cr_assert_eq(pthread_create(&waiter->thread, NULL, wait_in_thread, waiter), 0);
	for (;;) {
		const pid_t tid = __atomic_load_n(&waiter->tid, __ATOMIC_ACQUIRE);

		snprintf(path, sizeof(path), "/proc/self/task/%d/stat", tid);
		memset(line, 0, sizeof(line));
		file = tid > 0 ? fopen(path, "r") : NULL;
		if (file) {
			line[fread(line, 1, sizeof(line) - 1, file)] = '\0';
			fclose(file);
		}
		if (strstr(line, ") S ") || tid < 0)
			return;
		sched_yield();
	}
}

static int finish(struct waiter *waiter)
{
	cr_assert_eq(pthread_join(waiter->thread, NULL), 0);
	return waiter->result;
}

Test(reader_wait, a_writer_in_another_process_wakes)
{
	static const unsigned int percents[] = { 0, 1, 50, 100 };
	char path[PATH_MAX];
	int pipe;
	const pid_t pid = reader_child(write_when_told, path, &pipe);
	struct waiter waiter = { .view = reader_view_of(path) };
	struct rec_page page;

	for (unsigned int i = 0; i < 4; i++) {
		waiter.percent = percents[i];
		start(&waiter);
		tell(pipe, percents[i] == 0 ? 1 : ON_A_PAGE * 9);
		cr_assert_eq(finish(&waiter), 1, "%u percent", percents[i]);
		wait_for_answer(pipe);
		while (rec_view_read(waiter.view, 0, 0, &page) == 1)
			continue;
		/* The same for all lanes. */
		waiter.lane = REC_ALL_LANES;
		start(&waiter);
		tell(pipe, percents[i] == 0 ? 1 : ON_A_PAGE * 9);
		cr_assert_eq(finish(&waiter), 1, "%u percent of all", percents[i]);
		wait_for_answer(pipe);
		while (rec_view_read(waiter.view, 0, 0, &page) == 1)
			continue;
		waiter.lane = 0;
	}
	kill(pid, SIGKILL);
	cr_assert_eq(waitpid(pid, NULL, 0), pid);
	rec_view_close(waiter.view);
}

/* Facts G2: the end for a reader that is blocked, and for later ones, but not before everything was read. */
Test(reader_wait, the_end)
{
	char path[PATH_MAX];
	int pipe;
	const pid_t pid = reader_child(write_when_told, path, &pipe);
	struct waiter waiter = { .view = reader_view_of(path), .percent = 100 };
	struct rec_view_event event;

	tell(pipe, 3);
	cr_assert_eq(rec_view_wait(waiter.view, 0, 0, LONG), 1);
	wait_for_answer(pipe);
	start(&waiter);
	close(pipe);
	cr_assert_eq(waitpid(pid, NULL, 0), pid);
	/* Three events are far from 100 percent; but there will be no more. */
	cr_assert_eq(finish(&waiter), 1);
	for (int i = 0; i < 3; i++) {
		cr_assert_eq(rec_view_wait(waiter.view, REC_ALL_LANES, 100, 0), 1);
		cr_assert_eq(rec_view_consume(waiter.view, 0, &event), 1);
	}
	cr_assert_eq(rec_view_wait(waiter.view, 0, 0, LONG), -EPIPE);
	cr_assert_eq(rec_view_wait(waiter.view, 0, 50, 0), -EPIPE);
	cr_assert_eq(rec_view_wait(waiter.view, REC_ALL_LANES, 0, -1), -EPIPE);
	rec_view_close(waiter.view);
}

/* The reader has read everything, and is already asleep, when the program is killed. */
Test(reader_wait, the_end_for_a_sleeper)
{
	static const unsigned int percents[] = { 0, 60 };

	for (unsigned int i = 0; i < 2; i++) {
		char path[PATH_MAX];
		int pipe;
		const pid_t pid = reader_child(write_when_told, path, &pipe);
		struct waiter waiter = { .view = reader_view_of(path),
					 .percent = percents[i],
					 .lane = i ? 0 : REC_ALL_LANES };

		start(&waiter);
		kill(pid, SIGKILL);
		cr_assert_eq(waitpid(pid, NULL, 0), pid);
		cr_assert_eq(finish(&waiter), -EPIPE);
		rec_view_close(waiter.view);
		close(pipe);
	}
}

Test(reader_wait, wake)
{
	struct waiter waiter = { .view = view, .percent = 50 };

	start(&waiter);
	rec_view_wake(view);
	cr_assert_eq(finish(&waiter), -ECANCELED);
	waiter.percent = 0;
	waiter.lane = REC_ALL_LANES;
	start(&waiter);
	rec_view_wake(view);
	cr_assert_eq(finish(&waiter), -ECANCELED);
	/* If no reader sleeps, the wake-up is for the next one, which then does not sleep. */
	rec_view_wake(view);
	cr_assert_eq(rec_view_wait(view, 0, 0, LONG), -ECANCELED);
	cr_assert_eq(rec_view_wait(view, 0, 0, 0), 0);
}

static void ignore(int number)
{
	(void)number;
}

/*
 * Repeatedly: a signal during a check does not end the wait; a signal during a sleep does.
 */
static int interrupt(struct waiter *waiter)
{
	start(waiter);
	do {
		pthread_kill(waiter->thread, SIGUSR1);
		sched_yield();
	} while (pthread_tryjoin_np(waiter->thread, NULL) == EBUSY);
	return waiter->result;
}

Test(reader_wait, a_signal_interrupts)
{
	const struct sigaction action = { .sa_handler = ignore };
	struct waiter waiter = { .view = view, .percent = 50 };

	cr_assert_eq(sigaction(SIGUSR1, &action, NULL), 0);
	cr_assert_eq(interrupt(&waiter), -EINTR);
	waiter.percent = 0;
	cr_assert_eq(interrupt(&waiter), -EINTR);
}

/* If a reader is killed in its sleep, the writer wakes it once in vain, and the next waiter is woken as usual. */
Test(reader_wait, a_waiter_is_killed)
{
	const struct rec_lane_reader *words = lane->reader;
	const char *path = rec_process_path();
	char copy[PATH_MAX];
	uint32_t wakes;
	pid_t pid;
	int status;

	snprintf(copy, sizeof(copy), "%s", path);
	pid = fork();
	if (pid == 0) {
		struct rec_view *mine = reader_view_of(copy);

		_exit(rec_view_wait(mine, 0, 100, -1) ? 1 : 0);
	}
	while (!rec_load_acquire(&words->waiters))
		sched_yield();
	kill(pid, SIGKILL);
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_assert(WIFSIGNALED(status));
	cr_assert_eq(rec_load_relaxed(&words->waiters), 101);
	wakes = rec_load_relaxed(&words->wake);
	write_some(ON_A_PAGE * 40);
	cr_assert_eq(rec_load_relaxed(&words->waiters), 0);
	cr_assert_eq(rec_load_relaxed(&words->wake), wakes + 1, "one wake-up, and no more for a waiter that has gone");
	cr_assert_eq(rec_view_wait(view, 0, 100, LONG), 1);
	read_all();
}

static void write_in_bursts(struct rec_handle *to, int pipe)
{
	uint64_t number = 0;

	(void)pipe;
	for (unsigned int burst = 0; burst < BURSTS; burst++) {
		for (unsigned int i = 0; i < ON_A_PAGE * 5; i++)
			reader_write(to, number++, EVENT);
		/* There are enough events that the reader must be woken, and the child continues only when it was. */
		while (rec_ring_is_hit(to->lane, to->reader, 50))
			sched_yield();
	}
	/* This is called as at the end of main(), and wakes a reader that sleeps. */
	rec_process_exit();
}

/*
 * No wake-up is lost: a reader that sleeps without a timeout, and a writer that continues only once its event was read.
 */
Test(reader_wait, no_wake_up_is_lost)
{
	struct rec_view *theirs;
	struct rec_page page;
	char path[PATH_MAX];
	int pipe, r;
	uint64_t read = 0;
	const pid_t pid = reader_child(write_in_bursts, path, &pipe);

	rec_wait_life_slice = UINT64_C(1000000000000);
	theirs = reader_view_of(path);
	while ((r = rec_view_wait(theirs, 0, 50, -1)) == 1)
		while (rec_view_read(theirs, 0, 0, &page) == 1)
			read += page.entries + page.lost;
	cr_assert_eq(r, -EPIPE);
	cr_assert_eq(read, BURSTS * ON_A_PAGE * 5ul);
	cr_assert_eq(waitpid(pid, NULL, 0), pid);
	rec_view_close(theirs);
}
