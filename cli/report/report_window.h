/* SPDX-License-Identifier: MIT */
/* The part of a file that is reported: between two times, and of these events the first or the last ones. */
#ifndef CLI_REPORT_WINDOW_H
#define CLI_REPORT_WINDOW_H

#include <stdbool.h>
#include <stdint.h>

struct report;

struct report_window {
	/* the command line */
	const char *since_text; /* NULL: from the first event */
	const char *until_text;
	uint64_t head; /* 0: no limit */
	uint64_t tail;

	uint64_t since, until; /* times as shown, both included */
	uint64_t skip;	       /* selected events, or spans, before those that are shown */
	uint64_t selected;
};

/*
 * Find the times and events that the texts name, in the opened file. 0; or the exit status, and one line was printed.
 * The file is read only near its beginning and end, unless a text names an event.
 */
int report_window_open(struct report *r);

/* Whether the next selected event is shown. */
static inline bool report_window_shows(struct report_window *window)
{
	return window->selected++ >= window->skip;
}

/* Whether all events of the window were shown. */
static inline bool report_window_is_full(const struct report_window *window)
{
	return window->head && window->selected >= window->skip + window->head;
}

#endif
