/* SPDX-License-Identifier: MIT */
/* Functions that event_text.c shares with the other files that read or print descriptions of events. */
#ifndef EVENT_TEXT_PRIVATE_H
#define EVENT_TEXT_PRIVATE_H

#include <librecorder/event_text.h>

static inline bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/*
 * The name of a value at *at, up to a comma that is neither quoted nor in parentheses, without blanks at the end.
 * Advances *at to the position after the comma.
 */
struct rec_words rec_next_value_name(const char **at, const char *end);

/*
 * The size of a description's common and fixed fields, computed from its text, not from its first number. 0 or
 * -EBADMSG.
 */
int rec_event_measure(const struct rec_log_event *event, uint32_t *ret_fixed_size);

/* The conversion that shows an f32 or f64, and the maximum size of the text of its arguments (event_float.c). */
#define REC_FLOAT_CONVERSION "%s%s%s%s%llu.%06llu"
#define REC_FLOAT_TEXT_MAX   8192u

void rec_float_arguments(const struct rec_field *field, char *text, size_t size);

/* The expression for the whole part of an f32 or f64, for %lld. Returns `text`. */
const char *rec_float_whole(const struct rec_field *field, char *text, size_t size);

#endif
