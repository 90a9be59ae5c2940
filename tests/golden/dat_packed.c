/* SPDX-License-Identifier: MIT */
/*
 * Compressed parts of the files that dat_make.c makes, and the text of a latency tracer, which version 7 stores
 * compressed. The frames are those of RFC 8878 (zstd) with uncompressed blocks. So no library is needed, and if a
 * fuzzer changes bytes, the other bytes are still readable.
 */
#include "dat_out.h"

#include <stdio.h>
#include <stdlib.h>

#define BLOCK_MAX 131072u /* of a zstd block */

/* The numbers in a frame are little endian in every file. */
static void put_little(struct out *o, uint64_t value, unsigned int size)
{
	for (unsigned int i = 0; i < size; i++) {
		const unsigned char byte = (unsigned char)(value >> (8 * i));

		out_put(o, &byte, 1);
	}
}

/* The magic number; a descriptor: one segment, content size of 4 bytes; blocks of type "raw", the last one marked. */
static void put_frame(struct out *o, const unsigned char *data, size_t size)
{
	put_little(o, 0xfd2fb528, 4);
	put_little(o, 0xa0, 1);
	put_little(o, size, 4);
	do {
		const size_t part = size < BLOCK_MAX ? size : BLOCK_MAX;

		put_little(o, part << 3 | (part == size), 3);
		out_put(o, data, part);
		data += part;
		size -= part;
	} while (size);
}

void out_packed(struct out *o, const void *data, size_t size)
{
	const size_t start = o->size;

	out_space(o, 8);
	put_frame(o, data, size);
	out_set(o, o->data + start, o->size - start - 8, 4);
	out_set(o, o->data + start + 4, size, 4);
}

void out_chunks(struct out *o, const void *data, size_t size, size_t chunk)
{
	const unsigned char *at = data;

	out_number(o, (size + chunk - 1) / chunk, 4);
	for (; size; size -= chunk, at += chunk) {
		if (chunk > size)
			chunk = size;
		out_packed(o, at, chunk);
	}
}

void put_latency_text(struct out *o)
{
	char line[120];

	out_text(o, "# tracer: wakeup\n#\n# wakeup latency trace v1.1.5 on test\n#\n");
	for (unsigned int n = 0; n < o->what->events; n++) {
		snprintf(line, sizeof(line), "  t\xc3\xa4sk%u-%u\t%ud..2.  %3uus : do_one+0x%x <- d\xc3\xb6_two\n",
			 n % 7,
			 1001 + n % 7, n % o->what->cpus, n, n * 4);
		out_text(o, line);
	}
}
