/* SPDX-License-Identifier: MIT */
#include "cli/base/duration.h"

#include <stdlib.h>
#include <string.h>

#define MS_MAX 1e12

/* The milliseconds in a unit; 0: there is no such unit. */
static double unit_ms(const char *unit)
{
	if (!*unit || !strcmp(unit, "s"))
		return 1000;
	if (!strcmp(unit, "ms"))
		return 1;
	if (!strcmp(unit, "m"))
		return 60 * 1000;
	return strcmp(unit, "h") ? 0 : 3600 * 1000;
}

bool duration_read(const char *text, uint64_t *ret_ms)
{
	const size_t digits = strspn(text, "0123456789.");
	char *end;
	double ms;

	/* strtod() takes more than that: signs, exponents, names. */
	if (!digits || digits > 20)
		return false;
	ms = strtod(text, &end) * unit_ms(text + digits);
	if (end != text + digits || !(ms > 0) || ms > MS_MAX)
		return false;
	*ret_ms = (uint64_t)ms + ((double)(uint64_t)ms < ms);
	return true;
}
