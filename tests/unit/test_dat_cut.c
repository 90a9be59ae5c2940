/* SPDX-License-Identifier: MIT */
/* Files that end anywhere, or were never finished: dat_open_rest() reads all events that are there, and no others. */
#include "format/dat/dat_chunks.h"
#include "format/dat/dat_merge.h"
#include "format/dat/dat_seek.h"
#include "format/io/bytes.h"
#include "tests/golden/dat_make.h"
#include "tests/unit/stored_frames.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static int open_bytes(const void *data, size_t size, struct dat_file **ret_file, struct dat_error *ret_error)
{
	static int fd = -1;
	char path[64];

	if (fd < 0)
		fd = memfd_create("trace.dat", MFD_CLOEXEC);
	cr_assert(fd >= 0);
	cr_assert_eq(ftruncate(fd, 0), 0);
	cr_assert_eq(pwrite(fd, data, size, 0), (ssize_t)size);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	memset(ret_error, 0, sizeof(*ret_error));
	return dat_open_rest(path, &stored_frames, ret_file, ret_error);
}

struct seen {
	uint64_t ts;
	uint64_t end; /* of the record in the file, or of its chunk */
};

#define SEEN_MAX 8192u

static uint64_t end_of(const struct dat_file *file, const struct dat_event *event)
{
	const uint64_t left = file->size - event->offset;
	const uint64_t page = left < event->buffer->page_size ? left : event->buffer->page_size;
	unsigned char size[4];

	if (!event->buffer->compressed)
		return event->offset + page - event->bytes_after;
	cr_assert_eq(pread(file->fd, size, sizeof(size), (off_t)event->offset), (ssize_t)sizeof(size));
	return event->offset + 8 + bytes_get32(size, file->big);
}

/* The events of a file in order. */
static size_t read_events(struct dat_file *file, struct seen seen[SEEN_MAX])
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
		seen[nr++] = (struct seen){ event.ts, end_of(file, &event) };
	}
	cr_expect_eq(dat_merge_damaged(merge, &error, &cpu), 0u, "%s", error.text);
	dat_merge_close(merge);
	dat_time_close(&time);
	return nr;
}

static struct seen all[SEEN_MAX], some[SEEN_MAX];

/* The first `cut` bytes have exactly the events that end there, in the same order. Returns their number. */
static size_t check_cut(const char *name, const unsigned char *data, size_t cut, size_t nr_all)
{
	struct dat_file *file = NULL;
	struct dat_error error;
	size_t nr = 0, next = 0;
	int err = open_bytes(data, cut, &file, &error);

	if (!err) {
		cr_expect_neq(file->missing.text[0], '\0', "%s, %zu bytes: something is missing", name, cut);
		nr = read_events(file, some);
	} else {
		cr_expect(err == -EBADMSG || err == -EPROTO, "%s, %zu bytes: %d", name, cut, err);
		cr_expect_neq(error.text[0], '\0');
	}
	for (size_t i = 0; i < nr_all; i++) {
		if (all[i].end > cut)
			continue;
		cr_assert(next < nr, "%s, %zu bytes: %zu events, the one that ends at %ju is missing", name, cut, nr,
			  (uintmax_t)all[i].end);
		cr_assert_eq(some[next].ts, all[i].ts, "%s, %zu bytes: event %zu", name, cut, next);
		next++;
	}
	cr_assert_eq(next, nr, "%s, %zu bytes: %zu events too many", name, cut, nr - next);
	dat_close(file);
	return nr;
}

static void cut_made(const struct dat_make *what)
{
	size_t marks[DAT_MAKE_MARKS] = { 0 }, size, nr_all, found = 0;
	unsigned char *data = dat_make(what, &size, marks);
	const char *name = what->name;
	struct dat_file *file = NULL;
	struct dat_error error;

	cr_assert_eq(open_bytes(data, size, &file, &error), 0, "%s: %s", name, error.text);
	cr_expect_eq(file->missing.text[0], '\0', "%s: %s", name, file->missing.text);
	nr_all = read_events(file, all);
	dat_close(file);
	for (size_t i = 0; marks[i] && marks[i] < size; i++)
		for (size_t cut = marks[i] - 3; cut < marks[i] + 4; cut++)
			found += cut < size && check_cut(name, data, cut, nr_all);
	for (size_t cut = 1; cut < size; cut += 131)
		found += check_cut(name, data, cut, nr_all) != 0;
	cr_expect(found > 10, "%s: %zu cuts had events", name, found);
	free(data);
}

static void cut_anywhere(const char *name)
{
	cut_made(dat_make_find(name));
}

/* The same file, with further features. */
static struct dat_make make_with(const char *name, unsigned int flags)
{
	struct dat_make what = *dat_make_find(name);

	what.flags |= flags;
	return what;
}

Test(dat_cut, v6)
{
	cut_anywhere("v6-plain");
}

Test(dat_cut, v6_with_instances)
{
	cut_anywhere("v6-instances");
}

Test(dat_cut, v6_of_another_machine)
{
	cut_anywhere("v6-big-long4");
}

/* Files of version 7 end with the options, which describe everything else. */
Test(dat_cut, v7)
{
	cut_anywhere("v7-plain");
}

Test(dat_cut, v7_with_instances)
{
	cut_anywhere("v7-instances");
}

Test(dat_cut, v7_with_options_first)
{
	cut_anywhere("v7-options");
}

Test(dat_cut, v7_of_another_machine)
{
	cut_anywhere("v7-big-endian");
}

/* As trace-cmd writes it: the data of each CPU begin at a page. */
Test(dat_cut, v7_compressed)
{
	cut_anywhere("v7-zstd");
	cut_anywhere("v7-zstd-instances");
}

/* The data of a CPU begin where those of the CPU before end. */
Test(dat_cut, v7_compressed_without_padding)
{
	const struct dat_make little = make_with("v7-zstd", MAKE_TIGHT);
	const struct dat_make big = make_with("v7-zstd-instances", MAKE_TIGHT);

	cut_made(&little);
	cut_made(&big);
}

/*
 * What a writer has done that stores a size when it has written the data: the offset of the options, the size of this
 * buffer, and the number of chunks of this CPU are 0, and the file ends somewhere in the CPU's data.
 */
static size_t stop_in(const char *name, const unsigned char *data, size_t nr_all, size_t options_at,
		      const struct dat_buffer *buffer, const struct dat_stream *stream)
{
	const size_t end = stream->offset + stream->size;
	unsigned char *some_data = malloc(end);
	size_t found = 0;

	cr_assert_not_null(some_data);
	memcpy(some_data, data, end);
	memset(some_data + options_at, 0, 8);
	memset(some_data + buffer->offset + 8, 0, 8);
	if (buffer->compressed)
		memset(some_data + stream->offset, 0, 4);
	for (size_t cut = stream->offset; cut <= end; cut += cut + 61 < end || cut == end ? 61 : end - cut)
		found += check_cut(name, some_data, cut, nr_all) > 0;
	free(some_data);
	return found;
}

static void stop_anywhere(const struct dat_make *what, size_t options_at)
{
	struct dat_file *file = NULL;
	struct dat_error error;
	size_t size, nr_all, found = 0;
	unsigned char *data = dat_make(what, &size, NULL);

	cr_assert_eq(open_bytes(data, size, &file, &error), 0, "%s: %s", what->name, error.text);
	nr_all = read_events(file, all);
	for (size_t i = 0; i < file->nr_buffers; i++)
		for (uint32_t s = 0; s < file->buffers[i].nr_streams; s++)
			found += stop_in(what->name, data, nr_all, options_at, &file->buffers[i],
					 &file->buffers[i].streams[s]);
	dat_close(file);
	cr_expect(found > 10, "%s: %zu files had events", what->name, found);
	free(data);
}

Test(dat_cut, stopped_in_the_data_of_a_cpu)
{
	const struct dat_make tight = make_with("v7-zstd-instances", MAKE_TIGHT);

	stop_anywhere(dat_make_find("v7-instances"), 24);
	stop_anywhere(dat_make_find("v7-zstd"), 29);
	stop_anywhere(dat_make_find("v7-zstd-instances"), 29);
	stop_anywhere(&tight, 29);
}

/* The section of a buffer without data has the size 0, and does not hide the sections after it. */
Test(dat_cut, after_an_empty_buffer)
{
	static const unsigned char empty[16] = { DAT_BUFFER, 0, 0, 0, 0xff, 0xff, 0xff, 0xff };
	struct dat_file *file = NULL;
	struct dat_error error;
	size_t file_size, nr_all, at, end;
	unsigned char *data = dat_make(dat_make_find("v7-plain"), &file_size, NULL);
	uint64_t size;

	cr_assert_eq(open_bytes(data, file_size, &file, &error), 0);
	nr_all = read_events(file, all);
	at = file->buffers[0].offset;
	end = file->options_offset;
	cr_assert_geq(file->buffers[0].streams[0].offset, at + 2 * sizeof(empty), "there is no room");
	dat_close(file);
	/* Move the header of the buffer's section into its padding. */
	memmove(data + at + sizeof(empty), data + at, sizeof(empty));
	memcpy(data + at, empty, sizeof(empty));
	memcpy(&size, data + at + 24, sizeof(size));
	size -= sizeof(empty);
	memcpy(data + at + 24, &size, sizeof(size));
	memset(data + 24, 0, 8);
	cr_expect_eq(check_cut("an empty buffer", data, end, nr_all), nr_all);
	free(data);
}

/* The file has all its data, except what a writer stores last: the place of the options. */
Test(dat_cut, never_finished)
{
	size_t size, nr_all;
	unsigned char *data = dat_make(dat_make_find("v7-instances"), &size, NULL);
	struct dat_file *file = NULL;
	struct dat_error error;

	cr_assert_eq(open_bytes(data, size, &file, &error), 0);
	nr_all = read_events(file, all);
	dat_close(file);
	memset(data + 24, 0, 8);
	cr_assert_eq(open_bytes(data, size, &file, &error), 0, "%s", error.text);
	cr_expect_not_null(strstr(file->missing.text, "unfinished"), "%s", file->missing.text);
	/* The reader finds the options as it finds sections, so nothing is missing. */
	cr_expect_eq(file->nr_buffers, 3u);
	cr_expect_str_eq(file->buffers[1].name, "alpha");
	cr_expect_eq(read_events(file, some), nr_all);
	dat_close(file);
	free(data);
}

/* If a chain of options returns to its beginning, reading ends there, and no buffer is found twice. */
Test(dat_cut, options_that_point_at_themselves)
{
	size_t size, nr_all;
	unsigned char *data = dat_make(dat_make_find("v7-plain"), &size, NULL);
	struct dat_file *file = NULL;
	struct dat_error error;

	cr_assert_eq(open_bytes(data, size, &file, &error), 0);
	nr_all = read_events(file, all);
	dat_close(file);
	memcpy(data + size - 8, data + 24, 8);
	cr_assert_eq(open_bytes(data, size, &file, &error), 0, "%s", error.text);
	cr_expect_not_null(strstr(file->missing.text, "point at themselves"), "%s", file->missing.text);
	cr_expect_eq(file->nr_buffers, 1u);
	cr_expect_eq(read_events(file, some), nr_all);
	dat_close(file);
	free(data);
}

/* The sizes in the file are still compared with its length. */
Test(dat_cut, nothing_is_there)
{
	size_t size;
	unsigned char *data = dat_make(dat_make_find("v6-plain"), &size, NULL);
	struct dat_file *file = NULL;
	struct dat_error error;

	cr_expect_eq(open_bytes(data, 0, &file, &error), -EPROTO);
	cr_expect_eq(open_bytes(data, 300, &file, &error), -EBADMSG);
	cr_expect_not_null(strstr(error.text, "truncated"), "%s", error.text);
	cr_expect_null(file);
	free(data);
}

static int decompress_nothing(void *dst, size_t dst_size, const void *src, size_t src_size)
{
	memcpy(dst, src, src_size < dst_size ? src_size : dst_size);
	return 0;
}

/* Three chunks of one page each; the last one is damaged, and its size is beyond the end of the file. */
static void write_chunks(unsigned char data[4 + 3 * 520])
{
	const uint32_t count = 3, size = 512, damaged = 1500;

	memcpy(data, &count, 4);
	for (uint32_t i = 0; i < 3; i++) {
		unsigned char *chunk = data + 4 + (size_t)i * 520;
		const uint64_t page[] = { 1000u * (i + 1), 12 };

		memcpy(chunk, i == 2 ? &damaged : &size, 4);
		memcpy(chunk + 4, &size, 4);
		memcpy(chunk + 8, page, sizeof(page));
	}
}

/* Damage is found by a cursor that begins at a time, as it is by one that begins at the start. */
Test(dat_cut, a_damaged_chunk_after_a_time)
{
	static unsigned char data[4 + 3 * 520];
	const struct dat_codec codec = { .name = "none", .decompress = decompress_nothing };
	struct dat_chunks chunks = { 0 };
	struct dat_file file = {
		.size = sizeof(data), .codec = &codec, .chunks = &chunks, .commit_size = 8,
		.big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	};
	const struct dat_buffer buffer = { .page_size = 512, .compressed = true };
	const struct dat_stream stream = { .size = sizeof(data) };
	const struct dat_time time = { 0 };

	write_chunks(data);
	file.fd = memfd_create("chunks", MFD_CLOEXEC);
	cr_assert_eq(pwrite(file.fd, data, sizeof(data), 0), (ssize_t)sizeof(data));
	for (uint64_t since = 0; since <= 2500; since += 2500) {
		struct dat_cursor cursor;
		struct dat_error error;
		struct dat_page page;
		int ret;

		cr_assert_eq(dat_cursor_open(&file, &buffer, &stream, &cursor), 0);
		cr_assert_eq(since ? dat_cursor_seek(&cursor, &time, since) : 0, 0);
		while ((ret = dat_cursor_next(&cursor, &page, &error)) > 0)
			;
		cr_expect_eq(ret, -EBADMSG, "from %ju: %d", (uintmax_t)since, ret);
		dat_cursor_close(&cursor);
	}
	close(file.fd);
}

#define CHUNK (1u << 20)
#define PAGES (CHUNK / 4096)
#define CPUS  100u
#define ROOM  (13u << 20) /* dat_chunks.c, and the memory allocator's own */

/* Each page of a chunk begins with its number. */
static int decompress_numbers(void *dst, size_t dst_size, const void *src, size_t src_size)
{
	(void)src;
	(void)src_size;
	for (uint32_t i = 0; i < dst_size / 4096; i++)
		memcpy((char *)dst + (size_t)i * 4096, &i, sizeof(i));
	return 0;
}

/* The next page of each cursor. Returns the bytes that the cursors hold then. */
static size_t next_pages(struct dat_cursor *cursors, uint32_t number)
{
	struct dat_error error;
	struct dat_page page;
	uint32_t found;
	size_t held = 0;

	for (unsigned int i = 0; i < CPUS; i++) {
		dat_cursor_keep(&cursors[i]);
		cr_assert_eq(dat_cursor_next(&cursors[i], &page, &error), 1);
		memcpy(&found, page.data, sizeof(found));
		cr_assert_eq(found, number % PAGES, "CPU %u: page %u instead of %u", i, found, number);
		cr_assert_eq(page.in_chunk, number % PAGES * 4096);
	}
	for (unsigned int i = 0; i < CPUS; i++)
		held += malloc_usable_size(cursors[i].blocks[0]) + malloc_usable_size(cursors[i].blocks[1]);
	return held;
}

/* The memory for chunks is bounded for any number of CPUs, and each of them has all of its pages. */
Test(dat_cut, chunks_of_many_cpus)
{
	static const uint32_t words[] = { 2, 4, CHUNK, 0, 4, CHUNK, 0 };
	static struct dat_stream streams[CPUS];
	static struct dat_cursor cursors[CPUS];
	const struct dat_codec codec = { .name = "none", .decompress = decompress_numbers };
	struct dat_buffer buffer = { .page_size = 4096, .compressed = true, .nr_streams = CPUS, .streams = streams };
	struct dat_chunks chunks = { 0 };
	struct dat_file file = { .size = CPUS * sizeof(words), .codec = &codec, .chunks = &chunks, .commit_size = 8,
				 .nr_buffers = 1, .buffers = &buffer, .nr_streams = CPUS };
	struct dat_error error;
	struct dat_page page;

	file.big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
	file.fd = memfd_create("chunks", MFD_CLOEXEC);
	for (unsigned int i = 0; i < CPUS; i++) {
		streams[i] = (struct dat_stream){ .offset = i * sizeof(words), .size = sizeof(words) };
		cr_assert_eq(pwrite(file.fd, words, sizeof(words), (off_t)streams[i].offset), (ssize_t)sizeof(words));
	}
	for (unsigned int i = 0; i < CPUS; i++)
		cr_assert_eq(dat_cursor_open(&file, &buffer, &streams[i], &cursors[i]), 0);
	for (uint32_t number = 0; number < 2 * PAGES; number++) {
		const size_t held = next_pages(cursors, number), part = cursors[0].part_room / 4096;

		/* At the start of a part, the one before it is kept. */
		if (number % PAGES % part)
			cr_expect_leq(held, ROOM, "page %u: %zu bytes are held", number, held);
	}
	for (unsigned int i = 0; i < CPUS; i++) {
		cr_expect_eq(dat_cursor_next(&cursors[i], &page, &error), 0);
		dat_cursor_close(&cursors[i]);
	}
	dat_chunks_free(&chunks);
	close(file.fd);
}
