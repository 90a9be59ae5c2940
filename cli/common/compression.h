/* SPDX-License-Identifier: MIT */
/* The argument of --compression: none, any, zstd, or zstd:LEVEL. */
#ifndef CLI_COMPRESSION_H
#define CLI_COMPRESSION_H

#include <stdbool.h>

#include "format/dat/dat_pack.h"

#define COMPRESSION_NONE (-1)

/*
 * *ret_level becomes the level, or COMPRESSION_NONE, which "any" is for a file of version 6. False: `word` is invalid,
 * or the version cannot be compressed; one line was printed.
 */
bool compression_read(const char *command, const char *word, unsigned int version, int *ret_level);

/*
 * The same for a command with --file-version 6|7. *version is the index of the version, UINT32_MAX if none was named;
 * it becomes that of 7 if the file is compressed. *ret_use becomes `packing`, filled in; or NULL: not compressed.
 * `word` NULL: none was given. False: one line was printed.
 */
bool compression_choose(const char *command, const char *word, unsigned int *version, struct dat_packing *packing,
			const struct dat_packing **ret_use);

#endif
