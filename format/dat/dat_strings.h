/* SPDX-License-Identifier: MIT */
/*
 * Version 7: the sections in their order in the file, found by their headers alone, and the descriptions that the
 * file's STRINGS sections give them (trace-dat.md 4). Files need no descriptions to be read.
 */
#ifndef FORMAT_DAT_STRINGS_H
#define FORMAT_DAT_STRINGS_H

#include "format/dat/dat_read.h"

struct dat_heading {
	struct dat_section section;
	bool is_data;	      /* has the data of CPUs, or a text, in parts that are compressed separately */
	uint32_t packed_size; /* for other compressed sections: the number of compressed bytes, without the two sizes */
	uint32_t plain_size;
};

struct dat_headings {
	size_t nr;
	struct dat_heading *all; /* in the order of their offsets */
	char *strings;		 /* those of all STRINGS sections, one after the other; a NUL follows them */
	size_t strings_size;
};

/*
 * Version 6 has no sections, and so no headings. 0; -ENOMEM; -EBADMSG, with the headings up to the damage. In each case
 * dat_headings_close() frees them.
 */
int dat_headings_open(struct dat_file *file, struct dat_headings *ret_headings, struct dat_error *ret_error);
void dat_headings_close(struct dat_headings *headings);

/* The description of a section; NULL: the file has none. */
const char *dat_heading_name(const struct dat_headings *headings, const struct dat_heading *heading);

#endif
