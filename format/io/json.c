/* SPDX-License-Identifier: MIT */
#include "format/io/json.h"

#include <stdbool.h>
#include <stdio.h>

#include "format/io/utf8.h"

/* JSON permits the characters 0x7f to 0x9f, but on a terminal they are control characters. */
static bool is_control(const unsigned char *at)
{
	return *at < ' ' || *at == 0x7f || (*at == 0xc2 && at[1] < 0xa0);
}

/* A page of HTML ends its script at "</script", whatever is around it, and begins a comment at "<!--". */
static bool is_markup(const char *text, size_t size)
{
	return *text == '<' && size > 1 && (text[1] == '/' || text[1] == '!');
}

size_t json_plain(const char *text, size_t size)
{
	size_t n = 0, length;

	while (n < size && (length = utf8_length(text + n, size - n))) {
		const char *at = text + n;

		if (*at == '"' || *at == '\\' || is_control((const unsigned char *)at) || is_markup(at, size - n))
			break;
		n += length;
	}
	return n;
}

size_t json_escape(const char *text, size_t size, char to[JSON_ESCAPE_SIZE])
{
	const size_t length = utf8_length(text, size);
	const unsigned char *at = (const unsigned char *)text;

	if (!length)
		snprintf(to, JSON_ESCAPE_SIZE, "\\\\x%02x", *at);
	else if (*at == '"' || *at == '\\')
		snprintf(to, JSON_ESCAPE_SIZE, "\\%c", *at);
	else
		snprintf(to, JSON_ESCAPE_SIZE, "\\u%04x", at[length - 1]);
	return length ? length : 1;
}

void json_string(struct blob *out, const char *text, size_t size)
{
	char escape[JSON_ESCAPE_SIZE];

	blob_put(out, "\"", 1);
	while (size) {
		size_t n = json_plain(text, size);

		blob_put(out, text, n);
		if (n < size) {
			n += json_escape(text + n, size - n, escape);
			blob_printf(out, "%s", escape);
		}
		text += n;
		size -= n;
	}
	blob_put(out, "\"", 1);
}
