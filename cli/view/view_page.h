/* SPDX-License-Identifier: MIT */
/* The page of `recorder view` as an HTML file. Its sources are in cli/view/; cli/view/embed.sh turns them into C. */
#ifndef CLI_VIEW_PAGE_H
#define CLI_VIEW_PAGE_H

#include <stddef.h>

#include "format/io/blob.h"

/* The page's parts, in their order: policy after start, style after head, data after body, script before end. */
extern const char view_page_start[], view_page_head[], view_page_body[], view_page_end[];
extern const char view_page_style[], view_page_script[];
extern const char view_page_style_hash[], view_page_script_hash[];

/*
 * The page's content security policy: run this script and this style, load nothing, send nothing. `connect`: the page
 * may send requests to its own server.
 */
void view_page_policy(struct blob *out, int connect);

/* Write the page up to its data; then each block of data; then the rest of the page. */
void view_page_begin(struct blob *out, int connect);
void view_page_block(struct blob *out, const void *bytes, size_t size);
void view_page_finish(struct blob *out);

#endif
