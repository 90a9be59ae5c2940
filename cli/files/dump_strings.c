/* SPDX-License-Identifier: MIT */
#include "cli/files/dump_strings.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/common/show_text.h"

void dump_strings(const struct dat_headings *headings, bool escapes)
{
	if (headings->strings_size)
		puts("\t[String @ offset]");
	for (size_t at = 0; at < headings->strings_size; at += strlen(headings->strings + at) + 1) {
		fputs("\t\t\"", stdout);
		show_name(stdout, headings->strings + at, escapes);
		printf("\" @ %zu\n", at);
	}
}

void dump_headings(const struct dat_headings *headings, bool escapes)
{
	for (size_t i = 0; i < headings->nr; i++) {
		const struct dat_heading *h = &headings->all[i];
		const struct dat_section *section = &h->section;
		const char *name = dat_heading_name(headings, h);

		printf("\t[Section %2u @ %-16" PRIu64 "\t\"", section->id, section->offset);
		show_name(stdout, name ? name : "Unknown", escapes);
		printf("\", flags 0x%X, ", section->flags);
		if (!(section->flags & DAT_COMPRESSED))
			printf("%" PRIu64 " bytes]\n", section->size);
		else if (h->is_data)
			printf("%" PRIu64 " compressed bytes]\n", section->size);
		else
			printf("%" PRIu32 " compressed, %" PRIu32 " uncompressed]\n", h->packed_size, h->plain_size);
	}
}

void dump_headings_count(const struct dat_headings *headings)
{
	if (headings->nr)
		printf("\t[%zu sections]\n", headings->nr);
}
