/* SPDX-License-Identifier: MIT */
/*
 * Functions by which the code of the buffer notifies the code of the events. Each function is called with the process
 * lock held.
 */
#ifndef EVENT_PRIVATE_H
#define EVENT_PRIVATE_H

#include <librecorder/detail/abi.h>
#include <stdbool.h>

struct rec_geometry;

/* The conditions in this process's buffer, for filter_run.c; NULL: there are none. */
extern unsigned char *rec_event_conditions;

/*
 * The first buffer exists, with this layout; `selectors` (selector.h, one on each line; NULL: none) names the events
 * that are on from the start. An invalid one is ignored: the recorder checks it before it starts a program.
 */
void rec_events_begin(const struct rec_geometry *geometry, const char *selectors);

/*
 * The process has another buffer, with this layout, or none: every event moves to it, with its id, its wanted bit and
 * its condition. The buffer `before` is still mapped; NULL: there was none. Its conditions are copied if an event has
 * one of them, or if they are `needed` for another reason.
 */
void rec_events_move(const struct rec_buffer_header *before, const struct rec_geometry *geometry, bool needed);

/* The number of this process's buffer, counted from 1; incremented with each move. */
uint32_t rec_events_buffer(void);

#endif
