/* SPDX-License-Identifier: MIT */
/* See dat_seek.h. */
#include "format/dat/dat_seek.h"

#include <errno.h>
#include <stdlib.h>

#include "format/dat/dat_internal.h"
#include "format/dat/dat_page.h"

/* Notes where chunks of compressed data begin, from their headers alone. Chunks that cannot be read are left out. */
static int find_chunks(struct dat_places *p, const struct dat_file *file, const struct dat_stream *stream)
{
	struct bytes b;
	uint32_t packed;

	bytes_from_file(&b, file->fd, stream->offset, file->size, file->big);
	p->count = dat_read_count(stream, &b);
	/* Each chunk has a header of eight bytes. */
	if (b.error || p->count > bytes_left(&b) / 8)
		p->count = 0;
	p->chunks = calloc(p->count ? p->count : 1, sizeof(*p->chunks));
	if (!p->chunks)
		return -ENOMEM;
	while (p->nr < p->count) {
		p->chunks[p->nr] = b.pos;
		packed = bytes_u32(&b);
		bytes_skip(&b, 4);
		bytes_skip(&b, packed);
		if (b.error)
			break;
		p->nr++;
	}
	return 0;
}

int dat_places_open(const struct dat_file *file, const struct dat_buffer *buffer, const struct dat_stream *stream,
		    const struct dat_time *time, struct dat_places *ret_places)
{
	struct dat_places p = { .time = time };
	int err = dat_cursor_open(file, buffer, stream, &p.cursor);

	if (err)
		return err;
	if (stream->size && buffer->compressed)
		err = find_chunks(&p, file, stream);
	else if (stream->size)
		p.nr = (stream->size - 1) / buffer->page_size + 1;
	if (err)
		dat_places_close(&p);
	else
		*ret_places = p;
	return err;
}

void dat_places_close(struct dat_places *places)
{
	dat_cursor_close(&places->cursor);
	free(places->chunks);
	places->chunks = NULL;
}

void dat_places_go(const struct dat_places *places, uint64_t i, struct dat_cursor *cursor)
{
	/* The data that was read ahead belongs to another place. */
	cursor->chunk_pos = cursor->chunk_size = 0;
	cursor->block_pos = cursor->block_size = 0;
	if (places->chunks) {
		cursor->pos = places->chunks[i];
		/* Includes the pages after damage, which the cursor is to report. */
		cursor->chunks_left = (uint32_t)(places->count - i);
		cursor->started = true;
	} else {
		cursor->pos = cursor->stream->offset + i * cursor->buffer->page_size;
	}
}

bool dat_places_time(struct dat_places *places, uint64_t i, uint64_t *ret_ts)
{
	struct dat_cursor *cursor = &places->cursor;
	struct dat_error error;
	struct dat_page page;
	struct dat_walk walk;

	dat_places_go(places, i, cursor);
	if (dat_cursor_next(cursor, &page, &error) <= 0 || dat_walk_open(cursor->file, &page, &walk, &error) ||
	    dat_walk_is_empty(&walk))
		return false;
	*ret_ts = dat_time(places->time, cursor->stream->cpu, walk.page_ts);
	return true;
}

/* Find the first place from i on and before `end` that has a time. False if no place has one. */
static bool next_place(struct dat_places *p, uint64_t i, uint64_t end, uint64_t *ret_place, uint64_t *ret_ts)
{
	while (i < end && !dat_places_time(p, i, ret_ts)) {
		uint64_t after;

		i++;
		if (p->chunks)
			continue;
		dat_cursor_skip_hole(&p->cursor);
		/* The cursor has not moved if the page cannot be read. */
		after = (p->cursor.pos - p->cursor.stream->offset) / p->cursor.buffer->page_size;
		if (after > i)
			i = after;
	}
	*ret_place = i;
	return i < end;
}

/*
 * Returns the last place that begins before `ts`, or 0, the first place, if no later place does. Places without a time
 * have no events and are skipped.
 */
static uint64_t find_place(struct dat_places *p, uint64_t ts)
{
	uint64_t low = 0, high = p->nr, at, found;

	while (high - low > 1) {
		const uint64_t middle = low + (high - low) / 2;

		if (next_place(p, middle, high, &at, &found) && found < ts)
			low = at;
		else
			high = middle;
	}
	return low;
}

int dat_cursor_seek(struct dat_cursor *cursor, const struct dat_time *time, uint64_t ts)
{
	struct dat_places places;
	int err = dat_places_open(cursor->file, cursor->buffer, cursor->stream, time, &places);

	if (err)
		return err;
	if (places.nr > 1)
		dat_places_go(&places, find_place(&places, ts), cursor);
	dat_places_close(&places);
	return 0;
}

/* Find the time of the last event from place i on. */
static bool last_from(struct dat_places *p, uint64_t i, uint64_t *ret_ts)
{
	struct dat_cursor *cursor = &p->cursor;
	struct dat_record record;
	struct dat_error error;
	struct dat_page page;
	struct dat_walk walk;
	bool found = false;
	int ret;

	dat_places_go(p, i, cursor);
	while ((ret = dat_cursor_next(cursor, &page, &error)) > 0 || cursor->skipped) {
		if (ret < 0 || dat_walk_open(cursor->file, &page, &walk, &error))
			continue;
		if (dat_walk_is_empty(&walk))
			dat_cursor_skip_hole(cursor);
		while (dat_walk_next(&walk, &record, &error) > 0) {
			if (record.kind != DAT_RECORD_DATA)
				continue;
			*ret_ts = dat_time(p->time, cursor->stream->cpu, record.ts);
			found = true;
		}
	}
	return found;
}

int dat_last_time(const struct dat_file *file, const struct dat_buffer *buffer, const struct dat_stream *stream,
		  const struct dat_time *time, uint64_t *ret_ts)
{
	struct dat_places places;
	bool found = false;
	int err = dat_places_open(file, buffer, stream, time, &places);

	if (err)
		return err;
	/* Pages at the end may be empty, or hold padding only: then look further back, twice as far each time. */
	for (uint64_t back = 1; !found && places.nr; back *= 2) {
		const uint64_t i = back < places.nr ? places.nr - back : 0;

		found = last_from(&places, i, ret_ts);
		if (!i)
			break;
	}
	dat_places_close(&places);
	return found;
}
