/* SPDX-License-Identifier: MIT */
/* recorder list -e: the kernel's events. */
#ifndef CLI_LIST_KERNEL_H
#define CLI_LIST_KERNEL_H

#include <stdbool.h>

/* Width of the names. A longer name shifts only the columns of its own line. */
#define LIST_COLUMN_MAX 40u

/*
 * Lists those that match `patterns`, NULL: all of them; with `full`, their fields. Patterns are those of record's -e,
 * separated by commas; ! before a pattern excludes its events. The exit status; a failure is reported.
 */
int list_kernel(const char *patterns, bool full);

#endif
