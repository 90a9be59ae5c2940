/* SPDX-License-Identifier: MIT */
/* Pages of mapped rings as text on standard output, with their events, a line each. */
#ifndef CLI_PAGE_TEXT_H
#define CLI_PAGE_TEXT_H

#include <librecorder/map.h>
#include <librecorder/reader.h>
#include <stdbool.h>

#include "cli/programs/decode.h"

struct page_text {
	const struct rec_view *view; /* NULL: the kernel's */
	struct decoder *decoder;
	size_t log_size; /* part of the log that the decoder knows */
};

/*
 * Prepare to print the lanes of a view, which must outlive this, or (NULL) the kernel's rings. 0, -ENOMEM, or as
 * decoder_of_log().
 */
int page_text_open(const struct rec_view *view, struct page_text *ret_text);
void page_text_close(struct page_text *text);

/* Print the meta page of ring `number`, which is a "lane" or a "cpu"; `copies`: its pages are copies. */
void page_text_print_meta(const char *kind, unsigned int number, const struct rec_meta *meta, bool copies);

/* Print a page from rec_map_get_reader(). `hex`: print its bytes as well. */
void page_text_print(struct page_text *text, const struct rec_meta *meta, const struct rec_page *page, bool hex);

#endif
