/* SPDX-License-Identifier: MIT */
/*
 * Where the pages of each CPU wait until their number is known: one scratch file for all CPUs, in slots of a MiB that
 * belong to one CPU each. Two descriptors however many CPUs there are; memory is a buffer per CPU, BUFFER_TOTAL together
 * (one page each where that is more), and eight bytes for each slot.
 */
#ifndef FORMAT_PAGE_STORE_H
#define FORMAT_PAGE_STORE_H

#include <stdint.h>

struct page_store;

/*
 * `near`: a path in whose directory the scratch file is made. `cpus` is an estimate that divides the buffers; more may
 * come. 0, -ENOMEM, or the errno of open. page_store_close() takes NULL and returns NULL.
 */
int page_store_open(const char *near, uint32_t page_size, unsigned int cpus, struct page_store **ret_store);
struct page_store *page_store_close(struct page_store *store);

/* One page more for a CPU. 0, -ENOMEM, or the errno of write. */
int page_store_put(struct page_store *store, unsigned int cpu, const void *page);

/* One more than the highest CPU that was put; bytes of a CPU's pages. */
unsigned int page_store_cpus(const struct page_store *store);
uint64_t page_store_size(const struct page_store *store, unsigned int cpu);

/*
 * Append the pages of a CPU, in order, to a file at `offset`. Gives the scratch space back as it goes, so that the disk
 * never holds everything twice; the store can be copied once. 0, -errno.
 */
int page_store_copy(struct page_store *store, unsigned int cpu, int fd, uint64_t offset);

#endif
