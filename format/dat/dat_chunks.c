/* SPDX-License-Identifier: MIT */
/* See dat_chunks.h. */
#include "format/dat/dat_chunks.h"
#include "format/dat/dat_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * Bytes of unpacked chunks that all streams of a file together may hold. A stream has more than its share only while
 * the part with the previous record is kept.
 */
#define ROOM (UINT32_C(12) << 20)

uint32_t dat_share(const struct dat_file *file, uint32_t room, uint32_t most, uint32_t page_size)
{
	uint32_t share = file->nr_streams ? (uint32_t)(room / file->nr_streams) : room;

	if (share > most)
		share = most;
	return share < page_size ? page_size : share - share % page_size;
}

void dat_chunks_free(struct dat_chunks *chunks)
{
	free(chunks->whole);
	chunks->whole = NULL;
}

static int unpack_to(const struct dat_cursor *c, unsigned char *to)
{
	const struct dat_file *file = c->file;
	struct bytes b;
	char *packed;
	int err;

	bytes_from_file(&b, file->fd, c->chunk_offset + 8, file->size, file->big);
	packed = bytes_blob(&b, c->packed_size);
	if (!packed)
		return b.error;
	err = file->codec->decompress(to, c->chunk_size, packed, c->packed_size);
	free(packed);
	return err;
}

/* Unpack the whole chunk to memory of the file. */
static int unpack_whole(const struct dat_cursor *c)
{
	struct dat_chunks *chunks = c->file->chunks;
	int err;

	if (chunks->whole && chunks->offset == c->chunk_offset)
		return 0;
	if (!chunks->whole || chunks->room < c->chunk_size) {
		dat_chunks_free(chunks);
		chunks->whole = malloc(c->chunk_size);
		if (!chunks->whole)
			return -ENOMEM;
		chunks->room = c->chunk_size;
	}
	chunks->offset = c->chunk_offset;
	err = unpack_to(c, chunks->whole);
	if (err)
		dat_chunks_free(chunks);
	return err;
}

int dat_chunk_unpack(struct dat_cursor *cursor)
{
	struct dat_cursor *c = cursor;
	const size_t left = c->chunk_size - c->chunk_pos;
	unsigned char *block;
	int err;

	c->now = !c->kept;
	free(c->blocks[c->now]);
	if (!c->part_room)
		c->part_room = dat_share(c->file, ROOM, ROOM, c->buffer->page_size);
	c->part_pos = c->chunk_pos;
	c->part_size = left < c->part_room ? left : c->part_room;
	block = c->blocks[c->now] = malloc(c->part_size);
	if (!block)
		return -ENOMEM;
	if (c->part_size == c->chunk_size)
		return unpack_to(c, block);
	err = unpack_whole(c);
	if (!err)
		memcpy(block, c->file->chunks->whole + c->part_pos, c->part_size);
	return err;
}
