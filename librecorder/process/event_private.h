/* SPDX-License-Identifier: MIT */
/*
 * Functions by which the code of the buffer notifies the code of the events. Each function is called with the process
 * lock held.
 */
#ifndef EVENT_PRIVATE_H
#define EVENT_PRIVATE_H

#include <librecorder/detail/abi.h>
#include <stdbool.h>

/*
 * The first buffer exists; `selectors` (selector.h, one on each line; NULL: none) names the events that are on from the
 * start. An invalid one is ignored: the recorder checks it before it starts a program.
 */
void rec_events_set_selectors(const char *selectors);

/*
 * rec_process describes another buffer, or none: every event moves to it, with its id, its wanted bit and its
 * condition. The mapping of the old buffer is still readable, including its `conditions`. They are copied if an event
 * has one of them, or if they are `needed` for another reason. NULL: there was no buffer.
 */
void rec_events_move(const unsigned char *conditions, bool needed);

/* The number of this process's buffer, counted from 1; incremented with each move. */
uint32_t rec_events_buffer(void);

#endif
