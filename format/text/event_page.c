/* SPDX-License-Identifier: MIT */
/* See event_page.h. */
#include "format/text/event_page.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "format/text/event_print.h"

static void put_losses(const struct event_line *line, struct print_text *text)
{
	char losses[80];

	if (line->lost > 0)
		snprintf(losses, sizeof(losses), "CPU:%d [%lld EVENTS DROPPED]\n", (int)line->cpu,
			 (long long)line->lost);
	else
		snprintf(losses, sizeof(losses), "CPU:%d [EVENTS DROPPED]\n", (int)line->cpu);
	print_text_puts(text, losses);
}

/* Walks the page from its start. The page was read before, so a record that does not fit is at its end. */
static int open_walk(const struct dat_file *file, const struct dat_event *event, struct dat_walk *ret_walk)
{
	const unsigned char *end = event->data + ((event->size + 3u) & ~3u) + event->bytes_after;
	const struct dat_page page = {
		.data = event->page, .size = (uint32_t)(end - event->page), .offset = event->offset, .cut = true
	};
	struct dat_error error;

	return dat_walk_open(file, &page, ret_walk, &error);
}

void event_page_before(const struct dat_file *file, const struct event_line *line, struct print_text *text)
{
	char begin[96] = "";
	struct dat_walk walk;

	if (line->lost)
		put_losses(line, text);
	if (!line->begins)
		return;
	snprintf(begin, sizeof(begin), "CPU:%d [SUBBUFFER START]", (int)line->cpu);
	print_text_puts(text, begin);
	if (line->placed && !open_walk(file, line->placed, &walk)) {
		snprintf(begin, sizeof(begin), " [%" PRIu64 ":0x%" PRIx64 "]", walk.page_ts, line->placed->offset);
		print_text_puts(text, begin);
	}
	print_text_putc(text, '\n');
}

static void put_record(const struct dat_record *record, uint64_t before, struct print_text *text)
{
	char line[96] = "";

	if (record->kind == DAT_RECORD_STAMP)
		snprintf(line, sizeof(line), "\n TIME STAMP: timestamp:%" PRIu64 " length:0", record->ts);
	else if (record->kind == DAT_RECORD_EXTEND)
		snprintf(line, sizeof(line), "\n TIME EXTEND: delta:%" PRIu64 " length:0", record->ts - before);
	else
		snprintf(line, sizeof(line), "\n PADDING: delta:%" PRIu32 " length:%" PRIu32, record->delta,
			 record->length - 4);
	print_text_puts(text, line);
}

/* Find the page of an event, positioned at its start or at an earlier event. 1; 0: the page cannot be read; -ENOMEM. */
static int find_page(struct event_pages *pages, const struct dat_file *file, const struct dat_event *event,
		     struct event_page **ret_page)
{
	const uint64_t stream = (uint64_t)(event->buffer - file->buffers) << 32 | event->cpu;
	size_t number = number_map_get(&pages->numbers, stream);
	struct event_page *page;

	if (!number) {
		struct event_page *all = realloc(pages->all, (pages->nr + 1) * sizeof(*all));

		if (!all)
			return -ENOMEM;
		pages->all = all;
		all[pages->nr] = (struct event_page){ .data = NULL };
		if (number_map_set(&pages->numbers, stream, pages->nr + 1))
			return -ENOMEM;
		number = ++pages->nr;
	}
	page = &pages->all[number - 1];
	if (page->data != event->page || page->offset != event->offset || page->in_chunk != event->in_chunk) {
		page->data = NULL;
		if (open_walk(file, event, &page->walk))
			return 0;
		page->is_begun = false;
		page->data = event->page;
		page->offset = event->offset;
		page->in_chunk = event->in_chunk;
	}
	*ret_page = page;
	return 1;
}

int event_page_after(struct event_pages *pages, const struct dat_file *file, const struct dat_event *event,
		     struct print_text *text)
{
	struct dat_record record = { 0 };
	struct event_page *page;
	struct dat_error error;
	struct dat_walk walk;
	char place[96];
	uint64_t before;
	const int ret = find_page(pages, file, event, &page);

	if (ret <= 0)
		return ret;
	while (record.data != event->data) {
		if (dat_walk_next(&page->walk, &record, &error) <= 0) {
			const bool again = page->is_begun;

			page->data = NULL;
			return again ? event_page_after(pages, file, event, text) : 0;
		}
	}
	page->is_begun = true;
	snprintf(place, sizeof(place), " [%" PRIu32 ":0x%" PRIx32 ":%" PRIu32 "]", record.delta, record.pos,
		 record.size);
	print_text_puts(text, place);
	walk = page->walk;
	for (before = record.ts; dat_walk_next(&walk, &record, &error) > 0; before = record.ts) {
		if (record.kind == DAT_RECORD_DATA)
			return 0;
		put_record(&record, before, text);
	}
	return 0;
}

void event_pages_close(struct event_pages *pages)
{
	number_map_free(&pages->numbers);
	free(pages->all);
	*pages = (struct event_pages){ .nr = 0 };
}
