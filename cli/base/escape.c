/* SPDX-License-Identifier: MIT */
#include "cli/base/escape.h"

#include <stdio.h>
#include <string.h>

#include "format/io/utf8.h"

/* The length of the character at `text` that may be printed; 0: it is a control character or not UTF-8. */
static size_t character(const char *text, size_t size, bool lines)
{
	const unsigned char first = (unsigned char)text[0];

	if (first < 0x80)
		return (first >= ' ' && first != 0x7f) || (lines && (first == '\n' || first == '\t'));
	/* 0x80 to 0x9f are control characters too, for some terminals. */
	if (first == 0xc2 && size > 1 && (unsigned char)text[1] < 0xa0)
		return 0;
	return utf8_length(text, size);
}

size_t escape_plain(const char *text, size_t size, bool lines)
{
	size_t plain = 0, length;

	while (plain < size && (length = character(text + plain, size - plain, lines)))
		plain += length;
	return plain;
}

const char *escape_byte(char byte, char to[ESCAPE_SIZE])
{
	static const char codes[] = "\a\b\t\n\v\f\r", letters[] = "abtnvfr";
	const char *code = byte ? strchr(codes, byte) : NULL;

	if (code)
		snprintf(to, ESCAPE_SIZE, "\\%c", letters[code - codes]);
	else
		snprintf(to, ESCAPE_SIZE, "\\%03o", (unsigned int)(unsigned char)byte);
	return to;
}
