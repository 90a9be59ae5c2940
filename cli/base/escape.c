/* SPDX-License-Identifier: MIT */
#include "cli/base/escape.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

size_t escape_utf8(const char *text, size_t size)
{
	/*
	 * For each length of a sequence, the lowest character that needs it: a lower one in this length is an overlong
	 * form.
	 */
	static const uint32_t lowest[] = { 0, 0, 0x80, 0x800, 0x10000 };
	const unsigned char first = (unsigned char)text[0];
	size_t length;
	uint32_t code;

	if (first < 0x80)
		return 1;
	length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc0 ? 2 : 0;
	if (!length || first >= 0xf8 || length > size)
		return 0;
	code = first & (0xffu >> (length + 1));
	for (size_t i = 1; i < length; i++) {
		const unsigned char next = (unsigned char)text[i];

		if ((next & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (next & 0x3f);
	}
	if (code < lowest[length] || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff))
		return 0;
	return length;
}

/* The length of the character at `text` that may be printed; 0: it is a control character or not UTF-8. */
static size_t character(const char *text, size_t size, bool lines)
{
	const unsigned char first = (unsigned char)text[0];

	if (first < 0x80)
		return (first >= ' ' && first != 0x7f) || (lines && (first == '\n' || first == '\t'));
	/* 0x80 to 0x9f are control characters too, for some terminals. */
	if (first == 0xc2 && size > 1 && (unsigned char)text[1] < 0xa0)
		return 0;
	return escape_utf8(text, size);
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
