/* SPDX-License-Identifier: MIT */
/*
 * The text that a report prints about the page of an event, as trace-cmd does: losses before the event, the beginning
 * of a sub-buffer (--boundary), and the event's place in it (--debug).
 */
#ifndef FORMAT_EVENT_PAGE_H
#define FORMAT_EVENT_PAGE_H

#include "format/text/event_print.h"

/* The lines before an event. */
void event_page_before(const struct dat_file *file, const struct event_line *line, struct print_text *text);

/*
 * Appended to the event's line: the delta of its record, its offset in the page, its size. Records after it that are
 * not events, padding and times, get their own lines.
 */
void event_page_after(const struct dat_file *file, const struct dat_event *event, struct print_text *text);

#endif
