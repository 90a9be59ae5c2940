/* SPDX-License-Identifier: MIT */
/* The limit of open files: some machines have more CPUs than a process may have files by default. */
#ifndef CLI_FILE_LIMIT_H
#define CLI_FILE_LIMIT_H

#include <stdint.h>

/* Raise the limit by this number of files above those in use; to the maximum if that is too much. */
void file_limit_raise(unsigned int files);

/* The maximum to which the limit can be raised. */
uint64_t file_limit(void);

#endif
