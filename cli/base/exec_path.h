/* SPDX-License-Identifier: MIT */
/* Where execvp() looks for a command. */
#ifndef CLI_EXEC_PATH_H
#define CLI_EXEC_PATH_H

#include <limits.h>
#include <stdbool.h>

/* False: PATH is not set, and execvp() would look in directories of the C library's own. */
bool exec_path_is_known(const char *name);

/* The first of the paths that is wanted. False: none is, or they are not known. */
bool exec_path_find(const char *name, bool (*is_wanted)(const char *path), char path[PATH_MAX]);

#endif
