/* SPDX-License-Identifier: MIT */
/* Reading trace.dat: every variant as a whole; cut at every place that matters; with each byte of the headers wrong. */
#include "format/dat/dat_merge.h"
#include "format/io/bytes.h"
#include "tests/golden/dat_make.h"
#include "tests/unit/stored_frames.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static int input_fd = -1;

/* The file that was opened last. */
static const char *open_path(void)
{
	static char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", input_fd);
	return path;
}

static int open_bytes(const void *data, size_t size, struct dat_file **ret_file, struct dat_error *ret_error)
{
	if (input_fd < 0)
		input_fd = memfd_create("trace.dat", MFD_CLOEXEC);
	cr_assert(input_fd >= 0);
	cr_assert_eq(ftruncate(input_fd, 0), 0);
	cr_assert_eq(pwrite(input_fd, data, size, 0), (ssize_t)size);
	memset(ret_error, 0, sizeof(*ret_error));
	return dat_open(open_path(), &stored_frames, ret_file, ret_error);
}

struct sum {
	uint64_t events;
	uint64_t lost;
	uint64_t unknown_losses;
	uint64_t back; /* how often the time went back */
	uint64_t damaged;
	uint64_t touched; /* sum of all bytes of events, which are read so that the sanitizers check the accesses */
};

/* Reads all that can be read from an open file. */
static struct sum read_all(struct dat_file *file)
{
	struct dat_error error = { 0 };
	struct dat_merge *merge = NULL;
	struct dat_event event;
	struct dat_time time;
	struct sum sum = { 0 };
	uint64_t last = 0;
	uint32_t cpu;

	if (dat_time_open(file, 0, &time, &error)) {
		cr_expect_neq(error.text[0], '\0');
		return sum;
	}
	cr_assert_eq(dat_merge_open(file, &time, NULL, NULL, &merge), 0);
	while (dat_merge_next(merge, &event)) {
		for (uint32_t i = 0; i < event.size + event.bytes_after; i += 16)
			sum.touched += event.data[i];
		sum.events++;
		sum.lost += event.lost > 0 ? (uint64_t)event.lost : 0;
		sum.unknown_losses += event.lost < 0;
		sum.back += event.ts < last;
		last = event.ts;
	}
	sum.damaged = dat_merge_damaged(merge, &error, &cpu);
	cr_expect(!sum.damaged || error.text[0]);
	dat_merge_close(merge);
	dat_time_close(&time);
	return sum;
}

/* The number of streams that have data. */
static uint64_t count_streams(const struct dat_make *what)
{
	uint64_t cpus = what->flags & MAKE_EMPTY ? (what->cpus + 1) / 2 : what->cpus;

	if (what->flags & MAKE_LATENCY)
		return 0;
	return cpus * (what->flags & MAKE_INSTANCES ? what->flags & MAKE_ONLY ? 2 : 3 : 1);
}

Test(dat_read, every_variant_whole)
{
	for (const struct dat_make *what = dat_makes; what->name; what++) {
		struct dat_file *file = NULL;
		struct dat_error error;
		size_t size;
		unsigned char *data = dat_make(what, &size, NULL);
		struct sum sum;

		cr_assert_eq(open_bytes(data, size, &file, &error), 0, "%s: %s", what->name, error.text);
		cr_expect_eq(file->version, what->version, "%s", what->name);
		cr_expect_eq(file->big, what->big, "%s", what->name);
		cr_expect_eq(file->commit_size, what->long_size, "%s", what->name);
		cr_expect_eq(file->page_size, what->page_size, "%s", what->name);
		sum = read_all(file);
		cr_expect_eq(sum.events, count_streams(what) * what->events, "%s: %ju events", what->name,
			     (uintmax_t)sum.events);
		/* Interpolated offsets may make a CPU's clock run back. */
		if (!(what->flags & MAKE_SHIFTS))
			cr_expect_eq(sum.back, 0u, "%s", what->name);
		cr_expect_eq(sum.damaged, 0u, "%s", what->name);
		if (what->flags & MAKE_LOST && !(what->flags & MAKE_MARKERS))
			cr_expect(sum.lost % 42 == 0 && sum.lost && sum.unknown_losses, "%s", what->name);
		else
			cr_expect(!sum.lost && !sum.unknown_losses, "%s", what->name);
		dat_close(file);
		free(data);
	}
}

Test(dat_read, contents_of_the_headers)
{
	struct dat_file *file = NULL;
	struct dat_error error;
	size_t size;
	unsigned char *data = dat_make(dat_make_find("v7-instances"), &size, NULL);

	cr_assert_eq(open_bytes(data, size, &file, &error), 0);
	cr_expect_str_eq(file->compression, "none");
	cr_expect_eq(file->nr_buffers, 3u);
	cr_expect_str_eq(file->buffers[0].name, "");
	cr_expect_str_eq(file->buffers[1].name, "alpha");
	cr_expect_str_eq(file->buffers[1].clock, "[mono]");
	cr_expect_eq(file->buffers[2].nr_streams, 2u);
	cr_expect_str_eq(dat_option(file, DAT_UNAME)->data, "Linux test 1.0");
	cr_expect_null(dat_option(file, DAT_GUEST));
	cr_expect_eq(file->nr_formats, 11u);
	cr_expect_not_null(strstr(file->cmdlines.text, "1001 worker\n"));
	dat_close(file);
	free(data);
}

/* Wherever a file is cut, it does not open: its last bytes are needed. */
Test(dat_read, cut_anywhere)
{
	for (const struct dat_make *what = dat_makes; what->name; what++) {
		size_t marks[DAT_MAKE_MARKS] = { 0 }, size;
		unsigned char *data = dat_make(what, &size, marks);

		/* The text of a latency tracer ends with the file in version 6. */
		if (what->flags & MAKE_EMPTY || (what->flags & MAKE_LATENCY && what->version == 6)) {
			free(data);
			continue;
		}
		for (size_t i = 0; i < 400; i++) {
			size_t mark = i / 4 < DAT_MAKE_MARKS ? marks[i / 4] : size * (i - 255) / 145;
			size_t cut = mark + i % 4 - (mark > 2 ? 2 : 0);
			struct dat_file *file = NULL;
			struct dat_error error;

			if (cut >= size)
				continue;
			cr_assert_neq(open_bytes(data, cut, &file, &error), 0, "%s, cut at %zu of %zu", what->name, cut,
				      size);
			cr_assert_null(file);
			cr_assert_neq(error.text[0], '\0');
			cr_assert_null(strchr(error.text, '\n'));
		}
		free(data);
	}
}

/* A file with a wrong byte may still be valid; but impossible values must not be accepted. */
static void damage_one(unsigned char *data, size_t size, size_t at, size_t width, unsigned char with)
{
	unsigned char saved[8];
	struct dat_file *file = NULL;
	struct dat_error error;
	int err;

	if (width > size - at)
		width = size - at;
	memcpy(saved, data + at, width);
	for (size_t i = 0; i < width; i++)
		data[at + i] ^= with;
	err = open_bytes(data, size, &file, &error);
	if (err) {
		cr_assert_lt(err, 0);
		cr_assert_neq(error.text[0], '\0');
		cr_assert_null(file);
	} else {
		read_all(file);
	}
	dat_close(file);
	memcpy(data + at, saved, width);
}

static void damage_headers(const char *name)
{
	struct dat_make what = *dat_make_find(name);
	unsigned char *data;
	size_t size;

	what.events = 3;
	data = dat_make(&what, &size, NULL);
	for (size_t at = 0; at < size; at++) {
		/* Most of each page is unused. */
		if (at % 4096 > 256 && at > 7168 && at + 1024 < size)
			continue;
		damage_one(data, size, at, 1, (unsigned char)(1u << at % 8));
		if (at % 4 == 0)
			damage_one(data, size, at, 4, 0xff);
	}
	free(data);
}

Test(dat_read, every_byte_of_v6_wrong)
{
	damage_headers("v6-instances");
}

Test(dat_read, every_byte_of_v7_wrong)
{
	damage_headers("v7-instances");
}

Test(dat_read, every_byte_of_a_time_shift_wrong)
{
	damage_headers("v6-shifts");
}

static void refuse(const void *data, size_t size, int expected, const char *word)
{
	struct dat_file *file = NULL;
	struct dat_error error;
	int err = open_bytes(data, size, &file, &error);

	cr_expect_eq(err, expected, "%s: %d", error.text, err);
	cr_expect_not_null(strstr(error.text, word), "\"%s\" should contain %s", error.text, word);
}

Test(dat_read, each_refusal_has_its_text)
{
	size_t size;
	unsigned char *data = dat_make(dat_make_find("v6-plain"), &size, NULL);

	refuse("", 0, -EPROTO, "empty");
	refuse("#!/bin/sh\n", 10, -EPROTO, "not a trace.dat");
	refuse(data, size - 4096, -EBADMSG, "truncated: the CPU 1 data should end at");
	data[10] = '5';
	refuse(data, size, -EPROTONOSUPPORT, "version \"5\"");
	data[10] = '6';
	data[12] = 2;
	refuse(data, size, -EBADMSG, "byte order");
	data[12] = 0;
	data[14] = 1;
	refuse(data, size, -EBADMSG, "page size");
	free(data);
	data = dat_make(dat_make_find("v7-plain"), &size, NULL);
	memset(data + 24, 0, 8);
	refuse(data, size, -EBADMSG, "unfinished");
	memcpy(data + 18, "lzma", 4);
	refuse(data, size, -EPROTONOSUPPORT, "lzma");
	free(data);
}

Test(dat_read, options_that_point_at_themselves)
{
	struct dat_file *file = NULL;
	struct dat_error error;
	size_t size;
	unsigned char *data = dat_make(dat_make_find("v7-plain"), &size, NULL);
	uint64_t first;

	/* The last eight bytes of the file are where the next options are. */
	memcpy(&first, data + 18 + 5 + 1, sizeof(first));
	memcpy(data + size - 8, &first, sizeof(first));
	cr_expect_eq(open_bytes(data, size, &file, &error), -EBADMSG);
	cr_expect_not_null(strstr(error.text, "point at themselves"), "%s", error.text);
	free(data);
}

/* The pages around a damaged one are read, and the gap is reported. */
Test(dat_read, a_damaged_page_is_a_gap)
{
	struct dat_file *file = NULL;
	struct dat_error error;
	size_t size;
	unsigned char *data = dat_make(dat_make_find("v6-plain"), &size, NULL);
	struct sum sum;

	cr_assert_eq(open_bytes(data, size, &file, &error), 0);
	memset(data + file->buffers[0].streams[0].offset + 4096 + 8, 0x7f, 4);
	dat_close(file);
	cr_assert_eq(open_bytes(data, size, &file, &error), 0);
	sum = read_all(file);
	cr_expect_eq(sum.damaged, 1u);
	cr_expect_eq(sum.unknown_losses, 1u);
	cr_expect(sum.events > 450 && sum.events < 600);
	dat_close(file);
	free(data);
}

/* A chunk that does not unpack has two pages. Those of the chunks after it are read. */
Test(dat_read, a_damaged_chunk_is_a_gap)
{
	struct dat_make what = *dat_make_find("v7-zstd");
	struct dat_file *file = NULL;
	struct dat_error error;
	struct bytes b;
	uint32_t packed;
	size_t size;
	unsigned char *data;
	struct sum sum;

	what.cpus = 1;
	what.events = 1500;
	data = dat_make(&what, &size, NULL);
	cr_assert_eq(open_bytes(data, size, &file, &error), 0);
	bytes_from_memory(&b, data, size, false);
	bytes_skip(&b, file->buffers[0].streams[0].offset);
	cr_assert_gt(bytes_u32(&b), 3u, "there are not enough chunks");
	packed = bytes_u32(&b);
	bytes_skip(&b, 4u + packed);
	data[b.pos + 8] ^= 1;
	dat_close(file);
	cr_assert_eq(open_bytes(data, size, &file, &error), 0);
	sum = read_all(file);
	cr_expect_eq(sum.damaged, 2u, "%ju pages", (uintmax_t)sum.damaged);
	cr_expect_eq(sum.unknown_losses, 1u);
	cr_expect(sum.events > 1000 && sum.events < 1400, "%ju events", (uintmax_t)sum.events);
	dat_close(file);
	free(data);
}

Test(dat_read, what_cannot_be_a_file)
{
	struct dat_file *file = NULL;
	struct dat_error error;

	cr_expect_eq(dat_open("/nonexistent/trace.dat", NULL, &file, &error), -ENOENT);
	cr_expect_eq(dat_open("/", NULL, &file, &error), -EISDIR);
	cr_expect_eq(dat_open("/dev/null", NULL, &file, &error), -ESPIPE);
	cr_expect_null(file);
	cr_expect_null(dat_close(NULL));
}

/* The data of two CPUs must not overlap. */
Test(dat_read, streams_that_overlap)
{
	struct dat_file *file = NULL;
	struct dat_error error;
	size_t size, marks[DAT_MAKE_MARKS] = { 0 }, table = 0;
	unsigned char *data = dat_make(dat_make_find("v6-plain"), &size, marks);

	for (size_t i = 0; i < DAT_MAKE_MARKS - 1 && !table; i++)
		if (marks[i] >= 10 && !memcmp(data + marks[i] - 10, "flyrecord", 10))
			table = marks[i];
	cr_assert(table);
	memcpy(data + table + 16, data + table, 8);
	cr_expect_eq(open_bytes(data, size, &file, &error), -EBADMSG);
	cr_expect_str_eq(error.text, "damaged: the data of CPU 0 and of CPU 1 overlap");
	cr_assert_eq(dat_open_rest(open_path(), &stored_frames, &file, &error), 0);
	cr_expect_str_eq(file->missing.text, "damaged: the data of CPU 0 and of CPU 1 overlap");
	cr_expect_eq(read_all(file).events, 300u, "those of one CPU");
	dat_close(file);
	free(data);
}

/* The place of `number` among the options named `id`; the options are the last section. */
static unsigned char *find_option(unsigned char *data, size_t size, unsigned int id, unsigned int number)
{
	uint64_t at;

	memcpy(&at, data + 18 + 5 + 1, sizeof(at));
	for (at += 16; at + 6 <= size;) {
		uint32_t length;

		memcpy(&length, data + at + 2, sizeof(length));
		if (data[at] == id && !number--)
			return data + at + 6;
		at += 6 + length;
	}
	cr_assert_fail("no option %u", id);
	return NULL;
}

Test(dat_read, buffers_with_one_section)
{
	struct dat_file *file = NULL;
	struct dat_error error;
	size_t size;
	unsigned char *data = dat_make(dat_make_find("v7-instances"), &size, NULL);

	memcpy(find_option(data, size, 3, 2), find_option(data, size, 3, 1), 8);
	cr_expect_eq(open_bytes(data, size, &file, &error), -EBADMSG);
	cr_expect_not_null(strstr(error.text, "damaged: the option of buffer"), "%s", error.text);
	free(data);
}

/* The unpacked size of all compressed sections together is bounded, not only that of each. */
Test(dat_read, compressed_sections_are_bounded)
{
	const uint32_t limit = 60u << 20, more = limit + 1;
	struct dat_file *file = NULL;
	struct dat_error error;
	size_t size;
	unsigned char *data = dat_make(dat_make_find("v7-zstd"), &size, NULL);
	uint64_t options;

	memcpy(&options, data + 18 + 5 + 6, sizeof(options));
	memcpy(data + options + 16 + 4, &more, sizeof(more));
	cr_expect_eq(open_bytes(data, size, &file, &error), -EBADMSG);
	cr_expect_not_null(strstr(error.text, "would take more than 60 MiB"), "%s", error.text);
	/* The second section alone has the permitted size of all sections. */
	free(data);
	data = dat_make(dat_make_find("v7-zstd"), &size, NULL);
	memcpy(data + 18 + 5 + 6 + 8 + 16 + 4, &limit, sizeof(limit));
	cr_expect_eq(open_bytes(data, size, &file, &error), -EBADMSG);
	cr_expect_not_null(strstr(error.text, "would take more than 60 MiB"), "%s", error.text);
	free(data);
}
