/* SPDX-License-Identifier: MIT */
/* A spool whose stage is full, or very small: which chunks are refused, and who waits for the disk. */
#include <criterion/criterion.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/recording/stage.h"
#include "stage_fixture.h"

#define LARGE_PAGE (300u * 1024u)

/* While the test holds this lock, the disk accepts nothing: the stage's thread does not finish its first block. */
static pthread_mutex_t disk = PTHREAD_MUTEX_INITIALIZER;

int __real_stage_written(int fd, const unsigned char *bytes, size_t size, uint64_t offset);
int __wrap_stage_written(int fd, const unsigned char *bytes, size_t size, uint64_t offset);
int __wrap_stage_written(int fd, const unsigned char *bytes, size_t size, uint64_t offset)
{
	pthread_mutex_lock(&disk);
	pthread_mutex_unlock(&disk);
	return __real_stage_written(fd, bytes, size, offset);
}

TestSuite(stage_full, .init = stage_begin, .fini = stage_end, .timeout = 60);

/* Add a page with one event, which has this number. */
static int add_page(uint64_t number)
{
	static unsigned char data[PAGE];
	const struct rec_page page = {
		.data = data, .size = PAGE - REC_SUBBUF_HEADER_SIZE, .entries = 1, .first = number
	};

	return spool_add_page(spool, 0, 0, &page, NULL, NULL);
}

static void add_anchor(void)
{
	const struct rec_anchor anchor = { .clock = 1, .mono = 1 };

	cr_assert_eq(spool_add_anchor(spool, REC_CLOCK_MONO, &anchor), 0);
}

/* The disk stalls, and pages are added until they are refused. Returns their number. */
static uint64_t fill(void)
{
	uint64_t nr = 0;
	int err;

	pthread_mutex_lock(&disk);
	cr_assert_eq(spool_stage(spool, 2u << 20, 0), 0);
	while (!(err = add_page(nr)))
		nr++;
	cr_assert_eq(err, -EAGAIN);
	return nr;
}

/* As if the block had been taken a second ago. */
static void tick(void)
{
	spool->block_ms -= 1000;
	spool_tick(spool);
}

static void expect_in_file(uint64_t pages, unsigned int anchors)
{
	cr_assert_eq(spool_settle(spool), 0);
	spool_close(spool);
	cr_assert_eq(spool_open(path, &spool), 0);
	cr_assert_eq(spool->events, pages);
	cr_assert_eq(spool->anchors[REC_CLOCK_MONO].nr, anchors);
}

/*
 * The recorder's thread adds an anchor each second, and tries pages in between. If pages were put into the reserved
 * block, or if that were handed over with one anchor in it, the third anchor would find no reserved block and wait for
 * the disk: the test would not end.
 */
Test(stage_full, a_stalled_disk_does_not_stop_the_recorders_thread)
{
	const uint64_t nr = fill();

	for (unsigned int i = 0; i < 10; i++) {
		add_anchor();
		cr_assert_eq(add_page(nr), -EAGAIN, "a page took memory that is reserved");
		tick();
		cr_assert_not_null(spool->block);
	}
	pthread_mutex_unlock(&disk);
	cr_assert_eq(stage_settle(spool->stage), 0);
	cr_assert_eq(add_page(nr), 0, "there is room again");
	cr_assert_not(spool->block->reserved);
	expect_in_file(nr + 1, 10);
}

Test(stage_full, the_reserved_block_is_handed_over_when_the_disk_is_idle)
{
	const uint64_t nr = fill();

	add_anchor();
	tick();
	cr_assert_not_null(spool->block);
	pthread_mutex_unlock(&disk);
	cr_assert_eq(stage_settle(spool->stage), 0);
	tick();
	cr_assert_null(spool->block);
	expect_in_file(nr, 1);
}

/* A large page takes a block of 1 MiB: all that this stage may have. */
Test(stage_full, a_small_stage_takes_large_pages_one_at_a_time)
{
	struct stage_block *block, *other;
	struct stage *stage;

	cr_assert_eq(stage_open(path, spool->fd, 1u << 20, 0, &stage), 0);
	for (unsigned int i = 0; i < 3; i++) {
		cr_assert_eq(stage_take(stage, LARGE_PAGE, STAGE_HELP, &block), -EAGAIN, "a helper leaves the memory");
		cr_assert_eq(stage_take(stage, LARGE_PAGE, STAGE_REFUSE, &block), 0, "page %u", i);
		memset(block->at, 1, LARGE_PAGE);
		cr_assert_eq(stage_take(stage, PAGE, STAGE_REFUSE, &other), -EAGAIN);
		stage_hand_over(stage, block);
		cr_assert_eq(stage_settle(stage), 0);
		cr_assert_eq(stage_take(stage, PAGE, STAGE_REFUSE, &block), 0, "a small page after it");
		stage_hand_over(stage, block);
		cr_assert_eq(stage_settle(stage), 0);
	}
	stage_close(stage, true);
}
