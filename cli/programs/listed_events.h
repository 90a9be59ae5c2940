/* SPDX-License-Identifier: MIT */
/* The events of a log as users count them: a span is one, although its begin and its end are events of their own. */
#ifndef CLI_LISTED_EVENTS_H
#define CLI_LISTED_EVENTS_H

#include <librecorder/event_text.h>
#include <librecorder/log.h>
#include <stdbool.h>
#include <stddef.h>

/* An event, or a span, whose end is an event too. */
struct listed {
	const struct rec_log_event *event;
	const struct rec_log_event *end; /* NULL: it is not a span */
	struct rec_event_info info, end_info;
	int meaning;
};

/* The records of a log, from one listed event to the next. */
struct listing {
	const void *log;
	size_t size, offset;
	bool of_binary; /* list an event once, even if several files of a program declare it */
	bool prints;	/* it has texts of rec_printf() */
};

/* Finds the next event or span; a span counts at the place of its begin. False at the end of the list. */
bool listing_next(struct listing *listing, struct listed *ret_listed);

/* The number of spans whose begin and end both match the patterns. */
unsigned int listing_both_named(struct listing listing, const char *patterns);

#endif
