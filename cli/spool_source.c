/* SPDX-License-Identifier: MIT */
/*
 * The spool as a source: each lane's chain of pages, read back one at a time. Links lead forward only, to a chunk of the
 * same lane inside the file; anything else is damage.
 */
#include "cli/spool.h"
#include "cli/read_at.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

struct cursor {
	uint64_t next; /* offset of the next chunk; 0: the end */
	unsigned char *page;
	size_t room;
};

struct spool_source {
	struct rec_source source; /* first: what the consumer holds */
	struct spool *spool;
	struct spool_stream *streams;
	struct cursor *cursors;
};

/* The file was checked when it was opened, but it may have been changed since. */
static bool chunk_fits(const struct spool_source *self, const struct spool_stream *stream,
		       const struct spool_chunk *chunk, uint64_t offset)
{
	return chunk->magic == SPOOL_CHUNK_MAGIC && chunk->kind == SPOOL_PAGE && chunk->process == stream->process &&
	       chunk->lane == stream->lane && chunk->size >= REC_SUBBUF_HEADER_SIZE &&
	       chunk->size <= REC_SUBBUF_MAX + REC_SUBBUF_HEADER_SIZE &&
	       chunk->from <= chunk->size - REC_SUBBUF_HEADER_SIZE &&
	       offset + sizeof(*chunk) + chunk->size <= self->spool->end;
}

static int next_page(struct rec_source *source, unsigned int number, struct rec_page *ret_page)
{
	struct spool_source *self = (struct spool_source *)source;
	const struct spool_stream *stream;
	struct spool_chunk chunk;
	struct cursor *cursor;
	unsigned char *page;
	uint64_t offset;
	int err;

	if (number >= source->nr_streams)
		return 0;
	stream = &self->streams[number];
	cursor = &self->cursors[number];
	offset = cursor->next;
	/* A link to what was cut off, or lost its chunk, is the end. */
	if (!offset || offset + sizeof(chunk) > self->spool->end) {
		free(cursor->page);
		*cursor = (struct cursor){ 0 };
		return 0;
	}
	err = read_exactly(self->spool->fd, &chunk, sizeof(chunk), offset);
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
	err = read_exactly(self->spool->fd, cursor->page, chunk.size, offset + sizeof(chunk));
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
	return lane->head || (lane->ended && lane->stats.lost_unread);
}

struct rec_source *spool_source_close(struct rec_source *source)
{
	struct spool_source *self = (struct spool_source *)source;

	if (!self)
		return NULL;
	for (unsigned int i = 0; self->cursors && i < source->nr_streams; i++)
		free(self->cursors[i].page);
	free(self->cursors);
	free(self->streams);
	free(self);
	return NULL;
}

int spool_source_open(struct spool *spool, struct rec_source **ret_source, const struct spool_stream **ret_streams)
{
	struct spool_source *self = calloc(1, sizeof(*self));
	unsigned int nr = 0, at = 0;

	if (!self)
		return -ENOMEM;
	for (unsigned int i = 0; i < spool->nr_entries; i++)
		for (unsigned int j = 0; j < spool->entries[i].nr_lanes; j++)
			nr += lane_counts(&spool->entries[i].lanes[j]);
	self->spool = spool;
	self->source.next = next_page;
	self->source.nr_streams = nr;
	self->streams = calloc(nr + 1, sizeof(*self->streams));
	self->cursors = calloc(nr + 1, sizeof(*self->cursors));
	if (!self->streams || !self->cursors) {
		spool_source_close(&self->source);
		return -ENOMEM;
	}
	for (unsigned int i = 0; i < spool->nr_entries; i++) {
		for (unsigned int j = 0; j < spool->entries[i].nr_lanes; j++) {
			if (!lane_counts(&spool->entries[i].lanes[j]))
				continue;
			self->streams[at] = (struct spool_stream){ i, j };
			self->cursors[at].next = spool->entries[i].lanes[j].head;
			at++;
		}
	}
	*ret_source = &self->source;
	*ret_streams = self->streams;
	return 0;
}
