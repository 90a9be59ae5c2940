/* SPDX-License-Identifier: MIT */
/*
 * The blocks of a stage: how they are made, taken, filled and handed over.
 *
 * A block gets memory when it is first taken, by fallocate, so a full file system is an error at once instead of a
 * signal later. The block that was written last is used again first, so the rest of the stage stays untouched while the
 * disk keeps up. The bound counts bytes: free blocks give their memory to a block that must be larger. The lock
 * inherits priority, because the drain may be a real-time thread.
 */
#include "cli/recording/stage_private.h"

#include <errno.h>
#include <fcntl.h>
#include <librecorder/reader.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "cli/base/lock_new.h"
#include "cli/base/least.h"
#include "cli/base/memory.h"

/*
 * The share of the available memory, and of the free room of its file system, that the stage may take; and its maximum
 * size.
 */
#define MEMORY_SHARE 16u
#define FILES_SHARE  8u
#define BYTES_MAX    (UINT64_C(256) << 20)

/* Blocks that get their memory when the stage is made: as many as are in use while the disk keeps up. */
#define MADE_FIRST 4u

/* Bytes that only STAGE_WAIT may use. STAGE_HELP always leaves them free, STAGE_REFUSE if the bound permits. */
#define RESERVED (2u * STAGE_BLOCK)

/* The number of attempts to make the file, if sweeps keep removing it. */
#define CREATE_TRIES 3u

/* The number of bytes that the blocks may take. */
static uint64_t bound(int dir, uint64_t max)
{
	uint64_t bytes = max ? max : least(BYTES_MAX, memory_available() / MEMORY_SHARE);
	struct statvfs fs;

	if (!fstatvfs(dir, &fs))
		bytes = least(bytes, (uint64_t)fs.f_bavail * fs.f_frsize / FILES_SHARE);
	return least(bytes, (uint64_t)STAGE_BLOCKS * STAGE_BLOCK);
}

static uint64_t offset_of(unsigned int number)
{
	return STAGE_HEAD + (uint64_t)number * STAGE_BLOCK_MAX;
}

static struct stage_slot *slot_of(struct stage *stage, const struct stage_block *block)
{
	return &stage->head->slots[block->number];
}

/* Reserve memory for a part of the file. 0 or -errno. */
static int allocate(const struct stage *stage, uint64_t offset, size_t size)
{
	int err;

	do {
		err = fallocate(stage->fd, 0, (off_t)offset, (off_t)size) < 0 ? errno : 0;
	} while (err == EINTR);
	/* Some file systems cannot reserve room. */
	if (err == EOPNOTSUPP)
		err = posix_fallocate(stage->fd, (off_t)offset, (off_t)size);
	return -err;
}

/* Reserve more memory for a block, so that filling it neither faults nor waits. 0 or -errno. */
static int make_room(const struct stage *stage, const struct stage_block *block, size_t room)
{
	const int err = allocate(stage, offset_of(block->number), room);

	/* Map the block's pages now; if that fails (before Linux 5.14), each is mapped at its first use. */
	if (!err)
		madvise(block->at, room, MADV_POPULATE_WRITE);
	return err;
}

/* ---------------------------------------------------------------------------- which blocks: with the lock held */

/*
 * The bytes of memory that a block of this size must leave free. If the bound is too low for that, STAGE_REFUSE leaves
 * what there is, and takes a block when no other is in use: otherwise it would be refused even if the disk is idle.
 */
static uint64_t kept_free(const struct stage *stage, size_t room, enum stage_bound which)
{
	if (which == STAGE_HELP)
		return RESERVED;
	if (which == STAGE_WAIT || room >= stage->max)
		return 0;
	return least(RESERVED, stage->max - room);
}

/* Whether the bound permits one more block of this size. */
static bool has_memory(const struct stage *stage, size_t room, enum stage_bound which)
{
	return stage->max - (stage->bytes - stage->free_bytes) >= room + kept_free(stage, room, which);
}

/*
 * The index of the last free block that is large enough; if no block is, that of the last free block. There is a free
 * block: has_memory() permits no block more than the stage has.
 */
static unsigned int find_large(const struct stage *stage, size_t room)
{
	unsigned int at = stage->nr_free;

	while (at && stage->blocks[stage->free[at - 1]].room < room)
		at--;
	return at ? at - 1 : stage->nr_free - 1;
}

/* The index of the last free block without memory; nr_free if all have memory. */
static unsigned int find_empty(const struct stage *stage)
{
	unsigned int at = stage->nr_free;

	while (at && stage->blocks[stage->free[at - 1]].room)
		at--;
	return at ? at - 1 : stage->nr_free;
}

/*
 * A free block. All but STAGE_WAIT leave its memory in free blocks, because a full file system gives no more.
 * NULL: none.
 */
static struct stage_block *take_free(struct stage *stage, size_t room, enum stage_bound which)
{
	unsigned int at = find_large(stage, room);
	struct stage_block *block = &stage->blocks[stage->free[at]];

	if (stage->free_bytes < block->room + kept_free(stage, room, which))
		at = find_empty(stage);
	if (at == stage->nr_free)
		return NULL;
	block = &stage->blocks[stage->free[at]];
	stage->nr_free--;
	memmove(stage->free + at, stage->free + at + 1, (stage->nr_free - at) * sizeof(*stage->free));
	stage->free_bytes -= block->room;
	return block;
}

void stage_give_back(struct stage *stage, struct stage_block *block)
{
	stage->free[stage->nr_free++] = (uint16_t)block->number;
	stage->free_bytes += block->room;
}

/* Release the memory of free blocks, the oldest first, until the bound holds again. */
static void release_some(struct stage *stage)
{
	for (unsigned int i = 0; stage->bytes > stage->max && i < stage->nr_free; i++) {
		struct stage_block *block = &stage->blocks[stage->free[i]];

		fallocate(stage->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)offset_of(block->number),
			  (off_t)block->room);
		stage->bytes -= block->room;
		stage->free_bytes -= block->room;
		block->room = 0;
	}
}

/*
 * Take a block of this size, and count its bytes. It has memory for *ret_had bytes; the caller reserves the rest. NULL:
 * the bound is reached.
 */
static struct stage_block *take_any(struct stage *stage, size_t room, enum stage_bound which, size_t *ret_had)
{
	const bool reserved = !has_memory(stage, room, STAGE_REFUSE);
	struct stage_block *block;

	if (!has_memory(stage, room, which))
		return NULL;
	block = take_free(stage, room, which);
	if (!block)
		return NULL;
	block->reserved = reserved;
	*ret_had = block->room;
	if (block->room < room) {
		stage->bytes += room - block->room;
		block->room = room;
		release_some(stage);
	}
	slot_of(stage, block)->taken = stage->taken++;
	return block;
}

/*
 * Called if the block could not grow, because the file system is full, a quota is reached, or memory is short: the
 * recording continues with the memory that the stage has, so the stage grows no more.
 */
static void undo_growth(struct stage *stage, struct stage_block *block, size_t had)
{
	stage->bytes -= block->room - had;
	block->room = had;
	stage->max = stage->bytes;
	stage_give_back(stage, block);
}

static int find_block(struct stage *stage, size_t room, enum stage_bound which, struct stage_block **ret_block,
		      size_t *ret_had)
{
	while (!stage->err) {
		*ret_block = take_any(stage, room, which, ret_had);
		if (*ret_block)
			return 0;
		if (which != STAGE_WAIT) {
			stage->refused = true;
			return -EAGAIN;
		}
		/* Free the block here: only blocks that were handed over become free by themselves. */
		if (room > stage->max || stage->written == stage->handed)
			return -ENOSPC;
		pthread_cond_wait(&stage->done, &stage->lock);
	}
	return stage->err;
}

/* ------------------------------------------------------------------------------------------------------ its users */

int stage_take(struct stage *stage, size_t size, enum stage_bound which, struct stage_block **ret_block)
{
	const size_t room = size <= STAGE_BLOCK ? STAGE_BLOCK : STAGE_BLOCK_MAX;
	struct stage_block *block = NULL;
	size_t had = 0;
	int err, grown = 0;

	if (size > STAGE_BLOCK_MAX)
		return -EMSGSIZE;
	pthread_mutex_lock(&stage->lock);
	do {
		err = find_block(stage, room, which, &block, &had);
		grown = 0;
		if (!err && had < room) {
			pthread_mutex_unlock(&stage->lock);
			grown = make_room(stage, block, room);
			pthread_mutex_lock(&stage->lock);
			if (grown)
				undo_growth(stage, block, had);
		}
	} while (!err && grown);
	pthread_mutex_unlock(&stage->lock);
	if (err)
		return err;
	block->used = 0;
	block->next = NULL;
	stage_place(stage, block, 0);
	*ret_block = block;
	return 0;
}

void stage_place(struct stage *stage, struct stage_block *block, uint64_t offset)
{
	block->offset = offset;
	__atomic_store_n(&slot_of(stage, block)->offset, offset, __ATOMIC_RELEASE);
}

void stage_add(struct stage *stage, struct stage_block *block, size_t size)
{
	block->used += size;
	/*
	 * Release: the bytes are stored before their number, because the successor of a killed recorder reads this
	 * many.
	 */
	__atomic_store_n(&slot_of(stage, block)->filled, block->used, __ATOMIC_RELEASE);
}

void stage_hand_over(struct stage *stage, struct stage_block *block)
{
	pthread_mutex_lock(&stage->lock);
	stage->queue[stage->handed++ % STAGE_BLOCKS] = (uint16_t)block->number;
	stage->waiting += block->used;
	pthread_cond_signal(&stage->work);
	pthread_mutex_unlock(&stage->lock);
}

bool stage_has_refused(struct stage *stage)
{
	bool refused;

	pthread_mutex_lock(&stage->lock);
	refused = stage->refused;
	pthread_mutex_unlock(&stage->lock);
	return refused;
}

uint64_t stage_waiting(struct stage *stage)
{
	uint64_t bytes;

	pthread_mutex_lock(&stage->lock);
	bytes = stage->waiting;
	pthread_mutex_unlock(&stage->lock);
	return bytes;
}

int stage_settle(struct stage *stage)
{
	int err;

	pthread_mutex_lock(&stage->lock);
	while (!stage->err && stage->written < stage->handed)
		pthread_cond_wait(&stage->done, &stage->lock);
	err = stage->err;
	pthread_mutex_unlock(&stage->lock);
	return err;
}

const char *stage_path(const struct stage *stage)
{
	return stage->path;
}

/* ------------------------------------------------------------------------------------------- opening and closing */

/* Make a new file in the directory, locked. -EAGAIN: a sweep has just removed it. */
static int create_file(struct stage *stage, const char *dir)
{
	int err;

	snprintf(stage->path, sizeof(stage->path), "%.4000s/" STAGE_PREFIX "XXXXXX", dir);
	stage->fd = mkostemp(stage->path, O_CLOEXEC);
	if (stage->fd < 0) {
		err = -errno;
		stage->path[0] = '\0';
		return err;
	}
	err = lock_new(stage->fd);
	if (err) {
		unlink(stage->path);
		close(stage->fd);
		stage->fd = -1;
	}
	return err;
}

/* Make the file in the user's buffer directory. */
static int make_file(struct stage *stage, uint64_t max)
{
	char dir[PATH_MAX];
	int err = rec_buffer_dir(true, dir, sizeof(dir));
	int fd;

	if (err)
		return err;
	fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	stage->max = bound(fd, max);
	close(fd);
	if (stage->max < MADE_FIRST * STAGE_BLOCK)
		return -ENOSPC;
	stage->nr = (unsigned int)(stage->max / STAGE_BLOCK);
	for (unsigned int tries = 0; tries < CREATE_TRIES; tries++) {
		err = create_file(stage, dir);
		if (err != -EAGAIN)
			break;
	}
	stage->map_size = offset_of(stage->nr);
	if (!err && ftruncate(stage->fd, (off_t)stage->map_size) < 0)
		err = -errno;
	return err ? err : allocate(stage, 0, sizeof(struct stage_head));
}

static int map_file(struct stage *stage, const char *spool)
{
	struct stat st;
	void *map;
	int err = 0;

	if (strlen(spool) >= sizeof(stage->head->spool))
		return -ENAMETOOLONG;
	if (fstat(stage->spool, &st) < 0)
		return -errno;
	map = mmap(NULL, stage->map_size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, stage->fd, 0);
	if (map == MAP_FAILED)
		return -errno;
	stage->map = map;
	stage->head = map;
	strcpy(stage->head->spool, spool);
	stage->head->dev = st.st_dev;
	stage->head->inode = st.st_ino;
	stage->head->compatible = STAGE_FEATURES_COMPATIBLE;
	stage->head->incompatible = STAGE_FEATURES_INCOMPATIBLE;
	__atomic_store_n(&stage->head->magic, STAGE_MAGIC, __ATOMIC_RELEASE);
	for (unsigned int i = stage->nr; i-- && !err;) {
		struct stage_block *block = &stage->blocks[i];

		block->number = i;
		block->at = stage->map + offset_of(i);
		if (i < MADE_FIRST) {
			err = make_room(stage, block, STAGE_BLOCK);
			block->room = STAGE_BLOCK;
			stage->bytes += STAGE_BLOCK;
		}
		stage_give_back(stage, block);
	}
	return err;
}

static int start_thread(struct stage *stage)
{
	const int err = pthread_create(&stage->thread, NULL, stage_main, stage);

	stage->started = !err;
	return -err;
}

int stage_open(const char *spool, int fd, uint64_t max, unsigned int priority, struct stage **ret_stage)
{
	struct stage *stage = calloc(1, sizeof(*stage));
	pthread_mutexattr_t attributes;
	int err;

	if (!stage)
		return -ENOMEM;
	stage->fd = -1;
	stage->spool = fd;
	stage->priority = priority;
	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT);
	pthread_mutex_init(&stage->lock, &attributes);
	pthread_mutexattr_destroy(&attributes);
	pthread_cond_init(&stage->work, NULL);
	pthread_cond_init(&stage->done, NULL);
	err = make_file(stage, max);
	if (!err)
		err = map_file(stage, spool);
	if (!err)
		err = start_thread(stage);
	if (err)
		stage_close(stage, true);
	else
		*ret_stage = stage;
	return err;
}

struct stage *stage_close(struct stage *stage, bool remove)
{
	if (!stage)
		return NULL;
	pthread_mutex_lock(&stage->lock);
	stage->ends = true;
	pthread_cond_signal(&stage->work);
	pthread_mutex_unlock(&stage->lock);
	if (stage->started)
		pthread_join(stage->thread, NULL);
	if (remove && stage->path[0])
		unlink(stage->path);
	if (stage->map)
		munmap(stage->map, stage->map_size);
	if (stage->fd >= 0)
		close(stage->fd);
	pthread_cond_destroy(&stage->work);
	pthread_cond_destroy(&stage->done);
	pthread_mutex_destroy(&stage->lock);
	free(stage);
	return NULL;
}
