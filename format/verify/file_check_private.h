/* SPDX-License-Identifier: MIT */
/* Shared by file_check.c, which checks what stands before the pages, and page_check.c. */
#ifndef FORMAT_FILE_CHECK_PRIVATE_H
#define FORMAT_FILE_CHECK_PRIVATE_H

#include "format/verify/file_check.h"

struct checking {
	const struct dat_file *file;
	const struct event_table *table;
	struct file_check *check;
	const struct dat_buffer *buffer; /* whose pages are checked; NULL: none */
	uint32_t cpu;
	bool *ids;     /* that have a format */
	bool *unknown; /* ids of events without a format that were reported */
	char text[256];
};

/* Report a problem, of the stream that is checked if there is one. */
void check_say(struct checking *c, uint64_t offset, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* All pages of all buffers. 0; -ENOMEM. */
int check_pages(struct checking *c);

#endif
