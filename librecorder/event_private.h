/* SPDX-License-Identifier: MIT */
/* What the process's buffer says to its events. Each of these is called with the process lock held. */
#ifndef EVENT_PRIVATE_H
#define EVENT_PRIVATE_H

#include <stdint.h>

/*
 * A first buffer is there; `patterns` (NULL: none) names the events that are on from the start. What is no list of
 * patterns is ignored: the recorder checks it before it starts a program.
 */
void rec_events_set_wish(const char *patterns);

/*
 * rec_process describes another buffer, or none: every event moves to it, with its id and whether it is wanted. The
 * mapping of the old one can still be read.
 */
void rec_events_move(void);

/* The number of this process's buffer, counted from 1; grows with each move. */
uint32_t rec_events_buffer(void);

#endif
