/* SPDX-License-Identifier: MIT */
/* Translates filters of kernel events to the kernel's form, from the form that is used for programs' events. */
#ifndef CLI_KERNEL_FILTER_H
#define CLI_KERNEL_FILTER_H

#include <stdbool.h>

/*
 * The translated filter. If the event has no field pid of its own, pid becomes common_pid, the thread that wrote the
 * event. true and false become 1 and 0. The caller frees the text; NULL: no memory.
 */
char *kernel_filter_make(const char *filter, bool has_pid);

#endif
