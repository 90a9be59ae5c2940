/* SPDX-License-Identifier: MIT */
/* Stages that killed recorders leave: which of them are removed, and which are kept for a recovery. */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/recording/spool.h"
#include "cli/recording/spool_format.h"
#include "cli/recording/stage.h"

#define PAGE 4096u

static char dir[64], path[128];
static struct spool *spool;

/* The largest request for memory. */
static size_t largest;

/* The linker defines these names; no header can declare them. */
void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);

void *__wrap_malloc(size_t size)
{
	largest = size > largest ? size : largest;
	return __real_malloc(size);
}

static void begin(void)
{
	const struct spool_head head = { .file_version = 6 };

	strcpy(dir, "/tmp/recorder-stage-XXXXXX");
	cr_assert(mkdtemp(dir));
	setenv("RECORDER_DIR", dir, 1);
	snprintf(path, sizeof(path), "%s/t.spool", dir);
	cr_assert_eq(spool_create(path, &head, &spool), 0);
}

/* The end of a test: only the spool exists, and it is removed. */
static void end(void)
{
	cr_assert_eq(spool_remove(spool), 0);
	spool = spool_close(spool);
	cr_assert_eq(rmdir(dir), 0, "something is left in %s", dir);
}

TestSuite(stage_left, .init = begin, .fini = end, .timeout = 300);

/* Adds a page as the recorder does. */
static void name_stage(const char *name)
{
	memset(spool->head.stage, 0, sizeof(spool->head.stage));
	strcpy(spool->head.stage, name);
	cr_assert_eq(pwrite(spool->fd, &spool->head, sizeof(spool->head), 0), (ssize_t)sizeof(spool->head));
}

Test(stage_left, only_what_is_left_is_swept)
{
	const int fd = open(dir, O_RDONLY | O_DIRECTORY);
	struct stage *stage;
	char left[128];

	snprintf(left, sizeof(left), "%s/stage-AAAAAA", dir);
	close(open(left, O_CREAT | O_RDWR, 0600));
	cr_assert_eq(stage_open(path, spool->fd, 0, 0, &stage), 0);
	cr_assert_eq(stage_sweep(fd, true, true), 1);
	cr_assert_eq(access(left, F_OK), 0);
	cr_assert_eq(stage_sweep(fd, true, false), 1);
	cr_assert_lt(access(left, F_OK), 0);
	cr_assert_eq(access(stage_path(stage), F_OK), 0, "its recorder lives");
	name_stage(stage_path(stage));
	stage_close(stage, false);
	cr_assert_eq(stage_sweep(fd, true, false), 0, "its spool is there");
	snprintf(left, sizeof(left), "%s/away", dir);
	cr_assert_eq(rename(path, left), 0);
	cr_assert_eq(stage_sweep(fd, true, false), 1, "its spool is gone");
	cr_assert_eq(rename(left, path), 0);
	name_stage("");
	close(fd);
}

/*
 * The recorder was killed before it wrote the stage's name into the spool, or after it removed the name: no recovery
 * looks for the stage.
 */
Test(stage_left, what_the_spool_does_not_name_is_swept)
{
	const int fd = open(dir, O_RDONLY | O_DIRECTORY);
	struct stage *stage;

	cr_assert_eq(stage_open(path, spool->fd, 0, 0, &stage), 0);
	cr_assert_eq(stage_sweep(fd, true, false), 0, "its recorder lives");
	stage_close(stage, false);
	cr_assert_eq(stage_sweep(fd, true, false), 1);
	close(fd);
}

/*
 * If a directory may not be searched, or a server does not answer, it is unknown whether the spool exists.
 */
Test(stage_left, the_pages_of_a_spool_that_cannot_be_looked_at_are_kept)
{
	const int fd = open(dir, O_RDONLY | O_DIRECTORY);
	char long_path[PATH_MAX];
	struct stage_block *block;
	struct stage *stage;

	/* A name that is too long causes another error than ENOENT. */
	snprintf(long_path, sizeof(long_path), "%s/%0300d", dir, 0);
	cr_assert_eq(stage_open(long_path, spool->fd, 0, 0, &stage), 0);
	cr_assert_eq(stage_take(stage, PAGE, STAGE_REFUSE, &block), 0);
	stage_add(stage, block, PAGE);
	cr_assert_eq(access(long_path, F_OK), -1);
	cr_assert_eq(errno, ENAMETOOLONG);
	name_stage(stage_path(stage));
	stage_close(stage, false);
	cr_assert_eq(stage_sweep(fd, false, false), 0);
	cr_assert_eq(unlink(spool->head.stage), 0);
	name_stage("");
	close(fd);
}

/* Whether any process opened a file since `watch` began, other than to examine its metadata. */
static bool was_opened(int watch)
{
	_Alignas(struct inotify_event) char events[4096];

	return read(watch, events, sizeof(events)) > 0;
}

/* Opening a device may have an effect: so its type is checked first. */
Test(stage_left, what_is_no_file_is_not_opened)
{
	const int watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	struct stage_rest rest;
	struct spool *none;
	char fifo[128];
	struct stat st;

	snprintf(fifo, sizeof(fifo), "%s/fifo", dir);
	cr_assert_eq(mkfifo(fifo, 0600), 0);
	cr_assert_geq(inotify_add_watch(watch, fifo, IN_OPEN), 0);
	cr_assert_eq(fstat(spool->fd, &st), 0);
	cr_expect_eq(stage_recover(fifo, &st, &rest), -EBADMSG);
	cr_expect_eq(spool_open(fifo, &none), -EBADMSG);
	cr_expect_not(was_opened(watch));
	close(open(fifo, O_RDONLY | O_NONBLOCK));
	cr_assert(was_opened(watch), "one would be seen");
	close(watch);
	cr_assert_eq(unlink(fifo), 0);
}

/* The stage is in another mount namespace: the spool accepts nothing until it is recovered where the stage is. */
Test(stage_left, a_stage_out_of_sight_is_distinguished_from_one_that_is_gone)
{
	name_stage("/nowhere/stage-AAAAAA");
	spool_close(spool);
	cr_assert_eq(spool_open(path, &spool), 0);
	cr_assert(spool->stage_is_gone && spool->stage_is_unseen);
	strcpy(spool->head.boot, "another one");
	cr_assert_eq(pwrite(spool->fd, &spool->head, sizeof(spool->head), 0), (ssize_t)sizeof(spool->head));
	spool_close(spool);
	cr_assert_eq(spool_open(path, &spool), 0);
	cr_assert(spool->stage_is_gone && !spool->stage_is_unseen);
}

Test(stage_left, the_pages_of_a_spool_that_was_moved_are_kept)
{
	const int fd = open(dir, O_RDONLY | O_DIRECTORY);
	struct stage_block *block;
	struct stage *stage;
	char moved[128];

	cr_assert_eq(stage_open(path, spool->fd, 0, 0, &stage), 0);
	cr_assert_eq(stage_take(stage, PAGE, STAGE_REFUSE, &block), 0);
	stage_add(stage, block, PAGE);
	stage_close(stage, false);
	snprintf(moved, sizeof(moved), "%s/moved", dir);
	cr_assert_eq(rename(path, moved), 0);
	cr_assert_eq(stage_sweep(fd, true, false), 0);
	cr_assert_eq(stage_sweep(fd, false, false), 1, "unless the user cleans up");
	cr_assert_eq(rename(moved, path), 0);
	close(fd);
}

/* A spool may name any file, and may be another user's. */
Test(stage_left, only_the_spools_own_stage_is_removed)
{
	struct stage *stage;
	char other[128];
	struct stat st;

	snprintf(other, sizeof(other), "%s/other", dir);
	close(open(other, O_CREAT | O_RDWR, 0600));
	cr_assert_eq(stage_open(path, spool->fd, 0, 0, &stage), 0);
	snprintf(spool->head.stage, sizeof(spool->head.stage), "%s", stage_path(stage));
	stage_close(stage, false);
	cr_assert_eq(rename(spool->head.stage, other), 0);
	close(open(spool->head.stage, O_CREAT | O_RDWR, 0600));
	strcpy(other + strlen(dir), "/stage");
	cr_assert_eq(rename(spool->head.stage, other), 0);
	cr_assert_eq(fstat(spool->fd, &st), 0);
	cr_assert_eq(stage_remove(other, &st), -EBADMSG);
	cr_assert_eq(unlink(other), 0, "it is still there");
	strcpy(other + strlen(dir), "/other");
	cr_assert_eq(stage_remove(other, &st), 0);
	cr_assert_lt(access(other, F_OK), 0);
}

/* The slots claim a gigabyte, but the file ends after its head. */
Test(stage_left, memory_is_not_taken_for_blocks_that_are_not_there)
{
	struct stage_head *head = calloc(1, sizeof(*head));
	struct stage_rest rest = { .bytes = NULL };
	char left[128];
	struct stat st;
	int fd;

	snprintf(left, sizeof(left), "%s/stage-AAAAAA", dir);
	fd = open(left, O_CREAT | O_RDWR, 0600);
	cr_assert(fd >= 0 && head && fstat(spool->fd, &st) == 0);
	head->magic = STAGE_MAGIC;
	head->dev = st.st_dev;
	head->inode = st.st_ino;
	for (unsigned int i = 0; i < STAGE_BLOCKS; i++)
		head->slots[i] = (struct stage_slot){ .filled = STAGE_BLOCK_MAX, .taken = i };
	cr_assert_eq(pwrite(fd, head, sizeof(*head), 0), (ssize_t)sizeof(*head));
	cr_assert_eq(ftruncate(fd, STAGE_HEAD), 0);
	largest = 0;
	cr_expect_eq(stage_recover(left, &st, &rest), -EBADMSG);
	cr_expect_leq(largest, STAGE_BLOCK_MAX, "%zu bytes", largest);
	cr_expect_null(rest.bytes);
	close(fd);
	cr_assert_eq(unlink(left), 0);
	free(head);
}
