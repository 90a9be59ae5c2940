/* SPDX-License-Identifier: MIT */
/* The limit of open files. On some machines it is by default lower than the number of CPUs. */
#ifndef CLI_FILE_LIMIT_H
#define CLI_FILE_LIMIT_H

#include <stdint.h>

/*
 * Raise the limit to the maximum: the number of programs in a recording is not known when it begins, and files that are
 * read as one are all open.
 */
void file_limit_raise(void);

/* The maximum to which the limit can be raised. */
uint64_t file_limit(void);

#endif
