/* SPDX-License-Identifier: MIT */
/*
 * Writes trace.dat, versions 6 and 7 (trace-dat.md). Pages may be given in any order of CPUs; then they wait in a
 * scratch file beside the target. If they are given CPU by CPU, they can go straight to their place. Everything else
 * waits in memory. dat_write_finish() assembles the file and puts it in place. The target is unchanged until that
 * succeeds.
 *
 * Numbers are written in the machine's order, unless dat_write_shape() names another order. Threads: one at a time per
 * writer. Not signal-safe.
 */
#ifndef FORMAT_DAT_WRITE_H
#define FORMAT_DAT_WRITE_H

#include "format/dat/dat_id.h"
#include "format/dat/dat_packer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dat_writer;

/*
 * Begin a file of version 6 or 7 with pages of page_size bytes (a power of two, 4096 to 512 KiB). `cpus`, of all
 * buffers together, is an estimate that divides the memory. 0; -EINVAL: one of these is out of range, or path names
 * something that is not a regular file; -EISDIR; -EACCES; -ENOMEM; or the errno of open.
 */
int dat_write_open(const char *path, unsigned int version, uint32_t page_size, unsigned int cpus,
		   struct dat_writer **ret_writer);

/*
 * The form of the pages and numbers of another file, whose pages are to be written. Call it right after
 * dat_write_open().
 */
struct dat_shape {
	bool big;		  /* numbers are big endian */
	unsigned int long_size;	  /* 4 or 8 */
	const char *header_page;  /* text; it must remain until dat_write_finish() */
	size_t header_page_size;
	const char *header_event; /* likewise */
	size_t header_event_size;
};
void dat_write_shape(struct dat_writer *writer, const struct dat_shape *shape);

/*
 * Compress a file of version 7. Call it before the first page, and after dat_write_shape(). `cpus` as in
 * dat_write_open(). 0; -EINVAL: version 6 has no compression; or the error of packing->open.
 */
int dat_write_pack(struct dat_writer *writer, const struct dat_packing *packing, unsigned int cpus);

/* Drops a file that was not finished. Takes NULL, returns NULL. */
struct dat_writer *dat_write_close(struct dat_writer *writer);

/* Add a buffer, an instance; the top buffer is 0. If it gets no pages, the file does not contain it. 0, -ENOMEM. */
int dat_write_buffer(struct dat_writer *writer, const char *name, unsigned int *ret_buffer);

/*
 * Sets a buffer's page size, if it is larger than that of dat_write_open(): a multiple of that size, and a power of
 * two. Version 6 has one size for all buffers. Call it before the buffer's first page.
 */
void dat_write_page_size(struct dat_writer *writer, unsigned int buffer, uint32_t page_size);

/*
 * The clock that a buffer's option names in version 7, if it is not that of dat_write_finish(). The string must remain
 * until then.
 */
void dat_write_clock(struct dat_writer *writer, unsigned int buffer, const char *clock);

/*
 * The final path of the file, with links followed, for files to be placed near it. The string belongs to the writer.
 */
const char *dat_write_target(const struct dat_writer *writer);

/* The next page of a CPU. 0, -ENOMEM, or the errno of write. */
int dat_write_page(struct dat_writer *writer, unsigned int buffer, unsigned int cpu, const void *page);

/*
 * The next pages of a CPU: `size` bytes at `offset` of a file, whole pages of the writer's size. They must stay there
 * until dat_write_finish() copies them. 0, -ENOMEM, or the errno of write.
 */
int dat_write_range(struct dat_writer *writer, unsigned int buffer, unsigned int cpu, int fd, uint64_t offset,
		    uint64_t size);

/*
 * From now on, until dat_write_scratch(), pages are written straight to their place in the file. They must be those of
 * the top buffer, which has no pages yet, and must arrive CPU by CPU with rising numbers; later pages must be those of
 * other buffers. The space before the pages has room for all other data given so far, and for `room` more bytes; if
 * more data is given, all pages are moved at the end. 0, -ENOMEM, or the errno of write.
 */
int dat_write_straight(struct dat_writer *writer, unsigned int nr_cpus, uint64_t room);
int dat_write_scratch(struct dat_writer *writer);

/* Bytes of pages that a CPU has so far; and one more than the highest CPU with pages, over all buffers. */
uint64_t dat_write_size(const struct dat_writer *writer, unsigned int buffer, unsigned int cpu);
unsigned int dat_write_cpus(const struct dat_writer *writer);

/* An event's format text. 0, -ENOMEM. */
int dat_write_format(struct dat_writer *writer, const char *system, const char *text, size_t size);

/* The whole text of DAT_KALLSYMS, DAT_PRINTK or DAT_CMDLINES; each at most once. 0, -ENOMEM, -EINVAL: another id, or
 * a text too long for its size field. */
int dat_write_text(struct dat_writer *writer, enum dat_id id, const void *text, size_t size);

/* Add an option, unchanged. 0, -ENOMEM. */
int dat_write_option(struct dat_writer *writer, enum dat_id id, const void *data, size_t size);

/*
 * Complete the file and put it in place; afterwards the writer can only be closed. `clock` is the kernel's name of the
 * clock ("mono"); NULL: the file does not state it. The file has nr_cpus CPUs, or the number that have pages if that is
 * larger. ret_size may be NULL. 0; -ENOMEM; or the errno of write, linkat or rename.
 */
int dat_write_finish(struct dat_writer *writer, const char *clock, unsigned int nr_cpus, uint64_t *ret_size);

#endif
