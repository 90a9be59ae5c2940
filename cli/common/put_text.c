/* SPDX-License-Identifier: MIT */
#include "cli/common/put_text.h"

#include <stdbool.h>
#include <string.h>

#include "cli/base/escape.h"

void put_unsigned(struct blob *out, uint64_t number)
{
	char text[20];
	unsigned int at = sizeof(text);

	do {
		text[--at] = (char)('0' + number % 10);
		number /= 10;
	} while (number);
	blob_put(out, text + at, sizeof(text) - at);
}

/* The number of bytes that are printed unchanged: valid UTF-8, and for JSON without characters that must be escaped. */
static size_t plain(const char *text, size_t size, bool json)
{
	size_t n = 0, length;

	while (n < size && (length = escape_utf8(text + n, size - n))) {
		const unsigned char *at = (const unsigned char *)text + n;

		/* JSON permits the characters 0x7f to 0x9f, but on a terminal they are control characters. */
		if (json && (*at < ' ' || *at == '"' || *at == '\\' || *at == 0x7f || (*at == 0xc2 && at[1] < 0xa0)))
			break;
		n += length;
	}
	return n;
}

/* Put the character at which plain() has stopped. Returns its length. */
static size_t put_escaped(struct blob *out, const char *text, size_t size, bool json)
{
	const size_t length = escape_utf8(text, size);
	const unsigned char *at = (const unsigned char *)text;

	if (!length)
		blob_printf(out, json ? "\\\\x%02x" : "\\x%02x", *at);
	else if (*at == '"' || *at == '\\')
		blob_printf(out, "\\%c", *at);
	else
		blob_printf(out, "\\u%04x", at[length - 1]);
	return length ? length : 1;
}

static void put_text(struct blob *out, const char *text, size_t size, bool json)
{
	for (;;) {
		const size_t n = plain(text, size, json);
		size_t escaped;

		blob_put(out, text, n);
		if (n == size)
			return;
		escaped = put_escaped(out, text + n, size - n, json);
		text += n + escaped;
		size -= n + escaped;
	}
}

void put_utf8(struct blob *out, const char *text, size_t size)
{
	put_text(out, text, size, false);
}

void put_json(struct blob *out, const char *text, size_t size)
{
	blob_put(out, "\"", 1);
	put_text(out, text, size, true);
	blob_put(out, "\"", 1);
}

void put_visible(struct blob *out, const char *text, size_t size)
{
	char escape[ESCAPE_SIZE];

	while (size) {
		const size_t n = escape_plain(text, size, false);

		blob_put(out, text, n);
		if (n == size)
			return;
		blob_printf(out, "%s", escape_byte(text[n], escape));
		text += n + 1;
		size -= n + 1;
	}
}

void put_csv(struct blob *out, const char *text, size_t size,
	     void (*put)(struct blob *out, const char *text, size_t size))
{
	const bool is_quoted = size && (memchr(text, ',', size) || memchr(text, '"', size) ||
					memchr(text, '\n', size) || memchr(text, '\r', size));

	if (is_quoted)
		blob_put(out, "\"", 1);
	while (size) {
		const char *quote = memchr(text, '"', size);
		const size_t n = quote ? (size_t)(quote + 1 - text) : size;

		put(out, text, n);
		if (quote)
			blob_put(out, "\"", 1);
		text += n;
		size -= n;
	}
	if (is_quoted)
		blob_put(out, "\"", 1);
}
