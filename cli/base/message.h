/* SPDX-License-Identifier: MIT */
/*
 * What there is to tell a user: each message is one line, and goes to the sink that the caller passed in. What is below the
 * commands prints nothing by itself.
 */
#ifndef CLI_MESSAGE_H
#define CLI_MESSAGE_H

#include <stdarg.h>

struct message_sink {
	/* What went wrong, or is not as it was wished for. The line has no newline and no control characters. */
	void (*message)(const void *arg, const char *line);
	/* A line of the summary at the end of a recording. NULL: nobody wants one. */
	void (*summary)(const void *arg, const char *line);
	const void *arg;
};

/* A message for this sink; longer ones are cut, control characters become '?'. errno is kept, and %m is its text. */
void message(const struct message_sink *sink, const char *format, ...) __attribute__((format(printf, 2, 3)));
void message_v(const struct message_sink *sink, const char *format, va_list args) __attribute__((format(printf, 2, 0)));

/* The same for the summary. */
void message_summary(const struct message_sink *sink, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
