/* SPDX-License-Identifier: MIT */
/*
 * Texts for the page: strings of JSON, and compression. Texts come from programs, and may be anything. Bytes that would
 * make invalid UTF-8 are replaced, because a browser refuses the whole block otherwise.
 */
#include <errno.h>
#include <limits.h>
#include <zlib.h>

#include "format/view/view_write.h"

/* The length of the UTF-8 character at `text`; 0: it is invalid. */
static size_t character(const unsigned char *text, size_t size)
{
	const unsigned char c = text[0];
	const size_t length = c < 0x80		      ? 1
			      : c >= 0xc2 && c < 0xe0 ? 2
			      : c >= 0xe0 && c < 0xf0 ? 3
			      : c >= 0xf0 && c < 0xf5 ? 4
						      : 0;

	if (!length || length > size)
		return 0;
	for (size_t i = 1; i < length; i++)
		if ((text[i] & 0xc0) != 0x80)
			return 0;
	/* Longer than necessary, a surrogate, or beyond the last character. */
	if ((c == 0xe0 && text[1] < 0xa0) || (c == 0xed && text[1] >= 0xa0) || (c == 0xf0 && text[1] < 0x90) ||
	    (c == 0xf4 && text[1] >= 0x90))
		return 0;
	return length;
}

void view_json_string(struct blob *out, const char *text, size_t size)
{
	const unsigned char *at = (const unsigned char *)text;
	size_t length;

	blob_put(out, "\"", 1);
	for (; size; at += length, size -= length) {
		length = character(at, size);
		if (!length) {
			blob_put(out, "\xef\xbf\xbd", 3);
			length = 1;
		} else if (*at == '"' || *at == '\\') {
			blob_printf(out, "\\%c", *at);
		} else if (*at < 0x20 || *at == 0x7f) {
			blob_printf(out, "\\u%04x", *at);
		} else {
			blob_put(out, at, length);
		}
	}
	blob_put(out, "\"", 1);
}

int view_deflate(const void *bytes, size_t size, int effort, struct blob *out)
{
	z_stream stream = { .next_in = (Bytef *)(uintptr_t)bytes };
	size_t left = size;
	int result = Z_OK;

	if (deflateInit(&stream, effort) != Z_OK)
		return -ENOMEM;
	while (result != Z_STREAM_END) {
		const size_t start = out->size;
		unsigned char *room;

		if (!stream.avail_in) {
			stream.avail_in = left < UINT_MAX / 2 ? (uInt)left : UINT_MAX / 2;
			left -= stream.avail_in;
		}
		room = blob_room(out, 65536);
		if (!room)
			break;
		stream.next_out = room;
		stream.avail_out = 65536;
		result = deflate(&stream, left ? Z_NO_FLUSH : Z_FINISH);
		out->size = start + 65536 - stream.avail_out;
	}
	deflateEnd(&stream);
	return out->error;
}
