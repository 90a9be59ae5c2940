/* SPDX-License-Identifier: MIT */
/*
 * Writes trace.dat, versions 6 and 7, uncompressed (trace-dat.md). Pages are given in any order of CPUs and wait in a
 * scratch file beside the target, or, given CPU by CPU, go straight to their place; everything else waits in memory;
 * dat_write_finish() puts the file together and then in place. Until it has succeeded the target is as it was.
 *
 * Numbers are written in the machine's order. Threads: one at a time per writer. Not signal-safe.
 */
#ifndef FORMAT_DAT_WRITE_H
#define FORMAT_DAT_WRITE_H

#include "format/dat/dat_id.h"

#include <stddef.h>
#include <stdint.h>

struct dat_writer;

/*
 * Begin a file of version 6 or 7 with pages of page_size bytes (a power of two, 4096 to 512 KiB); `cpus`, of all
 * buffers together, is an estimate that divides the memory. 0; -EINVAL: one of these is out of range, or path names
 * something that is no regular file; -EISDIR; -EACCES; -ENOMEM; or the errno of open.
 */
int dat_write_open(const char *path, unsigned int version, uint32_t page_size, unsigned int cpus,
		   struct dat_writer **ret_writer);

/* Drops what was not finished. Takes NULL, returns NULL. */
struct dat_writer *dat_write_close(struct dat_writer *writer);

/* One more buffer, an instance; the top buffer is 0. Without pages the file does not have it. 0, -ENOMEM. */
int dat_write_buffer(struct dat_writer *writer, const char *name, unsigned int *ret_buffer);

/* Where the file will stand, links followed; for what is to be near it. The writer's. */
const char *dat_write_target(const struct dat_writer *writer);

/* The next page of a CPU. 0, -ENOMEM, or the errno of write. */
int dat_write_page(struct dat_writer *writer, unsigned int buffer, unsigned int cpu, const void *page);

/*
 * The next pages of a CPU: `size` bytes at `offset` of a file, whole pages of the writer's size, which stay there until
 * dat_write_finish() copies them. 0, -ENOMEM, or the errno of write.
 */
int dat_write_range(struct dat_writer *writer, unsigned int buffer, unsigned int cpu, int fd, uint64_t offset,
		    uint64_t size);

/*
 * From now on pages are those of the top buffer, which has none yet, CPU by CPU with rising numbers, and go
 * straight to where they stand in the file: until dat_write_scratch(), behind which they are of other buffers. What
 * is given of everything else by then, and `room` bytes for what is not, stands in front; with more, all pages are
 * moved in the end. 0, -ENOMEM, or the errno of write.
 */
int dat_write_straight(struct dat_writer *writer, unsigned int nr_cpus, uint64_t room);
int dat_write_scratch(struct dat_writer *writer);

/* Bytes of pages a CPU has so far; one more than the highest CPU with pages, over all buffers. */
uint64_t dat_write_size(const struct dat_writer *writer, unsigned int buffer, unsigned int cpu);
unsigned int dat_write_cpus(const struct dat_writer *writer);

/* An event's format text. 0, -ENOMEM. */
int dat_write_format(struct dat_writer *writer, const char *system, const char *text, size_t size);

/* The whole text of DAT_KALLSYMS, DAT_PRINTK or DAT_CMDLINES; each at most once. 0, -ENOMEM, -EINVAL: another id, or
 * a text too long for its size field. */
int dat_write_text(struct dat_writer *writer, enum dat_id id, const void *text, size_t size);

/* One more option, as it is. 0, -ENOMEM. */
int dat_write_option(struct dat_writer *writer, enum dat_id id, const void *data, size_t size);

/*
 * Complete the file and put it in place; the writer can only be closed afterwards. `clock` is the kernel's name of it
 * ("mono"); the file has nr_cpus CPUs, or as many as have pages if these are more. ret_size may be NULL.
 * 0; -ENOMEM; or the errno of write, linkat or rename.
 */
int dat_write_finish(struct dat_writer *writer, const char *clock, unsigned int nr_cpus, uint64_t *ret_size);

#endif
