/* SPDX-License-Identifier: MIT */
#include "cli/programs/page_text.h"

#include <errno.h>
#include <inttypes.h>
#include <librecorder/lane.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/common/show_text.h"
#include "cli/recording/programs.h"

#define HEX_WIDTH 32u

int page_text_open(const struct rec_view *view, struct page_text *ret_text)
{
	struct page_text text = { .view = view };
	unsigned char *log;
	int err;

	if (view) {
		log = programs_log(view, &text.log_size);
		err = log ? decoder_of_log(log, text.log_size, &text.decoder) : -ENOMEM;
		free(log);
	} else {
		err = decoder_of_kernel(&text.decoder);
	}
	if (!err)
		*ret_text = text;
	return err;
}

void page_text_close(struct page_text *text)
{
	text->decoder = decoder_close(text->decoder);
}

void page_text_print_meta(const char *kind, unsigned int number, const struct rec_meta *meta, bool copies)
{
	printf("%s %u: %u sub-buffers of %u bytes%s; entries %" PRIu64 " overrun %" PRIu64 " read %" PRIu64
	       " pages touched %" PRIu64 " lost %" PRIu64 "; reader %u read %u lost events %" PRIu64 "\n",
	       kind, number, meta->nr_subbufs, meta->subbuf_size, copies ? " (copies)" : "", meta->entries,
	       meta->overrun, meta->read, meta->pages_touched, meta->pages_lost, meta->reader_id, meta->reader_read,
	       meta->reader_lost_events);
}

static void print_head(const struct rec_meta *meta, const struct rec_page *page)
{
	const uint32_t capacity = meta->subbuf_size - REC_SUBBUF_HEADER_SIZE;
	const uint64_t lost = rec_page_lost(page->data, capacity);
	struct rec_page_iter start;

	rec_page_iter_init(&start, page->data, page->size);
	printf("page %u: time %" PRIu64 " commit %u%s from %u entries %u fill %u%%", meta->reader_id, start.time,
	       rec_page_size(page->data), !lost ? "" : lost == UINT64_MAX ? " LOST" : " LOST STORED", page->from,
	       page->entries, page->size * 100u / capacity);
	if (page->lost == REC_LOST_UNKNOWN)
		printf(" [EVENTS DROPPED]");
	else if (page->lost)
		printf(" [%" PRIu64 " EVENTS DROPPED]", page->lost);
	putchar('\n');
}

static void print_hex(const struct rec_page *page)
{
	const unsigned char *at = page->data;
	const uint32_t size = page->size + REC_SUBBUF_HEADER_SIZE;

	for (uint32_t line = 0; line < size; line += HEX_WIDTH) {
		printf("  %05x:", line);
		for (uint32_t i = line; i < size && i < line + HEX_WIDTH; i++)
			printf("%s%02x", i % 4 ? "" : " ", at[i]);
		putchar('\n');
	}
}

/* If events were declared since the log was read, read the log again. */
static bool learn(struct page_text *text)
{
	struct decoder *decoder;
	unsigned char *log;
	bool learnt;
	char more;

	if (!text->view || !rec_view_log(text->view, text->log_size, &more, sizeof(more)))
		return false;
	log = programs_log(text->view, &text->log_size);
	learnt = log && !decoder_of_log(log, text->log_size, &decoder);
	free(log);
	if (!learnt)
		return false;
	decoder_close(text->decoder);
	text->decoder = decoder;
	return true;
}

/* In a pipe, print only the first line of the text; on a terminal, all of it, with line feeds escaped. */
static void print_line(const char *line)
{
	if (show_escapes(stdout))
		show_text(stdout, line, strlen(line), false);
	else
		fwrite(line, 1, strcspn(line, "\n"), stdout);
	putchar('\n');
}

static void print_event(struct page_text *text, const struct rec_record *record, const void *payload)
{
	struct rec_event_common common = { .pid = 0 };
	const char *line;

	if (record->size >= sizeof(common))
		memcpy(&common, payload, sizeof(common));
	line = decoder_line(text->decoder, payload, record->size);
	if (!line && learn(text))
		line = decoder_line(text->decoder, payload, record->size);
	printf("  %" PRIu64 " tid %d ", record->time, common.pid);
	if (record->cpu != REC_CPU_UNKNOWN)
		printf("[%03u] ", record->cpu);
	if (line)
		print_line(line);
	else
		printf("event %u, %u bytes\n", common.type, record->size);
}

/* Read from a copy, because a misbehaving program may be writing to the page. */
static void print_events(struct page_text *text, const struct rec_page *page)
{
	unsigned char *copy = malloc(page->size + REC_SUBBUF_HEADER_SIZE);
	struct rec_page_iter iter;
	struct rec_record record;
	int r;

	if (!copy)
		return;
	memcpy(copy, page->data, page->size + REC_SUBBUF_HEADER_SIZE);
	rec_page_iter_init(&iter, copy, page->size);
	while ((r = rec_page_next(&iter, &record)) == 1)
		if (record.offset >= page->from)
			print_event(text, &record, record.payload);
	if (r < 0)
		printf("  at %u: no event\n", iter.offset);
	free(copy);
}

void page_text_print(struct page_text *text, const struct rec_meta *meta, const struct rec_page *page, bool hex)
{
	print_head(meta, page);
	if (hex)
		print_hex(page);
	print_events(text, page);
}
