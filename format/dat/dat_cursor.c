/* SPDX-License-Identifier: MIT */
/*
 * The pages of a stream, one after the other: as they are in the file, or from its compressed chunks. While a file is
 * still growing, a page or chunk is read only when it is complete.
 */
#include "format/dat/dat_chunks.h"
#include "format/dat/dat_growth.h"
#include "format/dat/dat_internal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/types.h>
#include <unistd.h>

/*
 * Uncompressed data are read in blocks of this size. The blocks of all streams together have at most BLOCKS_ROOM bytes.
 */
#define BLOCK_MAX   (64u * 1024u)
#define BLOCKS_ROOM (4u * 1024u * 1024u)

int dat_cursor_open(const struct dat_file *file, const struct dat_buffer *buffer, const struct dat_stream *stream,
		    struct dat_cursor *ret_cursor)
{
	struct dat_cursor cursor = {
		.file = file, .buffer = buffer, .stream = stream, .pos = stream->offset, .kept = 1
	};

	if (!buffer->compressed) {
		cursor.block_room = dat_share(file, BLOCKS_ROOM, BLOCK_MAX, buffer->page_size);
		if (cursor.block_room > stream->size)
			cursor.block_room = stream->size ? (uint32_t)stream->size : 1;
	}
	*ret_cursor = cursor;
	return 0;
}

void dat_cursor_close(struct dat_cursor *cursor)
{
	free(cursor->blocks[0]);
	free(cursor->blocks[1]);
	cursor->blocks[0] = cursor->blocks[1] = NULL;
}

void dat_cursor_keep(struct dat_cursor *cursor)
{
	cursor->kept = cursor->now;
	/*
	 * What was kept before is in the other block, and no longer needed. For uncompressed data that block stays
	 * allocated, because the next read goes there; but see dat_cursor_release().
	 */
	if (cursor->buffer->compressed) {
		free(cursor->blocks[!cursor->kept]);
		cursor->blocks[!cursor->kept] = NULL;
	}
}

void dat_cursor_release(struct dat_cursor *cursor)
{
	struct dat_cursor *c = cursor;

	if (c->buffer->compressed || c->block_room > c->buffer->page_size || c->kept == c->now)
		return;
	free(c->blocks[c->kept]);
	c->blocks[c->kept] = NULL;
}

/*
 * Reads the page of `size` bytes at the position, and as many pages after it as fit; the stream has `left` more bytes.
 */
static int fill_block(struct dat_cursor *c, uint64_t left, uint32_t size, struct dat_error *error)
{
	const size_t wanted = left < c->block_room ? (size_t)left : c->block_room;
	struct bytes b;
	ssize_t n;

	c->now = !c->kept;
	c->block_pos = c->block_size = 0;
	if (!c->blocks[c->now])
		c->blocks[c->now] = malloc(c->block_room);
	if (!c->blocks[c->now])
		return dat_fail(error, -ENOMEM, c->pos, "not enough memory for a page");
	n = pread(c->file->fd, c->blocks[c->now], wanted, (off_t)c->pos);
	if (n >= (ssize_t)size) {
		/* After a short read the rest is read by the next call. */
		c->block_size = (uint32_t)n == left ? (uint32_t)n : (uint32_t)n - (uint32_t)n % c->buffer->page_size;
		return 0;
	}
	bytes_from_file(&b, c->file->fd, c->pos, c->file->size, c->file->big);
	bytes_copy(&b, c->blocks[c->now], size);
	if (b.error)
		return dat_fail_bytes(error, c->file, &b, "page");
	c->block_size = size;
	return 0;
}

/* The bytes that are left of the stream; and the size of the next page. */
static uint64_t left_of(const struct dat_cursor *c)
{
	return c->stream->offset + c->stream->size - c->pos;
}

static uint32_t page_size(const struct dat_cursor *c, uint64_t left)
{
	return left < c->buffer->page_size ? (uint32_t)left : c->buffer->page_size;
}

static int next_plain(struct dat_cursor *c, struct dat_page *ret_page, struct dat_error *error)
{
	uint64_t left = left_of(c);
	uint32_t size = page_size(c, left);
	int err;

	if (c->file->growth) {
		if (!dat_growth_reach(c->file, c->pos + size))
			return 0;
		left = left_of(c);
		size = page_size(c, left);
	}
	if (!size)
		return 0;
	if (c->block_size - c->block_pos < size) {
		err = fill_block(c, left, size, error);
		if (err)
			return err;
	}
	*ret_page = (struct dat_page){ .data = c->blocks[c->now] + c->block_pos,
				       .size = size,
				       .offset = c->pos,
				       .cut = c->stream->cut && size == left };
	c->block_pos += size;
	c->pos += size;
	return 1;
}

void dat_cursor_skip_hole(struct dat_cursor *cursor)
{
	struct dat_cursor *c = cursor;
	const uint64_t left = left_of(c);
	uint64_t skip = left;
	off_t data;

	if (c->buffer->compressed || c->file->growth || !left)
		return;
	data = lseek(c->file->fd, (off_t)c->pos, SEEK_DATA);
	/* ENXIO: there are no more data. Other errors: the file system does not know. */
	if (data < 0 && errno != ENXIO)
		return;
	if (data >= 0 && (uint64_t)data - c->pos < left)
		skip = (uint64_t)data - c->pos;
	skip -= skip % c->buffer->page_size;
	if (skip) {
		c->pos += skip;
		c->block_pos = c->block_size = 0;
	}
}

/* In a file that grows, wait for the number of chunks and for the next chunk. False: the caller wants no more. */
static bool await_chunk(const struct dat_cursor *c)
{
	const uint64_t head = c->pos + (c->started ? 0 : 4);
	struct bytes b;
	uint32_t count = 1, packed_size;

	if (!c->file->growth)
		return true;
	if (!dat_growth_reach(c->file, head))
		return false;
	bytes_from_file(&b, c->file->fd, c->pos, c->file->size, c->file->big);
	if (!c->started)
		count = bytes_u32(&b);
	if (!count || b.error)
		return true;
	if (!dat_growth_reach(c->file, head + 8))
		return false;
	bytes_from_file(&b, c->file->fd, head, c->file->size, c->file->big);
	packed_size = bytes_u32(&b);
	return dat_growth_reach(c->file, head + 8 + packed_size);
}

/*
 * Go to the next chunk. Compressed data are: u32 chunks, then each { u32 compressed size, u32 plain size, bytes }. Only
 * the count shows where the data end: the total size that trace-cmd 3.1.6 writes is too small.
 */
static int next_chunk(struct dat_cursor *c, struct dat_error *error)
{
	uint32_t packed_size, plain_size;
	struct bytes b;

	if (c->started && !c->chunks_left)
		return 0;
	if (!await_chunk(c))
		return 0;
	bytes_from_file(&b, c->file->fd, c->pos, c->file->size, c->file->big);
	if (!c->started)
		c->chunks_left = dat_read_count(c->stream, &b);
	c->started = true;
	if (b.error == -EBADMSG && c->stream->cut)
		return 0;
	if (b.error)
		return dat_fail_bytes(error, c->file, &b, "number of chunks");
	if (!c->chunks_left)
		return 0;
	c->chunks_left--;
	c->chunk_offset = b.pos;
	packed_size = bytes_u32(&b);
	plain_size = bytes_u32(&b);
	if (!b.error && (!plain_size || plain_size > DAT_CHUNK_MAX))
		return dat_fail(error, -EBADMSG, c->chunk_offset, "damaged: a chunk of %" PRIu32 " bytes", plain_size);
	if (!b.error && !dat_packed_fits(packed_size, plain_size))
		return dat_fail(error, -EBADMSG, c->chunk_offset,
				"damaged: %" PRIu32 " compressed bytes of a chunk of %" PRIu32, packed_size,
				plain_size);
	/* dat_open_rest() has already noted that the file ends here. */
	if (c->stream->cut && (b.error == -EBADMSG || (!b.error && bytes_left(&b) < packed_size)))
		return 0;
	bytes_skip(&b, packed_size);
	if (b.error)
		return dat_fail_bytes(error, c->file, &b, "compressed data");
	c->packed_size = packed_size;
	c->chunk_size = plain_size;
	c->chunk_pos = 0;
	c->pos = b.pos;
	return 1;
}

/* Unpack the chunk from the position on: all of it, or a part. */
static int unpack(struct dat_cursor *c, struct dat_error *error)
{
	const int err = dat_chunk_unpack(c);

	/* The header of the chunk was valid, so the place of the next one is known. */
	if (err == -EBADMSG)
		c->skipped = (uint32_t)((c->chunk_size - c->chunk_pos - 1) / c->buffer->page_size + 1);
	if (err == -EBADMSG)
		return dat_fail(error, err, c->chunk_offset,
				"damaged: the compressed data at %" PRIu64 " does not unpack", c->chunk_offset);
	return err ? dat_fail(error, err, c->chunk_offset, "cannot read the compressed data at %" PRIu64,
			      c->chunk_offset)
		   : 1;
}

/* Find the next page of compressed data. */
static int find_page(struct dat_cursor *c, struct dat_error *error)
{
	int ret = 1;

	if (c->chunk_pos == c->chunk_size)
		ret = next_chunk(c, error);
	if (ret > 0 && (!c->chunk_pos || c->chunk_pos == c->part_pos + c->part_size))
		ret = unpack(c, error);
	if (ret > 0)
		return ret;
	c->chunk_pos = c->chunk_size = 0;
	if (!c->skipped)
		c->chunks_left = 0;
	return ret;
}

int dat_cursor_next(struct dat_cursor *cursor, struct dat_page *ret_page, struct dat_error *ret_error)
{
	struct dat_cursor *c = cursor;
	size_t size;
	int ret;

	c->skipped = 0;
	if (!c->stream->size)
		return 0;
	if (!c->buffer->compressed)
		return next_plain(c, ret_page, ret_error);
	ret = find_page(c, ret_error);
	if (ret <= 0)
		return ret;
	size = c->chunk_size - c->chunk_pos;
	if (size > c->buffer->page_size)
		size = c->buffer->page_size;
	*ret_page = (struct dat_page){ .data = c->blocks[c->now] + (c->chunk_pos - c->part_pos),
				       .size = (uint32_t)size,
				       .offset = c->chunk_offset,
				       .in_chunk = (uint32_t)c->chunk_pos };
	c->chunk_pos += size;
	return 1;
}
