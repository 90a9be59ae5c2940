/* SPDX-License-Identifier: MIT */
/* The argument of --compression: none, any, zstd, or zstd:LEVEL. */
#ifndef CLI_COMPRESSION_H
#define CLI_COMPRESSION_H

#include <stdbool.h>

#define COMPRESSION_NONE (-1)

/*
 * *ret_level becomes the level, or COMPRESSION_NONE. False: `word` is invalid, and one line was printed.
 */
bool compression_read(const char *command, const char *word, int *ret_level);

#endif
