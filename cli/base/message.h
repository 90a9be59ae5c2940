/* SPDX-License-Identifier: MIT */
/*
 * Messages for the user: each is one line, and goes to the sink that the caller passed in. Code below the commands
 * prints nothing itself.
 */
#ifndef CLI_MESSAGE_H
#define CLI_MESSAGE_H

#include <stdarg.h>
#include <stddef.h>

/* Settings and commands that messages may name. */
enum message_word {
	WORD_NONE,
	WORD_CLOCK,
	WORD_COMMAND_ALONE,
	WORD_CPUS,
	WORD_DRAIN_BY_MAPPING,
	WORD_FILTER,
	WORD_FOLLOW,
	WORD_FUNCTION,
	WORD_GRAPH_DEPTH,
	WORD_GRAPH_FUNCTION,
	WORD_KEEP_LAST,
	WORD_LANE_SIZE,
	WORD_LEAVE_OUT,
	WORD_LIST_EVENTS,   /* the command that shows the events of a program, which follows */
	WORD_LIST_PROGRAMS, /* the command that shows the programs that use librecorder */
	WORD_MODULE,
	WORD_NO_FUNCTION,
	WORD_OPTION,
	WORD_OUTPUT,
	WORD_PATTERN,
	WORD_PROCESSES,
	WORD_RATE,
	WORD_RECOVER, /* the command that makes a trace.dat of a file, which follows */
	WORD_RECOVER_TO, /* the same with another output, FILE */
	WORD_RING_SIZE,
	WORD_SKIP_MISSING,
	WORD_STACKS,
	WORD_START,	    /* the command that starts the recording of stopped programs again */
	WORD_START_PROGRAM, /* the command that starts the recording of a program again; its pid follows */
	WORD_STDOUT,
	WORD_SUBBUF_SIZE,
	WORD_THREADS,
	WORD_TRACER,
	WORD_USER,
	WORD_WAKE_EACH,
	WORDS,
};

struct message_sink {
	/* An error or a warning. The line has no newline and no control characters. */
	void (*message)(const void *arg, const char *line);
	/* A line of the summary at the end of a recording. NULL: the summary is not wanted. */
	void (*summary)(const void *arg, const char *line);
	/*
	 * The user's word for a setting or a command, for example an option of the command line; NULL: our word is
	 * used, if there is one. The pointer may be NULL.
	 */
	const char *(*word)(enum message_word word);
	const void *arg;
};

/*
 * A message for this sink. A longer one is cut, control characters become '?'. errno is preserved, and %m prints its
 * text.
 */
void message(const struct message_sink *sink, const char *format, ...) __attribute__((format(printf, 2, 3)));
void message_v(const struct message_sink *sink, const char *format, va_list args) __attribute__((format(printf, 2, 0)));

/* A line of the summary for this sink. */
void message_summary(const struct message_sink *sink, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The user's word for a setting or a command; "": users have none. */
const char *message_word(const struct message_sink *sink, enum message_word word);

/* The user's word as a remark in a message: " (WORD)", or nothing. */
struct message_remark {
	char text[64];
};
struct message_remark message_remark(const struct message_sink *sink, enum message_word word);

/* Two lines after a message: a text that is wrong at `column` (from 1), and a caret below the place. */
void message_caret(const struct message_sink *sink, const char *text, size_t column);

#endif
