/* SPDX-License-Identifier: MIT */
/* The kernel's streams in the weave: pages as a kernel writes them, beside programs and alone. */
#include "format/dat/dat_read.h"
#include "kernel_fixture.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <librecorder/page.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ----------------------------------------------------------------------------------------------------- woven */

Test(weave_kernel, each_cpu_in_the_order_of_time)
{
	struct both b;
	struct seen *seen;
	uint64_t i;
	uint64_t numbers[2] = { 0, 0 };

	both_begin(&b, 2, 2);
	/* Two CPUs of the kernel and two lanes that change their CPU, each event at a time of its own. */
	for (i = 0; i < 20000; i++) {
		const uint64_t time = 1000 + i * 10 + (i > 9000 ? UINT64_C(1) << 30 : 0);

		if (i % 3)
			both_put(&b, (unsigned int)(i % 2), time, i);
		else
			both_put_user(&b, (unsigned int)(i / 3 % 2), (unsigned int)(i / 900 % 2), time, i);
	}
	seen = weave(&b.w);
	cr_assert_eq(seen->nr, 20000);
	cr_assert_eq(b.w.stats.kernel_events, 13333);
	cr_assert_eq(b.w.stats.kernel_cpus, 2);
	cr_assert_eq(b.w.stats.processes, 1);
	cr_assert_eq(b.w.stats.threads, 1);
	cr_assert_eq(b.w.stats.time_raised + b.w.stats.damaged_pages + b.w.stats.unknown_events, 0);
	for (i = 0; i < 20000; i++) {
		const uint64_t time = 1000 + i * 10 + (i > 9000 ? UINT64_C(1) << 30 : 0);

		check_event(&seen->events[i], i % 3 ? "sched:tick" : "t:a", (uint32_t)(i % 3 ? i % 2 : i / 900 % 2),
			    time, i);
		cr_assert_eq(seen->events[i].common.type, i % 3 ? ID_TICK : ID_A);
		numbers[seen->events[i].cpu]++;
	}
	cr_assert_gt(numbers[0], 8000);
	cr_assert_str_eq(seen->clock, "[mono]");
	weaving_end(&b.w, seen);
}

/* The kernel's come first, whatever the numbers of the streams; those of each side stay in order. */
Test(weave_kernel, equal_times)
{
	static const unsigned int order[] = { 0, 2, 4, 1, 3, 5 };
	unsigned int is_first;

	for (is_first = 0; is_first < 2; is_first++) {
		struct both b;
		struct seen *seen;
		unsigned int i;

		both_begin(&b, 1, 1);
		if (is_first)
			both_put(&b, 0, 4999, 0);
		else
			both_put_user(&b, 0, 0, 4999, 0);
		both_put_user(&b, 0, 0, 5000, 1);
		both_put(&b, 0, 5000, 2);
		both_put_user(&b, 0, 0, 5000, 3);
		both_put(&b, 0, 5000, 4);
		both_put(&b, 0, 5001, 5);
		if (is_first) {
			const struct fake_stream lane = b.w.fake->streams[0];
			const struct weave_stream described = b.w.fake->described[0];

			b.w.fake->streams[0] = b.w.fake->streams[1];
			b.w.fake->streams[1] = lane;
			b.w.fake->described[0] = b.w.fake->described[1];
			b.w.fake->described[1] = described;
		}
		seen = weave(&b.w);
		cr_assert_eq(seen->nr, 6);
		for (i = 0; i < 6; i++)
			cr_assert_eq(seen->events[i].number, order[i]);
		weaving_end(&b.w, seen);
	}
}

/* Counts and gaps of the kernel begin a page, before the event that followed them. */
Test(weave_kernel, losses)
{
	struct both b;
	struct seen *seen;
	uint64_t i;

	both_begin(&b, 1, 1);
	for (i = 0; i < 300; i++) {
		if (i == 100)
			fake_lose(b.w.fake, 1, 12);
		if (i == 200)
			fake_lose(b.w.fake, 1, REC_LOST_UNKNOWN);
		if (i % 2)
			both_put_user(&b, 0, 0, 1000 + i, i);
		else
			both_put(&b, 0, 1000 + i, i);
	}
	b.w.fake->described[1].lost = 5;
	b.processes[1].lost = 2;
	seen = weave(&b.w);
	cr_assert_eq(seen->nr, 302);
	for (i = 0; i < 300; i++)
		cr_assert_eq(seen->events[i].lost, i == 100 ? 12 : i == 200 ? -1 : 0);
	cr_assert_str_eq(seen->events[300].name, "recorder:end");
	cr_assert_eq(seen->events[300].lost + seen->events[301].lost, 7);
	cr_assert_eq(seen->events[300].cpu + seen->events[301].cpu, 0);
	weaving_end(&b.w, seen);
}

/*
 * Records that are not kernel events are left out, and counted; also where everything else could be copied unchanged.
 */
Test(weave_kernel, ids_and_sizes_that_cannot_be)
{
	unsigned int round;

	for (round = 0; round < 6; round++) {
		const unsigned int with_user = round % 2;
		struct both b;
		struct seen *seen;

		both_begin(&b, 1, 1);
		if (with_user)
			both_put_user(&b, 0, 0, 1000, 1);
		both_put(&b, 0, 1001, 2);
		if (round / 2 == 0)
			fake_put(b.w.fake, 1, 0, 1002, REC_EVENT_ID_FIRST + 1, 77, 3, FAKE_SIZE);
		else if (round / 2 == 1)
			fake_put_bytes(b.w.fake, 1, 0, 1003, &(uint32_t){ ID_TICK }, 4);
		else
			fake_put(b.w.fake, 1, 0, 1004, 0, 77, 4, FAKE_SIZE);
		both_put(&b, 0, 1005, 5);
		seen = weave(&b.w);
		cr_assert_eq(seen->nr, 2 + with_user);
		cr_assert_eq(b.w.stats.unknown_events, 1);
		cr_assert_eq(seen->events[1 + with_user].number, 5);
		cr_assert_eq(seen->events[1 + with_user].lost, 1);
		weaving_end(&b.w, seen);
	}
}

/* A time that goes back is raised to the time before it; the next event has its own time again, once that is later. */
Test(weave_kernel, times_that_go_back)
{
	static const uint64_t times[] = { 5000, 3000, 4000, 4900, 6000, 6001 };
	struct both b;
	struct seen *seen;
	unsigned int i;

	both_begin(&b, 1, 1);
	for (i = 0; i < 6; i++) {
		both_put(&b, 0, times[i], i);
		if (!i)
			fake_end_page(b.w.fake, 1);
	}
	both_put_user(&b, 0, 0, 7000, 6);
	seen = weave(&b.w);
	cr_assert_eq(seen->nr, 7);
	cr_assert_eq(b.w.stats.time_raised, 3);
	for (i = 0; i < 6; i++)
		check_event(&seen->events[i], "sched:tick", 0, times[i] < 5000 ? 5000 : times[i], i);
	weaving_end(&b.w, seen);
}

/* ------------------------------------------------------------------------------------------- pages of a kernel */

/* A page made word by word. */
struct page_maker {
	unsigned char *bytes;
	uint32_t size;
};

static void put_word(struct page_maker *page, uint32_t type, uint64_t delta)
{
	const uint32_t words[2] = { (uint32_t)(delta & REC_DELTA_MAX) << 5 | type, (uint32_t)(delta >> 27) };

	memcpy(page->bytes + 16 + page->size, words, 8);
	page->size += type == REC_TYPE_TIME_EXTEND || type == REC_TYPE_TIME_STAMP ? 8 : 4;
}

static void put_tick(struct page_maker *page, uint64_t delta, uint64_t number)
{
	const struct fake_event event = { { ID_TICK, 0, 0, 77 }, number };

	put_word(page, sizeof(event) / 4, delta);
	memcpy(page->bytes + 16 + page->size, &event, sizeof(event));
	page->size += (uint32_t)sizeof(event);
}

/* A discarded event; `size` counts the length word. */
static void put_padding(struct page_maker *page, uint64_t delta, uint32_t size)
{
	put_word(page, REC_TYPE_PADDING, delta);
	memcpy(page->bytes + 16 + page->size, &size, 4);
	page->size += size;
}

/*
 * What a kernel of today writes: a leading extend of zeros, a stamp, a discarded event, an extend, a filler at the end.
 */
static void make_page(struct page_maker *page, uint64_t time)
{
	memset(page->bytes, 0, 4096);
	memcpy(page->bytes, &time, 8);
	page->size = 0;
	put_word(page, REC_TYPE_TIME_EXTEND, 0);
	put_tick(page, 0, 1);
	put_word(page, REC_TYPE_TIME_STAMP, time + 50);
	put_tick(page, 0, 2);
	/* Discarded 30 later; the next event counts from there. */
	put_padding(page, 30, 20);
	put_tick(page, 7, 3);
	put_word(page, REC_TYPE_TIME_EXTEND, UINT64_C(1) << 40);
	put_tick(page, 0, 4);
	put_padding(page, 1, 36);
}

static void check_page(const struct seen *seen, uint64_t time)
{
	static const uint64_t times[] = { 0, 50, 87, 87 + (UINT64_C(1) << 40) };
	unsigned int i, at = 0;

	for (i = 0; i < seen->nr; i++) {
		if (seen->events[i].common.type != ID_TICK)
			continue;
		check_event(&seen->events[i], "sched:tick", 0, time + times[at], at + 1);
		at++;
	}
	cr_assert_eq(at, 4);
}

/* Woven and whole, with the same result. */
Test(weave_kernel, all_kinds_of_records)
{
	const uint64_t time = (UINT64_C(1) << 59) + 12345;
	unsigned int with_user;

	for (with_user = 0; with_user < 2; with_user++) {
		struct both b;
		struct seen *seen;
		struct page_maker page;
		struct rec_page *last;

		both_begin(&b, 1, 1);
		if (with_user)
			both_put_user(&b, 0, 0, time + 60, 9);
		both_put(&b, 0, time, 0);
		last = fake_last_page(b.w.fake, 1);
		page.bytes = b.w.fake->streams[1].pages[0].bytes;
		make_page(&page, time);
		last->size = page.size;
		seen = weave(&b.w);
		cr_assert_eq(seen->nr, 4 + with_user);
		check_page(seen, time);
		if (with_user)
			cr_assert_eq(seen->events[2].number, 9);
		weaving_end(&b.w, seen);
	}
}

/* A discarded event after a stamp counts its time as well, however many there are. */
Test(weave_kernel, paddings_behind_a_stamp)
{
	static const uint64_t times[] = { 0, 50 + 30 + 4 + 7, 1000 + 5 };
	const uint64_t time = (UINT64_C(1) << 59) + 12345;
	unsigned int with_user;

	for (with_user = 0; with_user < 2; with_user++) {
		struct both b;
		struct seen *seen;
		struct page_maker page;
		unsigned int i;

		both_begin(&b, 1, 1);
		if (with_user)
			both_put_user(&b, 0, 0, time + 2000, 9);
		both_put(&b, 0, time, 0);
		page = (struct page_maker){ b.w.fake->streams[1].pages[0].bytes, 0 };
		put_tick(&page, 0, 0);
		put_word(&page, REC_TYPE_TIME_STAMP, time + 50);
		put_padding(&page, 30, 20);
		put_padding(&page, 4, 12);
		put_tick(&page, 7, 1);
		put_word(&page, REC_TYPE_TIME_STAMP, time + 200);
		put_word(&page, REC_TYPE_TIME_STAMP, time + 1000);
		put_tick(&page, 5, 2);
		fake_last_page(b.w.fake, 1)->size = page.size;
		seen = weave(&b.w);
		cr_assert_eq(seen->nr, 3 + with_user);
		for (i = 0; i < 3; i++)
			check_event(&seen->events[i], "sched:tick", 0, time + times[i], i);
		weaving_end(&b.w, seen);
	}
}

/* A page that ends in nonsense gives the events before it; what comes after is lost, in an unknown number. */
Test(weave_kernel, damage)
{
	unsigned int with_user;

	for (with_user = 0; with_user < 2; with_user++) {
		struct both b;
		struct seen *seen;
		struct rec_page *page;

		both_begin(&b, 1, 1);
		both_put(&b, 0, 1000, 1);
		both_put(&b, 0, 1001, 2);
		page = fake_last_page(b.w.fake, 1);
		memcpy(b.w.fake->streams[1].pages[0].bytes + 16 + page->size, (uint32_t[2]){ 0, 70000 }, 8);
		page->size += 8;
		fake_end_page(b.w.fake, 1);
		both_put(&b, 0, 1002, 3);
		if (with_user)
			both_put_user(&b, 0, 0, 2000, 4);
		seen = weave(&b.w);
		cr_assert_eq(seen->nr, 3 + with_user);
		cr_assert_eq(b.w.stats.damaged_pages, 1);
		cr_assert_eq(seen->events[2].number, 3);
		cr_assert_eq(seen->events[2].lost, -1);
		weaving_end(&b.w, seen);
	}
}

/* ----------------------------------------------------------------------------------------------------- alone */

/* The pages of a CPU in the file, as they are. */
static unsigned char *pages_of(const char *path, unsigned int cpu, uint64_t *ret_size)
{
	struct dat_error error;
	struct dat_file *file;
	unsigned char *pages;

	cr_assert_eq(dat_open(path, NULL, &file, &error), 0);
	*ret_size = file->buffers[0].streams[cpu].size;
	pages = malloc(*ret_size + 1);
	cr_assert_eq(dat_read_raw(file, file->buffers[0].streams[cpu].offset, pages, *ret_size, &error),
		     (ssize_t)*ret_size);
	dat_close(file);
	return pages;
}

/* With what the kernel adds to a page that is taken: the flags and the count. */
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

Test(weave_kernel, alone_by_way_of_memory)
{
	struct both b;
	struct seen *seen;

	make_alone(&b);
	seen = weave(&b.w);
	check_alone(&b, seen);
	weaving_end(&b.w, seen);
}

/* All pages of the kernel's, one after the other, after 512 bytes of something else. */
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

/* Byte by byte what is in the file that the kernel's pages were put into. */
Test(weave_kernel, alone_out_of_a_file)
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
Test(weave_kernel, alone_out_of_a_file_with_faults)
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

/* Where programs have longer sub-buffers, so has the file: several of the kernel's pages go into one of these. */
Test(weave_kernel, raw_with_longer_pages_of_programs)
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
	/* 20 bytes each: three pages, and the one that the loss begins. */
	cr_assert_eq(size, 4 * long_page);
	free(pages);
	weaving_end(&b.w, seen);
}

/* A loss before a record that is not an event would not be shown: that page is rebuilt, the others are unchanged. */
Test(weave_kernel, alone_a_loss_before_a_stamp)
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

/* The file has the kernel's clock, with what makes nanoseconds of it, and its pages as they are. */
Test(weave_kernel, alone_on_the_tsc)
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

/* Any clock of the kernel's will do where there is no program. */
Test(weave_kernel, alone_on_another_clock)
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

Test(weave_kernel, what_is_refused)
{
	struct both b;

	both_begin(&b, 0, 2);
	b.w.fake->described[1].cpu = 0;
	cr_assert_eq(weave_to_dat(&b.w.params, &b.w.stats), -EINVAL); /* two streams of one CPU */
	b.w.fake->described[1].cpu = 8192;
	cr_assert_eq(weave_to_dat(&b.w.params, &b.w.stats), -EINVAL);
	b.w.fake->described[1].cpu = 1;
	b.processes[0].kernel = &b.kernel;
	cr_assert_eq(weave_to_dat(&b.w.params, &b.w.stats), -EINVAL); /* two kernels */
	fake_free(b.w.fake);
	blob_free(&b.w.log);
}

/* The time of the last event, corrected because it goes back, is not that of the loss after it. */
Test(weave_kernel, alone_a_loss_behind_a_time_that_goes_back)
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
