/* SPDX-License-Identifier: MIT */
/*
 * The threads that make the lines of 'recorder report'. The caller's thread goes through the events in order and
 * collects them in batches. Each other thread makes the text of one batch at a time. The caller writes the texts in
 * order; when it would have to wait, it makes texts itself. Memory is bounded by the number of batches. The first
 * batches are small, so that the first lines come at once.
 */
#ifndef CLI_REPORT_CREW_H
#define CLI_REPORT_CREW_H

#include <stdbool.h>
#include <stddef.h>

#include "format/text/event_print.h"

struct report_crew;

/* Writes a text. False: the walk is to end. */
typedef bool (*report_crew_write)(void *arg, const char *text, size_t size);

/*
 * Begin; with as many threads as there are CPUs, and none if there is one CPU. The printer must outlive it. 0; -ENOMEM.
 */
int report_crew_open(struct event_printer *printer, report_crew_write write, void *arg, struct report_crew **ret_crew);

/* Add the next event. 1; 0: the walk is to end; -ENOMEM. */
int report_crew_add(struct report_crew *crew, const struct dat_event *event);

/* Write the lines of all events so far. Returns as above. */
int report_crew_flush(struct report_crew *crew);

/* Ends the threads. Takes NULL. Returns NULL. */
struct report_crew *report_crew_close(struct report_crew *crew);

#endif
