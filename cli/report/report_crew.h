/* SPDX-License-Identifier: MIT */
/*
 * The threads that make the lines of 'recorder report'. One thread, the caller's, goes through the events in order and
 * collects them in batches; others make the text of a batch each; the caller writes them in order, and makes texts
 * itself when it would have to wait. Memory is bounded by the number of batches. The first batches are small, so that
 * the first lines come at once.
 */
#ifndef CLI_REPORT_CREW_H
#define CLI_REPORT_CREW_H

#include <stdbool.h>
#include <stddef.h>

#include "format/text/event_print.h"

struct report_crew;

/* Writes a text. False: no more is wanted. */
typedef bool (*report_crew_write)(void *arg, const char *text, size_t size);

/*
 * Begin; with as many threads as there are CPUs, and none if there is one CPU. The printer must outlive it. 0; -ENOMEM.
 */
int report_crew_open(struct event_printer *printer, report_crew_write write, void *arg, struct report_crew **ret_crew);

/* The next event. 1; 0: no more is wanted; -ENOMEM. */
int report_crew_add(struct report_crew *crew, const struct dat_event *event);

/* The lines of all events so far are written. Returns as above. */
int report_crew_flush(struct report_crew *crew);

/* Ends the threads. Takes NULL. Returns NULL. */
struct report_crew *report_crew_close(struct report_crew *crew);

#endif
