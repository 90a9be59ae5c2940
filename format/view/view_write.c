/* SPDX-License-Identifier: MIT */
/* See view_write.h. This file writes the texts of events, and the index; view_columns.c writes the items. */
#include "format/view/view_write.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "format/io/json.h"

#define TEXTS_A_BLOCK 4096u

/* -------------------------------------------------------------------------------------------------------- texts */

static void set_bit(unsigned char *bits, uint64_t nr, uint64_t bit)
{
	if (bit < nr)
		bits[bit / 8] |= (unsigned char)(1u << bit % 8);
}

/* A bit for each event of the file: whether one of the kept items is made from the event. */
static unsigned char *kept_events(const struct view_trace *trace)
{
	unsigned char *bits = calloc(trace->events / 8 + 1, 1);

	for (size_t i = 0; bits && i < trace->nr_rows; i++)
		for (size_t l = 0; l < trace->rows[i].nr_lines; l++) {
			const struct view_line *line = &trace->rows[i].lines[l];

			for (size_t n = 0; n < line->levels[0].nr; n++) {
				const struct view_item *item = &line->levels[0].items[n];

				if (item->event == VIEW_NO_EVENT)
					continue;
				set_bit(bits, trace->events, item->event);
				if (line->kind == VIEW_SPANS)
					set_bit(bits, trace->events, item->last);
			}
		}
	return bits;
}

struct block {
	struct blob events, texts;
	uint32_t first, last, nr;
};

static void add_text(struct block *block, uint32_t event, const struct event_printer *printer)
{
	const struct print_text *text = &printer->text;

	if (!block->nr)
		block->first = block->last = event;
	blob_printf(&block->events, "%s%" PRIu32, block->nr ? "," : "", event - block->last);
	blob_printf(&block->texts, "%s", block->nr ? "," : "");
	json_string(&block->texts, text->text + printer->parts.name, text->size - printer->parts.name);
	block->last = event;
	block->nr++;
}

static int flush_block(struct block *block, const struct view_sink *sink, struct view_texts *texts, size_t *room)
{
	struct blob plain = BLOB_INIT, packed = BLOB_INIT;
	int err;

	blob_printf(&plain, "{\"events\":[");
	blob_put(&plain, block->events.data, block->events.size);
	blob_printf(&plain, "],\"texts\":[");
	blob_put(&plain, block->texts.data, block->texts.size);
	blob_printf(&plain, "]}");
	err = block->events.error || block->texts.error || plain.error ? -ENOMEM : 0;
	if (!err)
		err = view_deflate(plain.data, plain.size, sink->effort, &packed);
	if (!err && packed.size <= *room) {
		blob_u32(&texts->firsts, block->first);
		err = texts->firsts.error ? -ENOMEM : sink->block(sink->arg, packed.data, packed.size);
		texts->written += block->nr;
		*room -= packed.size;
	} else {
		texts->left_out += block->nr;
		*room = 0;
	}
	block->events.size = block->texts.size = 0;
	block->nr = 0;
	blob_free(&plain);
	blob_free(&packed);
	return err;
}

int view_write_texts(const struct view_trace *trace, struct event_printer *printer, struct dat_merge *merge,
		     size_t room, const struct view_sink *sink, struct view_texts *texts)
{
	unsigned char *bits = kept_events(trace);
	struct block block = { .nr = 0 };
	struct dat_event event;
	int err = bits ? 0 : -ENOMEM;

	for (uint32_t number = 0; !err && number < trace->events && dat_merge_next(merge, &event); number++) {
		if (!(bits[number / 8] >> number % 8 & 1))
			continue;
		if (!room) {
			texts->left_out++;
			continue;
		}
		err = event_print(printer, &event);
		if (err)
			break;
		add_text(&block, number, printer);
		if (block.nr == TEXTS_A_BLOCK)
			err = flush_block(&block, sink, texts, &room);
	}
	if (!err && block.nr)
		err = flush_block(&block, sink, texts, &room);
	free(bits);
	blob_free(&block.events);
	blob_free(&block.texts);
	return err;
}

/* -------------------------------------------------------------------------------------------------------- index */

static void put_strings(struct blob *out, const struct view_trace *trace)
{
	blob_printf(out, ",\"strings\":[");
	for (size_t i = 0; i < trace->nr_strings; i++) {
		blob_printf(out, "%s", i ? "," : "");
		json_string(out, trace->strings[i], strlen(trace->strings[i]));
	}
	blob_printf(out, "],\"counts\":[");
	for (size_t i = 0; i < trace->nr_strings; i++)
		blob_printf(out, "%s%" PRIu64, i ? "," : "", trace->string_events[i]);
	blob_printf(out, "]");
}

static void put_head(struct blob *out, const struct view_trace *trace, const struct view_head *head)
{
	blob_printf(out, "{\"format\":1,\"file\":");
	json_string(out, head->file, strlen(head->file));
	blob_printf(out, ",\"version\":");
	json_string(out, head->version, strlen(head->version));
	blob_printf(out, ",\"clock\":");
	json_string(out, head->clock, strlen(head->clock));
	blob_printf(out, ",\"seconds\":%s,\"live\":%s", head->seconds ? "true" : "false",
		    head->live ? "true" : "false");
	blob_printf(out,
		    ",\"begin\":\"%" PRIu64 "\",\"length\":%" PRIu64 ",\"events\":%" PRIu64 ",\"lost\":%" PRIu64
		    ",\"gaps\":%" PRIu64 ",\"resolution\":%" PRIu64,
		    trace->begin, trace->end - trace->begin, trace->events, trace->lost, trace->gaps,
		    trace->resolution);
	blob_printf(out, ",\"days\":[");
	for (unsigned int i = 0; i < head->nr_readings; i++)
		blob_printf(out, "%s[\"%" PRIu64 "\",\"%" PRIu64 "\"]", i ? "," : "", head->readings[i].mono,
			    head->readings[i].realtime);
	blob_printf(out, "]");
}

static void put_texts(struct blob *out, const struct view_texts *texts)
{
	uint32_t first;

	blob_printf(out, ",\"texts\":[");
	for (size_t at = 0; at + sizeof(first) <= texts->firsts.size; at += sizeof(first)) {
		memcpy(&first, texts->firsts.data + at, sizeof(first));
		blob_printf(out, "%s%" PRIu32, at ? "," : "", first);
	}
	blob_printf(out, "],\"texts_left_out\":%" PRIu64, texts->left_out);
}

int view_write_index(const struct view_trace *trace, const struct view_head *head, const struct view_texts *texts,
		     const struct blob *index, const struct blob *packed, const struct view_sink *sink)
{
	struct blob plain = BLOB_INIT, out = BLOB_INIT;
	int err = sink->block(sink->arg, packed->data, packed->size);

	put_head(&plain, trace, head);
	put_strings(&plain, trace);
	put_texts(&plain, texts);
	blob_put(&plain, index->data, index->size);
	blob_printf(&plain, "}");
	if (!err)
		err = plain.error ? -ENOMEM : view_deflate(plain.data, plain.size, sink->effort, &out);
	if (!err)
		err = sink->block(sink->arg, out.data, out.size);
	blob_free(&plain);
	blob_free(&out);
	return err;
}
