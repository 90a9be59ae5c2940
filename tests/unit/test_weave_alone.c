/* SPDX-License-Identifier: MIT */
/* The kernel's streams in the weave without a program: their pages are used unchanged if that is correct. */
#include "format/dat/dat_read.h"
#include "kernel_fixture.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <librecorder/page.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The pages of a CPU in the file, unchanged. */
static unsigned char *pages_of(const char *path, unsigned int cpu, uint64_t *ret_size)
{
	struct dat_error error;
	struct dat_file *file;
	unsigned char *pages;

	cr_assert_eq(dat_open(path, NULL, &file, &error), 0);
	*ret_size = file->buffers[0].streams[cpu].size;
	pages = malloc(*ret_size + 1);
	cr_assert_eq(pread(file->fd, pages, *ret_size, (off_t)file->buffers[0].streams[cpu].offset),
		     (ssize_t)*ret_size);
	dat_close(file);
	return pages;
}

/* Adds the flags and the count of a loss to the last page, as the kernel does when a page is taken. */
static void flag_last(struct both *b, unsigned int cpu, uint64_t lost)
{
	struct fake_stream *stream = &b->w.fake->streams[b->lanes + cpu];
	const struct rec_page *page = fake_last_page(b->w.fake, b->lanes + cpu);
	unsigned char *bytes = stream->pages[stream->nr_pages - 1].bytes;
	uint64_t commit = page->size;

	if (lost)
		commit |= REC_COMMIT_LOST | UINT64_C(0xffffffff00000000); /* the kernel adds it as a negative int */
	if (lost && lost != REC_LOST_UNKNOWN) {
		commit |= REC_COMMIT_LOST_STORED;
		memcpy(bytes + 16 + page->size, &lost, 8);
	}
	memcpy(bytes + 8, &commit, 8);
}

static void make_alone(struct both *b)
{
	uint64_t i;

	both_begin(b, 0, 1);
	for (i = 0; i < 600; i++) {
		if (i && i % 150 == 0) {
			const uint64_t lost = i == 300 ? REC_LOST_UNKNOWN : i;

			fake_lose(b->w.fake, 0, lost);
			both_put(b, 0, 1000 + i, i);
			fake_end_page(b->w.fake, 0);
			flag_last(b, 0, lost);
			continue;
		}
		both_put(b, 0, 1000 + i, i);
	}
}

static void check_alone(struct both *b, const struct seen *seen)
{
	uint64_t i;

	cr_assert_eq(seen->nr, 600);
	cr_assert_eq(b->w.stats.lost, 150 + 450);
	for (i = 0; i < 600; i++) {
		check_event(&seen->events[i], "sched:tick", 0, 1000 + i, i);
		cr_assert_eq(seen->events[i].lost, i == 300 ? -1 : i && i % 150 == 0 ? (int64_t)i : 0);
	}
}

Test(weave_alone, by_way_of_memory)
{
	struct both b;
	struct seen *seen;

	make_alone(&b);
	seen = weave(&b.w);
	check_alone(&b, seen);
	weaving_end(&b.w, seen);
}

/* A file with all pages of the kernel, one after the other, after 512 unrelated bytes. */
static struct weave_file file_of(const struct both *b, unsigned char **ret_pages)
{
	const struct fake_stream *stream = &b->w.fake->streams[b->lanes];
	const size_t size = stream->nr_pages * 4096;
	struct weave_file file = { fileno(tmpfile()), 512 };
	unsigned int i;

	*ret_pages = malloc(size);
	for (i = 0; i < stream->nr_pages; i++)
		memcpy(*ret_pages + i * 4096, stream->pages[i].bytes, 4096);
	cr_assert_eq(pwrite(file.fd, *ret_pages, size, 512), (ssize_t)size);
	return file;
}

/* The output has the same bytes as the file from which the kernel's pages were taken. */
Test(weave_alone, out_of_a_file)
{
	struct both b;
	struct seen *seen;
	struct weave_file file;
	unsigned char *expected, *pages;
	uint64_t size;

	make_alone(&b);
	file = file_of(&b, &expected);
	b.w.fake->described[0].file = &file;
	seen = weave(&b.w);
	check_alone(&b, seen);
	pages = pages_of(b.w.params.output, 0, &size);
	cr_assert_eq(size, b.w.fake->streams[0].nr_pages * 4096);
	cr_assert_arr_eq(pages, expected, size);
	free(pages);
	free(expected);
	weaving_end(&b.w, seen);
}

/* An empty page is left out, a damaged one and the one after it are rebuilt; the others are copied from the file. */
Test(weave_alone, out_of_a_file_with_faults)
{
	struct both b;
	struct seen *seen;
	struct weave_file file;
	unsigned char *pages;
	unsigned int i;

	both_begin(&b, 0, 1);
	for (i = 0; i < 8; i++) {
		both_put(&b, 0, 1000 + i, i);
		fake_end_page(b.w.fake, 0);
		flag_last(&b, 0, 0);
	}
	b.w.fake->streams[0].pages[2].page.size = 0;
	b.w.fake->streams[0].pages[4].page.size += 8;
	memcpy(b.w.fake->streams[0].pages[4].bytes + 16 + 20, (uint32_t[2]){ 0, 70000 }, 8);
	file = file_of(&b, &pages);
	b.w.fake->described[0].file = &file;
	seen = weave(&b.w);
	cr_assert_eq(seen->nr, 7);
	for (i = 0; i < 7; i++) {
		check_event(&seen->events[i], "sched:tick", 0, 1000 + i + (i >= 2), i + (i >= 2));
		cr_assert_eq(seen->events[i].lost, i == 4 ? -1 : 0);
	}
	free(pages);
	weaving_end(&b.w, seen);
}

/* If programs have larger sub-buffers, the file's pages are as large: several of the kernel's pages go into one. */
Test(weave_alone, raw_with_longer_pages_of_programs)
{
	const uint32_t long_page = 65536;
	struct both b;
	struct seen *seen;
	unsigned char *pages;
	uint64_t i, size;

	both_begin(&b, 1, 1);
	b.w.params.raw = true;
	b.processes[0].subbuf_size = long_page;
	both_put_user(&b, 0, 0, 500, 0);
	for (i = 0; i < 10000; i++) {
		if (i == 7000)
			fake_lose(b.w.fake, 1, 44);
		both_put(&b, 0, 1000 + i, i);
	}
	seen = weave(&b.w);
	cr_assert_eq(seen->nr, 10001);
	cr_assert_eq(seen->page_size, long_page);
	for (i = 0; i < 10000; i++) {
		check_event(&seen->events[i + 1], "sched:tick", 0, 1000 + i, i);
		cr_assert_eq(seen->events[i + 1].lost, i == 7000 ? 44 : 0);
	}
	pages = pages_of(b.w.params.output, 0, &size);
	/* The events, of 20 bytes each, take three pages, and the loss begins one more. */
	cr_assert_eq(size, 4 * long_page);
	free(pages);
	weaving_end(&b.w, seen);
}

/* A loss before a record that is not an event would not be shown: that page is rebuilt, the others are unchanged. */
Test(weave_alone, a_loss_before_a_stamp)
{
	struct both b;
	struct seen *seen;
	struct page_maker page;

	both_begin(&b, 0, 1);
	both_put(&b, 0, 1000, 0);
	fake_lose(b.w.fake, 0, 33);
	both_put(&b, 0, 2000, 0);
	page.bytes = b.w.fake->streams[0].pages[1].bytes;
	make_page(&page, 2000);
	fake_last_page(b.w.fake, 0)->size = page.size;
	seen = weave(&b.w);
	cr_assert_eq(seen->nr, 5);
	cr_assert_eq(seen->events[1].lost, 33);
	weaving_end(&b.w, seen);
}

/* The file has the kernel's clock, the numbers that convert it to nanoseconds, and the unchanged pages. */
Test(weave_alone, on_the_tsc)
{
	static const struct rec_anchor anchors[] = {
		{ UINT64_C(30000000000), UINT64_C(5000000000), 0, 10 },
		{ UINT64_C(60000000000), UINT64_C(15000000000), 0, 10 },
	};
	struct both b;
	struct seen *seen;
	unsigned char *pages;
	uint64_t i, size, time;

	both_begin(&b, 0, 2);
	b.kernel.clock = "x86-tsc";
	b.processes[1].clock = REC_CLOCK_TSC;
	b.processes[1].anchors = anchors;
	b.processes[1].nr_anchors = 2;
	for (i = 0; i < 3000; i++)
		both_put(&b, (unsigned int)(i % 2), UINT64_C(30000000000) + i * 3000, i);
	seen = weave(&b.w);
	cr_assert_eq(seen->nr, 3000);
	cr_assert_str_eq(seen->clock, "[x86-tsc]");
	for (i = 0; i < 3000; i++)
		cr_assert_leq(seen->events[i].time + 2 - (UINT64_C(5000000000) + i * 1000), 4);
	cr_assert_lt(b.w.stats.time_error, 100);
	pages = pages_of(b.w.params.output, 1, &size);
	memcpy(&time, pages, 8);
	cr_assert_eq(time, UINT64_C(30000003000));
	free(pages);
	weaving_end(&b.w, seen);
}

/* Without a program the kernel may have any clock. */
Test(weave_alone, on_another_clock)
{
	struct both b;
	struct seen *seen;

	both_begin(&b, 0, 1);
	b.kernel.clock = "counter";
	both_put(&b, 0, 7, 1);
	cr_assert_eq(weave_to_dat(&b.w.params, &b.w.stats), -EINVAL);
	b.w.params.processes = &b.processes[1];
	b.w.params.nr_processes = 1;
	b.w.fake->described[0].process = 0;
	seen = weave(&b.w);
	cr_assert_str_eq(seen->clock, "[counter]");
	check_event(&seen->events[0], "sched:tick", 0, 7, 1);
	weaving_end(&b.w, seen);
}

/* The time of the last event, corrected because it goes back, is not that of the loss after it. */
Test(weave_alone, a_loss_after_a_time_that_goes_back)
{
	struct both b;
	struct seen *seen;

	both_begin(&b, 0, 1);
	both_put(&b, 0, 5000, 0);
	fake_end_page(b.w.fake, 0);
	both_put(&b, 0, 3000, 1);
	b.w.fake->described[0].lost = 7;
	seen = weave(&b.w);
	cr_assert_eq(seen->nr, 3);
	check_event(&seen->events[1], "sched:tick", 0, 5000, 1);
	cr_assert_eq(seen->events[2].time, 5000);
	cr_assert_eq(seen->events[2].lost, 7);
	weaving_end(&b.w, seen);
}
