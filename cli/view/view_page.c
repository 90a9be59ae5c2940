/* SPDX-License-Identifier: MIT */
#include "cli/view/view_page.h"

#include <string.h>

static void put(struct blob *out, const char *text)
{
	blob_put(out, text, strlen(text));
}

void view_page_policy(struct blob *out, int connect)
{
	blob_printf(
		out,
		"default-src 'none'; script-src 'sha256-%s'; style-src 'sha256-%s'; connect-src %s; base-uri 'none'; "
		"form-action 'none'",
		view_page_script_hash, view_page_style_hash, connect ? "'self'" : "'none'");
}

void view_page_begin(struct blob *out, int connect)
{
	put(out, view_page_start);
	put(out, "<meta http-equiv=\"Content-Security-Policy\" content=\"");
	view_page_policy(out, connect);
	put(out, "\">\n");
	put(out, view_page_head);
	put(out, "<style>");
	put(out, view_page_style);
	put(out, "</style>\n");
	put(out, view_page_body);
}

/* Base64 has no characters that are special in HTML. A script of this type is data and never runs. */
void view_page_block(struct blob *out, const void *bytes, size_t size)
{
	static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const unsigned char *from = bytes;
	char *to;

	put(out, "<script class=\"block\" type=\"application/octet-stream\">");
	to = blob_room(out, (size + 2) / 3 * 4);
	for (size_t at = 0; to && at < size; at += 3, to += 4) {
		const unsigned int second = at + 1 < size ? from[at + 1] : 0, third = at + 2 < size ? from[at + 2] : 0;
		const unsigned int bits = (unsigned int)from[at] << 16 | second << 8 | third;

		to[0] = letters[bits >> 18];
		to[1] = letters[bits >> 12 & 63];
		to[2] = at + 1 < size ? letters[bits >> 6 & 63] : '=';
		to[3] = at + 2 < size ? letters[bits & 63] : '=';
	}
	put(out, "</script>\n");
}

void view_page_finish(struct blob *out)
{
	put(out, "<script>");
	put(out, view_page_script);
	put(out, "</script>\n");
	put(out, view_page_end);
}
