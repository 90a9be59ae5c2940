/* SPDX-License-Identifier: MIT */
/*
 * Holds the pages of each CPU of each buffer, called a track, until their number is known: in one scratch file for all
 * tracks, in slots of a MiB that belong to one track each; or at their original place, in another file. Uses two
 * descriptors, whatever the number of tracks. Each track that is written has a buffer in memory; all buffers together
 * have BUFFER_TOTAL. If a buffer would have only one page, there are no buffers. Uses some bytes for each slot.
 */
#ifndef FORMAT_PAGE_STORE_H
#define FORMAT_PAGE_STORE_H

#include <stdint.h>

struct page_store;

/*
 * `near`: a path in whose directory the scratch file is made. `tracks` is an estimate that divides the buffers;
 * more may come. 0, -ENOMEM, or the errno of open. page_store_close() takes NULL and returns NULL.
 */
int page_store_open(const char *near, uint32_t page_size, unsigned int tracks, struct page_store **ret_store);
struct page_store *page_store_close(struct page_store *store);

/* Add a track; tracks are numbered from 0. 0, -ENOMEM. */
int page_store_add(struct page_store *store, unsigned int *ret_track);

/* Add a page to a track. 0, -ENOMEM, or the errno of write. */
int page_store_put(struct page_store *store, unsigned int track, const void *page);

/*
 * Add `size` bytes, whole pages, which page_store_copy() takes from that file; the file is not closed. Errors as
 * above.
 */
int page_store_put_range(struct page_store *store, unsigned int track, int fd, uint64_t offset, uint64_t size);

/*
 * From now on tracks are written directly into a file, back to back from `offset` on, one track after the other: when
 * the next track has begun, no more pages may be added to the one before. page_store_scratch() ends this. 0, or the
 * errno of write.
 */
void page_store_straight(struct page_store *store, int fd, uint64_t offset);
int page_store_scratch(struct page_store *store);

/* Move all pages that were written directly into `fd` to a higher offset. 0, -errno. */
int page_store_move(struct page_store *store, int fd, uint64_t offset);

/* Bytes of a track. */
uint64_t page_store_size(const struct page_store *store, unsigned int track);

/*
 * The next bytes of a track, from its beginning on: `size` of them, whole pages, or the remaining ones. No pages may
 * be added after the first call. Frees the scratch space during the copy. 0, -errno.
 */
int page_store_take(struct page_store *store, unsigned int track, void *pages, uint32_t size, uint32_t *ret_size);

/*
 * Write a track to a file at `offset`; if it was written directly, it is already in place. Frees the scratch space
 * during the copy, so that the disk never holds all pages twice. A store can be copied only once. 0, -errno.
 */
int page_store_copy(struct page_store *store, unsigned int track, int fd, uint64_t offset);

#endif
