/* SPDX-License-Identifier: MIT */
/* A program saves its own lanes: everything once, including threads and losses, while others continue to write. */
#include "weave_fixture.h"

#include "beside.h"
#include "format/dat/dat_notes.h"
#include "format/dat/dat_read.h"
#include "librecorder/os/identity.h"
#include "librecorder/process/process.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <librecorder/buffer.h>
#include <librecorder/event.h>
#include <librecorder/reader.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

REC_EVENT(save, step, u64(number), u64(thread));
REC_EVENT(save, wide, string(text));

#define THREADS 3u
#define EVENTS	2000u

static void configure(size_t lane_size, bool discard)
{
	struct rec_options options = REC_OPTIONS_INIT;
	char directory[256];

	snprintf(directory, sizeof(directory), "%s", fixture_path("rec"));
	setenv("RECORDER_DIR", directory, 1);
	options.lane_size = lane_size;
	options.discard = discard;
	cr_assert_eq(rec_configure(&options), 0);
	cr_assert_eq(rec_enable("save:*"), 2);
}

static void write_events(uint64_t thread, uint64_t first, uint64_t count)
{
	uint64_t number;

	for (number = first; number < first + count; number++)
		REC(save, step, number, thread);
}

static void *write_thread(void *arg)
{
	write_events((uint64_t)(uintptr_t)arg, 0, EVENTS);
	return NULL;
}

static struct seen *save(void)
{
	const char *path = fixture_path("saved.dat");
	const int err = rec_save(path);

	cr_assert_eq(err, 0, "%s", strerror(-err));
	return seen_read(path);
}

Test(save, every_thread_once)
{
	struct timespec before, after;
	struct seen *seen;
	pthread_t threads[THREADS];
	uint64_t next[THREADS] = { 0 };
	size_t i;

	configure(1 << 20, false);
	clock_gettime(CLOCK_MONOTONIC, &before);
	for (i = 0; i < THREADS; i++)
		cr_assert_eq(pthread_create(&threads[i], NULL, write_thread, (void *)(uintptr_t)i), 0);
	for (i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	clock_gettime(CLOCK_MONOTONIC, &after);
	seen = save();
	cr_assert_eq(seen->nr, THREADS * EVENTS);
	cr_assert_eq(seen->lost, 0);
	for (i = 0; i < seen->nr; i++) {
		const struct seen_event *event = &seen->events[i];

		cr_assert_str_eq(event->name, "save:step");
		cr_assert_lt(event->number2, THREADS);
		cr_assert_eq(event->number, next[event->number2]++);
		/* Anchors are good for far less than a microsecond; ten are allowed for a machine that is busy. */
		cr_assert_geq(event->time + 10000, (uint64_t)before.tv_sec * 1000000000u + (uint64_t)before.tv_nsec);
		cr_assert_leq(event->time, (uint64_t)after.tv_sec * 1000000000u + (uint64_t)after.tv_nsec + 10000);
	}
	seen_free(seen);

	/* Saved events are removed from the lanes; later events are in the next file. */
	write_events(7, 100, 5);
	seen = save();
	cr_assert_eq(seen->nr, 5);
	cr_assert_eq(seen->events[0].number, 100);
	cr_assert_eq(seen->lost, 0);
	seen_free(seen);
	seen = save();
	cr_assert_eq(seen->nr, 0);
	seen_free(seen);
}

/* Files of one boot have one clock: merge recognises them by the id. */
Test(save, the_boot_id)
{
	char id[64] = "";
	FILE *file = fopen("/proc/sys/kernel/random/boot_id", "r");
	struct dat_error error;
	struct dat_notes notes;
	struct dat_file *dat;

	cr_assert(file && fgets(id, sizeof(id), file));
	fclose(file);
	configure(1 << 20, false);
	write_events(0, 0, 1);
	seen_free(save());
	cr_assert_eq(dat_open(fixture_path("saved.dat"), NULL, &dat, &error), 0, "%s", error.text);
	dat_notes_of(dat, &notes);
	cr_assert(notes.boot);
	cr_expect_eq(strncmp(notes.boot, id, DAT_BOOT_ID), 0);
	dat_close(dat);
}

static struct seen *snapshot(void)
{
	const char *path = fixture_path("snapshot.dat");
	const int err = rec_snapshot(path);

	cr_assert_eq(err, 0, "%s", strerror(-err));
	return seen_read(path);
}

/* Snapshots continue one another. They take no events from a save, and a save takes none from them. */
Test(save, snapshots)
{
	struct seen *seen;

	configure(1 << 20, false);
	write_events(0, 0, 1000);
	seen = snapshot();
	cr_assert_eq(seen->nr, 1000);
	cr_assert_eq(seen->lost, 0);
	seen_free(seen);
	write_events(0, 1000, 5);
	seen = snapshot();
	cr_assert_eq(seen->nr, 5);
	cr_assert_eq(seen->events[0].number, 1000);
	seen_free(seen);
	write_events(0, 1005, 7);
	seen = save();
	cr_assert_eq(seen->nr, 1012);
	seen_free(seen);
	seen = snapshot();
	cr_assert_eq(seen->nr, 7);
	cr_assert_eq(seen->lost, 0);
	seen_free(seen);
}

/* In both modes, the events in the file and those that it reports as lost are all events. */
Test(save, losses_are_reported)
{
	struct seen *seen;
	uint64_t events;
	size_t i;

	configure(16384, false);
	write_events(0, 0, 100000);
	seen = save();
	events = seen->nr - (strcmp(seen->events[seen->nr - 1].name, "recorder:end") == 0);
	cr_assert_gt(events, 100);
	cr_assert_eq(events + seen->lost, 100000);
	for (i = 0; i < events; i++)
		cr_assert_eq(seen->events[i].number, 100000 - events + i);
	seen_free(seen);
}

Test(save, newest_lost)
{
	struct seen *seen;
	uint64_t events;
	size_t i;

	configure(16384, true);
	write_events(0, 0, 100000);
	seen = save();
	events = seen->nr - (strcmp(seen->events[seen->nr - 1].name, "recorder:end") == 0);
	cr_assert_gt(events, 100);
	cr_assert_eq(events + seen->lost, 100000);
	for (i = 0; i < events; i++)
		cr_assert_eq(seen->events[i].number, i);
	seen_free(seen);

	/* These losses are reported once, even if a later page carries them. */
	seen = save();
	cr_assert_eq(seen->nr, 0);
	seen_free(seen);
	write_events(0, 0, 3);
	seen = save();
	cr_assert_eq(seen->nr, 3);
	cr_assert_eq(seen->lost, 0);
	seen_free(seen);
}

/* Sub-buffers that were made larger hold longer events than those at the beginning. */
Test(save, after_the_sub_buffers_grew)
{
	static char text[20000];
	struct seen *seen;

	configure(1 << 20, false);
	write_events(0, 0, 1);
	cr_assert_eq(rec_subbuf_resize(65536), 0);
	memset(text, 'x', sizeof(text) - 1);
	REC(save, wide, text);
	seen = save();
	cr_assert_eq(seen->nr, 2);
	cr_assert_eq(seen->lost, 0);
	cr_assert_str_eq(seen->events[1].name, "save:wide");
	seen_free(seen);
}

static bool stop;

static void *write_forever(void *arg)
{
	uint64_t number = 0;

	(void)arg;
	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED))
		REC(save, step, number++, 0);
	*(uint64_t *)arg = number;
	return NULL;
}

/* Saving while a thread writes terminates, and every event is in one of the files or counted as lost. */
Test(save, while_a_thread_writes)
{
	pthread_t thread;
	uint64_t written = 0;
	uint64_t seen_or_lost = 0;
	unsigned int round;

	configure(1 << 18, false);
	cr_assert_eq(pthread_create(&thread, NULL, write_forever, &written), 0);
	for (round = 0; round < 6; round++) {
		struct seen *seen;
		size_t i;
		uint64_t last = 0;

		if (round == 5) {
			__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
			pthread_join(thread, NULL);
		}
		seen = save();
		for (i = 0; i < seen->nr; i++) {
			const bool end = !strcmp(seen->events[i].name, "recorder:end");

			cr_assert(end || !i || seen->events[i].number > last);
			last = seen->events[i].number;
			seen_or_lost += !end;
		}
		seen_or_lost += seen->lost;
		seen_free(seen);
	}
	cr_assert_eq(seen_or_lost, written);
}

Test(save, failures_leave_the_lanes_usable)
{
	struct rec_view *view;
	struct rec_page page;
	struct seen *seen;
	pid_t child;
	int pipes[2];
	int status;

	configure(1 << 18, false);
	cr_assert_eq(rec_save("/nonexistent/directory/x.dat"), -ENOENT);
	write_events(0, 0, 10);
	/* Another process reads. */
	cr_assert_eq(pipe(pipes), 0);
	child = fork();
	if (!child) {
		char path[512], name[64];
		const pid_t parent = getppid();
		int r = 1;

		(void)name;
		snprintf(path, sizeof(path), "ls %s/%d-*.rec", getenv("RECORDER_DIR"), (int)parent);
		FILE *list = popen(path, "r");

		if (list && fgets(path, sizeof(path), list)) {
			path[strcspn(path, "\n")] = '\0';
			r = rec_view_open(path, &view);
			r = r ? r : rec_view_read(view, 0, 0, &page) != 1;
		}
		if (write(pipes[1], &r, sizeof(r)) != sizeof(r))
			_exit(1);
		pause();
		_exit(0);
	}
	cr_assert_eq(read(pipes[0], &status, sizeof(status)), (ssize_t)sizeof(status));
	cr_assert_eq(status, 0);
	cr_assert_eq(rec_save(fixture_path("busy.dat")), -EBUSY);
	cr_assert_neq(access(fixture_path("busy.dat"), F_OK), 0);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	write_events(0, 10, 10);
	seen = save();
	/* The dead reader had consumed ten events, but not requested the next page: these events count as read. */
	cr_assert_geq(seen->nr, 10);
	cr_assert_eq(seen->events[seen->nr - 1].number, 19);
	seen_free(seen);
}

static void sleep_on(void *data)
{
	(void)data;
	for (;;)
		pause();
}

/* A child that was forked while a view was open has the view's locks. They end when this process closes the view. */
Test(save, beside_a_child_with_an_open_view)
{
	struct rec_view_event event;
	struct rec_view *view;
	struct seen *seen;
	pid_t child;

	configure(1 << 20, false);
	write_events(0, 0, 10);
	cr_assert_eq(rec_view_open(rec_process_path(), &view), 0);
	cr_assert_eq(rec_view_consume(view, 0, &event), 1);
	child = beside_run(sleep_on, NULL);
	rec_view_close(view);
	write_events(0, 10, 10);
	seen = save();
	cr_assert_eq(seen->nr, 19);
	cr_expect_eq(seen->events[0].number, 1);
	cr_expect_eq(seen->events[18].number, 19);
	cr_expect_eq(seen->lost, 0);
	seen_free(seen);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

/* The lock of a lane without a reader is held: so it is for a moment when a reader begins or ends. */
Test(save, a_lane_that_stays_locked)
{
	struct seen *seen;
	pthread_t thread;
	int fd;

	configure(1 << 20, false);
	write_events(0, 0, 10);
	cr_assert_eq(pthread_create(&thread, NULL, write_thread, (void *)1), 0);
	pthread_join(thread, NULL);
	fd = open(rec_process_path(), O_RDWR | O_CLOEXEC);
	cr_assert_geq(fd, 0);
	cr_assert_eq(rec_lock_take(fd, REC_LOCK_LANES), 0);
	cr_assert_eq(rec_save(fixture_path("saved.dat")), -EAGAIN);
	seen = seen_read(fixture_path("saved.dat"));
	cr_assert_eq(seen->nr, EVENTS, "the other thread's");
	cr_expect_eq(seen->events[0].number2, 1);
	seen_free(seen);
	/* A snapshot needs no lane for itself. */
	seen = snapshot();
	cr_expect_geq(seen->nr, 10);
	seen_free(seen);
	close(fd);
	seen = save();
	cr_expect_eq(seen->nr, 10);
	seen_free(seen);
}

static void limit_files(rlim_t size)
{
	const struct rlimit limit = { size, RLIM_INFINITY };

	cr_assert_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

/* The marks of lanes are in the buffer beyond the limit, though nothing grows there. Then the output is too large. */
Test(save, a_limit_on_file_sizes_kills_no_program)
{
	struct seen *seen;
	sigset_t pending;

	configure(1 << 20, false);
	write_events(0, 0, 20000);
	limit_files(4 << 20);
	cr_assert_gt(rec_process_header()->lanes, 4 << 20);
	seen = snapshot();
	cr_expect_eq(seen->nr, 20000);
	seen_free(seen);
	write_events(0, 20000, 20000);
	limit_files(100000);
	cr_expect_eq(rec_snapshot(fixture_path("large.dat")), -EFBIG);
	cr_expect_eq(sigpending(&pending), 0);
	cr_expect_not(sigismember(&pending, SIGXFSZ));
	limit_files(RLIM_INFINITY);
	cr_expect_neq(access(fixture_path("large.dat"), F_OK), 0);
	seen = snapshot();
	cr_expect_eq(seen->nr, 20000, "the mark is where the last complete snapshot ended");
	seen_free(seen);
}

static int cancelled_result;

static void *be_cancelled(void *call)
{
	pthread_cancel(pthread_self());
	cancelled_result = ((int (*)(const char *path))call)(fixture_path("saved.dat"));
	pthread_testcancel();
	return NULL;
}

static void check_cancelled(int (*call)(const char *path))
{
	pthread_t thread;
	struct seen *seen;
	void *end;

	cancelled_result = -1;
	cr_assert_eq(pthread_create(&thread, NULL, be_cancelled, (void *)call), 0);
	cr_assert_eq(pthread_join(thread, &end), 0);
	cr_expect_eq(end, PTHREAD_CANCELED);
	cr_assert_eq(cancelled_result, 0);
	seen = seen_read(fixture_path("saved.dat"));
	cr_expect_eq(seen->nr, 10);
	seen_free(seen);
}

/* A cancelled thread completes its call, and later calls are not refused. */
Test(save, cancelled)
{
	configure(1 << 20, false);
	write_events(0, 0, 10);
	check_cancelled(rec_snapshot);
	check_cancelled(rec_save);
	write_events(0, 10, 5);
	seen_free(snapshot());
	seen_free(save());
}
