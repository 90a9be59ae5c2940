/* SPDX-License-Identifier: MIT */
/* The pages and records of a file, for file_check.c: one page is in memory at a time. */
#include "format/verify/file_check_private.h"

#include <inttypes.h>
#include <string.h>

#include "format/dat/dat_page.h"

#define CHUNK_MAX (1u << 20) /* the most bytes that writers compress at a time: trace-dat.md W6 */

#define MAP_SIZE 4096u /* offsets of mmap() are multiples of this */

#define COMMIT_FREE (7u << 27) /* bits that have no meaning */

/* What the check of a page needs to know of earlier pages of the stream. */
struct so_far {
	uint64_t page_time;
	uint64_t time; /* time of the last event */
	bool is_short; /* a page was shorter than the page size, so it must be the last one */
};

/*
 * Whether the event is a stack: its array has the length of the longest stack, but its records end with the last
 * caller.
 */
static bool is_stack(const struct event_type *type)
{
	return !strcmp(type->event->name, "kernel_stack") || !strcmp(type->event->name, "user_stack");
}

static void check_record(struct checking *c, const struct dat_page *page, const struct dat_record *record)
{
	const int id = event_id(c->table, record->data, record->size);
	const struct event_type *type = event_type(c->table, id);

	if (id < 0) {
		check_say(c, page->offset, "the event at byte %" PRIu32 " has no type", record->pos);
	} else if (!type && !c->unknown[id & UINT16_MAX]) {
		c->unknown[id & UINT16_MAX] = true;
		check_say(c, page->offset, "the event at byte %" PRIu32 " has the id %d, which has no format",
			  record->pos, id);
	} else if (type && record->size < type->need && !is_stack(type)) {
		check_say(c, page->offset,
			  "the event at byte %" PRIu32 ", %s:%s, has %" PRIu32 " bytes, its fields take %" PRIu32,
			  record->pos, type->event->system, type->event->name, record->size, type->need);
	}
}

/* Check the records of a page. */
static void check_records(struct checking *c, const struct dat_page *page, struct dat_walk *walk, struct so_far *so_far)
{
	const bool has_lost = walk->page_lost != 0;
	struct dat_error error = { 0 };
	struct dat_record record;
	bool back = false, seen = false, slow = false;
	int ret;

	while ((ret = dat_walk_next(walk, &record, &error)) > 0) {
		slow = slow || (record.kind == DAT_RECORD_PADDING && record.delta > 1);
		if (record.kind != DAT_RECORD_DATA)
			continue;
		c->check->events++;
		back = back || record.ts < so_far->time;
		so_far->time = record.ts;
		seen = seen || record.lost;
		check_record(c, page, &record);
	}
	if (ret < 0)
		check_say(c, page->offset, "%s", error.text);
	if (has_lost && !seen)
		check_say(c, page->offset,
			  "the page does not begin with an event: no viewer shows that events were lost");
	if (back)
		check_say(c, page->offset, "time goes back");
	if (slow && c->check->strict)
		check_say(c, page->offset, "padding takes time: kernels and viewers count it differently");
}

/* Checks what the commit word states about losses, and that its other bits are 0. */
static void check_commit(struct checking *c, const struct dat_page *page, const struct dat_walk *walk)
{
	const unsigned char *high = page->data + (c->file->big ? 8 : 12);
	const bool is_counted = walk->commit & REC_COMMIT_LOST_STORED;

	if (is_counted && !(walk->commit & REC_COMMIT_LOST))
		check_say(c, page->offset, "the page has a number of lost events, and says that none were lost");
	else if (is_counted && page->size - walk->used < c->file->commit_size)
		check_say(c, page->offset, "the number of lost events does not fit into the page");
	if (walk->commit & COMMIT_FREE)
		check_say(c, page->offset, "reserved bits of the commit word are set");
	/* Kernels extend the sign of the mark of a loss into the upper bits. */
	else if (c->check->strict && c->file->commit_size == 8 && memcmp(high, "\0\0\0", 4) != 0)
		check_say(c, page->offset, "the high half of the commit word is not 0");
}

static void check_page(struct checking *c, const struct dat_page *page, struct so_far *so_far)
{
	struct dat_error error = { 0 };
	struct dat_walk walk;

	c->check->pages++;
	if (so_far->is_short)
		check_say(c, page->offset, "a page before the last one is shorter than a page");
	so_far->is_short = page->size < c->buffer->page_size;
	if (dat_walk_open(c->file, page, &walk, &error)) {
		check_say(c, page->offset, "%s", error.text);
		return;
	}
	check_commit(c, page, &walk);
	if (walk.used == walk.header) {
		if (walk.page_lost)
			check_say(c, page->offset, "the page has no events: no viewer shows that events were lost");
		return; /* unused */
	}
	if (walk.page_ts < so_far->page_time)
		check_say(c, page->offset, "the page's time is before that of the page before");
	so_far->page_time = walk.page_ts;
	if (walk.page_lost > 0)
		c->check->lost += (uint64_t)walk.page_lost;
	else if (walk.page_lost < 0)
		c->check->gaps++;
	check_records(c, page, &walk, so_far);
}

/* Check the place of the data: viewers map whole pages of them; compressed data can be anywhere. */
static void check_place(struct checking *c, const struct dat_stream *stream)
{
	if (c->buffer->compressed)
		return;
	if (stream->offset % c->buffer->page_size)
		check_say(c, stream->offset, "the data begins at %" PRIu64 ", not at a page", stream->offset);
	else if (c->check->strict && stream->offset % MAP_SIZE)
		check_say(c, stream->offset, "the data begins at %" PRIu64 ", which cannot be mapped", stream->offset);
}

/* Check the end of the stream, after the last page. trace-cmd writes sizes that do not include the number of chunks. */
static void check_end(struct checking *c, const struct dat_cursor *cursor, const struct so_far *so_far)
{
	const uint64_t end = cursor->stream->offset + cursor->stream->size;

	if (!c->check->strict)
		return;
	if (so_far->is_short)
		check_say(c, cursor->stream->offset, "the last page is shorter than a page");
	if (cursor->pos != end)
		check_say(c, cursor->stream->offset, "the chunks end at %" PRIu64 ", the data at %" PRIu64,
			  cursor->pos, end);
}

static int check_stream(struct checking *c, const struct dat_stream *stream)
{
	struct so_far so_far = { 0 };
	struct dat_error error = { 0 };
	struct dat_cursor cursor;
	struct dat_page page;
	int ret;

	if (!stream->size)
		return 0;
	c->cpu = stream->cpu;
	check_place(c, stream);
	ret = dat_cursor_open(c->file, c->buffer, stream, &cursor);
	if (ret)
		return ret;
	while ((ret = dat_cursor_next(&cursor, &page, &error)) > 0 || cursor.skipped) {
		if (ret < 0) {
			check_say(c, error.offset, "%s", error.text);
			continue;
		}
		if (c->check->strict && !page.in_chunk && cursor.chunk_size > CHUNK_MAX)
			check_say(c, page.offset, "a chunk has %zu bytes, more than %u", cursor.chunk_size, CHUNK_MAX);
		check_page(c, &page, &so_far);
	}
	if (ret < 0)
		check_say(c, error.offset, "%s", error.text);
	else
		check_end(c, &cursor, &so_far);
	dat_cursor_close(&cursor);
	return 0;
}

/* Check the text of a latency tracer: it has no prescribed form, but must be readable. */
static int check_text(struct checking *c)
{
	struct dat_error error = { 0 };
	struct dat_cursor cursor;
	struct dat_page page;
	int ret = dat_cursor_open(c->file, c->buffer, &c->buffer->text, &cursor);

	if (ret)
		return ret;
	while ((ret = dat_cursor_next(&cursor, &page, &error)) > 0)
		;
	if (ret < 0)
		check_say(c, error.offset, "%s", error.text);
	dat_cursor_close(&cursor);
	return 0;
}

int check_pages(struct checking *c)
{
	int err = 0;

	for (size_t i = 0; i < c->file->nr_buffers && !err; i++) {
		c->buffer = &c->file->buffers[i];
		c->cpu = 0;
		if (c->buffer->latency)
			err = check_text(c);
		for (uint32_t s = 0; s < c->buffer->nr_streams && !err; s++)
			err = check_stream(c, &c->buffer->streams[s]);
	}
	c->buffer = NULL;
	return err;
}
