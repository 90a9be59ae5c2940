/* SPDX-License-Identifier: MIT */
/* Shared by dat_write.c, which collects the data, and dat_layout*.c, which know their places in versions 6 and 7. */
#ifndef FORMAT_DAT_WRITE_PRIVATE_H
#define FORMAT_DAT_WRITE_PRIVATE_H

#include "format/io/blob.h"
#include "format/dat/dat_write.h"
#include "format/io/number_map.h"
#include "format/io/out_file.h"
#include "format/io/page_store.h"

#include <limits.h>
#include <stdbool.h>

struct write_system {
	char *name;
	uint32_t nr_events;
	struct blob events; /* { u64 size, text }... */
};

#define NO_TRACK UINT_MAX

struct write_buffer {
	char *name; /* "" is the top buffer, which is the first */
	const char *clock; /* NULL: the clock of the file */
	uint32_t page_size;
	unsigned int *tracks; /* tracks of the store or the packer, by CPU; NO_TRACK: no pages */
	unsigned int nr_cpus;
	uint64_t section; /* version 7: offset of its section in the file */
	uint64_t data;	  /* offset of its pages in the file */
};

struct dat_writer {
	struct out_file file;
	struct page_store *store;
	struct dat_packer *packer; /* NULL: not compressed */
	unsigned int version;
	uint32_t unit; /* bytes of a page of the store; the pages of a buffer have a multiple of it */
	bool swapped;  /* numbers have the other byte order than the machine's */
	struct dat_shape shape; /* the shape of another file; header_page NULL: this machine's */
	uint64_t straight; /* offset of the top buffer's pages that went straight to the file; 0: none */
	struct write_buffer *buffers;
	unsigned int nr_buffers;
	struct write_system *systems;
	size_t nr_systems;
	struct number_map system_numbers; /* hash of a name: number of the system, plus 1 */
	struct blob options; /* { u16 id, u32 size, payload }... */
	struct blob kallsyms, printk, cmdlines;
};

void dat_put_option(struct blob *out, enum dat_id id, const void *data, size_t size);

/* Put an option with this payload, and free the payload. An error of the payload becomes an error of `out`. */
void dat_put_option_blob(struct blob *out, enum dat_id id, struct blob *payload);

/* Bytes of a CPU's pages in the file, and those of all of a buffer. */
uint64_t dat_stored_size(const struct dat_writer *writer, unsigned int buffer, unsigned int cpu);
uint64_t dat_stored_buffer(const struct dat_writer *writer, unsigned int buffer);

/* Whether the file has this buffer: an instance without pages is left out. */
bool dat_is_shown(const struct dat_writer *writer, unsigned int buffer);

/*
 * Where the pages of the top buffer can begin if `size` bytes are before them; if they are in the file already, where
 * they are.
 */
uint64_t dat_pages_after(const struct dat_writer *writer, uint64_t size);

/* Make the six blobs, in the order of version 6 (dat_layout.c). */
struct dat_blob {
	enum dat_id id;
	void (*put)(struct blob *out, const struct dat_writer *writer);
};
#define DAT_NR_BLOBS 6u
extern const struct dat_blob dat_blobs[DAT_NR_BLOBS];

void dat_put_prologue(struct blob *out, const struct dat_writer *writer);

/* Make the option with the clock; NULL: no option. */
void dat_put_clock(struct blob *out, const char *clock);

void dat_layout_v7(struct blob *out, struct dat_writer *writer, const char *clock, unsigned int nr_cpus);

/*
 * Make all data before the pages, and store the offset of each buffer's pages. A failure is in out->error.
 */
void dat_layout(struct blob *out, struct dat_writer *writer, const char *clock, unsigned int nr_cpus);

/* Version 7: write the headers of the sections of instances, which are between the pages. 0, -errno. */
int dat_layout_sections(const struct dat_writer *writer);

#endif
