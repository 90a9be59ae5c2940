/* SPDX-License-Identifier: MIT */
/* The CPUs of raw recordings, in pages that were made anew and then woven. */
#include "format/dat/dat_repage.h"
#include "format/dat/dat_woven.h"
#include "weave_fixture.h"

#include <criterion/criterion.h>
#include <string.h>

#define LARGE 4060u /* the size of an event that leaves no room for a marker on its page */

struct made {
	uint32_t lane, size, cpu;
	int64_t lost;
};

/* A raw recording with these events, one at each time. */
static struct dat_file *make(const struct made *all, size_t nr)
{
	static const unsigned char data[LARGE];
	static const uint32_t page_size = 4096;
	const struct dat_file form = { .commit_size = 8 };
	struct dat_writer *writer;
	struct dat_repage *repage;
	struct dat_error error;
	struct dat_file *file;

	cr_assert_eq(dat_write_open(fixture_path("raw.dat"), 6, page_size, 4, &writer), 0);
	cr_assert_eq(dat_repage_open(writer, &form, &page_size, 1, &repage), 0);
	for (size_t i = 0; i < nr; i++) {
		const struct dat_repage_event event = {
			.cpu = all[i].lane, .time = i + 1, .lost = all[i].lost, .marked = all[i].cpu, .data = data,
			.size = all[i].size
		};

		cr_assert_eq(dat_repage_put(repage, &event), 0);
	}
	cr_assert_eq(dat_repage_flush(repage), 0);
	dat_repage_close(repage);
	cr_assert_eq(dat_write_finish(writer, "mono", 4, NULL), 0);
	dat_write_close(writer);
	cr_assert_eq(dat_open(fixture_path("raw.dat"), NULL, &file, &error), 0, "%s", error.text);
	return file;
}

static void weave_file(struct dat_file *file)
{
	struct dat_error error = { 0 };
	struct dat_copy copy;
	struct dat_time time;
	uint64_t damaged;

	cr_assert_eq(dat_copy_open(file, fixture_path("woven.dat"), 6, DAT_COPY_EVENTS, NULL, NULL, &copy, &error), 0);
	cr_assert_eq(dat_time_open(file, DAT_TIME_RAW, &time, &error), 0);
	cr_assert_eq(dat_woven(&copy, &time, &damaged, &error), 0);
	cr_expect_eq(damaged, 0);
	dat_time_close(&time);
	dat_copy_close(&copy);
	dat_close(file);
}

/* Each event is on the CPU that it was made with, and the losses are before the same events. */
static void expect_woven(const struct made *all, size_t nr)
{
	struct dat_error error = { 0 };
	struct dat_merge *merge;
	struct dat_event event;
	struct dat_file *file;
	struct dat_time time;

	weave_file(make(all, nr));
	cr_assert_eq(dat_open(fixture_path("woven.dat"), NULL, &file, &error), 0, "%s", error.text);
	cr_assert_eq(dat_time_open(file, DAT_TIME_RAW, &time, &error), 0);
	cr_assert_eq(dat_merge_open(file, &time, NULL, NULL, &merge), 0);
	for (size_t i = 0; i < nr; i++) {
		cr_assert(dat_merge_next(merge, &event));
		cr_expect_eq(event.raw, i + 1);
		cr_expect_eq(event.cpu, all[i].cpu, "event %zu is on CPU %u", i, event.cpu);
		cr_expect_eq(event.lost, all[i].lost, "event %zu", i);
	}
	cr_expect_not(dat_merge_next(merge, &event));
	dat_merge_close(merge);
	dat_time_close(&time);
	dat_close(file);
}

Test(dat_woven, losses_and_other_cpus)
{
	static const struct made all[] = {
		{ 0, 16, 2, 0 }, { 1, 16, 3, 5 }, { 0, 16, 2, 1 }, { 0, 16, 1, 0 }, { 1, 16, 3, 0 }, { 0, 16, 1, 7 },
	};

	expect_woven(all, sizeof(all) / sizeof(all[0]));
}

/* An event that fills its page has no marker. If it is the first of its lane, the next page's marker is its CPU. */
Test(dat_woven, pages_that_the_first_event_fills)
{
	static const struct made all[] = {
		{ 0, LARGE, 2, 0 }, { 1, 16, 1, 0 }, { 0, LARGE, 2, 4 }, { 0, 16, 2, 0 }, { 0, LARGE, 2, 0 },
	};

	expect_woven(all, sizeof(all) / sizeof(all[0]));
}
