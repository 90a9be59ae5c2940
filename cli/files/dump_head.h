/* SPDX-License-Identifier: MIT */
/*
 * The output of recorder dump except for texts and pages: the header, lists of sections and options, buffers, the
 * clock. `escapes`: on a terminal, names from the file are escaped.
 */
#ifndef CLI_DUMP_HEAD_H
#define CLI_DUMP_HEAD_H

#include <stdbool.h>

#include "format/dat/dat_read.h"

void dump_header(const struct dat_file *f, bool escapes);
void dump_section_list(const struct dat_file *f);
void dump_options(const struct dat_file *f);
void dump_buffer(const struct dat_buffer *b, bool escapes);
void dump_clock(const struct dat_file *f, bool escapes);

#endif
