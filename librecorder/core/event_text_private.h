/* SPDX-License-Identifier: MIT */
/* What else is read from descriptions. */
#ifndef EVENT_TEXT_PRIVATE_H
#define EVENT_TEXT_PRIVATE_H

#include <librecorder/event_text.h>

/*
 * The name of a value at *at, up to a comma that is neither quoted nor in parentheses, blanks behind it
 * taken off; advances *at behind the comma.
 */
struct rec_words rec_next_value_name(const char **at, const char *end);

/* The size of a description's common and fixed fields, whatever its first number says. 0 or -EBADMSG. */
int rec_event_measure(const struct rec_log_event *event, uint32_t *ret_fixed_size);

#endif
