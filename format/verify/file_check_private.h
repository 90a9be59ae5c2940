/* SPDX-License-Identifier: MIT */
/* Shared by file_check.c, which checks the head of the file, part_check.c, text_check.c and page_check.c. */
#ifndef FORMAT_FILE_CHECK_PRIVATE_H
#define FORMAT_FILE_CHECK_PRIVATE_H

#include "format/verify/file_check.h"

struct checking {
	const struct dat_file *file;
	const struct event_table *table;
	struct file_check *check;
	const struct dat_buffer *buffer; /* the buffer whose pages are being checked; NULL: none */
	uint32_t cpu;
	bool *ids;     /* ids that have a format */
	bool *unknown; /* ids of events without a format that were reported */
	char text[256];
};

/* Report a problem; if a stream is being checked, the report names it. */
void check_say(struct checking *c, uint64_t offset, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* Where sections, buffers and the data of CPUs are, and which CPUs and buffers there are. 0; -ENOMEM. */
int check_parts(struct checking *c);

/* The names of threads, and the statistics of CPUs. 0; -ENOMEM. */
int check_texts(struct checking *c);

/* All pages of all buffers. 0; -ENOMEM. */
int check_pages(struct checking *c);

#endif
