/* SPDX-License-Identifier: MIT */
#include "reader_fixture.h"

#include <criterion/criterion.h>
#include <librecorder/lane.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

static char dir[] = "/tmp/test_reader.XXXXXX";

void reader_begin(unsigned int pages, bool discard)
{
	struct rec_options options = REC_OPTIONS_INIT;

	cr_assert_not_null(mkdtemp(dir));
	setenv("RECORDER_DIR", dir, 1);
	setenv("RECORDER_KEEP", "1", 1);
	/* A lane has as many sub-buffers as hold this much data. */
	options.lane_size = pages * (4096ul - REC_SUBBUF_HEADER_SIZE);
	options.subbuf_size = 4096;
	options.clock = REC_CLOCK_MONO;
	options.discard = discard;
	cr_assert_eq(rec_configure(&options), 0);
}

void reader_end(void)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -rf %s", dir);
	cr_assert_eq(system(command), 0);
}

static void *hold(void *handle)
{
	const struct rec_handle *none = NULL;

	if (rec_thread_attach() == 0)
		__atomic_store_n((struct rec_handle **)handle, rec_thread_handle, __ATOMIC_RELEASE);
	else
		__atomic_store_n((const struct rec_handle **)handle, none, __ATOMIC_RELEASE);
	for (;;)
		pause();
	return NULL;
}

struct rec_handle *reader_lane(void)
{
	/* This pointer, which is not NULL, means "not known yet". */
	struct rec_handle *unknown = (struct rec_handle *)&unknown, *handle = unknown;
	pthread_t thread;

	cr_assert_eq(pthread_create(&thread, NULL, hold, &handle), 0);
	while (__atomic_load_n(&handle, __ATOMIC_ACQUIRE) == unknown)
		sched_yield();
	cr_assert_not_null(handle);
	return handle;
}

bool reader_write(struct rec_handle *handle, uint64_t number, uint32_t size)
{
	struct rec_slot slot;
	void *payload = rec_reserve(handle, size, &slot);

	if (!payload)
		return false;
	ring_fill(payload, number, size);
	rec_commit(&slot);
	return true;
}

struct rec_view *reader_view_of(const char *path)
{
	struct rec_view *view = NULL;

	cr_assert_eq(rec_view_open(path, &view), 0, "%s", path);
	return view;
}

struct rec_view *reader_view(void)
{
	return reader_view_of(rec_process_path());
}

pid_t reader_child(void (*child)(struct rec_handle *lane, int pipe), char *path, int *ret_pipe)
{
	int ends[2];
	pid_t pid;

	cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	pid = fork();
	if (pid == 0) {
		/* A test that fails or is killed leaves no child running. */
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(ends[1]);
		if (rec_thread_attach() < 0 || write(ends[0], rec_process_path(), PATH_MAX) != PATH_MAX)
			_exit(1);
		child(rec_thread_handle, ends[0]);
		_exit(0);
	}
	close(ends[0]);
	cr_assert_eq(recv(ends[1], path, PATH_MAX, MSG_WAITALL), PATH_MAX);
	*ret_pipe = ends[1];
	return pid;
}

uint64_t reader_number(const struct rec_view_event *event)
{
	uint64_t number = UINT64_MAX;

	cr_assert(ring_is_intact(event->record.payload, event->record.size, &number), "event %lu is damaged",
		  (unsigned long)event->number);
	return number;
}
