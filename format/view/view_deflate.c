/* SPDX-License-Identifier: MIT */
/* See view_write.h. */
#include <errno.h>
#include <limits.h>
#include <zlib.h>

#include "format/view/view_write.h"

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
