/* SPDX-License-Identifier: MIT */
#include "cli/base/exec_path.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The directories, separated by colons; an empty one is the current one. NULL: they are not known. */
static const char *dirs_of(const char *name)
{
	return !*name || strchr(name, '/') ? "" : getenv("PATH");
}

bool exec_path_is_known(const char *name)
{
	return dirs_of(name) != NULL;
}

bool exec_path_find(const char *name, bool (*is_wanted)(const char *path), char path[EXEC_PATH_SIZE])
{
	const char *at = dirs_of(name);
	size_t size;

	for (; at; at = at[size] ? at + size + 1 : NULL) {
		size = strcspn(at, ":");
		snprintf(path, EXEC_PATH_SIZE, "%.*s%s%s", (int)size, at, size ? "/" : "", name);
		if (is_wanted(path))
			return true;
	}
	return false;
}
