/* SPDX-License-Identifier: MIT */
/*
 * The limit of a CPU's side file (-m): its last pages go round in the places after a head, which counts the pages that
 * they took the place of (struct spool_side_head). The head is in the file before any of these pages is overwritten, so
 * a recorder may be killed at any time. Called by the ring's thread alone, and before it starts.
 */
#ifndef CLI_KERNEL_LIMIT_H
#define CLI_KERNEL_LIMIT_H

#include <stdint.h>

struct kernel_ring;

/* Begin the side file, of at most `kb` KB of pages, but at least one page. 0, -ENOMEM, or the errno of write. */
int kernel_limit_begin(struct kernel_ring *ring, uint64_t kb);

/* All functions below do nothing if the ring has no limit. Bytes that can be written before the first place follows. */
uint64_t kernel_limit_run(const struct kernel_ring *ring, uint64_t bytes);

/* Before so many bytes are written at ring->offset: count what they overwrite. 0 or the errno of read or write. */
int kernel_limit_make_room(struct kernel_ring *ring, uint64_t bytes);

/* After they were written, and ring->offset is after them. */
void kernel_limit_written(struct kernel_ring *ring, uint64_t bytes);

/* Back to the page that was written last, to write it again. */
void kernel_limit_back(struct kernel_ring *ring);

/* No page follows: the file says how many there are. 0 or the errno of write. */
int kernel_limit_end(struct kernel_ring *ring);

#endif
