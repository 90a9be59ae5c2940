/* SPDX-License-Identifier: MIT */
/* See dat_compress.h. Frames are decoded with or without their content size in them. */
#include "format/dat/dat_compress.h"

#include <errno.h>
#include <zstd.h>

static int decompress(void *dst, size_t dst_size, const void *src, size_t src_size)
{
	size_t size = ZSTD_decompress(dst, dst_size, src, src_size);

	return ZSTD_isError(size) || size != dst_size ? -EBADMSG : 0;
}

const struct dat_codec *dat_compress_zstd(void)
{
	static const struct dat_codec codec = { .name = "zstd", .decompress = decompress };

	return &codec;
}
