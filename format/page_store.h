/* SPDX-License-Identifier: MIT */
/*
 * Where the pages of each CPU of each buffer, its track, wait until their number is known: one scratch file for all, in
 * slots of a MiB that belong to one track each; or where they stand already, in a file of somebody else's. Two descriptors
 * however many tracks there are; memory is a buffer per track that is put to, BUFFER_TOTAL together (one page each where that
 * is more), and some bytes for each slot.
 */
#ifndef FORMAT_PAGE_STORE_H
#define FORMAT_PAGE_STORE_H

#include <stdint.h>

struct page_store;

/*
 * `near`: a path in whose directory the scratch file is made. `tracks` is an estimate that divides the buffers; more may
 * come. 0, -ENOMEM, or the errno of open. page_store_close() takes NULL and returns NULL.
 */
int page_store_open(const char *near, uint32_t page_size, unsigned int tracks, struct page_store **ret_store);
struct page_store *page_store_close(struct page_store *store);

/* One track more; they are numbered from 0. 0, -ENOMEM. */
int page_store_add(struct page_store *store, unsigned int *ret_track);

/* One page more for a track. 0, -ENOMEM, or the errno of write. */
int page_store_put(struct page_store *store, unsigned int track, const void *page);

/*
 * `size` bytes more, whole pages, which page_store_copy() takes from that file; it is not closed. Errors as above.
 */
int page_store_put_range(struct page_store *store, unsigned int track, int fd, uint64_t offset, uint64_t size);

/* Bytes of a track. */
uint64_t page_store_size(const struct page_store *store, unsigned int track);

/*
 * Append a track to a file at `offset`. Gives the scratch space back as it goes, so that the disk never holds everything
 * twice; the store can be copied once. 0, -errno.
 */
int page_store_copy(struct page_store *store, unsigned int track, int fd, uint64_t offset);

#endif
