/* SPDX-License-Identifier: MIT */
/*
 * Unpacked chunks of compressed data. Each stream of a file has a chunk of its own, but the memory for them is bounded
 * for any number of streams: each holds a part of it if there is no room for whole chunks. For each part the chunk is
 * unpacked again, unless it is the one that was unpacked last in this way.
 */
#ifndef FORMAT_DAT_CHUNKS_H
#define FORMAT_DAT_CHUNKS_H

#include "format/dat/dat_read.h"

struct dat_chunks {
	unsigned char *whole; /* the last chunk of which a cursor got a part; NULL: none */
	size_t room;	      /* bytes of memory at `whole` */
	uint64_t offset;      /* of this chunk in the file */
};

/*
 * The bytes, in whole pages, that each stream of the file may have if all that are not empty have `room` together: at
 * least one page, and otherwise not more than `most`.
 */
uint32_t dat_share(const struct dat_file *file, uint32_t room, uint32_t most, uint32_t page_size);

/*
 * Unpacks the cursor's chunk from chunk_pos on, or a part from there, into the block that is not kept. 0; -EBADMSG: it
 * is damaged; -errno.
 */
int dat_chunk_unpack(struct dat_cursor *cursor);

/* Frees what the file holds. */
void dat_chunks_free(struct dat_chunks *chunks);

#endif
