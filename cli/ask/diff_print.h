/* SPDX-License-Identifier: MIT */
/* Prints the changes between two sides to standard output. */
#ifndef CLI_DIFF_PRINT_H
#define CLI_DIFF_PRINT_H

#include "format/diff/diff.h"

/*
 * As text: a line about the comparison, and a line for each change; with `all`, for each compared value. `is_ns`: times
 * are nanoseconds.
 */
void diff_print_text(const struct diff_result *result, const unsigned int runs[2], bool is_ns, bool all);

/* As JSON, one object on each line. */
void diff_print_json(const struct diff_result *result, bool all);

#endif
