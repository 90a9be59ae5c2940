/* SPDX-License-Identifier: MIT */
#include "cli/show_text.h"

#include <unistd.h>

#include "cli/base/escape.h"

bool show_escapes(FILE *out)
{
	return isatty(fileno(out)) == 1;
}

void show_text(FILE *out, const char *text, size_t size, bool lines)
{
	char escape[ESCAPE_SIZE];

	for (;;) {
		const size_t plain = escape_plain(text, size, lines);

		fwrite(text, 1, plain, out);
		if (plain == size)
			return;
		fputs(escape_byte(text[plain], escape), out);
		text += plain + 1;
		size -= plain + 1;
	}
}

void show_event(FILE *out, const struct event_printer *printer, bool escapes)
{
	const struct event_parts *parts = &printer->parts;
	const char *text = printer->seq.buffer;
	const unsigned int size = printer->seq.len;

	if (!escapes) {
		fwrite(text, 1, size, out);
		return;
	}
	show_text(out, text, parts->losses, true);
	show_text(out, text + parts->losses, size - parts->losses, parts->lines);
}
