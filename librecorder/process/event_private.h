/* SPDX-License-Identifier: MIT */
/*
 * Functions by which the code of the buffer notifies the code of the events, called with the process lock held; and
 * what other code needs to know of events.
 */
#ifndef EVENT_PRIVATE_H
#define EVENT_PRIVATE_H

#include <errno.h>
#include <librecorder/detail/abi.h>
#include <stdbool.h>

struct rec_event;
struct rec_geometry;

/* The conditions in this process's buffer, for filter_run.c; NULL: there are none. */
extern unsigned char *rec_event_conditions;

/* The first buffer exists, with this layout. */
void rec_events_begin(const struct rec_geometry *geometry);

/*
 * The process has another buffer, with this layout, or none: every event moves to it, with its id, its wanted bit and
 * its condition. The buffer `before` is still mapped; NULL: there was none. Its conditions are copied if an event has
 * one of them, or if they are `needed` for another reason.
 */
void rec_events_move(const struct rec_buffer_header *before, const struct rec_geometry *geometry, bool needed);

/* The process has another buffer, or none: a declaration of recorder:task that failed may succeed now. */
void rec_task_moved(void);

/* The number of this process's buffer, counted from 1; incremented with each move. */
uint32_t rec_events_buffer(void);

/*
 * As rec_event_register(), which takes the process lock. 0: the event is registered, but has an enable word only if the
 * buffer has room; -EBUSY: no lock; -ENOMEM; -ENOSPC: there are too many events; -EBADMSG: the description is
 * malformed; -EOPNOTSUPP: its ABI is unknown.
 */
int rec_event_try_register(struct rec_event *event);

/* Whether rec_event_declare() failed with -errno `r` for a reason that may be gone the next time. */
static inline bool rec_event_try_again(int r)
{
	return r == -EBUSY || r == -ENOMEM;
}

#endif
