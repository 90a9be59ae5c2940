/* SPDX-License-Identifier: MIT */
/*
 * A spool with a stage: chunks are put into blocks of memory, which the stage's thread writes to the file.
 *
 * A block is a piece of the file: the file will have its bytes at the block's offset. A successor of a killed recorder
 * writes the blocks that it finds, and then reads the file as any other. The link from a lane's chunk to the next one
 * is set in memory if both are in one block; otherwise the thread sets it in the file after it has written the block.
 * spool_open() sets links that a kill prevented.
 */
#include "cli/recording/spool_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/base/now.h"
#include "cli/recording/stage.h"
#include "format/io/read_at.h"

/* A block that is not full is handed over after this many ms. */
#define BLOCK_MS 100u

static size_t chunk_size(const struct spool_chunk *chunk)
{
	return sizeof(*chunk) + (size_t)spool_rounded(chunk->size);
}

static bool has_room(const struct stage_block *block, size_t size)
{
	return block && (block->used + size <= STAGE_BLOCK || (!block->used && size <= block->room));
}

/* ------------------------------------------------------------------------------------------- links between chunks */

static uint64_t tail_of(const struct spool *spool, const struct spool_chunk *chunk)
{
	const struct spool_entry *entry;

	if (chunk->kind != SPOOL_PAGE)
		return 0;
	entry = &spool->entries[chunk->process];
	return chunk->lane < entry->nr_lanes ? entry->lanes[chunk->lane].tail : 0;
}

/*
 * Add the chunk at `at` of the block to the model; it will be the last one in the file. If the lane's previous chunk is
 * in this block, *ret_tail is the offset of that chunk in the file; otherwise 0, and the new chunk stores that offset,
 * for the stage's thread.
 */
static int note_chunk(struct spool *spool, const struct stage_block *block, size_t at, const void *payload,
		      uint64_t *ret_tail)
{
	struct spool_chunk chunk;
	uint64_t tail;

	memcpy(&chunk, block->at + at, sizeof(chunk));
	tail = tail_of(spool, &chunk);
	*ret_tail = tail >= block->offset ? tail : 0;
	if (tail < block->offset) {
		chunk.prev = tail;
		memcpy(block->at + at, &chunk, sizeof(chunk));
	}
	return spool_note_chunk(spool, &chunk, payload, block->offset + at);
}

/*
 * Sets the link from the lane's previous chunk, if that is in this block. The link is set only after the chunk was
 * counted by stage_add(). Otherwise, if the recorder were killed, its successor could put another lane's chunk at the
 * place where the link leads.
 */
static void link_chunk(const struct stage_block *block, uint64_t tail, size_t at)
{
	unsigned char *next;

	if (!tail)
		return;
	next = block->at + (tail - block->offset) + offsetof(struct spool_chunk, next);
	/*
	 * Release: the link must not be stored before stage_add() has counted the chunk. The cast is valid, because
	 * chunks begin at multiples of eight.
	 */
	__atomic_store_n((uint64_t *)(void *)next, block->offset + at, __ATOMIC_RELEASE);
}

int stage_written(int fd, const unsigned char *bytes, size_t size, uint64_t offset)
{
	struct spool_chunk chunk;
	int err = 0;

	for (size_t at = 0; at < size && !err; at += chunk_size(&chunk)) {
		uint64_t to = offset + at;
		struct iovec iov = { &to, sizeof(to) };

		memcpy(&chunk, bytes + at, sizeof(chunk));
		if (chunk.prev)
			err = spool_write_at(fd, &iov, 1, chunk.prev + offsetof(struct spool_chunk, next));
	}
	return err;
}

/* ------------------------------------------------------------------------------------------------------ appending */

/* Put the whole chunk at the end of the block; it does not count yet. False: the page has changed (`stands`). */
static bool put_chunk(const struct stage_block *block, const struct spool_chunk *chunk, const void *payload,
		      bool (*stands)(void *arg), void *arg)
{
	unsigned char *at = block->at + block->used;

	memcpy(at, chunk, sizeof(*chunk));
	if (chunk->size)
		memcpy(at + sizeof(*chunk), payload, chunk->size);
	memset(at + sizeof(*chunk) + chunk->size, 0, (size_t)(spool_rounded(chunk->size) - chunk->size));
	return !stands || stands(arg);
}

static void hand_over(struct spool *spool)
{
	if (spool->block)
		stage_hand_over(spool->stage, spool->block);
	spool->block = NULL;
}

/*
 * Replace the block by one with room for `size` bytes. A reserved block stays while pages are refused: it has room for
 * what cannot be refused, so this thread does not wait for a stalled disk. 0 or as stage_take().
 */
static int change_block(struct spool *spool, size_t size, bool waits)
{
	struct stage_block *block;
	int err;

	/* Only blocks that were handed over become free. */
	if (waits || !spool->block || !spool->block->reserved)
		hand_over(spool);
	err = stage_take(spool->stage, size, waits ? STAGE_WAIT : STAGE_REFUSE, &block);
	if (err)
		return err;
	hand_over(spool);
	stage_place(spool->stage, block, spool->end);
	spool->block = block;
	spool->block_ms = now_ms();
	return 0;
}

int spool_stage_chunk(struct spool *spool, struct spool_chunk *chunk, const void *payload, bool (*stands)(void *arg),
		      void *arg)
{
	const size_t size = chunk_size(chunk);
	const bool waits = chunk->kind != SPOOL_PAGE || spool->patient;
	struct stage_block *block;
	uint64_t tail;
	size_t at;
	int err = 0;

	if (!has_room(spool->block, size) || (!waits && spool->block->reserved))
		err = change_block(spool, size, waits);
	if (err)
		return err;
	block = spool->block;
	at = block->used;
	if (!put_chunk(block, chunk, payload, stands, arg))
		return -EFAULT;
	err = note_chunk(spool, block, at, payload, &tail);
	if (err)
		return err;
	stage_add(spool->stage, block, size);
	link_chunk(block, tail, at);
	spool->end += size;
	return 0;
}

void spool_tick(struct spool *spool)
{
	const struct stage_block *block = spool->block;

	if (!block || !block->used || now_ms() - spool->block_ms < BLOCK_MS)
		return;
	/* While other blocks wait for the disk, a reserved one stays for further chunks. */
	if (!block->reserved || !stage_waiting(spool->stage))
		hand_over(spool);
}

bool spool_has_refused(struct spool *spool, uint64_t *ret_bytes)
{
	if (!spool->stage || !stage_has_refused(spool->stage))
		return false;
	*ret_bytes = stage_waiting(spool->stage);
	return true;
}

/*
 * -------------------------------------------------------------------------------------------------- several threads
 */

bool spool_is_ready(struct spool *spool, unsigned int process, unsigned int lane)
{
	struct rec_page page = { .size = 0 };
	const struct spool_chunk chunk = spool_page_chunk(process, lane, &page);

	return spool->stage && spool_chunk_valid(spool, &chunk, chunk.size);
}

int spool_hand_page(struct spool *spool, struct spool_hand *hand, unsigned int process, unsigned int lane,
		    const struct rec_page *page, bool (*stands)(void *arg), void *arg)
{
	struct spool_chunk chunk = spool_page_chunk(process, lane, page);
	const size_t size = chunk_size(&chunk);
	struct stage_block *block;
	int err;

	/* Only the spool's thread may use the model; it has found the lane valid. */
	if (chunk.size > SPOOL_PAYLOAD_MAX || chunk.from > page->size)
		return -EINVAL;
	if (!has_room(hand->last, size)) {
		err = stage_take(spool->stage, size, STAGE_HELP, &block);
		if (err)
			return err;
		if (hand->last)
			hand->last->next = block;
		else
			hand->first = block;
		hand->last = block;
	}
	if (!put_chunk(hand->last, &chunk, page->data, stands, arg))
		return -EFAULT;
	stage_add(spool->stage, hand->last, size);
	return 0;
}

/* Give a block of a hand the next offset, and add its chunks to the model. */
static int take_in(struct spool *spool, struct stage_block *block)
{
	struct spool_chunk chunk;
	uint64_t tail;
	int err = 0;

	stage_place(spool->stage, block, spool->end);
	for (size_t at = 0; at < block->used && !err; at += chunk_size(&chunk)) {
		memcpy(&chunk, block->at + at, sizeof(chunk));
		err = note_chunk(spool, block, at, NULL, &tail);
		if (!err)
			link_chunk(block, tail, at);
	}
	spool->end += block->used;
	return err;
}

int spool_end_hand(struct spool *spool, struct spool_hand *hand)
{
	struct stage_block *block = hand->first, *next;
	int err = 0, one;

	/* The hand's blocks come after this thread's own, which must not grow any more. */
	if (block)
		hand_over(spool);
	for (; block; block = next) {
		next = block->next;
		one = take_in(spool, block);
		err = err ? err : one;
		stage_hand_over(spool->stage, block);
	}
	*hand = (struct spool_hand){ NULL, NULL };
	return err;
}

/* -------------------------------------------------------------------------------------------------- begin and end */

/* Write the path of the stage into the spool's head. 0 or -errno. */
static int name_stage(struct spool *spool, const char *path)
{
	struct iovec iov = { spool->head.stage, sizeof(spool->head.stage) };

	memset(spool->head.stage, 0, sizeof(spool->head.stage));
	memcpy(spool->head.stage, path, strlen(path));
	return spool_write_at(spool->fd, &iov, 1, offsetof(struct spool_head, stage));
}

int spool_stage(struct spool *spool, uint64_t max, unsigned int priority)
{
	struct stage *stage;
	int err = stage_open(spool->path, spool->fd, max, priority, &stage);

	if (!err && strlen(stage_path(stage)) >= sizeof(spool->head.stage)) {
		stage_close(stage, true);
		err = -ENAMETOOLONG;
	}
	if (err)
		return err;
	/* The name is stored before the stage has pages. */
	err = name_stage(spool, stage_path(stage));
	if (err)
		stage_close(stage, true);
	else
		spool->stage = stage;
	spool->priority = priority;
	return err;
}

int spool_settle(struct spool *spool)
{
	int err;

	if (!spool->stage)
		return 0;
	hand_over(spool);
	err = stage_settle(spool->stage);
	if (!err)
		err = name_stage(spool, "");
	if (err)
		return err;
	spool->stage = stage_close(spool->stage, true);
	return 0;
}

/* ----------------------------------------------------------------------------- pages that a killed recorder staged */

/* Write to the file. If that fails, append the bytes to those that are kept in memory. */
static int keep(struct spool *spool, const unsigned char *bytes, size_t size, uint64_t offset)
{
	struct iovec iov = { (void *)(uintptr_t)bytes, size };
	unsigned char *rest;

	if (!size || (!spool->rest && !spool_write_at(spool->fd, &iov, 1, offset)))
		return 0;
	if (!spool->rest || offset < spool->rest_at)
		spool->rest_at = offset;
	rest = realloc(spool->rest, (size_t)(offset - spool->rest_at) + size);
	if (!rest)
		return -ENOMEM;
	spool->rest = rest;
	spool->rest_size = (size_t)(offset - spool->rest_at) + size;
	memcpy(rest + (offset - spool->rest_at), bytes, size);
	return 0;
}

/*
 * Drop those pages among the chunks without an offset that the file already has: a recovery that was killed may have
 * appended them. The others are moved to the start of `bytes`; returns their size.
 */
static size_t drop_known(const struct spool *spool, unsigned char *bytes, size_t size)
{
	struct spool_chunk chunk;
	size_t kept = 0, one;

	for (size_t at = 0; size - at >= sizeof(chunk); at += one) {
		memcpy(&chunk, bytes + at, sizeof(chunk));
		one = chunk_size(&chunk);
		if (!spool_chunk_valid(spool, &chunk, size - at - sizeof(chunk)) || one > size - at)
			break;
		if (chunk.kind == SPOOL_PAGE && chunk.entries &&
		    chunk.first + chunk.entries <= spool_next_event(spool, chunk.process, chunk.lane))
			continue;
		memmove(bytes + kept, bytes + at, one);
		kept += one;
	}
	return kept;
}

/*
 * Within the same boot, the buffer directory still exists, even if it is in memory; but this process may be in another
 * mount namespace, with another directory at that path.
 */
static bool is_of_this_boot(const struct spool *spool)
{
	char boot[sizeof(spool->head.boot)];

	spool_boot(boot, sizeof(boot));
	return boot[0] && !strncmp(boot, spool->head.boot, sizeof(boot));
}

int spool_take_stage(struct spool *spool, int (*scan)(struct spool *spool))
{
	struct stage_rest rest = { .bytes = NULL };
	struct stat st;
	size_t others = 0;
	int err = 0;

	if (!spool->head.stage[0])
		return scan(spool);
	if (fstat(spool->fd, &st) < 0)
		return -errno;
	err = stage_recover(spool->head.stage, &st, &rest);
	spool->stage_is_gone = err == -ENOENT || err == -EBADMSG;
	spool->stage_is_unseen = err == -ENOENT && is_of_this_boot(spool);
	if (err && !spool->stage_is_gone)
		return err;
	err = 0;
	if (rest.offset >= sizeof(struct spool_head))
		err = keep(spool, rest.bytes, rest.placed, rest.offset);
	if (!err)
		err = scan(spool);
	if (!err && rest.size > rest.placed)
		others = drop_known(spool, rest.bytes + rest.placed, rest.size - rest.placed);
	if (!err && others)
		err = keep(spool, rest.bytes + rest.placed, others, spool->end);
	if (!err && others)
		err = scan(spool);
	free(rest.bytes);
	/* If the file lacks something, the stage stays until the spool is removed. */
	if (!err && !spool->rest && !spool->stage_is_gone)
		err = spool_drop_stage(spool);
	return err;
}

int spool_drop_stage(struct spool *spool)
{
	char path[sizeof(spool->head.stage)];
	struct stat st;
	int err;

	if (!spool->head.stage[0] || spool->stage_is_gone)
		return 0;
	strcpy(path, spool->head.stage);
	err = name_stage(spool, "");
	/* On a full disk the caller removes the spool next, and with it the name of the stage. */
	if (err && !spool->rest)
		return err;
	err = fstat(spool->fd, &st) < 0 ? -errno : stage_remove(path, &st);
	return err == -ENOENT || err == -EBADMSG ? 0 : err;
}

static size_t rest_after(const struct spool *spool, uint64_t offset)
{
	const uint64_t end = spool->rest_at + spool->rest_size;

	return !spool->rest || offset < spool->rest_at || offset >= end ? 0 : (size_t)(end - offset);
}

bool spool_set_rest(struct spool *spool, const void *bytes, size_t size, uint64_t offset)
{
	if (rest_after(spool, offset) < size)
		return false;
	memcpy(spool->rest + (offset - spool->rest_at), bytes, size);
	return true;
}

ssize_t spool_read_at(const struct spool *spool, void *bytes, size_t size, uint64_t offset)
{
	size_t left = rest_after(spool, offset);

	if (!left)
		return read_at(spool->fd, bytes, size, offset);
	left = left < size ? left : size;
	memcpy(bytes, spool->rest + (offset - spool->rest_at), left);
	return (ssize_t)left;
}

int spool_read(const struct spool *spool, void *bytes, size_t size, uint64_t offset)
{
	const ssize_t n = spool_read_at(spool, bytes, size, offset);

	if (n < 0)
		return (int)n;
	return (size_t)n == size ? 0 : -EBADMSG;
}
