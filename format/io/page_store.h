/* SPDX-License-Identifier: MIT */
/*
 * Where the pages of each CPU of each buffer, its track, wait until their number is known: one scratch file for
 * all, in slots of a MiB that belong to one track each; or where they stand already, in a file of somebody else's.
 * Two descriptors however many tracks there are; memory is a buffer per track that is put to, BUFFER_TOTAL together
 * (one page each where that is more), and some bytes for each slot.
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

/* One track more; they are numbered from 0. 0, -ENOMEM. */
int page_store_add(struct page_store *store, unsigned int *ret_track);

/* One page more for a track. 0, -ENOMEM, or the errno of write. */
int page_store_put(struct page_store *store, unsigned int track, const void *page);

/*
 * `size` bytes more, whole pages, which page_store_copy() takes from that file; it is not closed. Errors as above.
 */
int page_store_put_range(struct page_store *store, unsigned int track, int fd, uint64_t offset, uint64_t size);

/*
 * From now on tracks are put to straight into a file, back to back from `offset` on, one track after the other:
 * none is put to again once another was. page_store_scratch() ends that. 0, or the errno of write.
 */
void page_store_straight(struct page_store *store, int fd, uint64_t offset);
int page_store_scratch(struct page_store *store);

/* Have all that went straight into `fd` begin at another offset, behind its own. 0, -errno. */
int page_store_move(struct page_store *store, int fd, uint64_t offset);

/* Bytes of a track. */
uint64_t page_store_size(const struct page_store *store, unsigned int track);

/*
 * The next bytes of a track, from its beginning on: `size` of them, whole pages, or as many as there are; nothing
 * is put to it once this was begun. Gives the scratch space back as it goes. 0, -errno.
 */
int page_store_take(struct page_store *store, unsigned int track, void *pages, uint32_t size, uint32_t *ret_size);

/*
 * Append a track to a file at `offset`, where it stands already if it went there straight. Gives the scratch space
 * back as it goes, so that the disk never holds everything twice; the store can be copied once. 0, -errno.
 */
int page_store_copy(struct page_store *store, unsigned int track, int fd, uint64_t offset);

#endif
