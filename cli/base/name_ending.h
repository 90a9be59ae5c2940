/* SPDX-License-Identifier: MIT */
/* Names of files by their endings. */
#ifndef CLI_NAME_ENDING_H
#define CLI_NAME_ENDING_H

#include <stddef.h>
#include <string.h>

/* The length of the name without the ending; 0: it has another ending, or nothing before it. */
static inline size_t name_before(const char *name, const char *ending)
{
	const size_t size = strlen(name), end = strlen(ending);

	return size > end && !strcmp(name + size - end, ending) ? size - end : 0;
}

#endif
