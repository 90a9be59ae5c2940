/* SPDX-License-Identifier: MIT */
/*
 * The cost of a system, a buffer or a stream does not grow with their number in the file. Each test compares the
 * processor time with that of the same number of steps without a search. The factor between a search through a list and
 * through a table is so large here that the machine's load does not matter.
 */
#include "format/dat/dat_copy.h"
#include "weave_fixture.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define NAMES 32000u

static uint64_t processor_time(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* The processor time of writing the formats of events, each of its own system or all of one. */
static uint64_t write_systems(bool own)
{
	struct dat_writer *writer;
	uint64_t from;

	cr_assert_eq(dat_write_open(fixture_path("systems.dat"), 7, 4096, 1, &writer), 0);
	from = processor_time();
	for (unsigned int i = 0; i < NAMES; i++) {
		char name[24];

		snprintf(name, sizeof(name), "system_%u", own ? i : 0);
		cr_assert_eq(dat_write_format(writer, name, "name: a\n", 8), 0);
	}
	from = processor_time() - from;
	dat_write_close(writer);
	return from;
}

/*
 * The processor time of beginning a copy of a file with many buffers: of its events, for which buffers of the same name
 * are searched, or of its pages.
 */
static uint64_t copy_buffers(bool events)
{
	struct dat_buffer *buffers = calloc(NAMES, sizeof(*buffers));
	char (*names)[24] = calloc(NAMES, sizeof(*names));
	const struct dat_file file = { .version = 7, .page_size = 4096, .long_size = 8, .commit_size = 8,
				       .nr_buffers = NAMES, .buffers = buffers };
	struct dat_error error;
	struct dat_copy copy;
	uint64_t from;

	for (unsigned int i = 0; i < NAMES; i++) {
		snprintf(names[i], sizeof(names[i]), "program:%u", i);
		buffers[i] = (struct dat_buffer){ .name = names[i], .page_size = 4096 };
	}
	from = processor_time();
	cr_assert_eq(dat_copy_open(&file, fixture_path("buffers.dat"), 7, events ? DAT_COPY_EVENTS : 0, NULL, NULL,
				   &copy, &error),
		     0);
	from = processor_time() - from;
	for (unsigned int i = 0; i < NAMES; i++)
		cr_assert_eq(copy.buffers[i], i + 1);
	dat_copy_close(&copy);
	free(buffers);
	free(names);
	return from;
}

/* The processor time of opening the streams of a file with many of them; or that of a file with one, as often. */
static uint64_t open_streams(bool many)
{
	struct dat_stream *streams = calloc(NAMES, sizeof(*streams));
	struct dat_buffer buffer = { .page_size = 4096, .nr_streams = many ? NAMES : 1, .streams = streams };
	const struct dat_file file = { .commit_size = 8, .nr_buffers = 1, .buffers = &buffer,
				       .nr_streams = buffer.nr_streams };
	const uint64_t from = processor_time();
	uint64_t time;

	for (unsigned int i = 0; i < NAMES; i++) {
		struct dat_cursor cursor;

		streams[i].size = 3 * 4096;
		cr_assert_eq(dat_cursor_open(&file, &buffer, &streams[many ? i : 0], &cursor), 0);
		dat_cursor_close(&cursor);
	}
	time = processor_time() - from;
	free(streams);
	return time;
}

/* The least of some measurements: anything else that the machine does only adds to them. */
static uint64_t least_time(uint64_t (*measure)(bool with_search), bool with_search)
{
	uint64_t least = UINT64_MAX;

	for (unsigned int i = 0; i < 3; i++) {
		const uint64_t time = measure(with_search);

		least = time < least ? time : least;
	}
	return least;
}

/* Searches take less than `times` the time of the rest; through a list, they would take ten times more. */
static void compare(uint64_t (*measure)(bool with_search), unsigned int times)
{
	const uint64_t without = least_time(measure, false), with = least_time(measure, true);

	cr_expect_lt(with, times * without, "%ju ns with searches, %ju ns without", (uintmax_t)with,
		     (uintmax_t)without);
}

Test(dat_names, systems)
{
	compare(write_systems, 100);
}

Test(dat_names, buffers)
{
	compare(copy_buffers, 8);
}

Test(dat_names, streams)
{
	compare(open_streams, 8);
}
