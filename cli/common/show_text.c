/* SPDX-License-Identifier: MIT */
#include "cli/common/show_text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/base/escape.h"
#include "cli/common/terminal.h"
#include "format/io/json.h"

bool show_escapes(FILE *out)
{
	return isatty(fileno(out)) == 1;
}

void show_bytes(FILE *out, const void *bytes, size_t size)
{
	if (size)
		fwrite(bytes, 1, size, out);
}

void show_text(FILE *out, const char *text, size_t size, bool lines)
{
	char escape[ESCAPE_SIZE];

	while (size) {
		const size_t plain = escape_plain(text, size, lines);

		fwrite(text, 1, plain, out);
		if (plain == size)
			return;
		fputs(escape_byte(text[plain], escape), out);
		text += plain + 1;
		size -= plain + 1;
	}
}

void show_name(FILE *out, const char *text, bool escapes)
{
	if (escapes)
		show_text(out, text, strlen(text), false);
	else
		fputs(text, out);
}

void show_path(const char *path)
{
	show_name(stdout, path, show_escapes(stdout) || strchr(path, '\n'));
}

/* Redirects by assigning to stdout, which is a variable in glibc, and which printf() reads. */
int show_escaped(int (*print)(void *arg), void *arg)
{
	FILE *const terminal = stdout;
	char *text = NULL;
	size_t size = 0;
	FILE *memory = open_memstream(&text, &size);
	int status;

	if (!memory)
		return -ENOMEM;
	stdout = memory;
	status = print(arg);
	stdout = terminal;
	if (fclose(memory))
		status = -ENOMEM;
	else
		show_text(stdout, text, size, true);
	free(text);
	return status;
}

void show_json(FILE *out, const char *text)
{
	struct blob json = BLOB_INIT;

	json_string(&json, text, strlen(text));
	show_bytes(out, json.data, json.size);
	blob_free(&json);
}

/* Print one part of an event's text in its colour. An empty part gets no colour codes. */
static void show_part(FILE *out, const char *text, size_t size, const char *color, bool escapes, bool lines)
{
	if (!size)
		return;
	fputs(color, out);
	if (escapes)
		show_text(out, text, size, lines);
	else
		fwrite(text, 1, size, out);
	if (*color)
		fputs(paint_end(), out);
}

void show_event(FILE *out, const struct event_printer *printer, bool escapes)
{
	const struct event_parts *parts = &printer->parts;
	const struct {
		size_t end;
		const char *color;
		bool lines;
	} all[] = {
		{ parts->losses, paint(PAINT_BAD), true }, { parts->task, "", false },
		{ parts->time, paint(PAINT_TIME), false }, { parts->name, paint(PAINT_NAME), false },
		{ printer->text.size, "", parts->lines },
	};
	size_t start = 0;

	for (unsigned int i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		show_part(out, printer->text.text + start, all[i].end - start, all[i].color, escapes, all[i].lines);
		start = all[i].end;
	}
}
