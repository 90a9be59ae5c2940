/* SPDX-License-Identifier: MIT */
/* A spool with a stage: the contents of the file at the end, and after a recorder was killed. */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/recording/stage.h"
#include "stage_fixture.h"

#define LARGE_PAGE (64u * 1024u)
#define LANES	   3u

static uint32_t page_size = PAGE;

/* stage_end() for tests in which a recorder was killed before its spool named its stage. */
static void end_swept(void)
{
	const int fd = open(dir, O_RDONLY | O_DIRECTORY);

	cr_assert_eq(spool_remove(spool), 0);
	spool = spool_close(spool);
	stage_sweep(fd, true, false);
	close(fd);
	cr_assert_eq(rmdir(dir), 0, "something is left in %s", dir);
}

TestSuite(stage, .init = stage_begin, .fini = stage_end, .timeout = 300);

/* Page `number` of a lane, whose one event has that number. */
static struct rec_page page_of(unsigned int lane, uint64_t number)
{
	static unsigned char data[LARGE_PAGE];
	const uint64_t head[2] = { number * LANES + lane, page_size - REC_SUBBUF_HEADER_SIZE };

	memset(data, (int)(number + lane), page_size);
	memcpy(data, head, sizeof(head));
	return (struct rec_page){
		.data = data, .size = page_size - REC_SUBBUF_HEADER_SIZE, .entries = 1, .first = number
	};
}

static int add(unsigned int lane, uint64_t number)
{
	const struct rec_page page = page_of(lane, number);

	return spool_add_page(spool, 0, lane, &page, NULL, NULL);
}

static int hand(struct spool_hand *hand, unsigned int lane, uint64_t number)
{
	const struct rec_page page = page_of(lane, number);

	return spool_hand_page(spool, hand, 0, lane, &page, NULL, NULL);
}

/* Checks that the lane's next `nr` pages are whole and in order. */
static void expect_of(struct rec_source *source, unsigned int lane, uint64_t nr)
{
	struct rec_page page;

	for (uint64_t number = 0; number < nr; number++) {
		const struct rec_page expected = page_of(lane, number);

		cr_assert_eq(source->next(source, lane, &page), 1, "lane %u ends at %lu", lane, (unsigned long)number);
		cr_assert_eq(page.first, number);
		cr_assert_arr_eq(page.data, expected.data, page_size, "lane %u page %lu", lane, (unsigned long)number);
	}
}

/* Every lane has its pages from 0 on, whole and in order, and no others (`more`: one at most). */
static void expect(uint64_t nr, bool more)
{
	struct spool_stream *streams;
	struct rec_source *source;
	struct rec_page page;

	cr_assert_eq(spool_source_open(spool, &source, &streams), 0);
	cr_assert_eq(source->nr_streams, LANES);
	for (unsigned int lane = 0; lane < LANES; lane++) {
		expect_of(source, lane, nr);
		if (more && source->next(source, lane, &page) == 1)
			cr_assert_eq(page.first, nr);
		cr_assert_eq(source->next(source, lane, &page), 0, "lane %u has more", lane);
	}
	spool_source_close(source);
}

static void expect_pages(uint64_t nr)
{
	expect(nr, false);
}

Test(stage, all_is_in_the_file_at_the_end)
{
	cr_assert_eq(spool_stage(spool, 4u << 20, 0), 0);
	spool->patient = true;
	for (uint64_t number = 0; number < 1000; number++)
		for (unsigned int lane = 0; lane < LANES; lane++)
			cr_assert_eq(add(lane, number), 0);
	cr_assert_eq(spool_settle(spool), 0);
	expect_pages(1000);
	/* Opens the spool as the next recorder does, without a stage. */
	spool_close(spool);
	cr_assert_eq(spool_open(path, &spool), 0);
	cr_assert(!spool->head.stage[0] && !spool->stage_is_gone);
	expect_pages(1000);
}

/* The process is killed then: the helpers' turns are only in the stage, and some of them were not collected yet. */
static void die_in_between(bool ended)
{
	struct spool_hand hands[LANES] = { { NULL, NULL } };
	uint64_t number = 0;

	if (spool_stage(spool, 8u << 20, 0))
		_exit(1);
	for (; number < 100; number++)
		for (unsigned int lane = 0; lane < LANES; lane++)
			if (add(lane, number))
				_exit(1);
	for (; number < 200; number++)
		for (unsigned int lane = 0; lane < LANES; lane++)
			if (hand(&hands[lane], lane, number))
				_exit(1);
	for (unsigned int lane = 0; ended && lane < LANES; lane++)
		if (spool_end_hand(spool, &hands[lane]))
			_exit(1);
	raise(SIGKILL);
}

static void expect_after_death(bool ended)
{
	const pid_t child = fork();
	int status;

	if (!child)
		die_in_between(ended);
	cr_assert_eq(waitpid(child, &status, 0), child);
	cr_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	/* Our open file has the lock, too, so it is closed first. */
	spool_close(spool);
	cr_assert_eq(spool_open(path, &spool), 0);
	expect_pages(200);
	/* The spool is recovered once more. */
	spool_close(spool);
	cr_assert_eq(spool_open(path, &spool), 0);
	expect_pages(200);
}

Test(stage, a_killed_recorder_loses_nothing)
{
	expect_after_death(true);
}

Test(stage, nor_what_its_helpers_had)
{
	expect_after_death(false);
}

/* -------------------------------------------------------------------------------------- killed at each of its steps */

/* Shared with the child. */
static struct progress {
	uint32_t steps;
	uint64_t added[LANES];
} *progress;

static uint32_t kill_at = UINT32_MAX;

static void step(void)
{
	if (progress && __atomic_fetch_add(&progress->steps, 1, __ATOMIC_SEQ_CST) == kill_at)
		kill(getpid(), SIGKILL);
}

void __real_stage_place(struct stage *stage, struct stage_block *block, uint64_t offset);
void __wrap_stage_place(struct stage *stage, struct stage_block *block, uint64_t offset);
void __wrap_stage_place(struct stage *stage, struct stage_block *block, uint64_t offset)
{
	step();
	__real_stage_place(stage, block, offset);
	step();
}

void __real_stage_add(struct stage *stage, struct stage_block *block, size_t size);
void __wrap_stage_add(struct stage *stage, struct stage_block *block, size_t size);
void __wrap_stage_add(struct stage *stage, struct stage_block *block, size_t size)
{
	step();
	__real_stage_add(stage, block, size);
	step();
}

void __real_stage_hand_over(struct stage *stage, struct stage_block *block);
void __wrap_stage_hand_over(struct stage *stage, struct stage_block *block);
void __wrap_stage_hand_over(struct stage *stage, struct stage_block *block)
{
	step();
	__real_stage_hand_over(stage, block);
	step();
}

int __real_stage_written(int fd, const unsigned char *bytes, size_t size, uint64_t offset);
int __wrap_stage_written(int fd, const unsigned char *bytes, size_t size, uint64_t offset);
int __wrap_stage_written(int fd, const unsigned char *bytes, size_t size, uint64_t offset)
{
	int err;

	step();
	err = __real_stage_written(fd, bytes, size, offset);
	step();
	return err;
}

int __real_spool_write_at(int fd, struct iovec *iov, int nr, uint64_t offset);
int __wrap_spool_write_at(int fd, struct iovec *iov, int nr, uint64_t offset);
int __wrap_spool_write_at(int fd, struct iovec *iov, int nr, uint64_t offset)
{
	int err;

	step();
	err = __real_spool_write_at(fd, iov, nr, offset);
	step();
	return err;
}

static void added(unsigned int lane, int err)
{
	if (err)
		_exit(1);
	progress->added[lane]++;
}

/* The recorder adds pages of two lanes, and a helper pages of one lane, four pages in each turn. */
static void record_some(void)
{
	struct spool_hand turn = { NULL, NULL };

	if (spool_stage(spool, 4u << 20, 0))
		_exit(1);
	spool->patient = true;
	for (uint64_t number = 1; number < 9; number++) {
		added(0, add(0, number));
		added(2, hand(&turn, 2, number));
		added(1, add(1, number));
		if (number % 4 == 0 && spool_end_hand(spool, &turn))
			_exit(1);
	}
	if (spool_settle(spool))
		_exit(1);
	_exit(0);
}

/* No added page is missing, and none is there twice. */
static void expect_added(const uint64_t *nr)
{
	struct spool_stream *streams;
	struct rec_source *source;
	struct rec_page page;

	cr_assert_eq(spool_source_open(spool, &source, &streams), 0);
	cr_assert_eq(source->nr_streams, LANES);
	for (unsigned int lane = 0; lane < LANES; lane++) {
		expect_of(source, lane, nr[lane]);
		cr_assert_eq(source->next(source, lane, &page), 0, "lane %u has more", lane);
	}
	spool_source_close(source);
}

/* A recorder is killed at its step `at`; then another one takes over. False: the first one had fewer steps. */
static bool survives_step(uint32_t at)
{
	uint64_t nr[LANES];
	pid_t child;
	int status;

	for (unsigned int lane = 0; lane < LANES; lane++)
		cr_assert_eq(add(lane, 0), 0);
	*progress = (struct progress){ .added = { 1, 1, 1 } };
	kill_at = at;
	child = fork();
	if (!child)
		record_some();
	kill_at = UINT32_MAX;
	cr_assert_eq(waitpid(child, &status, 0), child);
	spool_close(spool);
	cr_assert_eq(spool_open(path, &spool), 0);
	for (unsigned int lane = 0; lane < LANES; lane++) {
		nr[lane] = spool_next_event(spool, 0, lane);
		cr_assert_geq(nr[lane], progress->added[lane], "step %u, lane %u", at, lane);
	}
	expect_added(nr);
	/* Afterwards the rest of one lane follows, and no page of the others. */
	cr_assert_eq(add(at % LANES, nr[at % LANES]), 0);
	nr[at % LANES]++;
	expect_added(nr);
	spool_close(spool);
	cr_assert_eq(spool_open(path, &spool), 0);
	expect_added(nr);
	return WIFSIGNALED(status);
}

Test(stage, a_recorder_killed_at_any_step_loses_nothing)
{
	uint32_t at = 0;

	progress = mmap(NULL, sizeof(*progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	cr_assert_neq(progress, MAP_FAILED);
	page_size = LARGE_PAGE;
	while (survives_step(at++)) {
		end_swept();
		stage_begin();
	}
	cr_assert_gt(at, 100);
}

static bool not_there(void *arg)
{
	(void)arg;
	return false;
}

Test(stage, a_page_that_went_away_is_not_added)
{
	const struct rec_page page = page_of(0, 0);

	cr_assert_eq(spool_stage(spool, 4u << 20, 0), 0);
	cr_assert_eq(spool_add_page(spool, 0, 0, &page, not_there, NULL), -EFAULT);
	for (uint64_t number = 0; number < 3; number++)
		for (unsigned int lane = 0; lane < LANES; lane++)
			cr_assert_eq(add(lane, number), 0);
	cr_assert_eq(spool_settle(spool), 0);
	expect_pages(3);
}

/* A file that cannot grow is used in place of a disk that accepts no data. */
Test(stage, an_error_of_the_thread_is_reported_and_the_rest_stays)
{
	const struct rlimit limit = { 4u << 20, 4u << 20 };
	uint64_t number = 0;
	int err = 0;

	cr_assert_eq(spool_stage(spool, 2u << 20, 0), 0);
	signal(SIGXFSZ, SIG_IGN);
	cr_assert_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	spool->patient = true;
	for (; !err && number < 100000; number++)
		for (unsigned int lane = 0; !err && lane < LANES; lane++)
			err = add(lane, number);
	cr_assert_eq(err, -EFBIG);
	cr_assert_eq(spool_settle(spool), -EFBIG);
	spool_close(spool);
	/* The page is only in memory, because the file cannot be written yet. */
	cr_assert_eq(spool_open(path, &spool), 0);
	cr_assert(spool->rest);
	cr_assert_geq(spool->entries[0].lanes[2].next_event, number - 2);
	expect(spool->entries[0].lanes[2].next_event, true);
}

/* ----------------------------------------------------------------------------------------------------- the bound */

/* No caller hands these blocks over. */
Test(stage, it_refuses_at_its_bound)
{
	struct stage_block *block, *blocks[64];
	struct stage *stage;
	unsigned int nr = 0;

	cr_assert_eq(stage_open(path, spool->fd, 4u << 20, 0, &stage), 0);
	while (nr < 64 && !stage_take(stage, PAGE, STAGE_REFUSE, &blocks[nr]))
		nr++;
	cr_assert_lt(nr, 17);
	cr_assert_gt(nr, 8);
	cr_assert_eq(stage_take(stage, PAGE, STAGE_REFUSE, &block), -EAGAIN);
	cr_assert(stage_has_refused(stage));
	cr_assert_eq(stage_take(stage, PAGE, STAGE_WAIT, &block), 0, "blocks are left for data that cannot be refused");
	stage_hand_over(stage, blocks[0]);
	stage_hand_over(stage, blocks[1]);
	cr_assert_eq(stage_settle(stage), 0);
	cr_assert_eq(stage_take(stage, PAGE, STAGE_REFUSE, &block), 0, "what was written is free again");
	stage_close(stage, true);
}

static int full; /* why the stage's file system gives no more memory: errno; 0: it does */

int __real_fallocate(int fd, int mode, off_t offset, off_t size);
int __wrap_fallocate(int fd, int mode, off_t offset, off_t size);
int __wrap_fallocate(int fd, int mode, off_t offset, off_t size)
{
	if (!full || mode)
		return __real_fallocate(fd, mode, offset, size);
	errno = full;
	return -1;
}

/* Only the caller could hand these blocks over, so a wait for them would never end. */
static void fill_up(int why)
{
	struct stage_block *block;
	struct stage *stage;
	unsigned int nr = 0;
	int err = 0;

	cr_assert_eq(stage_open(path, spool->fd, 4u << 20, 0, &stage), 0);
	full = why;
	while (nr < 64 && !(err = stage_take(stage, PAGE, STAGE_REFUSE, &block)))
		nr++;
	cr_assert_eq(err, -EAGAIN);
	cr_assert_eq(nr, 2);
	for (unsigned int i = 0; i < 2; i++)
		cr_assert_eq(stage_take(stage, PAGE, STAGE_WAIT, &block), 0);
	cr_assert_eq(stage_take(stage, PAGE, STAGE_WAIT, &block), -ENOSPC, "nothing would end the wait");
	full = 0;
	stage_close(stage, true);
}

Test(stage, a_full_file_system_leaves_what_cannot_be_refused)
{
	fill_up(ENOSPC);
	fill_up(EDQUOT);
	fill_up(ENOMEM);
}

Test(stage, a_block_takes_the_largest_chunk)
{
	struct stage_block *block;
	struct stage *stage;

	cr_assert_eq(stage_open(path, spool->fd, 4u << 20, 0, &stage), 0);
	cr_assert_eq(stage_take(stage, STAGE_BLOCK_MAX, STAGE_REFUSE, &block), 0);
	memset(block->at, 1, STAGE_BLOCK_MAX);
	cr_assert_eq(stage_take(stage, STAGE_BLOCK_MAX + 1, STAGE_REFUSE, &block), -EMSGSIZE);
	stage_close(stage, true);
}

/* Memory of its file, except the head. */
static uint64_t memory_of(const struct stage *stage)
{
	struct stat st;

	cr_assert_eq(stat(stage_path(stage), &st), 0);
	return (uint64_t)st.st_blocks * 512 - 64 * 1024;
}

Test(stage, larger_blocks_take_the_memory_of_others)
{
	struct stage_block *block, *blocks[8];
	struct stage *stage;
	unsigned int nr = 0;

	cr_assert_eq(stage_open(path, spool->fd, 2u << 20, 0, &stage), 0);
	while (nr < 8 && !stage_take(stage, PAGE, STAGE_REFUSE, &blocks[nr]))
		nr++;
	cr_assert_eq(nr, 6);
	while (nr--)
		stage_hand_over(stage, blocks[nr]);
	cr_assert_eq(stage_settle(stage), 0);
	cr_assert_eq(stage_take(stage, STAGE_BLOCK_MAX, STAGE_REFUSE, &block), 0);
	memset(block->at, 1, STAGE_BLOCK_MAX);
	cr_assert_eq(stage_take(stage, STAGE_BLOCK_MAX, STAGE_REFUSE, &blocks[0]), -EAGAIN);
	cr_assert_eq(stage_take(stage, STAGE_BLOCK_MAX, STAGE_WAIT, &blocks[0]), 0);
	memset(blocks[0]->at, 1, STAGE_BLOCK_MAX);
	cr_assert_leq(memory_of(stage), 2u << 20);
	stage_hand_over(stage, block);
	cr_assert_eq(stage_take(stage, PAGE, STAGE_WAIT, &block), 0);
	stage_close(stage, true);
}
