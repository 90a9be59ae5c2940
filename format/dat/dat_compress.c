/* SPDX-License-Identifier: MIT */
/*
 * See dat_compress.h. Frames are decoded with or without their content size in them. zlib is loaded when the first file
 * needs it, so this program does not depend on it.
 */
#include "format/dat/dat_compress.h"

#include <dlfcn.h>
#include <errno.h>
#include <zstd.h>

static int decompress_zstd(void *dst, size_t dst_size, const void *src, size_t src_size)
{
	size_t size = ZSTD_decompress(dst, dst_size, src, src_size);

	return ZSTD_isError(size) || size != dst_size ? -EBADMSG : 0;
}

/* uncompress() of zlib; NULL: the library is not there. */
typedef int (*uncompress_function)(unsigned char *dst, unsigned long *dst_size, const unsigned char *src,
				   unsigned long src_size);

/* Load zlib, and find the function. Several threads may do this at once; all of them find the same function. */
static uncompress_function find_uncompress(void)
{
	static uncompress_function found;
	uncompress_function function = __atomic_load_n(&found, __ATOMIC_ACQUIRE);
	void *library;

	if (function)
		return function;
	library = dlopen("libz.so.1", RTLD_NOW | RTLD_LOCAL);
	/* The conversion that POSIX recommends: dlsym() returns a function's address as that of an object. */
	if (library)
		*(void **)&function = dlsym(library, "uncompress");
	if (function)
		__atomic_store_n(&found, function, __ATOMIC_RELEASE);
	return function;
}

static bool has_zlib(void)
{
	return find_uncompress() != NULL;
}

static int decompress_zlib(void *dst, size_t dst_size, const void *src, size_t src_size)
{
	unsigned long size = dst_size;

	return find_uncompress()(dst, &size, src, src_size) || size != dst_size ? -EBADMSG : 0;
}

const struct dat_codec *dat_compress_zstd(void)
{
	static const struct dat_codec zlib = { .name = "zlib", .is_there = has_zlib, .decompress = decompress_zlib };
	static const struct dat_codec zstd = { .name = "zstd", .decompress = decompress_zstd, .next = &zlib };

	return &zstd;
}
