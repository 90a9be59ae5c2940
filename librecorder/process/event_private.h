/* SPDX-License-Identifier: MIT */
/* What the process's buffer says to its events. Each of these is called with the process lock held. */
#ifndef EVENT_PRIVATE_H
#define EVENT_PRIVATE_H

#include <librecorder/detail/abi.h>
#include <stdbool.h>

/*
 * A first buffer is there; `wishes` (wish.h, one a line; NULL: none) names the events that are on from the start.
 * What is no wish is ignored: the recorder checks it before it starts a program.
 */
void rec_events_set_wish(const char *wishes);

/*
 * rec_process describes another buffer, or none: every event moves to it, with its id, whether it is wanted and its
 * condition. The mapping of the old one can still be read, its `conditions` among the rest, which are copied if an
 * event has one of them, or they are `needed` besides. NULL: there was no buffer.
 */
void rec_events_move(const unsigned char *conditions, bool needed);

/* The number of this process's buffer, counted from 1; grows with each move. */
uint32_t rec_events_buffer(void);

#endif
