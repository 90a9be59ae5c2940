/* SPDX-License-Identifier: MIT */
#include "ring_model.h"

#include <librecorder/page.h>
#include <librecorder/source.h>
#include <stdlib.h>
#include <string.h>

/* A page with less than this left gets no filler: the kernel leaves an unused word there and does not count it. */
#define RECORD_MIN 8u

static struct model_page *page_new(void)
{
	return calloc(1, sizeof(struct model_page));
}

static void page_free(struct model_page *page)
{
	free(page->events);
	free(page);
}

static void page_put(struct model_page *page, const struct model_event *event)
{
	if (page->nr == page->max) {
		page->max = page->max ? page->max * 2 : 64;
		page->events = realloc(page->events, page->max * sizeof(*page->events));
	}
	page->events[page->nr++] = *event;
	page->used += event->total;
}

/* The number of events from record `from` on. */
static uint64_t page_events(const struct model_page *page, uint32_t from)
{
	uint64_t events = 0;
	uint32_t i;

	for (i = from; i < page->nr; i++)
		events += !page->events[i].is_filler;
	return events;
}

/* The bytes that are unread; if nothing was read, including those that the page begins with. */
static uint64_t page_bytes(const struct model_page *page)
{
	uint64_t bytes = page->used;
	uint32_t i;

	if (page->read == page->nr)
		return 0;
	if (page->read == 0)
		return bytes;
	bytes = 0;
	for (i = page->read; i < page->nr; i++)
		bytes += page->events[i].total;
	return bytes;
}

/* `written` is kept, because it numbers the events. */
static void clear_counters(struct model *model)
{
	model->overrun = model->dropped = model->read = model->too_long = 0;
	model->overrun_seen = model->refused_seen = model->lost = model->nr_refusals = 0;
	model->nr_on_empty = model->nr_forgotten = 0;
	model->is_empty_lost = false;
}

static void make_empty(struct model *model)
{
	model->reader = page_new();
	model->ring[0] = page_new();
	model->nr_ring = 1;
	clear_counters(model);
}

static void free_pages(struct model *model)
{
	page_free(model->reader);
	while (model->nr_ring)
		page_free(model->ring[--model->nr_ring]);
}

struct model *model_new(const struct model_params *params)
{
	struct model *model = calloc(1, sizeof(*model));

	model->params = *params;
	model->ring = calloc(params->pages, sizeof(struct model_page *));
	make_empty(model);
	return model;
}

struct model *model_free(struct model *model)
{
	if (model) {
		free_pages(model);
		free(model->ring);
		free(model->refusals);
		free(model);
	}
	return NULL;
}

void model_reset(struct model *model)
{
	free_pages(model);
	make_empty(model);
}

/* The oldest page of the ring leaves it; the one in `page` takes its place, if any. Returns the page that left. */
static struct model_page *take_oldest(struct model *model)
{
	struct model_page *page = model->ring[0];

	memmove(&model->ring[0], &model->ring[1], --model->nr_ring * sizeof(model->ring[0]));
	return page;
}

/*
 * The time of the refusals is stored with the following page. A page that is overwritten reports when its first event
 * was, so if both are overwritten that time is lost with them.
 */
static void forget_refusals(struct model *model, const struct model_page *page)
{
	if (page->refused < model->nr_on_empty)
		model->is_empty_lost = true;
	else if (model->is_empty_lost)
		model->nr_forgotten = model->nr_on_empty;
}

static void overwrite_oldest(struct model *model)
{
	struct model_page *page = take_oldest(model);

	forget_refusals(model, page);
	if (model->overrun == model->overrun_seen && page->nr)
		model->gap_first = page->events[0].number;
	model->overrun += page_events(page, 0);
	page_free(page);
}

static struct model_page *tail_page(const struct model *model)
{
	return model->nr_ring ? model->ring[model->nr_ring - 1] : model->reader;
}

static void close_page(const struct model *model, struct model_page *page)
{
	const uint32_t rest = model->params.capacity - page->used;

	if (rest == 0)
		page->full_twice = true;
	if (model->params.has_filler && rest >= RECORD_MIN)
		page_put(page, &(struct model_event){ .total = rest, .is_filler = true });
}

static void begin_page(struct model *model)
{
	struct model_page *page = page_new();

	page->used = model->params.lead;
	page->refused = model->nr_refusals;
	model->ring[model->nr_ring++] = page;
}

static void note_refusal(struct model *model, uint64_t number)
{
	if (model->nr_refusals == model->max_refusals) {
		model->max_refusals = model->max_refusals ? model->max_refusals * 2 : 64;
		model->refusals = realloc(model->refusals, model->max_refusals * sizeof(*model->refusals));
	}
	model->refusals[model->nr_refusals++] = number;
	if (!tail_page(model)->nr)
		model->nr_on_empty = model->nr_refusals;
}

enum model_write model_write(struct model *model, uint64_t number, uint32_t size, bool extend)
{
	struct model_page *tail = tail_page(model);
	uint32_t total = rec_event_total(size);

	if (size > model->params.size_max) {
		model->too_long++;
		note_refusal(model, number);
		return MODEL_TOO_LONG;
	}
	if (tail->used == 0)
		tail->used = model->params.lead;
	if (extend && tail->nr)
		total += REC_TIME_EXTEND_SIZE;
	if (tail->used + total > model->params.capacity) {
		close_page(model, tail);
		if (model->nr_ring == model->params.pages) {
			if (!model->params.overwrite) {
				model->dropped++;
				note_refusal(model, number);
				return MODEL_DROPPED;
			}
			overwrite_oldest(model);
		}
		begin_page(model);
		tail = tail_page(model);
		total = rec_event_total(size);
	}
	page_put(tail,
		 &(struct model_event){ .number = number, .index = model->written++, .size = size, .total = total });
	return MODEL_WRITTEN;
}

static uint64_t entries(const struct model *model)
{
	uint64_t n = page_events(model->reader, model->reader->read);
	uint32_t i;

	for (i = 0; i < model->nr_ring; i++)
		n += page_events(model->ring[i], 0);
	return n;
}

/* Make sure that the reader page has something to read, by a swap if necessary. False: no page has anything to read. */
static bool next_page(struct model *model)
{
	if (model->reader->read < model->reader->nr)
		return true;
	if (model->nr_ring == 0 || entries(model) == 0)
		return false;
	page_free(model->reader);
	model->reader = take_oldest(model);
	model->lost = model->overrun - model->overrun_seen;
	model->lost_first = model->lost ? model->gap_first : UINT64_MAX;
	model->overrun_seen = model->overrun;
	if (model->params.tells_refusals && model->reader->refused > model->refused_seen) {
		model->lost += model->reader->refused - model->refused_seen;
		if (model->refused_seen >= model->nr_forgotten &&
		    model->refusals[model->refused_seen] < model->lost_first)
			model->lost_first = model->refusals[model->refused_seen];
	}
	model->refused_seen = model->reader->refused;
	return true;
}

/* The loss as a page of `bytes` with room for `room` reports it. */
static uint64_t told(uint64_t lost, uint32_t bytes, uint32_t room)
{
	return lost && room - bytes < sizeof(lost) ? REC_LOST_UNKNOWN : lost;
}

/* Returns the number of records to hand out; *ret_bytes: the bytes of the page that they take. */
static uint32_t take_kernel(const struct model *model, uint32_t room, uint32_t *ret_bytes)
{
	const struct model_page *page = model->reader;
	const bool is_swapped = page->read == 0 && room >= page->used && model->nr_ring;
	uint32_t nr = 0, left = room;

	while (page->read + nr < page->nr && page->events[page->read + nr].total <= left)
		left -= page->events[page->read + nr++].total;
	*ret_bytes = room - left;
	/* If a page is handed out whole, its filler is not visible. */
	if (is_swapped && page->events[nr - 1].is_filler && !page->full_twice)
		*ret_bytes -= page->events[nr - 1].total;
	return nr;
}

/*
 * The whole page, unchanged, is handed out if it fits and nothing was lost. Otherwise its events are copied, with CPU
 * and time stated after the first event, or before it if there is room. The first event of a copy needs no time extend.
 */
static uint32_t take_copy(const struct model *model, uint32_t room, uint32_t *ret_bytes)
{
	const struct model_page *page = model->reader;
	const uint32_t lead = model->params.lead;
	uint32_t nr = 1, used = rec_event_total(page->events[page->read].size);

	if (page->read == 0 && !model->lost && page->used <= room) {
		*ret_bytes = page->used;
		return page->nr;
	}
	if (used > room)
		return 0;
	if (lead <= room - used)
		used += lead;
	while (page->read + nr < page->nr && page->events[page->read + nr].total <= room - used)
		used += page->events[page->read + nr++].total;
	*ret_bytes = used;
	return nr;
}

int model_read(struct model *model, enum model_form form, uint32_t room, struct model_read *ret_read)
{
	struct model_page *page;
	uint32_t nr, bytes = 0;

	if (!next_page(model))
		return -1;
	page = model->reader;
	if (form == MODEL_EVENT)
		nr = 1;
	else if (form == MODEL_COPY)
		nr = take_copy(model, room, &bytes);
	else
		nr = take_kernel(model, room, &bytes);
	/* If only a filler is left, the kernel reports that there is nothing. */
	if (!nr)
		return entries(model) ? 0 : -1;
	*ret_read = (struct model_read){ .events = &page->events[page->read],
					 .nr = nr,
					 .bytes = bytes,
					 .lost = model->lost,
					 .lost_first = model->lost_first };
	if (form == MODEL_KERNEL)
		ret_read->lost = told(model->lost, bytes, model->params.capacity);
	else if (form == MODEL_COPY)
		ret_read->lost = told(model->lost, bytes, room);
	model->lost = 0;
	model->read += page_events(page, page->read) - page_events(page, page->read + nr);
	page->read += nr;
	return 1;
}

void model_drain(struct model *model)
{
	while (next_page(model))
		model->reader->read = model->reader->nr;
	clear_counters(model);
	tail_page(model)->refused = 0;
}

void model_stats(const struct model *model, struct model_stats *ret_stats)
{
	uint32_t i;

	*ret_stats = (struct model_stats){
		.entries = entries(model),
		.overrun = model->overrun,
		.dropped = model->dropped,
		.read = model->read,
		.too_long = model->too_long,
		.bytes = page_bytes(model->reader),
	};
	for (i = 0; i < model->nr_ring; i++)
		ret_stats->bytes += page_bytes(model->ring[i]);
}
