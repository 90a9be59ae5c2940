/* SPDX-License-Identifier: MIT */
/* The events that this process recorded, as libtraceevent prints them. */
#ifndef EVENT_FIXTURE_H
#define EVENT_FIXTURE_H

/*
 * The events recorded since the last call, one on each line: "name: fields\n". One lane after the other. Every format
 * text of the log is parsed, and anything that libtraceevent prints on stderr fails the test. Valid until the next
 * call.
 */
const char *event_fixture_text(void);

/* The same for all events in another process's buffer file. */
const char *event_fixture_text_of(const char *path);

/* The number of events in the last text. */
unsigned int event_fixture_count(void);

#endif
