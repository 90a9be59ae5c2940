/* SPDX-License-Identifier: MIT */
/* recorder list -e: the kernel's events. */
#ifndef CLI_LIST_KERNEL_H
#define CLI_LIST_KERNEL_H

#include <stdbool.h>

/*
 * Lists those that match `patterns` (pattern.h), NULL: all of them; with `full`, their fields. The exit status; a
 * failure is reported.
 */
int list_kernel(const char *patterns, bool full);

#endif
