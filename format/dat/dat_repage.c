/* SPDX-License-Identifier: MIT */
/* See dat_repage.h. librecorder/core/page_bytes.h knows the layout of a page. */
#include "format/dat/dat_repage.h"
#include "librecorder/core/page_bytes.h"

#include <errno.h>
#include <stdlib.h>

#define DELTA_BITS 59u  /* bits of the time between two events of a page */
#define ROOM_FIRST 256u /* bytes of records that a page has room for at first */

struct page {
	unsigned char *records;
	uint32_t room; /* bytes at `records`: no more than were needed so far, because many pages stay small */
	uint32_t used; /* bytes of records; 0: no page was begun */
	uint64_t first, last; /* times */
	uint64_t lost;	      /* events lost before it: 0; a number; UINT64_MAX: an unknown number */
	uint32_t marked;      /* the CPU that its last marker names; DAT_NO_MARKER: it has none */
};

struct buffer {
	struct page *pages; /* by CPU */
	uint32_t nr_pages;
};

struct dat_repage {
	struct dat_writer *writer;
	unsigned int rule;
	const uint32_t *page_sizes;
	struct buffer *buffers;
	unsigned int nr_buffers;
	unsigned char *whole; /* for a page that is complete: the largest size of all buffers */
};

int dat_repage_open(struct dat_writer *writer, const struct dat_file *form, const uint32_t *page_sizes,
		    unsigned int nr_buffers, struct dat_repage **ret_repage)
{
	struct dat_repage *repage = calloc(1, sizeof(*repage));
	uint32_t largest = 1;

	if (!repage)
		return -ENOMEM;
	for (unsigned int i = 0; i < nr_buffers; i++)
		largest = page_sizes[i] > largest ? page_sizes[i] : largest;
	repage->whole = malloc(largest);
	repage->buffers = calloc(nr_buffers, sizeof(*repage->buffers));
	if (!repage->whole || !repage->buffers) {
		dat_repage_close(repage);
		return -ENOMEM;
	}
	repage->writer = writer;
	repage->rule = dat_page_rule(form);
	repage->page_sizes = page_sizes;
	repage->nr_buffers = nr_buffers;
	*ret_repage = repage;
	return 0;
}

struct dat_repage *dat_repage_close(struct dat_repage *repage)
{
	if (!repage)
		return NULL;
	for (unsigned int i = 0; i < repage->nr_buffers; i++) {
		for (uint32_t cpu = 0; cpu < repage->buffers[i].nr_pages; cpu++)
			free(repage->buffers[i].pages[cpu].records);
		free(repage->buffers[i].pages);
	}
	free(repage->buffers);
	free(repage->whole);
	free(repage);
	return NULL;
}

static uint32_t capacity_of(const struct dat_repage *repage, unsigned int buffer)
{
	return repage->page_sizes[buffer] - page_header_size(repage->rule);
}

static uint64_t lost_of(const struct dat_repage_event *event)
{
	return event->lost < 0 ? UINT64_MAX : (uint64_t)event->lost;
}

/* The room that is kept free for the number lost. */
static uint32_t lost_room(const struct dat_repage *repage, uint64_t lost)
{
	return !lost || lost == UINT64_MAX ? 0 : repage->rule & PAGE_COMMIT32 ? 4 : PAGE_LOST_SIZE;
}

/* The bytes of the marker that the event needs; 0: none. */
static uint32_t marker_size(const struct page *page, const struct dat_repage_event *event)
{
	return event->marked == DAT_NO_MARKER || event->marked == page->marked ? 0 : PAGE_RESTATE_SIZE;
}

static bool begins(const struct dat_repage *repage, const struct page *page, const struct dat_repage_event *event)
{
	const uint32_t room = capacity_of(repage, event->buffer) - page->used;
	uint64_t delta;

	if (!page->used || event->lost || event->time < page->last)
		return true;
	delta = event->time - page->last;
	return delta >> DELTA_BITS || page_event_size(event->size, delta) + marker_size(page, event) +
					      lost_room(repage, page->lost) > room;
}

bool dat_repage_begins(const struct dat_repage *repage, const struct dat_repage_event *event)
{
	const struct buffer *buffer = &repage->buffers[event->buffer];

	return event->cpu >= buffer->nr_pages || begins(repage, &buffer->pages[event->cpu], event);
}

static int flush(struct dat_repage *repage, unsigned int buffer, uint32_t cpu, struct page *page)
{
	const uint32_t header = page_header_size(repage->rule), end = header + page->used;

	if (!page->used)
		return 0;
	memcpy(repage->whole + header, page->records, page->used);
	memset(repage->whole + end, 0, repage->page_sizes[buffer] - end);
	page_put_header(repage->whole, page->first, page->used, page->lost, capacity_of(repage, buffer), repage->rule);
	page->used = 0;
	return dat_write_page(repage->writer, buffer, cpu, repage->whole);
}

static int get_page(struct buffer *buffer, uint32_t cpu, struct page **ret_page)
{
	struct page *pages;

	if (cpu >= buffer->nr_pages) {
		pages = realloc(buffer->pages, (cpu + 1u) * sizeof(*pages));
		if (!pages)
			return -ENOMEM;
		memset(pages + buffer->nr_pages, 0, (cpu + 1u - buffer->nr_pages) * sizeof(*pages));
		buffer->pages = pages;
		buffer->nr_pages = cpu + 1;
	}
	*ret_page = &buffer->pages[cpu];
	return 0;
}

/* Make room for more bytes of records, which fit into a page with at most `most` of them. */
static int make_room(struct page *page, uint32_t more, uint32_t most)
{
	uint32_t room = page->room ? page->room : ROOM_FIRST;
	unsigned char *records;

	if (page->used + more <= page->room)
		return 0;
	while (room < page->used + more)
		room *= 2;
	room = room < most ? room : most;
	records = realloc(page->records, room);
	if (!records)
		return -ENOMEM;
	page->records = records;
	page->room = room;
	return 0;
}

/* Begin a page with this event. If the event fits only without the number lost, that number is left out. */
static int begin(struct dat_repage *repage, struct page *page, const struct dat_repage_event *event)
{
	int err;

	if (page_event_size(event->size, 0) > capacity_of(repage, event->buffer))
		return -E2BIG;
	err = flush(repage, event->buffer, event->cpu, page);
	if (err)
		return err;
	page->first = page->last = event->time;
	page->lost = lost_of(event);
	page->marked = DAT_NO_MARKER;
	return 0;
}

static void put_marker(struct page *page, const struct dat_repage_event *event)
{
	page_put_restate(page->records + page->used, event->marked, event->time);
	page->used += PAGE_RESTATE_SIZE;
	page->last = event->time;
	page->marked = event->marked;
}

static void put_event(const struct dat_repage *repage, struct page *page, const struct dat_repage_event *event)
{
	const uint64_t delta = event->time - page->last;

	page_put_event(page->records + page->used, delta, event->data, event->size, repage->rule);
	page->used += page_event_size(event->size, delta);
	page->last = event->time;
}

int dat_repage_put(struct dat_repage *repage, const struct dat_repage_event *event)
{
	const uint32_t capacity = capacity_of(repage, event->buffer);
	uint32_t size, marker;
	struct page *page;
	int err = get_page(&repage->buffers[event->buffer], event->cpu, &page);

	if (!err && begins(repage, page, event))
		err = begin(repage, page, event);
	if (err)
		return err;
	size = page_event_size(event->size, event->time - page->last);
	marker = marker_size(page, event);
	/* If both do not fit, the marker is left out. */
	if (page->used + size + marker + lost_room(repage, page->lost) > capacity)
		marker = 0;
	err = make_room(page, size + marker, capacity);
	if (err)
		return err;
	/* Viewers show a loss only if the page's first record is an event. */
	if (marker && (page->used || !event->lost))
		put_marker(page, event);
	put_event(repage, page, event);
	if (marker && event->marked != page->marked)
		put_marker(page, event);
	return 0;
}

int dat_repage_flush(struct dat_repage *repage)
{
	int err = 0;

	for (unsigned int i = 0; i < repage->nr_buffers; i++) {
		struct buffer *buffer = &repage->buffers[i];

		for (uint32_t cpu = 0; cpu < buffer->nr_pages && !err; cpu++)
			err = flush(repage, i, cpu, &buffer->pages[cpu]);
	}
	return err;
}
