/* SPDX-License-Identifier: MIT */
#ifndef CLI_BASE_NAME_H
#define CLI_BASE_NAME_H

#include <string.h>

/* The part of the path after its last slash. */
static inline const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

#endif
