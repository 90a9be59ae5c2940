/* SPDX-License-Identifier: MIT */
#include "cli/common/put_text.h"

#include <stdbool.h>
#include <string.h>

#include "cli/base/escape.h"
#include "format/io/utf8.h"

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

void put_utf8(struct blob *out, const char *text, size_t size)
{
	while (size) {
		size_t n = 0, length;

		while (n < size && (length = utf8_length(text + n, size - n)))
			n += length;
		blob_put(out, text, n);
		if (n < size)
			blob_printf(out, "\\x%02x", (unsigned char)text[n++]);
		text += n;
		size -= n;
	}
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
