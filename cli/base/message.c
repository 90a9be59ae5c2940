/* SPDX-License-Identifier: MIT */
#include "cli/base/message.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "librecorder/core/no_controls.h"

/* A message is one line, and is cut at this length. The longest permitted path still fits. */
#define LINE_MAX_SIZE 8192

/*
 * Used if the sink has no words of its own. Users of such a program do not have our options, but may have the command.
 */
static const char *const words[WORDS] = {
	[WORD_LIST_EVENTS] = "recorder list",
	[WORD_LIST_PROGRAMS] = "recorder ps",
	[WORD_RATE] = "a rate of",
	[WORD_RECOVER] = "recorder recover",
	[WORD_RECOVER_TO] = "recorder recover -o FILE",
	[WORD_START] = "rec_start()",
	[WORD_START_PROGRAM] = "rec_view_start() of",
};

const char *message_word(const struct message_sink *sink, enum message_word word)
{
	const char *text = sink->word ? sink->word(word) : NULL;

	if (!text)
		text = words[word];
	return text ? text : "";
}

struct message_remark message_remark(const struct message_sink *sink, enum message_word word)
{
	const char *text = message_word(sink, word);
	struct message_remark remark = { "" };

	if (*text)
		snprintf(remark.text, sizeof(remark.text), " (%s)", text);
	return remark;
}

static void send_line(void (*to)(const void *arg, const char *line), const void *arg, const char *format, va_list args)
{
	const int saved = errno;
	char line[LINE_MAX_SIZE];

	if (vsnprintf(line, sizeof(line), format, args) < 0)
		line[0] = '\0';
	/* A file's name must not split a line in two. */
	rec_no_controls(line);
	to(arg, line);
	errno = saved;
}

void message_v(const struct message_sink *sink, const char *format, va_list args)
{
	send_line(sink->message, sink->arg, format, args);
}

void message(const struct message_sink *sink, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	message_v(sink, format, args);
	va_end(args);
}

void message_summary(const struct message_sink *sink, const char *format, ...)
{
	va_list args;

	if (!sink->summary)
		return;
	va_start(args, format);
	send_line(sink->summary, sink->arg, format, args);
	va_end(args);
}

/* The number of characters of a long text that are shown before the caret. */
#define CARET_BEFORE 72u

void message_caret(const struct message_sink *sink, const char *text, size_t column)
{
	const size_t size = strlen(text);
	size_t from = column > CARET_BEFORE ? column - CARET_BEFORE : 0, place = 0;

	if (!column || column > size + 1)
		return;
	/* A character of several bytes takes one place on the screen. */
	for (; ((unsigned char)text[from] & 0xc0) == 0x80; from--)
		;
	for (size_t i = from; i + 1 < column; i++)
		place += ((unsigned char)text[i] & 0xc0) != 0x80;
	message_summary(sink, "  %.160s", text + from);
	message_summary(sink, "  %*s", (int)place + 1, "^");
}
