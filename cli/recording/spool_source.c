/* SPDX-License-Identifier: MIT */
/*
 * The spool as a source: each lane's chain of pages, read back one at a time. Links lead forward only, to a chunk
 * of the same lane inside the file; anything else is damage. A side file is read in large pieces.
 */
#include "cli/recording/spool.h"
#include "cli/base/file_limit.h"
#include "cli/recording/spool_private.h"
#include "format/io/read_at.h"

#include <errno.h>
#include <librecorder/page.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

/* The piece of a side file that is read at a time: small enough for a CPU's cache. */
#define BLOCK (256u * 1024u)

struct cursor {
	uint64_t next; /* offset of the next chunk, 0: the end; in a side file, offset of the next page */
	unsigned char *page;
	size_t room;
	uint64_t pages;	   /* number of pages in the side file from `next` on */
	uint64_t begin, end; /* as in struct spool_side */
	uint64_t unreported; /* losses that no page has reported yet */
	unsigned int have; /* how many of the side file's next pages are in the block at `page`, at its end */
	size_t block;	   /* bytes in it */
};

struct spool_source {
	struct rec_source source; /* first member: the consumer has a pointer to it */
	struct spool *spool;
	struct spool_stream *streams;
	struct cursor *cursors;
};

/* Whether a chunk can begin at `offset`, which is an unchecked number from the file. */
static bool is_inside(const struct spool *spool, uint64_t offset)
{
	return spool->end >= sizeof(struct spool_chunk) && offset <= spool->end - sizeof(struct spool_chunk);
}

/*
 * Whether a chunk is valid and belongs to the stream. The file was checked when it was opened, but may have changed
 * since. `offset` is inside of it.
 */
static bool chunk_fits(const struct spool_source *self, const struct spool_stream *stream,
		       const struct spool_chunk *chunk, uint64_t offset)
{
	return chunk->magic == SPOOL_CHUNK_MAGIC && chunk->kind == SPOOL_PAGE && chunk->process == stream->process &&
	       chunk->lane == stream->lane && chunk->size >= REC_SUBBUF_HEADER_SIZE &&
	       chunk->size <= REC_SUBBUF_MAX + REC_SUBBUF_HEADER_SIZE &&
	       chunk->from <= chunk->size - REC_SUBBUF_HEADER_SIZE &&
	       chunk->size <= self->spool->end - offset - sizeof(*chunk);
}

static int read_block(const struct spool_stream *stream, struct cursor *cursor, uint32_t page_size)
{
	uint64_t most = BLOCK > page_size ? BLOCK / page_size : 1;
	int err;

	if (!cursor->page)
		cursor->page = malloc((size_t)most * page_size);
	if (!cursor->page)
		return -ENOMEM;
	/* The memory has the size of the first block. */
	if (cursor->end && (cursor->end - cursor->next) / page_size < most)
		most = (cursor->end - cursor->next) / page_size;
	cursor->have = (unsigned int)(cursor->pages < most ? cursor->pages : most);
	cursor->block = (size_t)cursor->have * page_size;
	err = read_exactly(stream->side, cursor->page, cursor->block, cursor->next);
	if (err)
		cursor->have = 0;
	return err;
}

static void end_side(const struct spool_entry *entry, struct spool_stream *stream, struct cursor *cursor)
{
	struct spool_losses losses;
	uint64_t lost;

	free(cursor->page);
	cursor->page = NULL;
	if (!stream->lost)
		return;
	if (spool_kernel_losses(entry, stream->lane, &losses)) {
		lost = spool_losses_sum(&losses);
		*stream->lost = lost > stream->reported ? lost - stream->reported : 0;
	}
	*stream->lost += cursor->unreported;
	cursor->unreported = 0;
}

/*
 * Return the next page of a side file. The kernel wrote the page, and its header has the number of events lost before
 * it.
 */
static int next_side_page(const struct spool_source *self, struct spool_stream *stream, struct cursor *cursor,
			  struct rec_page *ret_page)
{
	const struct spool_entry *entry = &self->spool->entries[stream->process];
	const uint32_t page_size = entry->subbuf_size, capacity = page_size - REC_SUBBUF_HEADER_SIZE;
	const unsigned char *page;
	int err = 0;

	if (!cursor->pages) {
		end_side(entry, stream, cursor);
		return 0;
	}
	if (!cursor->have)
		err = read_block(stream, cursor, page_size);
	if (err)
		return err;
	page = cursor->page + cursor->block - (size_t)cursor->have * page_size;
	cursor->have--;
	cursor->pages--;
	cursor->next += page_size;
	if (cursor->next == cursor->end)
		cursor->next = cursor->begin;
	*ret_page = (struct rec_page){ .data = page, .lost = REC_LOST_UNKNOWN };
	/* If a header claims more events than possible, its count is not used. */
	if (rec_page_size(page) <= capacity) {
		ret_page->size = rec_page_size(page);
		ret_page->lost = rec_page_lost(page, capacity);
	}
	if (ret_page->lost == REC_LOST_UNKNOWN) {
		stream->gaps++;
		return 1;
	}
	stream->reported += ret_page->lost;
	ret_page->lost += cursor->unreported;
	cursor->unreported = 0;
	return 1;
}

static int next_page(struct rec_source *source, unsigned int number, struct rec_page *ret_page)
{
	struct spool_source *self = (struct spool_source *)source;
	struct spool_stream *stream;
	struct spool_chunk chunk;
	struct cursor *cursor;
	unsigned char *page;
	uint64_t offset;
	int err;

	if (number >= source->nr_streams)
		return 0;
	stream = &self->streams[number];
	cursor = &self->cursors[number];
	if (stream->side >= 0)
		return next_side_page(self, stream, cursor, ret_page);
	offset = cursor->next;
	/* A link that leads beyond the end of the file, or not to a chunk of this lane, is the end. */
	if (!offset || !is_inside(self->spool, offset)) {
		free(cursor->page);
		*cursor = (struct cursor){ 0 };
		return 0;
	}
	err = spool_read(self->spool, &chunk, sizeof(chunk), offset);
	if (err)
		return err;
	if (!chunk_fits(self, stream, &chunk, offset))
		return -EBADMSG;
	if (chunk.size > cursor->room) {
		page = realloc(cursor->page, chunk.size);
		if (!page)
			return -ENOMEM;
		cursor->page = page;
		cursor->room = chunk.size;
	}
	err = spool_read(self->spool, cursor->page, chunk.size, offset + sizeof(chunk));
	if (err)
		return err;
	if (chunk.next && chunk.next <= offset)
		return -EBADMSG;
	cursor->next = chunk.next;
	ret_page->data = cursor->page;
	ret_page->size = chunk.size - REC_SUBBUF_HEADER_SIZE;
	ret_page->from = chunk.from;
	ret_page->entries = chunk.entries;
	ret_page->first = chunk.first;
	ret_page->lost = chunk.lost;
	return 1;
}

static bool lane_counts(const struct spool_lane *lane)
{
	return lane->head || lane->side || (lane->ended && lane->stats.lost_unread);
}

struct rec_source *spool_source_close(struct rec_source *source)
{
	struct spool_source *self = (struct spool_source *)source;

	if (!self)
		return NULL;
	for (unsigned int i = 0; self->cursors && i < source->nr_streams; i++)
		free(self->cursors[i].page);
	for (unsigned int i = 0; self->streams && i < source->nr_streams; i++)
		if (self->streams[i].side >= 0)
			close(self->streams[i].side);
	free(self->cursors);
	free(self->streams);
	free(self);
	return NULL;
}

/* Open a side file. If it does not exist, the recorder was killed before it made the file. */
static int open_side(struct spool_source *self, unsigned int number)
{
	struct spool_stream *stream = &self->streams[number];
	struct cursor *cursor = &self->cursors[number];
	struct spool_side side;
	const int fd = spool_side_open(self->spool, stream->process, stream->lane, &side);

	stream->side = fd < 0 ? -1 : fd;
	if (fd >= 0) {
		cursor->next = side.offset;
		cursor->pages = stream->pages = side.pages;
		cursor->begin = side.begin;
		cursor->end = side.end;
		cursor->unreported = side.events + side.lost;
		stream->not_kept = side.events;
		stream->reported = side.lost;
		stream->goes_round = side.end;
	}
	return fd < 0 && fd != -ENOENT ? fd : 0;
}

static int add_streams(struct spool_source *self, unsigned int process)
{
	const struct spool_entry *entry = &self->spool->entries[process];
	int err = 0;

	for (unsigned int lane = 0; lane < entry->nr_lanes && !err; lane++) {
		const unsigned int number = self->source.nr_streams;

		if (!lane_counts(&entry->lanes[lane]))
			continue;
		self->streams[number] = (struct spool_stream){ .process = process, .lane = lane, .side = -1 };
		self->cursors[number].next = entry->lanes[lane].head;
		if (entry->lanes[lane].side)
			err = open_side(self, number);
		self->source.nr_streams++;
	}
	return err;
}

int spool_source_open(struct spool *spool, struct rec_source **ret_source, struct spool_stream **ret_streams)
{
	struct spool_source *self = calloc(1, sizeof(*self));
	unsigned int nr = 0;
	int err = 0;

	if (!self)
		return -ENOMEM;
	for (unsigned int i = 0; i < spool->nr_entries; i++)
		for (unsigned int j = 0; j < spool->entries[i].nr_lanes; j++)
			nr += lane_counts(&spool->entries[i].lanes[j]);
	file_limit_raise();
	self->spool = spool;
	self->source.next = next_page;
	self->streams = calloc(nr + 1, sizeof(*self->streams));
	self->cursors = calloc(nr + 1, sizeof(*self->cursors));
	if (!self->streams || !self->cursors)
		err = -ENOMEM;
	for (unsigned int i = 0; i < spool->nr_entries && !err; i++)
		err = add_streams(self, i);
	if (err) {
		spool_source_close(&self->source);
		return err;
	}
	*ret_source = &self->source;
	*ret_streams = self->streams;
	return 0;
}
