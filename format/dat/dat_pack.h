/* SPDX-License-Identifier: MIT */
/*
 * Compresses the pages of a trace.dat with zstd, in threads of its own: a chunk is handed over when it is full, and the
 * caller waits only if all threads are busy and the queue is full. Compressed chunks wait in a scratch file, so each
 * byte is written twice, but only after it was compressed.
 *
 * Memory: a chunk for each track that is written, BUFFER_TOTAL together (at least 64 KiB each), and two for each
 * thread. The threads block all signals. A packer belongs to one thread of the caller.
 */
#ifndef FORMAT_DAT_PACK_H
#define FORMAT_DAT_PACK_H

#include "format/dat/dat_packer.h"

/*
 * Measured (bench/README.md): the time of viewers grows with the square of the number of chunks. With chunks of 64 KiB
 * they need 115 s instead of 42 s for a file of 25 million events. Writing at level 3 takes no longer than writing
 * plain pages.
 */
#define DAT_PACK_CHUNK (UINT32_C(1) << 20)
#define DAT_PACK_LEVEL 3

/* The lowest and the highest level. With higher levels of zstd, readers would need more memory. */
#define DAT_PACK_LEVEL_MIN 1
#define DAT_PACK_LEVEL_MAX 19

/* The packing to fill in dat_packing.open. */
int dat_pack_open(const struct dat_packing *packing, const char *near, unsigned int tracks, bool swapped,
		  struct dat_packer **ret_packer);

/* The packing with this level, and as many threads as there are CPUs, at most 8. */
struct dat_packing dat_pack_zstd(int level);

#endif
