/* SPDX-License-Identifier: MIT */
/*
 * Unpacks the frames that dat_make.c makes (tests/golden/dat_packed.c), whose blocks are uncompressed, for tests that
 * run without libzstd.
 */
#ifndef TESTS_STORED_FRAMES_H
#define TESTS_STORED_FRAMES_H

#include <errno.h>
#include <string.h>

#include "format/dat/dat_read.h"
#include "format/io/bytes.h"

static int unpack_stored(void *dst, size_t dst_size, const void *src, size_t src_size)
{
	unsigned char *to = dst;
	uint32_t block = 0;
	struct bytes b;

	bytes_from_memory(&b, src, src_size, false);
	if (bytes_u32(&b) != 0xfd2fb528 || bytes_u8(&b) != 0xa0 || bytes_u32(&b) != dst_size)
		return -EBADMSG;
	while (!b.error && !(block & 1)) {
		block = bytes_u16(&b);
		block |= (uint32_t)bytes_u8(&b) << 16;
		if (block & 6 || block >> 3 > dst_size - (size_t)(to - (unsigned char *)dst))
			return -EBADMSG;
		bytes_copy(&b, to, block >> 3);
		to += block >> 3;
	}
	return b.error || to != (unsigned char *)dst + dst_size ? -EBADMSG : 0;
}

static const struct dat_codec stored_frames = { .name = "zstd", .decompress = unpack_stored };

#endif
