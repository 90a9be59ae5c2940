/* SPDX-License-Identifier: MIT */
#include "drain_fixture.h"
#include "reader_fixture.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/recording/drain.h"
#include "cli/recording/spool.h"

#define LANES 3u

struct spool *spool;
struct drain *drain;
char buffer[PATH_MAX];
uint64_t written;
int dir;

static pid_t program;
static int pipe_end;

void end_writing(uint64_t number, int pipe)
{
	if (write(pipe, &number, sizeof(number)) != sizeof(number))
		_exit(1);
	for (;;)
		pause();
}

static void fill_lanes(struct rec_handle *lane, int pipe)
{
	uint64_t number = 0;

	for (unsigned int i = 0; i < LANES; i++) {
		while (reader_write(lane, number, 100))
			number++;
		if (i + 1 < LANES)
			lane = reader_lane();
	}
	end_writing(number, pipe);
}

void draining_begin_with(void (*fill)(struct rec_handle *lane, int pipe))
{
	const struct spool_head head = { .file_version = 6 };
	char path[PATH_MAX + 16];

	reader_begin(PAGES, true);
	program = reader_child(fill, buffer, &pipe_end);
	cr_assert_eq(read(pipe_end, &written, sizeof(written)), sizeof(written));
	cr_assert_gt(written, LANES * PAGES * 10);
	snprintf(path, sizeof(path), "%s/t.spool", getenv("RECORDER_DIR"));
	cr_assert_eq(spool_create(path, &head, &spool), 0);
	cr_assert_eq(spool_stage(spool, 8u << 20, 0), 0);
	dir = open(getenv("RECORDER_DIR"), O_RDONLY | O_DIRECTORY);
	cr_assert_geq(dir, 0);
	cr_assert_eq(drain_open(spool, dir, DRAIN_OWNED, strrchr(buffer, '/') + 1, &drain), 0);
}

void draining_begin(void)
{
	draining_begin_with(fill_lanes);
}

void draining_end(void)
{
	drain_close(drain);
	spool_close(spool);
	close(dir);
	close(pipe_end);
	reader_end();
}

void kill_program(void)
{
	kill(program, SIGKILL);
	cr_assert_eq(waitpid(program, NULL, 0), program);
}

void drain_to_the_end(void)
{
	for (unsigned int rounds = 0; !access(buffer, F_OK) && rounds < ROUNDS_MAX; rounds++) {
		cr_assert_geq(drain_run(drain), 0);
		/* A helper may have a lane. */
		sched_yield();
	}
	cr_assert_neq(access(buffer, F_OK), 0);
}

void expect_all(void)
{
	struct spool_stream *streams;
	struct rec_source *source;
	struct rec_page page;
	uint64_t events = 0;

	cr_assert_eq(spool_settle(spool), 0);
	cr_assert_eq(spool->events, written);
	cr_assert_eq(spool_source_open(spool, &source, &streams), 0);
	cr_assert_eq(source->nr_streams, LANES);
	for (unsigned int lane = 0; lane < LANES; lane++)
		for (uint64_t next = 0; source->next(source, lane, &page) == 1; next += page.entries) {
			cr_assert_eq(page.first, next);
			cr_assert_eq(page.lost, 0);
			events += page.entries;
		}
	cr_assert_eq(events, written);
	spool_source_close(source);
}
