/* SPDX-License-Identifier: MIT */
#include "table_fixture.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define HEADER_PAGE                                                                                                    \
	"\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"                                                     \
	"\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"                                                    \
	"\tfield: char data;\toffset:16;\tsize:4080;\tsigned:1;\n"

/* This must also work in programs without Criterion, so it does not assert. */
static void check(bool fine)
{
	if (!fine)
		abort();
}

static char *writable(const char *text)
{
	return (char *)(uintptr_t)text;
}

struct event_table *table_of(const struct table_format *formats, size_t nr, const char *notes)
{
	struct dat_option version = { .id = DAT_VERSION };
	struct dat_format *parsed = calloc(nr, sizeof(*parsed));
	struct dat_file file = { .formats = parsed, .nr_formats = nr, .commit_size = 8, .long_size = 8 };
	struct event_table *table;

	check(parsed != NULL);
	for (size_t i = 0; i < nr; i++)
		parsed[i] = (struct dat_format){ .system = formats[i].system,
						 .text = { writable(formats[i].text), strlen(formats[i].text), 0 } };
	file.header_page = (struct dat_text){ writable(HEADER_PAGE), sizeof(HEADER_PAGE) - 1, 0 };
	if (notes) {
		version.data = writable(notes);
		version.size = (uint32_t)strlen(notes) + 1;
		file.options = &version;
		file.nr_options = 1;
	}
	check(event_table_open(&file, EVENT_NO_PLUGINS, &table) == 0);
	check(table->failed.nr == 0);
	free(parsed);
	return table;
}
