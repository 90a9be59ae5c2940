/* SPDX-License-Identifier: MIT */
/* See small_buffer.h. */
#include "small_buffer.h"

#include <fcntl.h>
#include <librecorder/event.h>
#include <librecorder/reader.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "librecorder/process/process.h"

#define RING_PAGES 2u  /* the fewest that a lane has, without the reader's */
#define UNIT	   64u /* a block of this size that is all zeros counts as a hole */

REC_EVENT(fuzz, plain, u64(number), u32(size));
REC_EVENT(fuzz, every, string(text), bytes(data), array(u16, row, 3), real(ratio, 2), flag(on));

static void check(bool fine)
{
	if (!fine)
		abort();
}

static void trace(unsigned int events)
{
	static const uint16_t row[3] = { 1, 2, 3 };

	for (unsigned int i = 0; i < events; i++) {
		REC(fuzz, plain, i, i * 2);
		if (i % 5 == 0)
			REC(fuzz, every, "text", row, i % sizeof(row), row, i / 3.0, i % 2 == 0);
		if (i % 11 == 0)
			rec_printf("number %u of %s", i, "them");
	}
}

/* The thread must not end before the process does: it keeps its lane. */
static void *trace_in_thread(void *done)
{
	rec_thread_name("one of them");
	trace(20);
	pthread_barrier_wait(done);
	for (;;)
		pause();
	return NULL;
}

static void trace_beside(void)
{
	pthread_barrier_t done;
	pthread_t thread;

	check(pthread_barrier_init(&done, NULL, 2) == 0);
	check(pthread_create(&thread, NULL, trace_in_thread, &done) == 0);
	pthread_barrier_wait(&done);
}

static void read_page(void)
{
	struct rec_view *view;
	struct rec_page page;

	check(rec_view_open(rec_process_path(), &view) == 0);
	check(rec_view_read(view, 0, 0, &page) >= 0);
	rec_view_close(view);
}

static void run_program(unsigned int which)
{
	struct rec_options options = REC_OPTIONS_INIT;

	options.lane_size = RING_PAGES * 4080ul;
	options.memory_max = 80000;
	options.clock = REC_CLOCK_MONO;
	options.discard = !(which & 1);
	check(rec_configure(&options) == 0 && rec_enable("*") >= 0);
	trace(which & 1 ? 400 : 30);
	if (which & 2)
		trace_beside();
	if (which & 4)
		read_page();
	trace(10);
}

void small_buffer(unsigned int which, void (*use)(const unsigned char *bytes, size_t size, void *arg), void *arg)
{
	const pid_t child = fork();
	int status, file;
	size_t size;
	void *bytes;

	if (child) {
		check(child > 0 && waitpid(child, &status, 0) == child && status == 0);
		return;
	}
	run_program(which);
	size = rec_process_header()->file_size;
	file = open(rec_process_path(), O_RDONLY | O_CLOEXEC);
	bytes = mmap(NULL, size, PROT_READ, MAP_SHARED, file, 0);
	check(bytes != MAP_FAILED && unlink(rec_process_path()) == 0);
	use(bytes, size, arg);
	_exit(0);
}

static bool is_hole(const unsigned char *bytes)
{
	static const unsigned char zeros[UNIT];

	return !memcmp(bytes, zeros, UNIT);
}

size_t small_buffer_part(const unsigned char *bytes, size_t size, size_t *at)
{
	size_t begin = *at, end;

	while (begin < size && is_hole(bytes + begin))
		begin += UNIT;
	for (end = begin; end < size && !is_hole(bytes + end);)
		end += UNIT;
	*at = begin;
	return end - begin;
}
