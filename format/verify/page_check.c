/* SPDX-License-Identifier: MIT */
/* The pages and records of a file, for file_check.c: one page is in memory at a time. */
#include "format/verify/file_check_private.h"

#include <inttypes.h>
#include <string.h>

#include "format/dat/dat_page.h"

/* What the check of a page needs to know of earlier pages of the stream. */
struct so_far {
	uint64_t page_time;
	uint64_t time; /* of the last event */
	bool is_short; /* the page before was shorter than a page: it must be the last */
};

/* Its array has the length of the longest stack, and its records end with the last caller. */
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

/* The records of a page. */
static void check_records(struct checking *c, const struct dat_page *page, struct dat_walk *walk, struct so_far *so_far)
{
	const bool has_lost = walk->page_lost != 0;
	struct dat_error error = { 0 };
	struct dat_record record;
	bool back = false, seen = false;
	int ret;

	while ((ret = dat_walk_next(walk, &record, &error)) > 0) {
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
	if (walk.used == walk.header)
		return; /* unused */
	if (walk.page_ts < so_far->page_time)
		check_say(c, page->offset, "the page's time is before that of the page before");
	so_far->page_time = walk.page_ts;
	if (walk.page_lost > 0)
		c->check->lost += (uint64_t)walk.page_lost;
	else if (walk.page_lost < 0)
		c->check->gaps++;
	check_records(c, page, &walk, so_far);
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
	if (!c->buffer->compressed && stream->offset % c->buffer->page_size)
		check_say(c, stream->offset, "the data begins at %" PRIu64 ", not at a page", stream->offset);
	ret = dat_cursor_open(c->file, c->buffer, stream, &cursor);
	if (ret)
		return ret;
	while ((ret = dat_cursor_next(&cursor, &page, &error)) > 0)
		check_page(c, &page, &so_far);
	if (ret < 0)
		check_say(c, error.offset, "%s", error.text);
	dat_cursor_close(&cursor);
	return 0;
}

/* The text of a latency tracer has no form, but it must be readable. */
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
