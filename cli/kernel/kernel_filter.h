/* SPDX-License-Identifier: MIT */
/* Filters of kernel events, as users write them for programs' events, in the words that the kernel knows. */
#ifndef CLI_KERNEL_FILTER_H
#define CLI_KERNEL_FILTER_H

#include <stdbool.h>

/*
 * The filter for an event that has a field pid of its own, or has none: then pid is the thread that wrote the event,
 * the kernel's common_pid. true and false are 1 and 0. The caller frees it; NULL: no memory.
 */
char *kernel_filter_make(const char *filter, bool has_pid);

#endif
