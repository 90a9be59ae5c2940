/* SPDX-License-Identifier: MIT */
/*
 * Selectors by which the program itself switches events on or off. They also apply to events that are registered later.
 * The caller holds the process lock, except where stated otherwise.
 */
#ifndef REQUESTS_H
#define REQUESTS_H

#include <librecorder/event_text.h>
#include <stdbool.h>

struct rec_request;

/* A request that can be added; the text is copied. NULL: no memory. Without the process lock, because it allocates. */
struct rec_request *rec_request_make(const char *selector, bool on);

/* Add a request. Returns the earlier ones with the same patterns, which it replaces, or NULL; the caller frees them. */
struct rec_request *rec_requests_add(struct rec_request *request);

/* Free removed requests, or NULL. Without the process lock. */
void rec_requests_free(struct rec_request *removed);

/*
 * Add requests to switch on: one selector on each line. Invalid ones are skipped: the recorder checks selectors before
 * it starts a program. This allocates, so it may be called only at the start of the program, when no fork handler waits
 * for the process lock yet.
 */
void rec_requests_add_lines(const char *selectors);

/* The selector of the last request that matches an event, and whether it switches the event on; NULL: none matches. */
const char *rec_requests_find(const struct rec_words *system, const struct rec_words *name, bool *ret_on);

#endif
