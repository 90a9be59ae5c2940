/* SPDX-License-Identifier: MIT */
/*
 * Stages that killed recorders left: reads them, or removes them. The file is not trusted: every number in it is
 * checked, and the spool's owner must own it, too.
 */
#include "cli/recording/stage_private.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/base/base_name.h"
#include "cli/base/lock_within.h"
#include "cli/base/open_regular.h"
#include "cli/recording/dir_watch.h"
#include "format/io/read_at.h"

/* An open stage, its head, and its blocks that are not empty, in the order in which they go into the spool. */
struct left {
	int fd;
	struct stat st;
	struct stage_head *head;
	unsigned int blocks[STAGE_BLOCKS];
	unsigned int nr, placed;
};

static void close_left(struct left *left)
{
	free(left->head);
	if (left->fd >= 0)
		close(left->fd);
}

/*
 * Open and lock a stage; wait `ms` ms for the lock. Only a sweep can hold the lock of a stage whose spool is not
 * locked: its recorder is gone. 0; -EBUSY: another process has the lock; -EBADMSG; -ENOMEM; or an
 * errno.
 */
static int open_left(int dir, const char *name, unsigned int ms, struct left *left)
{
	int err;

	*left = (struct left){ .fd = open_regular(dir, name, O_RDONLY) };
	if (left->fd < 0)
		return left->fd;
	if (fstat(left->fd, &left->st) < 0)
		return -errno;
	if (lock_within(left->fd, LOCK_EX, ms) == -EBUSY)
		return -EBUSY;
	left->head = calloc(1, sizeof(*left->head));
	if (!left->head)
		return -ENOMEM;
	err = read_exactly(left->fd, left->head, sizeof(*left->head), 0);
	if (!err && left->head->magic != STAGE_MAGIC)
		err = -EBADMSG;
	else if (!err && left->head->incompatible & ~STAGE_FEATURES_INCOMPATIBLE)
		err = -EPROTO;
	left->head->spool[sizeof(left->head->spool) - 1] = '\0';
	return err;
}

static int compare(const void *one, const void *other, void *head)
{
	const struct stage_slot *slots = ((const struct stage_head *)head)->slots;
	const unsigned int a = *(const unsigned int *)one, b = *(const unsigned int *)other;

	if (slots[a].offset != slots[b].offset)
		return slots[a].offset < slots[b].offset ? -1 : 1;
	return slots[a].taken < slots[b].taken ? -1 : slots[a].taken > slots[b].taken;
}

/*
 * Blocks with an offset come first. The thread writes blocks in the order of their offsets, so those that are left are
 * contiguous; blocks after a gap are damage, and are left out. Blocks without an offset follow in the order in which
 * they were taken: only one thread at a time takes pages of a lane, so that is the order of the lane's pages.
 */
static void list_blocks(struct left *left)
{
	const struct stage_slot *slots = left->head->slots;
	unsigned int unplaced[STAGE_BLOCKS], nr = 0;

	for (unsigned int i = 0; i < STAGE_BLOCKS; i++)
		if (slots[i].filled && slots[i].filled <= STAGE_BLOCK_MAX) {
			if (slots[i].offset)
				left->blocks[left->placed++] = i;
			else
				unplaced[nr++] = i;
		}
	qsort_r(unplaced, nr, sizeof(*unplaced), compare, left->head);
	qsort_r(left->blocks, left->placed, sizeof(*left->blocks), compare, left->head);
	for (unsigned int i = 1; i < left->placed; i++)
		if (slots[left->blocks[i]].offset !=
		    slots[left->blocks[i - 1]].offset + slots[left->blocks[i - 1]].filled)
			left->placed = i;
	left->nr = left->placed + nr;
	memcpy(left->blocks + left->placed, unplaced, nr * sizeof(*unplaced));
}

static uint64_t block_at(unsigned int number)
{
	return STAGE_HEAD + (uint64_t)number * STAGE_BLOCK_MAX;
}

/* Read the blocks. The file's size limits their number, so that wrong slots cannot take much memory. */
static int read_blocks(const struct left *left, struct stage_rest *rest)
{
	const struct stage_slot *slots = left->head->slots;
	size_t at = 0;
	int err = 0;

	for (unsigned int i = 0; i < left->nr; i++) {
		if (block_at(left->blocks[i]) + slots[left->blocks[i]].filled > (uint64_t)left->st.st_size)
			return -EBADMSG;
		rest->size += slots[left->blocks[i]].filled;
		rest->placed += i < left->placed ? slots[left->blocks[i]].filled : 0;
	}
	rest->offset = left->placed ? slots[left->blocks[0]].offset : 0;
	rest->bytes = malloc(rest->size + 1);
	if (!rest->bytes)
		return -ENOMEM;
	for (unsigned int i = 0; i < left->nr && !err; i++) {
		const struct stage_slot *slot = &slots[left->blocks[i]];

		err = read_exactly(left->fd, rest->bytes + at, slot->filled, block_at(left->blocks[i]));
		at += slot->filled;
	}
	return err;
}

static bool belongs_to(const struct left *left, const struct stat *spool)
{
	return (left->st.st_uid == spool->st_uid || left->st.st_uid == geteuid()) && left->head->dev == spool->st_dev &&
	       left->head->inode == spool->st_ino;
}

int stage_recover(const char *path, const struct stat *spool, struct stage_rest *ret_rest)
{
	struct stage_rest rest = { .bytes = NULL };
	struct left left;
	int err = open_left(AT_FDCWD, path, LOCK_A_MOMENT_MS, &left);

	if (!err && !belongs_to(&left, spool))
		err = -EBADMSG;
	if (!err) {
		list_blocks(&left);
		err = read_blocks(&left, &rest);
	}
	close_left(&left);
	if (err)
		free(rest.bytes);
	else
		*ret_rest = rest;
	return err;
}

/* Use the directory's descriptor, because the path may lead elsewhere when it is followed again. */
int stage_remove(const char *path, const struct stat *spool)
{
	const char *slash = strrchr(path, '/'), *name = base_name(path);
	char above[PATH_MAX] = ".";
	struct left left;
	int dir, err;

	if (slash && snprintf(above, sizeof(above), "%.*s/", (int)(slash - path), path) >= (int)sizeof(above))
		return -ENAMETOOLONG;
	dir = open(above, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return -errno;
	err = open_left(dir, name, LOCK_A_MOMENT_MS, &left);
	if (!err && !belongs_to(&left, spool))
		err = -EBADMSG;
	if (!err && unlinkat(dir, name, 0) < 0)
		err = -errno;
	close_left(&left);
	close(dir);
	return err;
}

/*
 * Whether the spool that the stage belongs to names the stage. A recorder that is killed before it writes the name,
 * or after it has removed the name, leaves a stage that no recovery looks for; such a stage holds nothing that the
 * spool lacks. A spool that cannot be read may name it.
 */
static bool is_named(const struct left *left, const char *name)
{
	struct spool_head head;

	return spool_head_look(left->head->spool, &head) || !strcmp(base_name(head.stage), name);
}

/*
 * A stage stays if its spool is still in its place and names it, because without the stage a recovery could not know
 * whether data are missing. It also stays if this cannot be determined. A spool that is not in its place may have been
 * moved.
 */
static bool is_needed(struct left *left, const char *name, bool moved)
{
	struct stat st;
	const int err = stat(left->head->spool, &st) < 0 ? errno : 0;

	if (err && err != ENOENT && err != ENOTDIR)
		return true;
	if (!err && st.st_dev == left->head->dev && st.st_ino == left->head->inode)
		return is_named(left, name);
	list_blocks(left);
	return moved && left->nr;
}

/*
 * Remove a stage, with its lock held, if no spool needs it or its recorder was killed before it had a head. A recorder
 * that has just made it and not yet locked it finds it removed, and makes another one.
 */
static bool sweep(int dir, const char *name, bool moved, bool dry_run)
{
	struct left left;
	const int err = open_left(dir, name, 0, &left);
	const bool unmade = err == -EBADMSG && left.head && !left.head->magic;
	bool done = unmade || (!err && !is_needed(&left, name, moved));

	if (done && !dry_run)
		done = !unlinkat(dir, name, 0);
	close_left(&left);
	return done;
}

unsigned int stage_sweep(int dir, bool moved, bool dry_run)
{
	const struct dirent *entry;
	DIR *entries = dir_entries(dir);
	unsigned int nr = 0;

	while (entries && (entry = readdir(entries)))
		if (!strncmp(entry->d_name, STAGE_PREFIX, strlen(STAGE_PREFIX)))
			nr += sweep(dir, entry->d_name, moved, dry_run);
	if (entries)
		closedir(entries);
	return nr;
}
