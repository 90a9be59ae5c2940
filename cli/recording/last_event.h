/* SPDX-License-Identifier: MIT */
/* When the last event that a buffer still holds was written. */
#ifndef CLI_LAST_EVENT_H
#define CLI_LAST_EVENT_H

#include <librecorder/reader.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * False: the buffer holds no event, and no count shows that it had one. Otherwise *ret_seconds is the time,
 * CLOCK_REALTIME; 0: unknown, because no lane can be read, or because the clock is that of an earlier boot. Consumes
 * nothing.
 */
bool last_event_time(struct rec_view *view, uint64_t *ret_seconds);

#endif
