/* SPDX-License-Identifier: MIT */
/*
 * The limit of a CPU's side file (-m). The places after the head are used in a circle, so they hold the last pages;
 * the head counts the pages that were overwritten (struct spool_side_head). The head is written before any of these
 * pages is overwritten, so a recorder may be killed at any time. The ring's thread makes all calls, except those
 * before it starts.
 */
#ifndef CLI_KERNEL_LIMIT_H
#define CLI_KERNEL_LIMIT_H

#include <stdint.h>

struct kernel_ring;

/* Begin the side file, of at most `kb` KB of pages, but at least one page. 0, -ENOMEM, or the errno of write. */
int kernel_limit_begin(struct kernel_ring *ring, uint64_t kb);

/*
 * All functions below do nothing if the ring has no limit. Returns how many of `bytes` may be written at once: not
 * beyond the last place, and at most half of all places.
 */
uint64_t kernel_limit_run(const struct kernel_ring *ring, uint64_t bytes);

/*
 * Call it before this number of bytes is written at ring->offset: counts the pages that they overwrite. 0 or the errno
 * of read or write.
 */
int kernel_limit_make_room(struct kernel_ring *ring, uint64_t bytes);

/* Call it after they were written, when ring->offset is after them. */
void kernel_limit_written(struct kernel_ring *ring, uint64_t bytes);

/* Go back to the page that was written last, to write it again. */
void kernel_limit_back(struct kernel_ring *ring);

/* No page follows: store the number of pages in the file. 0 or the errno of write. */
int kernel_limit_end(struct kernel_ring *ring);

#endif
