/* SPDX-License-Identifier: MIT */
/*
 * Call sites of rec_printf in merged files. Each recording numbers its sites by itself (dat_sites.h), so a site whose
 * address another one has gets another address in the result. Sites of one format and function become one.
 */
#ifndef CLI_MERGE_SITES_H
#define CLI_MERGE_SITES_H

#include "cli/files/merge_files.h"
#include "format/io/blob.h"

/* The text of a file with lines of this id: DAT_KALLSYMS, DAT_PRINTK or DAT_CMDLINES. */
const struct dat_text *merge_text_of(const struct dat_file *file, enum dat_id id);

/* A line that begins with an address. */
struct merge_line {
	const char *text;
	size_t size; /* without the line feed */
	uint64_t address;
	const char *rest; /* after the address */
	size_t rest_size;
};

/* The next line at *at, which is advanced. False: there are no more. */
bool merge_next_line(const struct dat_text *text, size_t *at, struct merge_line *ret_line);

/* Gives the sites of all files their addresses in the result. 0, -ENOMEM. */
int merge_sites_add(struct merge *merge);

/* Puts the lines of the result's sites, of a text with this id: DAT_KALLSYMS or DAT_PRINTK. */
void merge_sites_put(const struct merge *merge, enum dat_id id, struct blob *text);

/* Puts the address of its site into a record of a file, if it is one of rec_printf. `type` is its id in the file. */
void merge_sites_rename(const struct merge_file *file, uint16_t type, unsigned char *record, uint32_t size);

void merge_sites_free(struct merge *merge);

#endif
