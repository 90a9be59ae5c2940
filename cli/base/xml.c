/* SPDX-License-Identifier: MIT */
#include "cli/base/xml.h"

#include <string.h>

#include "format/io/utf8.h"

/* The reference for a character; NULL: it is written as it is. */
static const char *reference(char c)
{
	switch (c) {
	case '&':
		return "&amp;";
	case '<':
		return "&lt;";
	case '>':
		return "&gt;";
	case '"':
		return "&quot;";
	case '\'':
		return "&#39;";
	case '\n':
		return "&#10;";
	case '\t':
		return "&#9;";
	default:
		return NULL;
	}
}

/* Whether XML permits the character: it permits neither control characters nor U+FFFE and U+FFFF. */
static int is_legal(const char *at, size_t length)
{
	if (!length || (unsigned char)*at < ' ' || *at == 0x7f)
		return 0;
	return length != 3 || (memcmp(at, "\xef\xbf\xbe", 3) && memcmp(at, "\xef\xbf\xbf", 3));
}

void xml_text(FILE *out, const char *text, size_t size)
{
	for (size_t i = 0; i < size;) {
		const size_t length = utf8_length(text + i, size - i);
		const char *name = reference(text[i]);

		if (name)
			fputs(name, out);
		else if (is_legal(text + i, length))
			fwrite(text + i, 1, length, out);
		else
			fputs("\xef\xbf\xbd", out);
		i += length ? length : 1;
	}
}
