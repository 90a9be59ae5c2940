/* SPDX-License-Identifier: MIT */
/*
 * An event's descriptor as the macros make it, with a description made at run time: for tests that need hundreds of
 * events.
 */
#ifndef MADE_EVENT_H
#define MADE_EVENT_H

#include <librecorder/event.h>

struct made_event {
	struct rec_event event;
	struct {
		struct rec_log_event event;
		int64_t size;
		char text[64];
	} description;
};

/* `size` is the size of the common and the declared fields. The event is not registered. */
void made_event(struct made_event *made, const char *system, const char *declaration, int64_t size);

#endif
