/* SPDX-License-Identifier: MIT */
/*
 * The thread of a stage: writes blocks to the spool's file, in the order in which they were handed over. A stalled
 * disk stops this thread alone. A write error ends it; the unwritten blocks stay in the stage.
 */
#include "cli/recording/stage_private.h"

#include <errno.h>
#include <unistd.h>

#include "cli/base/priority.h"

/* Bytes of one write. Larger writes cost more for each page if ext4 then uses larger folios (2026-11, Xeon, a VM). */
#define PIECE (256u * 1024u)

static int write_all(int fd, const unsigned char *bytes, size_t size, uint64_t offset)
{
	while (size) {
		const ssize_t n = pwrite(fd, bytes, size < PIECE ? size : PIECE, (off_t)offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -ENOSPC;
		bytes += n;
		offset += (uint64_t)n;
		size -= (size_t)n;
	}
	return 0;
}

/* Wait for the oldest block of the queue. NULL: the stage ends. Call it with the lock held. */
static struct stage_block *next_block(struct stage *stage)
{
	while (stage->written == stage->handed && !stage->ends)
		pthread_cond_wait(&stage->work, &stage->lock);
	if (stage->written == stage->handed)
		return NULL;
	return &stage->blocks[stage->queue[stage->written % STAGE_BLOCKS]];
}

void *stage_main(void *arg)
{
	struct stage *stage = arg;
	struct stage_block *block;
	int err = 0;

	if (stage->priority)
		priority_raise(stage->priority);
	pthread_mutex_lock(&stage->lock);
	while (!err && (block = next_block(stage))) {
		pthread_mutex_unlock(&stage->lock);
		err = write_all(stage->spool, block->at, block->used, block->offset);
		if (!err)
			err = stage_written(stage->spool, block->at, block->used, block->offset);
		/* The file has the block now, so a successor must not write it again. */
		if (!err)
			__atomic_store_n(&stage->head->slots[block->number].filled, 0, __ATOMIC_RELEASE);
		pthread_mutex_lock(&stage->lock);
		if (!err) {
			stage->waiting -= block->used;
			stage->written++;
			stage_give_back(stage, block);
		}
		stage->err = err;
		pthread_cond_broadcast(&stage->done);
	}
	pthread_mutex_unlock(&stage->lock);
	return NULL;
}
