/* SPDX-License-Identifier: MIT */
#include "cli/common/verbosity.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "cli/common/opts.h"

static bool read_number(const char *text, enum verbosity *ret_level)
{
	const size_t digits = strspn(text, "0123456789");
	unsigned long number;

	if (!digits || text[digits])
		return false;
	number = digits > 9 ? VERBOSITY_ALL : strtoul(text, NULL, 10);
	*ret_level = number < VERBOSITY_ALL ? (enum verbosity)number : VERBOSITY_ALL;
	return true;
}

bool verbosity_read(const char *text, enum verbosity *ret_level)
{
	static const struct {
		const char *name, *longer;
	} names[] = {
		[VERBOSITY_NONE] = { "none", "none" },	      [VERBOSITY_CRITICAL] = { "crit", "critical" },
		[VERBOSITY_ERROR] = { "err", "error" },	      [VERBOSITY_WARNING] = { "warn", "warning" },
		[VERBOSITY_INFO] = { "info", "info" },	      [VERBOSITY_DEBUG] = { "debug", "debug" },
		[VERBOSITY_ALL] = { "all", "all" },
	};

	*ret_level = text ? VERBOSITY_INFO : VERBOSITY_CRITICAL;
	if (!text || !*text || read_number(text, ret_level))
		return true;
	for (unsigned int level = 0; level < sizeof(names) / sizeof(names[0]); level++) {
		if (strcmp(text, names[level].name) != 0 && strcmp(text, names[level].longer) != 0)
			continue;
		*ret_level = level;
		return true;
	}
	complain(opts_command(), "--verbose '%s' is not a level (" VERBOSITY_WORDS ")", text);
	return false;
}
