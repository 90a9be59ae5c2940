/* SPDX-License-Identifier: MIT */
/* A lane's chain of pages, read back from a spool whose links may have any value. */
#include <criterion/criterion.h>
#include <librecorder/page.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/recording/spool.h"

#define PAGE  4096u
#define PAGES 3u

static char dir[64], path[128];
static struct spool *spool;
static uint64_t last; /* offset of the last chunk, which is the lane's last page */

static void begin(void)
{
	const struct spool_head head = { .file_version = 6 };
	const struct spool_process process = { .info = { .pid = 77, .clock = REC_CLOCK_MONO, .subbuf_size = PAGE } };
	_Alignas(8) unsigned char bytes[PAGE];

	strcpy(dir, "/tmp/recorder-spool-XXXXXX");
	cr_assert(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/t.spool", dir);
	cr_assert_eq(spool_create(path, &head, &spool), 0);
	cr_assert_eq(spool_add_process(spool, &process), 0);
	for (uint64_t i = 0; i < PAGES; i++) {
		struct rec_page page = { .data = bytes, .entries = 1, .first = i };
		struct rec_page_writer writer;

		rec_page_begin(&writer, bytes, PAGE, 0);
		cr_assert_not_null(rec_page_put(&writer, 1000 + i, 16));
		rec_page_end(&writer);
		page.size = rec_page_size(bytes);
		last = spool->end;
		cr_assert_eq(spool_add_page(spool, 0, 0, &page, NULL, NULL), 0);
	}
}

static void end(void)
{
	cr_assert_eq(spool_remove(spool), 0);
	spool_close(spool);
	cr_assert_eq(rmdir(dir), 0, "something is left in %s", dir);
}

TestSuite(spool_source, .init = begin, .fini = end, .timeout = 300);

/* All pages of the lane, in order; returns the source's last result. */
static int read_lane(unsigned int *ret_pages)
{
	struct spool_stream *streams;
	struct rec_source *source;
	struct rec_page page;
	int got;

	cr_assert_eq(spool_source_open(spool, &source, &streams), 0);
	cr_assert_eq(source->nr_streams, 1);
	for (*ret_pages = 0; (got = source->next(source, 0, &page)) == 1; (*ret_pages)++)
		cr_assert_eq(page.first, *ret_pages);
	spool_source_close(source);
	return got;
}

/* No chunk follows that of the last link, so opening the spool cannot repair the link. */
Test(spool_source, a_link_outside_of_the_file_is_the_lanes_end)
{
	const uint64_t outside[] = { spool->end,
				     spool->end - sizeof(struct spool_chunk) + 1,
				     UINT64_C(1) << 63,
				     UINT64_MAX - sizeof(struct spool_chunk),
				     UINT64_MAX - sizeof(struct spool_chunk) + 1,
				     UINT64_MAX - 7,
				     UINT64_MAX };

	for (unsigned int i = 0; i < sizeof(outside) / sizeof(outside[0]); i++) {
		unsigned int pages;

		cr_assert_eq(pwrite(spool->fd, &outside[i], 8, (off_t)(last + offsetof(struct spool_chunk, next))), 8);
		spool_close(spool);
		cr_assert_eq(spool_open(path, &spool), 0);
		cr_assert_eq(read_lane(&pages), 0, "a link to %#jx", (uintmax_t)outside[i]);
		cr_assert_eq(pages, PAGES);
	}
}
