/* SPDX-License-Identifier: MIT */
#include "cli/common/compression.h"

#include <stdlib.h>
#include <string.h>

#include "cli/common/opts.h"

/* False: the word is not a method. */
static bool read_word(const char *word, int *ret_level)
{
	const char *level = strncmp(word, "zstd:", 5) ? NULL : word + 5;
	char *end;
	long number;

	if (!strcmp(word, "none")) {
		*ret_level = COMPRESSION_NONE;
		return true;
	}
	if (!strcmp(word, "any") || !strcmp(word, "zstd")) {
		*ret_level = DAT_PACK_LEVEL;
		return true;
	}
	if (!level || *level < '0' || *level > '9')
		return false;
	number = strtol(level, &end, 10);
	if (*end || number < DAT_PACK_LEVEL_MIN || number > DAT_PACK_LEVEL_MAX)
		return false;
	*ret_level = (int)number;
	return true;
}

bool compression_read(const char *command, const char *word, unsigned int version, int *ret_level)
{
	int level;

	if (!read_word(word, &level)) {
		complain(command,
			 "option '--compression' takes none, any, zstd, or zstd:LEVEL with a level from %d to %d, not "
			 "'%s' (see 'recorder %s --help')",
			 DAT_PACK_LEVEL_MIN, DAT_PACK_LEVEL_MAX, word, command);
		return false;
	}
	if (version == 6 && !strcmp(word, "any"))
		level = COMPRESSION_NONE;
	if (version == 6 && level != COMPRESSION_NONE) {
		complain(command, "version 6 has no compression: use --file-version 7 or --compression none");
		return false;
	}
	*ret_level = level;
	return true;
}

bool compression_choose(const char *command, const char *word, unsigned int *version, struct dat_packing *packing,
			const struct dat_packing **ret_use)
{
	int level = COMPRESSION_NONE;

	*ret_use = NULL;
	if (word && !compression_read(command, word, *version ? 7 : 6, &level))
		return false;
	if (level == COMPRESSION_NONE)
		return true;
	*version = 1;
	*packing = dat_pack_zstd(level);
	*ret_use = packing;
	return true;
}
