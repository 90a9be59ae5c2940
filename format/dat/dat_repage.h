/* SPDX-License-Identifier: MIT */
/*
 * Makes new pages from events that were read: some of a file's events, or those of several files. A page has the form
 * of the file from which the events come: its byte order, and the size of its commit word. Times stay exact; an event
 * that is earlier than the one before on its CPU begins a page. Losses begin a page, too, with their number. The
 * markers of raw recordings are written anew, so that each event stays on the CPU that they name.
 *
 * Memory: the records of one page for each CPU with events. Threads: one at a time.
 */
#ifndef FORMAT_DAT_REPAGE_H
#define FORMAT_DAT_REPAGE_H

#include "format/dat/dat_merge.h"
#include "format/dat/dat_write.h"

struct dat_repage;

struct dat_repage_event {
	unsigned int buffer; /* number of the writer's buffer */
	uint32_t cpu;
	uint64_t time; /* in the page's units */
	int64_t lost;  /* as dat_event.lost */
	uint32_t marked; /* as dat_event.marked */
	const void *data;
	uint32_t size;
};

/* An event that was read, for a buffer and a CPU of the writer. */
static inline struct dat_repage_event dat_repage_event(const struct dat_event *event, unsigned int buffer, uint32_t cpu)
{
	return (struct dat_repage_event){
		.buffer = buffer,
		.cpu = cpu,
		.time = event->raw,
		.lost = event->lost,
		.marked = event->marked,
		.data = event->data,
		.size = event->size,
	};
}

/*
 * Make pages for the writer, in the form of the file `form`, which is not needed afterwards. A buffer has pages of
 * page_sizes[buffer] bytes; the array must outlive the result. 0; -ENOMEM.
 */
int dat_repage_open(struct dat_writer *writer, const struct dat_file *form, const uint32_t *page_sizes,
		    unsigned int nr_buffers, struct dat_repage **ret_repage);

/* Takes NULL. Returns NULL. Pages that were not flushed are lost. */
struct dat_repage *dat_repage_close(struct dat_repage *repage);

/* Whether this event would begin a page. */
bool dat_repage_begins(const struct dat_repage *repage, const struct dat_repage_event *event);

/* 0; -ENOMEM; -E2BIG: the event does not fit a page; or the errno of write. */
int dat_repage_put(struct dat_repage *repage, const struct dat_repage_event *event);

/* Write all pages that were begun. Call it once, at the end. */
int dat_repage_flush(struct dat_repage *repage);

#endif
