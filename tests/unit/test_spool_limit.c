/* SPDX-License-Identifier: MIT */
/* Side files with a limit: the places of their pages, the losses that they report, and invalid heads. */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/recording/spool.h"

#define PAGE   4096u
#define PLACES 100u /* more pages than are read at a time */

static char dir[64], path[PATH_MAX - 32];
static struct spool *spool;
static int side;

static void begin(void)
{
	const struct spool_head head = { .file_version = 6, .incompatible = SPOOL_FEATURE_LIMIT };
	const struct spool_process kernel = {
		.info = { .clock = REC_CLOCK_MONO, .subbuf_size = PAGE, .comm = "kernel" }
	};

	strcpy(dir, "/tmp/recorder-spool-XXXXXX");
	cr_assert(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/t.spool", dir);
	cr_assert_eq(spool_create(path, &head, &spool), 0);
	cr_assert_eq(spool->head.version, SPOOL_VERSION_FEATURES);
	cr_assert_eq(spool_add_process(spool, &kernel), 0);
	side = spool_side_create(spool, 0, 0);
	cr_assert_geq(side, 0);
}

static void end(void)
{
	close(side);
	cr_assert_eq(spool_remove(spool), 0);
	spool_close(spool);
	cr_assert_eq(rmdir(dir), 0, "something is left in %s", dir);
}

TestSuite(spool_limit, .init = begin, .fini = end, .timeout = 300);

/* Page k of the CPU, at time k + 1, which reports `lost` events before it. */
static void put_page(uint64_t k, uint64_t places, uint64_t lost)
{
	unsigned char page[PAGE] = { 0 };
	const uint64_t time = k + 1, size = 8;
	const uint64_t commit = size | (lost ? REC_COMMIT_LOST | REC_COMMIT_LOST_STORED : 0);

	memcpy(page, &time, sizeof(time));
	memcpy(page + 8, &commit, sizeof(commit));
	memcpy(page + REC_SUBBUF_HEADER_SIZE + size, &lost, sizeof(lost));
	cr_assert_eq(pwrite(side, page, PAGE, (off_t)((1 + k % places) * PAGE)), (ssize_t)PAGE);
}

static void put_head(const struct spool_side_head *head)
{
	unsigned char page[PAGE] = { 0 };

	memcpy(page, head, sizeof(*head));
	cr_assert_eq(pwrite(side, page, PAGE, 0), (ssize_t)PAGE);
}

/* Checks that the pages are `first` to `last`, and that the first one reports `lost`. */
static void expect(uint64_t first, uint64_t last, uint64_t lost)
{
	struct spool_stream *streams;
	struct rec_source *source;
	struct rec_page page;
	uint64_t k, time;

	spool_close(spool);
	cr_assert_eq(spool_open(path, &spool), 0);
	cr_assert_eq(spool_source_open(spool, &source, &streams), 0);
	cr_assert_eq(streams[0].pages, last - first);
	for (k = first; k < last; k++) {
		cr_assert_eq(source->next(source, 0, &page), 1);
		memcpy(&time, page.data, sizeof(time));
		cr_assert_eq(time, k + 1);
		cr_assert_eq(page.lost, k == first ? lost : 0);
	}
	cr_assert_eq(source->next(source, 0, &page), 0);
	spool_source_close(source);
}

Test(spool_limit, nothing_was_written)
{
	expect(0, 0, 0);
	put_head(&(struct spool_side_head){ .magic = SPOOL_SIDE_MAGIC, .places = PLACES });
	expect(0, 0, 0);
}

Test(spool_limit, any_number_of_pages)
{
	for (unsigned int ended = 0; ended < 2; ended++) {
		cr_assert_eq(ftruncate(side, 0), 0);
		for (uint64_t nr = 1; nr < 3 * PLACES; nr++) {
			const uint64_t first = nr > PLACES ? nr - PLACES : 0;

			put_page(nr - 1, PLACES, 0);
			put_head(&(struct spool_side_head){
				.magic = SPOOL_SIDE_MAGIC, .places = PLACES, .first = first, .events = first * 3,
				.lost = first, .end = ended ? nr : 0 });
			expect(first, nr, first * 4);
		}
	}
}

Test(spool_limit, killed_before_pages_were_overwritten)
{
	for (uint64_t k = 0; k < 150; k++)
		put_page(k, PLACES, 0);
	/* 50 were overwritten, and 7 more are about to be: they count as lost, and are not read. */
	put_head(&(struct spool_side_head){ .magic = SPOOL_SIDE_MAGIC, .places = PLACES, .first = 57, .events = 570 });
	expect(57, 150, 570);
}

Test(spool_limit, killed_before_all_pages_were_overwritten)
{
	for (uint64_t k = 0; k < 150; k++)
		put_page(k, PLACES, 0);
	/* All pages are about to be overwritten, and none was yet: they count as lost, and are not read. */
	put_head(&(struct spool_side_head){
		.magic = SPOOL_SIDE_MAGIC, .places = PLACES, .first = 150, .events = 1500, .time = 150 });
	expect(150, 150, 1500);
	/* One page was overwritten. */
	put_page(150, PLACES, 0);
	expect(150, 151, 1500);
}

Test(spool_limit, the_first_page_has_losses_of_its_own)
{
	for (uint64_t k = 0; k < 150; k++)
		put_page(k, PLACES, k == 50 ? 5 : 0);
	put_head(&(struct spool_side_head){
		.magic = SPOOL_SIDE_MAGIC, .places = PLACES, .first = 50, .events = 500, .lost = 20, .end = 150 });
	expect(50, 150, 525);
}

/* Checks that the file is refused. */
static void expect_refusal(uint64_t magic, uint64_t places, uint64_t first, uint64_t ended)
{
	struct spool_stream *streams;
	struct rec_source *source;

	put_head(&(struct spool_side_head){ .magic = magic, .places = places, .first = first, .end = ended });
	cr_assert_eq(spool_source_open(spool, &source, &streams), -EBADMSG);
}

Test(spool_limit, heads_that_cannot_be)
{
	for (uint64_t k = 0; k < 10; k++)
		put_page(k, PLACES, 0);
	expect_refusal(SPOOL_SIDE_MAGIC + 1, PLACES, 0, 0);
	expect_refusal(SPOOL_SIDE_MAGIC, 0, 0, 0);
	expect_refusal(SPOOL_SIDE_MAGIC, 10, 5, 4);
	/* Pages that went round fill all places. */
	expect_refusal(SPOOL_SIDE_MAGIC, PLACES, 1, 0);
	expect_refusal(SPOOL_SIDE_MAGIC, UINT64_MAX, UINT64_MAX - 1, UINT64_MAX);
	/* The head claims more pages than the file has. */
	put_head(&(struct spool_side_head){ .magic = SPOOL_SIDE_MAGIC, .places = PLACES, .end = UINT64_MAX });
	expect(0, 10, 0);
}
