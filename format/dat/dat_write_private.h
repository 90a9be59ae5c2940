/* SPDX-License-Identifier: MIT */
/* Shared by dat_write.c, which collects the data, and dat_layout.c, which knows their places in versions 6 and 7. */
#ifndef FORMAT_DAT_WRITE_PRIVATE_H
#define FORMAT_DAT_WRITE_PRIVATE_H

#include "format/io/blob.h"
#include "format/dat/dat_write.h"
#include "format/io/out_file.h"
#include "format/io/page_store.h"

#include <limits.h>

struct write_system {
	char *name;
	uint32_t nr_events;
	struct blob events; /* { u64 size, text }... */
};

#define NO_TRACK UINT_MAX

struct write_buffer {
	char *name; /* "" is the top buffer, which is the first */
	unsigned int *tracks; /* of the store, by CPU; NO_TRACK: no pages */
	unsigned int nr_cpus;
	uint64_t data; /* offset of its pages in the file */
};

struct dat_writer {
	struct out_file file;
	struct page_store *store;
	unsigned int version;
	uint32_t page_size;
	uint64_t straight; /* offset of the top buffer's pages that went straight to the file; 0: none */
	struct write_buffer *buffers;
	unsigned int nr_buffers;
	struct write_system *systems;
	size_t nr_systems;
	struct blob options; /* { u16 id, u32 size, payload }... */
	struct blob kallsyms, printk, cmdlines;
};

void dat_put_option(struct blob *out, enum dat_id id, const void *data, size_t size);

/*
 * Everything before the pages; determines the offset of each buffer's pages, and stores it. A failure is in
 * out->error.
 */
void dat_layout(struct blob *out, struct dat_writer *writer, const char *clock, unsigned int nr_cpus);

/* What comes between the pages of two buffers. 0, -errno. */
int dat_layout_sections(const struct dat_writer *writer);

#endif
