/* SPDX-License-Identifier: MIT */
/* The limit of open files. On some machines it is by default lower than the number of CPUs. */
#ifndef CLI_FILE_LIMIT_H
#define CLI_FILE_LIMIT_H

#include <stdint.h>

/* Raise the limit to the files in use plus this number; if that is more than the maximum, to the maximum. */
void file_limit_raise(unsigned int files);

/* The maximum to which the limit can be raised. */
uint64_t file_limit(void);

#endif
