/* SPDX-License-Identifier: MIT */
/*
 * Selectors by which the program itself switches events on or off. They also apply to events that are registered later.
 * The caller holds the process lock.
 */
#ifndef REQUESTS_H
#define REQUESTS_H

#include <librecorder/event_text.h>
#include <stdbool.h>

/* Add a request, and remove an earlier one with the same patterns. The text is copied. 0 or -ENOMEM. */
int rec_requests_add(const char *selector, bool on);

/* Add requests to switch on: one selector on each line. Invalid ones are skipped. */
void rec_requests_add_lines(const char *selectors);

/* The selector of the last request that matches an event, and whether it switches the event on; NULL: none matches. */
const char *rec_requests_find(const struct rec_words *system, const struct rec_words *name, bool *ret_on);

#endif
