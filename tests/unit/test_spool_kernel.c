/* SPDX-License-Identifier: MIT */
/* The kernel's part of a spool: texts in pieces, side files, and both as a killed recorder leaves them. */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "librecorder/core/stats_text.h"
#include "cli/recording/spool_to_weave.h"
#include "cli/recording/spool.h"

#define PAGE 4096u

static char dir[64], path[PATH_MAX - 32];
static struct spool *spool;

static unsigned int add_kernel(void)
{
	const struct spool_process kernel = {
		.info = { .clock = REC_CLOCK_MONO, .subbuf_size = PAGE, .comm = "kernel" }
	};
	const int number = spool_add_process(spool, &kernel);

	cr_assert_eq(number, 0);
	return (unsigned int)number;
}

static void begin(void)
{
	const struct spool_head head = { .file_version = 6 };

	strcpy(dir, "/tmp/recorder-spool-XXXXXX");
	cr_assert(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/t.spool", dir);
	cr_assert_eq(spool_create(path, &head, &spool), 0);
	cr_assert_eq(add_kernel(), 0);
}

static void end(void)
{
	cr_assert_eq(spool_remove(spool), 0);
	spool_close(spool);
	cr_assert_eq(rmdir(dir), 0, "something is left in %s", dir);
}

TestSuite(spool_kernel, .init = begin, .fini = end, .timeout = 300);

/* Opens the spool as the next recorder does. */
static void reopen(void)
{
	spool_close(spool);
	cr_assert_eq(spool_open(path, &spool), 0);
}

static void add_text(enum spool_text_kind kind, const char *name, const char *text)
{
	cr_assert_eq(spool_add_text(spool, 0, kind, name, text, strlen(text)), 0);
}

static void expect_text(enum spool_text_kind kind, const char *name, const char *text)
{
	const struct spool_text *found = spool_text(&spool->entries[0], kind, name);

	cr_assert(found, "no text %d '%s'", (int)kind, name);
	cr_assert_eq(found->size, strlen(text));
	cr_assert_str_eq(found->text, text);
}

Test(spool_kernel, texts_are_distinguished_by_kind_and_name)
{
	add_text(SPOOL_TEXT_FORMAT, "sched/sched_switch", "ID: 1");
	add_text(SPOOL_TEXT_FORMAT, "sched/sched_wakeup", "ID: 2");
	add_text(SPOOL_TEXT_PRINTK, "", "");
	for (int i = 0; i < 2; i++) {
		expect_text(SPOOL_TEXT_FORMAT, "sched/sched_switch", "ID: 1");
		expect_text(SPOOL_TEXT_FORMAT, "sched/sched_wakeup", "ID: 2");
		expect_text(SPOOL_TEXT_PRINTK, "", "");
		cr_assert_null(spool_text(&spool->entries[0], SPOOL_TEXT_CMDLINES, ""));
		reopen();
	}
}

Test(spool_kernel, a_later_text_takes_the_place_of_an_earlier_one)
{
	add_text(SPOOL_TEXT_CMDLINES, "", "1 init\n22 shorter than this\n");
	add_text(SPOOL_TEXT_CMDLINES, "", "1 init\n");
	expect_text(SPOOL_TEXT_CMDLINES, "", "1 init\n");
	reopen();
	expect_text(SPOOL_TEXT_CMDLINES, "", "1 init\n");
	cr_assert_eq(spool->entries[0].nr_texts, 1);
}

Test(spool_kernel, a_text_may_be_larger_than_a_chunk)
{
	const size_t size = 3 * 256 * 1024 + 77;
	char *text = malloc(size + 1);

	for (size_t i = 0; i < size; i++)
		text[i] = (char)('a' + i * 7 % 26);
	text[size] = '\0';
	add_text(SPOOL_TEXT_KALLSYMS, "", text);
	expect_text(SPOOL_TEXT_KALLSYMS, "", text);
	reopen();
	expect_text(SPOOL_TEXT_KALLSYMS, "", text);
	/* The file is cut off within the last piece: the whole pieces are still there. */
	cr_assert_eq(truncate(path, (off_t)spool->end - 8), 0);
	reopen();
	text[3 * 256 * 1024] = '\0';
	expect_text(SPOOL_TEXT_KALLSYMS, "", text);
	free(text);
}

Test(spool_kernel, a_text_that_is_kept_is_not_in_the_file)
{
	add_text(SPOOL_TEXT_PRINTK, "", "in the file");
	cr_assert_eq(spool_keep_text(spool, 0, SPOOL_TEXT_KALLSYMS, "", strdup("first"), 5), 0);
	cr_assert_eq(spool_keep_text(spool, 0, SPOOL_TEXT_KALLSYMS, "", strdup("second"), 6), 0);
	expect_text(SPOOL_TEXT_KALLSYMS, "", "second");
	/* A later text in the file replaces a text that is kept. */
	add_text(SPOOL_TEXT_KALLSYMS, "", "the longest of them, in the file");
	expect_text(SPOOL_TEXT_KALLSYMS, "", "the longest of them, in the file");
	cr_assert_eq(spool_keep_text(spool, 0, SPOOL_TEXT_PRINTK, "", strdup("kept"), 4), 0);
	expect_text(SPOOL_TEXT_PRINTK, "", "kept");
	cr_assert_eq(spool->entries[0].nr_texts, 2);
	reopen();
	expect_text(SPOOL_TEXT_PRINTK, "", "in the file");
}

Test(spool_kernel, figures_are_found_by_their_whole_name)
{
	const char *stats = "entries: 5\nread events: 70\ncommit overrun: 4\noverrun: 30";

	cr_assert_eq(rec_stats_figure(stats, "entries"), 5);
	cr_assert_eq(rec_stats_figure(stats, "overrun"), 30);
	cr_assert_eq(rec_stats_figure(stats, "events"), 0);
	cr_assert_eq(rec_stats_figure(stats, "read"), 0);
	cr_assert_eq(rec_stats_figure("", "entries"), 0);
}

Test(spool_kernel, losses_are_read_out_of_statistics)
{
	struct spool_losses losses;

	cr_assert_not(spool_kernel_losses(&spool->entries[0], 1, &losses));
	add_text(SPOOL_TEXT_STATS, "1",
		 "entries: 5\noverrun: 30\ncommit overrun: 4\nbytes: 9\ndropped events: 2\nread events: 70\n");
	cr_assert(spool_kernel_losses(&spool->entries[0], 1, &losses));
	cr_assert_eq(losses.overrun, 30);
	cr_assert_eq(losses.commit_overrun, 4);
	cr_assert_eq(losses.dropped, 2);
	cr_assert_eq(losses.left, 5);
	cr_assert_eq(spool_losses_sum(&losses), 30 + 4 + 2 + 5);
}

/* ---------------------------------------------------------------------------------------------------- side files */

/* A page of the kernel, with `lost` events lost before it; -1: an unknown number. */
static void make_page(unsigned char *page, uint64_t time, uint32_t size, int64_t lost)
{
	uint64_t commit = size;

	memset(page, 0, PAGE);
	if (lost)
		commit |= UINT64_C(0xffffffff80000000); /* the kernel adds a negative int */
	if (lost > 0) {
		commit |= REC_COMMIT_LOST_STORED;
		memcpy(page + REC_SUBBUF_HEADER_SIZE + size, &lost, sizeof(lost));
	}
	memcpy(page, &time, sizeof(time));
	memcpy(page + 8, &commit, sizeof(commit));
}

/* A side file of `nr` pages, whose times count up, and `more` bytes of another page. */
static void make_side(unsigned int cpu, unsigned int nr, size_t more, const int64_t *lost)
{
	const int fd = spool_side_create(spool, 0, cpu);
	unsigned char page[PAGE];

	cr_assert_geq(fd, 0);
	for (unsigned int i = 0; i <= nr; i++) {
		const size_t size = i < nr ? PAGE : more;

		make_page(page, i + 1, 100 + i % 8 * 4, lost && i < nr ? lost[i] : 0);
		cr_assert_eq(write(fd, page, size), (ssize_t)size);
	}
	close(fd);
}

static uint64_t page_time(const struct rec_page *page)
{
	uint64_t time;

	memcpy(&time, page->data, sizeof(time));
	return time;
}

/* Read a stream; returns its number of pages, *ret_end is the result at the end. */
static unsigned int read_stream(struct rec_source *source, unsigned int stream, int *ret_end)
{
	unsigned int pages = 0;
	struct rec_page page;

	while ((*ret_end = source->next(source, stream, &page)) == 1) {
		cr_assert_eq(page_time(&page), ++pages);
		cr_assert_eq(page.size, 100 + (pages - 1) % 8 * 4);
		cr_assert_eq(page.entries, 0);
	}
	return pages;
}

Test(spool_kernel, whole_pages_of_side_files_are_streams_in_order)
{
	struct spool_stream *streams;
	struct rec_source *source;
	int at_end;

	/* The file has more pages than are read at a time. The part of a page at its end is ignored. */
	make_side(1, 200, PAGE - 1, NULL);
	make_side(3, 0, 17, NULL);
	reopen();
	cr_assert_eq(spool_side_bytes(spool), 201 * PAGE + 16);
	cr_assert_eq(spool_source_open(spool, &source, &streams), 0);
	cr_assert_eq(source->nr_streams, 2);
	cr_assert_eq(streams[0].lane, 1);
	cr_assert_eq(streams[1].lane, 3);
	cr_assert_eq(read_stream(source, 0, &at_end), 200);
	cr_assert_eq(at_end, 0);
	cr_assert_eq(read_stream(source, 1, &at_end), 0);
	cr_assert_eq(at_end, 0);
	spool_source_close(source);
}

Test(spool_kernel, more_side_files_than_a_process_usually_may_open)
{
	struct spool_stream *streams;
	struct rec_source *source;
	struct rlimit limit;
	int at_end;

	for (unsigned int cpu = 0; cpu < 200; cpu++)
		make_side(cpu, 1, 0, NULL);
	cr_assert_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
	limit.rlim_cur = 100;
	cr_assert_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
	cr_assert_eq(spool_source_open(spool, &source, &streams), 0);
	cr_assert_eq(source->nr_streams, 200);
	cr_assert_eq(read_stream(source, 199, &at_end), 1);
	spool_source_close(source);
}

/* The recorder is stopped before its second side file, as by a signal. */
Test(spool_kernel, the_spool_shows_a_removal_that_was_cut_short)
{
	char side[2][PATH_MAX];

	for (unsigned int cpu = 0; cpu < 2; cpu++) {
		make_side(cpu, 1, 0, NULL);
		cr_assert_eq(spool_side_path(spool, 0, cpu, side[cpu], sizeof(side[cpu])), 0);
	}
	reopen();
	cr_assert_not(spool->head.done);
	cr_assert_eq(unlink(side[1]), 0);
	cr_assert_eq(mkdir(side[1], 0700), 0);
	cr_assert_neq(spool_remove(spool), 0);
	cr_assert_neq(access(side[0], F_OK), 0);
	reopen();
	cr_assert(spool->head.done);
	cr_assert_eq(rmdir(side[1]), 0);
	cr_assert_eq(spool_remove(spool), 0);
	cr_assert_neq(access(path, F_OK), 0);
}

Test(spool_kernel, losses_that_no_page_reports_come_at_the_end)
{
	const int64_t lost[] = { 0, 12, -1, 5 };
	struct spool_stream *streams;
	struct rec_source *source;
	uint64_t beyond = 99;
	int at_end;

	make_side(0, 4, 0, lost);
	add_text(SPOOL_TEXT_STATS, "0", "entries: 0\noverrun: 30\ncommit overrun: 1\ndropped events: 2\n");
	cr_assert_eq(spool_source_open(spool, &source, &streams), 0);
	streams[0].lost = &beyond;
	cr_assert_eq(read_stream(source, 0, &at_end), 4);
	cr_assert_eq(streams[0].reported, 17);
	cr_assert_eq(streams[0].gaps, 1);
	cr_assert_eq(beyond, 16);
	spool_source_close(source);
}

Test(spool_kernel, a_page_that_claims_too_much_is_a_gap)
{
	struct spool_stream *streams;
	unsigned char bytes[PAGE];
	struct rec_source *source;
	struct rec_page page;
	char side[PATH_MAX];
	int fd;

	make_side(0, 3, 0, NULL);
	cr_assert_eq(spool_side_path(spool, 0, 0, side, sizeof(side)), 0);
	fd = open(side, O_WRONLY);
	make_page(bytes, 2, PAGE - REC_SUBBUF_HEADER_SIZE + 4, 0);
	cr_assert_eq(pwrite(fd, bytes, PAGE, PAGE), PAGE);
	close(fd);
	cr_assert_eq(spool_source_open(spool, &source, &streams), 0);
	for (uint64_t time = 1; time <= 3; time++) {
		cr_assert_eq(source->next(source, 0, &page), 1);
		cr_assert_eq(page_time(&page), time);
		cr_assert_eq(page.size == 0, time == 2);
		cr_assert_eq(page.lost, time == 2 ? REC_LOST_UNKNOWN : 0);
	}
	cr_assert_eq(source->next(source, 0, &page), 0);
	cr_assert_eq(streams[0].gaps, 1);
	spool_source_close(source);
}

Test(spool_kernel, a_side_file_that_was_not_made_yet_is_empty)
{
	struct spool_stream *streams;
	struct rec_source *source;
	char side[PATH_MAX];
	int at_end;

	make_side(2, 1, 0, NULL);
	cr_assert_eq(spool_side_path(spool, 0, 2, side, sizeof(side)), 0);
	cr_assert_eq(unlink(side), 0);
	reopen();
	cr_assert_eq(spool_source_open(spool, &source, &streams), 0);
	cr_assert_eq(read_stream(source, 0, &at_end), 0);
	cr_assert_eq(at_end, 0);
	spool_source_close(source);
}

Test(spool_kernel, what_stands_in_the_way_is_not_written_over)
{
	char side[PATH_MAX], text[8] = "";
	int fd;

	cr_assert_eq(spool_side_path(spool, 0, 0, side, sizeof(side)), 0);
	fd = open(side, O_RDWR | O_CREAT, 0600);
	cr_assert_eq(write(fd, "mine", 4), 4);
	cr_assert_eq(spool_side_create(spool, 0, 0), -EEXIST);
	/* The existing file must not become a part of the spool, which would remove it. */
	cr_assert_eq(spool_remove(spool), 0);
	cr_assert_eq(pread(fd, text, 4, 0), 4);
	cr_assert_str_eq(text, "mine");
	close(fd);
	cr_assert_eq(unlink(side), 0);
}

/* ----------------------------------------------------------------------------------------------- what a file claims */

/* A chunk after all others, which no recorder writes. */
static void put_chunk(enum spool_kind kind, unsigned int process, unsigned int lane, const void *payload, uint32_t size)
{
	const struct spool_chunk chunk = {
		.magic = SPOOL_CHUNK_MAGIC, .kind = (uint16_t)kind, .process = process, .lane = lane, .size = size
	};
	const off_t end = lseek(spool->fd, 0, SEEK_END);

	cr_assert_eq(pwrite(spool->fd, &chunk, sizeof(chunk), end), (ssize_t)sizeof(chunk));
	cr_assert_eq(pwrite(spool->fd, payload, size, end + (off_t)sizeof(chunk)), (ssize_t)size);
}

/* A chunk of 64 bytes must not make the reader allocate 8 MiB, however many such chunks there are. */
Test(spool_kernel, lanes_beyond_all_others)
{
	const struct spool_disk_process process = { .pid = 1, .subbuf_size = PAGE };

	for (unsigned int i = 1; i < 200; i++) {
		put_chunk(SPOOL_PROCESS, 0, 0, &process, sizeof(process));
		put_chunk(SPOOL_SIDE, i, (1u << 16) - 1, NULL, 0);
	}
	reopen();
	cr_assert_gt(spool->cut, 0);
	cr_assert_leq(spool->nr_lanes, (1u << 20) + 64 * spool->nr_entries);
	/* The writer refuses a chunk that no reader would accept. */
	cr_assert_eq(spool_side_create(spool, 0, 1u << 16), -EINVAL);
}

Test(spool_kernel, far_lanes_of_many_processes)
{
	const struct spool_disk_process process = { .pid = 1, .subbuf_size = PAGE };

	for (unsigned int i = 1; i < 30000; i++) {
		put_chunk(SPOOL_PROCESS, 0, 0, &process, sizeof(process));
		put_chunk(SPOOL_LANE_END, i, 60, &(struct spool_disk_lane_end){ .lost_unread = 1 },
			  sizeof(struct spool_disk_lane_end));
	}
	reopen();
	cr_assert_eq(spool->cut, 0);
	cr_assert_eq(spool->nr_entries, 30000);
	cr_assert_eq(spool->nr_lanes, 29999 * 61);
}

/* Each text is looked up among all: the time must not grow with the square of their number. */
Test(spool_kernel, more_texts_than_any_kernel_has)
{
	char name[32];

	for (unsigned int i = 0; i < 300000; i++) {
		snprintf(name, sizeof(name), "sched/event%u", i);
		put_chunk(SPOOL_TEXT, 0, SPOOL_TEXT_FORMAT, name, 24);
	}
	reopen();
	cr_assert_eq(spool->entries[0].nr_texts, 300000);
	cr_assert(spool_text(&spool->entries[0], SPOOL_TEXT_FORMAT, "sched/event299999"));
}

/* Many small pieces of two texts that grow in turns. */
Test(spool_kernel, texts_and_logs_in_small_pieces)
{
	struct spool_text *text;

	for (unsigned int i = 0; i < 100000; i++) {
		const struct spool_chunk chunk = { .magic = SPOOL_CHUNK_MAGIC, .kind = SPOOL_TEXT, .process = 0,
						   .lane = SPOOL_TEXT_KALLSYMS, .size = 8, .from = i * 7 };

		put_chunk(SPOOL_LOG, 0, 0, "logged.", 8);
		cr_assert_eq(pwrite(spool->fd, &chunk, sizeof(chunk), lseek(spool->fd, 0, SEEK_END)),
			     (ssize_t)sizeof(chunk));
		cr_assert_eq(pwrite(spool->fd, "\0symbols", 8, lseek(spool->fd, 0, SEEK_END)), 8);
	}
	reopen();
	text = spool->entries[0].texts;
	cr_assert_eq(text->size, 700000);
	cr_assert_eq(memcmp(text->text, "symbolssymbols", 14), 0);
	cr_assert_eq(spool->entries[0].log_size, 800000);
}

/* If a spool has two chunks of a kernel, which no recorder writes, the first one counts. */
Test(spool_kernel, a_second_kernel_is_none)
{
	const struct spool_process second = { .info = { .clock = REC_CLOCK_MONO, .subbuf_size = PAGE } };
	struct spool_to_weave to_weave = { .pages = 0 };
	char name[32];

	for (int i = 0; i < 2000; i++) {
		snprintf(name, sizeof(name), "sched/event%d", i);
		add_text(SPOOL_TEXT_FORMAT, name, "ID: 1");
	}
	cr_assert_eq(spool_add_process(spool, &second), 1);
	cr_assert_eq(spool_add_text(spool, 1, SPOOL_TEXT_FORMAT, "sched/other", "ID: 2", 5), 0);
	reopen();
	cr_assert_eq(spool_to_weave_open(&to_weave, spool), 0);
	cr_assert_not_null(to_weave.processes[0].kernel);
	cr_assert_null(to_weave.processes[1].kernel);
	cr_assert_eq(to_weave.kernels[0].kernel.nr_formats, 2000);
	spool_to_weave_close(&to_weave);
}
