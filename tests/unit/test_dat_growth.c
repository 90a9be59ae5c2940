/* SPDX-License-Identifier: MIT */
/*
 * A file that grows while it is read: the reader gets the events of the complete file, each as soon as its page is
 * complete.
 */
#include "format/dat/dat_growth.h"
#include "format/dat/dat_merge.h"
#include "tests/golden/dat_make.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* The writer: each wait appends one piece. */
struct writer {
	const unsigned char *data;
	size_t size; /* of the complete file */
	size_t end;  /* size at which the writer stops */
	size_t written;
	size_t step;
	int stop; /* result of a wait when there is nothing to append */
	int fd;
	char path[64];
};

static void append(struct writer *writer, size_t size)
{
	const size_t left = writer->end - writer->written;

	size = size < left ? size : left;
	cr_assert_eq(pwrite(writer->fd, writer->data + writer->written, size, (off_t)writer->written), (ssize_t)size);
	writer->written += size;
}

static int wait_for_piece(void *arg)
{
	struct writer *writer = arg;

	if (writer->written == writer->end)
		return writer->stop;
	append(writer, writer->step);
	return 1;
}

static void begin(struct writer *writer, const char *name, size_t *marks)
{
	*writer = (struct writer){ .fd = memfd_create("trace.dat", MFD_CLOEXEC) };
	cr_assert(writer->fd >= 0);
	writer->data = dat_make(dat_make_find(name), &writer->size, marks);
	writer->end = writer->size;
	snprintf(writer->path, sizeof(writer->path), "/proc/self/fd/%d", writer->fd);
}

static void end(struct writer *writer)
{
	free((void *)(uintptr_t)writer->data);
	close(writer->fd);
}

#define SEEN_MAX 8192u

/* The times of the events of a file, in order. */
static size_t read_events(struct dat_file *file, const struct writer *writer, uint64_t seen[SEEN_MAX])
{
	struct dat_error error = { 0 };
	struct dat_merge *merge = NULL;
	struct dat_event event;
	struct dat_time time;
	size_t nr = 0;
	uint32_t cpu;

	cr_assert_eq(dat_time_open(file, DAT_TIME_RAW, &time, &error), 0);
	cr_assert_eq(dat_merge_open(file, &time, NULL, NULL, &merge), 0);
	while (dat_merge_next(merge, &event)) {
		cr_assert(nr < SEEN_MAX);
		cr_assert(event.offset < writer->written);
		seen[nr++] = event.ts;
	}
	cr_expect_eq(dat_merge_damaged(merge, &error, &cpu), 0u, "%s", error.text);
	dat_merge_close(merge);
	dat_time_close(&time);
	return nr;
}

static uint64_t all[SEEN_MAX], some[SEEN_MAX];

/* The events of a file that ends at writer->end. */
static size_t read_complete(struct writer *writer)
{
	struct dat_error error = { 0 };
	struct dat_file *file;
	size_t nr;

	cr_assert_eq(ftruncate(writer->fd, 0), 0);
	writer->written = 0;
	append(writer, writer->end);
	if (dat_open_rest(writer->path, NULL, &file, &error))
		return 0;
	nr = read_events(file, writer, all);
	dat_close(file);
	return nr;
}

/* The file begins with `first` bytes and grows from there on. */
static void grow(struct writer *writer, size_t first, size_t step, size_t nr_all)
{
	struct dat_growth growth = { .wait = wait_for_piece, .arg = writer };
	struct dat_error error = { 0 };
	struct dat_file *file = NULL;
	size_t nr = 0;
	int err;

	cr_assert_eq(ftruncate(writer->fd, 0), 0);
	writer->written = 0;
	writer->step = step;
	append(writer, first);
	err = dat_open_growing(writer->path, NULL, &growth, &file, &error);
	if (!err) {
		nr = read_events(file, writer, some);
		if (writer->end < writer->size)
			cr_expect_neq(file->missing.text[0], '\0', "%zu bytes", writer->end);
		else
			cr_expect_eq(file->missing.text[0], '\0', "%s", file->missing.text);
	}
	cr_assert_eq(nr, nr_all, "from %zu by %zu to %zu: %zu events, not %zu; %s", first, step, writer->end, nr,
		     nr_all, error.text);
	cr_assert_eq(memcmp(some, all, nr * sizeof(*all)), 0, "from %zu by %zu", first, step);
	dat_close(file);
}

static void grow_anyhow(const char *name)
{
	static const size_t steps[] = { 61, 1000, 4096, 4097, 50000 };
	size_t marks[DAT_MAKE_MARKS] = { 0 };
	struct writer writer;
	size_t nr_all;

	begin(&writer, name, marks);
	nr_all = read_complete(&writer);
	cr_assert(nr_all > 10, "%s: %zu events", name, nr_all);
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++)
		grow(&writer, 0, steps[i], nr_all);
	for (size_t i = 0; marks[i]; i++)
		for (size_t first = marks[i] - 1; first <= marks[i] + 1 && first <= writer.size; first++)
			grow(&writer, first, 5003, nr_all);
	end(&writer);
}

Test(dat_growth, v6)
{
	grow_anyhow("v6-plain");
}

Test(dat_growth, v6_with_instances)
{
	grow_anyhow("v6-instances");
}

Test(dat_growth, v6_with_short_last_pages)
{
	grow_anyhow("v6-short");
}

Test(dat_growth, v6_of_another_machine)
{
	grow_anyhow("v6-big-long4");
}

Test(dat_growth, v7)
{
	grow_anyhow("v7-plain");
}

Test(dat_growth, v7_with_options_first)
{
	grow_anyhow("v7-options");
}

/* If the writer stops anywhere, the reader gets the same events as dat_open_rest() for such a file. */
Test(dat_growth, the_writer_ends_early)
{
	struct writer writer;
	size_t read = 0;

	begin(&writer, "v6-instances", NULL);
	for (writer.end = 5; writer.end < writer.size; writer.end += 911) {
		const size_t nr = read_complete(&writer);

		grow(&writer, 0, 3001, nr);
		read += nr > 0;
	}
	cr_expect(read > 10, "%zu ends had events", read);
	end(&writer);
}

static bool is_first(const void *arg, const struct dat_buffer *buffer, uint32_t cpu)
{
	(void)arg;
	(void)buffer;
	return !cpu;
}

/* The reader gets events before the file is complete, and waits only for the streams that it reads. */
Test(dat_growth, events_come_with_their_pages)
{
	struct dat_growth growth = { .wait = wait_for_piece };
	struct dat_error error = { 0 };
	struct dat_merge *merge = NULL;
	struct dat_event event;
	struct dat_file *file = NULL;
	struct writer writer;
	struct dat_time time;
	size_t nr = 0;

	begin(&writer, "v6-plain", NULL);
	growth.arg = &writer;
	writer.step = 100;
	cr_assert_eq(dat_open_growing(writer.path, NULL, &growth, &file, &error), 0, "%s", error.text);
	cr_assert_eq(dat_time_open(file, DAT_TIME_RAW, &time, &error), 0);
	cr_assert_eq(dat_merge_open(file, &time, is_first, NULL, &merge), 0);
	while (dat_merge_next(merge, &event)) {
		const uint64_t end = event.offset + event.buffer->page_size;

		cr_assert(writer.written >= end && writer.written < end + writer.step,
			  "the event of the page at %ju came after %zu bytes", (uintmax_t)event.offset, writer.written);
		nr++;
	}
	cr_expect(nr > 10 && writer.written < writer.size, "%zu events", nr);
	dat_merge_close(merge);
	dat_time_close(&time);
	dat_close(file);
	end(&writer);
}

/* If the wait fails, nothing more comes, and nothing is reported as missing. */
Test(dat_growth, the_wait_is_given_up)
{
	struct writer writer;
	size_t opened = 0;

	begin(&writer, "v6-plain", NULL);
	writer.step = 2000;
	writer.stop = -EINTR;
	for (writer.end = 7; writer.end < writer.size; writer.end += 1501) {
		struct dat_growth growth = { .wait = wait_for_piece, .arg = &writer };
		struct dat_error error = { 0 };
		struct dat_file *file = NULL;
		int err;

		cr_assert_eq(ftruncate(writer.fd, 0), 0);
		writer.written = 0;
		err = dat_open_growing(writer.path, NULL, &growth, &file, &error);
		if (err) {
			cr_expect_eq(err, -EINTR, "%zu: %d, %s", writer.end, err, error.text);
			continue;
		}
		read_events(file, &writer, some);
		cr_expect_eq(file->missing.text[0], '\0', "%s", file->missing.text);
		dat_close(file);
		opened++;
	}
	cr_expect(opened > 0);
	end(&writer);
}

Test(dat_growth, another_file)
{
	struct writer writer = { .end = 100, .step = 1, .stop = -EINTR };
	struct dat_growth growth = { .wait = wait_for_piece, .arg = &writer };
	struct dat_error error = { 0 };
	struct dat_file *file = NULL;
	static const unsigned char text[100] = "This is a file of another kind, and no more of it is waited for.";

	writer.fd = memfd_create("text", MFD_CLOEXEC);
	writer.data = text;
	snprintf(writer.path, sizeof(writer.path), "/proc/self/fd/%d", writer.fd);
	cr_expect_eq(dat_open_growing(writer.path, NULL, &growth, &file, &error), -EPROTO, "%s", error.text);
	cr_expect_eq(writer.written, 18u, "%zu bytes", writer.written);
	close(writer.fd);
}
