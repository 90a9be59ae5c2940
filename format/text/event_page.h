/* SPDX-License-Identifier: MIT */
/*
 * The text that a report prints about the page of an event, as trace-cmd does: losses before the event, the beginning
 * of a sub-buffer (--boundary), and the event's place in it (--debug).
 */
#ifndef FORMAT_EVENT_PAGE_H
#define FORMAT_EVENT_PAGE_H

#include "format/dat/dat_merge.h"
#include "format/dat/dat_page.h"
#include "format/io/number_map.h"
#include "format/print/print_text.h"

struct event_line;

/* A stream's last page, up to an event of it. */
struct event_page {
	const unsigned char *data;
	uint64_t offset;
	uint32_t in_chunk;
	struct dat_walk walk;
	bool is_begun; /* an event of the page was found; earlier events are before the walk's position */
};

/* The last page of each stream, so that the next event is found from the one before it. All zeros: none. */
struct event_pages {
	struct number_map numbers; /* by buffer and CPU: 1 + the place in `all` */
	struct event_page *all;
	size_t nr;
};

void event_pages_close(struct event_pages *pages);

/* The lines before an event. */
void event_page_before(const struct dat_file *file, const struct event_line *line, struct print_text *text);

/*
 * Appends to the event's line: the delta of its record, its offset in the page, and its size. Records after it that are
 * not events (padding and times) get their own lines. 0, -ENOMEM.
 */
int event_page_after(struct event_pages *pages, const struct dat_file *file, const struct dat_event *event,
		     struct print_text *text);

#endif
