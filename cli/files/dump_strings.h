/* SPDX-License-Identifier: MIT */
/*
 * The sections of version 7 in their order in the file, and the file's descriptions of them, as trace-cmd dump prints
 * them. `escapes`: on a terminal, descriptions are escaped.
 */
#ifndef CLI_DUMP_STRINGS_H
#define CLI_DUMP_STRINGS_H

#include <stdbool.h>

#include "format/dat/dat_strings.h"

void dump_strings(const struct dat_headings *headings, bool escapes);
void dump_headings(const struct dat_headings *headings, bool escapes);

/* Print the number of sections, as trace-cmd does at the end of its output. */
void dump_headings_count(const struct dat_headings *headings);

#endif
