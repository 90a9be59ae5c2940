/* SPDX-License-Identifier: MIT */
/* Where execvp() looks for a command. */
#ifndef CLI_EXEC_PATH_H
#define CLI_EXEC_PATH_H

#include <limits.h>
#include <stdbool.h>

/* One byte more than the kernel accepts. */
#define EXEC_PATH_SIZE (PATH_MAX + 1)

/* False: PATH is not set, and execvp() would look in directories of the C library's own. */
bool exec_path_is_known(const char *name);

/*
 * Find the first of the paths for which is_wanted() returns true. A path that is too long is cut off where the kernel
 * still refuses it with ENAMETOOLONG. False: no path is wanted, or PATH is not set.
 */
bool exec_path_find(const char *name, bool (*is_wanted)(const char *path), char path[EXEC_PATH_SIZE]);

#endif
