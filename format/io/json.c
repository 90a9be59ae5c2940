/* SPDX-License-Identifier: MIT */
#include "format/io/json.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "format/io/utf8.h"

/* The longest escape sequence, \u0000, with its NUL. */
#define ESCAPE_SIZE 7u

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

/* The number of bytes at the start of the text that stay as they are. */
static size_t plain(const char *text, size_t size)
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

/* Stores the escape sequence of the character at which plain() has stopped; returns that character's length. */
static size_t escape(const char *text, size_t size, char to[ESCAPE_SIZE])
{
	const size_t length = utf8_length(text, size);
	const unsigned char *at = (const unsigned char *)text;

	if (!length)
		snprintf(to, ESCAPE_SIZE, "\\\\x%02x", *at);
	else if (*at == '"' || *at == '\\')
		snprintf(to, ESCAPE_SIZE, "\\%c", *at);
	else
		snprintf(to, ESCAPE_SIZE, "\\u%04x", at[length - 1]);
	return length ? length : 1;
}

void json_put(void (*put)(void *out, const void *bytes, size_t size), void *out, const char *text, size_t size)
{
	char escaped[ESCAPE_SIZE];

	put(out, "\"", 1);
	while (size) {
		size_t n = plain(text, size);

		put(out, text, n);
		if (n < size) {
			n += escape(text + n, size - n, escaped);
			put(out, escaped, strlen(escaped));
		}
		text += n;
		size -= n;
	}
	put(out, "\"", 1);
}

static void put_blob(void *out, const void *bytes, size_t size)
{
	blob_put(out, bytes, size);
}

void json_string(struct blob *out, const char *text, size_t size)
{
	json_put(put_blob, out, text, size);
}
