/* SPDX-License-Identifier: MIT */
/* See event_lists.h. */
#include "format/text/event_lists.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/dat/dat_lines.h"

/*
 * Writes a line of `len` characters in the form for libtraceevent to `to`, which has room for LINE_MORE more
 * characters. Returns the number of characters; 0: the line is malformed.
 */
#define LINE_MORE 2u
typedef size_t (*take_line)(const char *line, size_t len, char *to);

/*
 * Take a line of printk formats: "0xffffffff82000000 : \"text\"". libtraceevent removes a line feed from the text's
 * end, and looks for it two characters before the closing quote, even if the text is shorter than that. So a line feed
 * that it can remove is appended to a shorter text.
 */
static size_t take_printk(const char *line, size_t len, char *to)
{
	size_t digits = strspn(line + 2 * (len > 2), "0123456789abcdefABCDEF");
	/* The position of the opening quote. */
	size_t place = 2 + digits + 3;

	if (!digits || digits > 16 || len < place + 2 || strncmp(line, "0x", 2) != 0 ||
	    strncmp(line + 2 + digits, " : \"", 4) != 0 || line[len - 1] != '"')
		return 0;
	memcpy(to, line, len);
	if (len - place >= 4)
		return len;
	memcpy(to + len - 1, "\\n\"", 3);
	return len + LINE_MORE;
}

/* Take a line of names of threads: "123 name" */
static size_t take_cmdline(const char *line, size_t len, char *to)
{
	const char *name;
	uint64_t tid;

	if (!dat_line_thread(line, len, &tid, &name))
		return 0;
	memcpy(to, line, len);
	return len;
}

/* Well-formed lines have at least this length. */
#define LINE_MIN 4u

/*
 * Passes the well-formed lines to libtraceevent, which writes into them. With `skip`, continues after a malformed line,
 * as libtraceevent does for formats; for names of tasks libtraceevent stops there. A NUL ends the text.
 */
static int parse_copy(const struct dat_text *text, struct tep_handle *tep, take_line take, bool skip,
		      int (*parse)(struct tep_handle *tep, const char *text))
{
	char *copy, *to;

	if (!text->text || !text->size)
		return 0;
	copy = to = malloc(text->size + text->size / LINE_MIN * LINE_MORE + LINE_MORE + 2);
	if (!copy)
		return -ENOMEM;
	for (const char *line = text->text; *line;) {
		size_t len = strcspn(line, "\n");
		size_t taken = take(line, len, to);

		if (taken) {
			to += taken;
			*to++ = '\n';
		} else if (!skip) {
			break;
		}
		line += len + (line[len] == '\n');
	}
	*to = '\0';
	if (to > copy)
		parse(tep, copy);
	free(copy);
	return 0;
}

int event_list_printk(struct tep_handle *tep, const struct dat_text *text)
{
	return parse_copy(text, tep, take_printk, true, tep_parse_printk_formats);
}

int event_list_threads(struct tep_handle *tep, const struct dat_text *text)
{
	return parse_copy(text, tep, take_cmdline, false, tep_parse_saved_cmdlines);
}
