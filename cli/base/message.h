/* SPDX-License-Identifier: MIT */
/*
 * Messages for the user: each is one line, and goes to the sink that the caller passed in. Code below the commands
 * prints nothing itself.
 */
#ifndef CLI_MESSAGE_H
#define CLI_MESSAGE_H

#include <stdarg.h>
#include <stddef.h>

struct message_sink {
	/* An error or a warning. The line has no newline and no control characters. */
	void (*message)(const void *arg, const char *line);
	/* A line of the summary at the end of a recording. NULL: the summary is not wanted. */
	void (*summary)(const void *arg, const char *line);
	const void *arg;
};

/*
 * A message for this sink. A longer one is cut, control characters become '?'. errno is preserved, and %m prints its
 * text.
 */
void message(const struct message_sink *sink, const char *format, ...) __attribute__((format(printf, 2, 3)));
void message_v(const struct message_sink *sink, const char *format, va_list args) __attribute__((format(printf, 2, 0)));

/* The same for the summary. */
void message_summary(const struct message_sink *sink, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Two lines after a message: a text that is wrong at `column` (from 1), and a caret below the place. */
void message_caret(const struct message_sink *sink, const char *text, size_t column);

#endif
