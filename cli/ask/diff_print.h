/* SPDX-License-Identifier: MIT */
/* What changed between two sides, on standard output. */
#ifndef CLI_DIFF_PRINT_H
#define CLI_DIFF_PRINT_H

#include "format/diff/diff.h"

/* A line that says what was compared, and a line for each change; `all`: for each comparison. */
void diff_print_text(const struct diff_result *result, const unsigned int runs[2], bool all);

/* An object a line. */
void diff_print_json(const struct diff_result *result, bool all);

#endif
