/* SPDX-License-Identifier: MIT */
/*
 * What a report prints of the page that has an event, as trace-cmd: losses before it, that a sub-buffer begins
 * (--boundary), and where the event lies in it (--debug).
 */
#ifndef FORMAT_EVENT_PAGE_H
#define FORMAT_EVENT_PAGE_H

#include "format/text/event_print.h"

/* The lines before an event. */
void event_page_before(const struct dat_file *file, const struct event_line *line, struct print_text *text);

/*
 * At the end of its line: the delta of its record, its offset in the page, its size. Lines of their own for records
 * after it that are not events: padding and times.
 */
void event_page_after(const struct dat_file *file, const struct dat_event *event, struct print_text *text);

#endif
