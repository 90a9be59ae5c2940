/* SPDX-License-Identifier: MIT */
#include "cli/base/duration.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NS_PER_S  UINT64_C(1000000000)
#define NS_PER_MS UINT64_C(1000000)
#define NS_MAX	  (1000000000 * NS_PER_S)

/* The nanoseconds in a unit; 0: there is no such unit. */
static uint64_t unit_ns(const char *unit)
{
	static const struct {
		const char *name;
		uint64_t ns;
	} all[] = { { "", NS_PER_S }, { "s", NS_PER_S },      { "ms", NS_PER_MS },     { "us", 1000 },
		    { "ns", 1 },      { "m", 60 * NS_PER_S }, { "h", 3600 * NS_PER_S } };

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (!strcmp(unit, all[i].name))
			return all[i].ns;
	return 0;
}

bool duration_read_ns(const char *text, uint64_t *ret_ns)
{
	uint64_t whole, fraction = 0, scale = 1, unit;
	const char *first = text + (*text == '.');
	char *end;

	/* strtoull() takes more than that: spaces and signs. */
	if (*first < '0' || *first > '9')
		return false;
	errno = 0;
	whole = strtoull(text, &end, 10);
	if (errno == ERANGE)
		return false;
	if (*end == '.') {
		for (end++; *end >= '0' && *end <= '9'; end++) {
			if (scale < NS_PER_S) {
				fraction = fraction * 10 + (uint64_t)(*end - '0');
				scale *= 10;
			}
		}
	}
	unit = unit_ns(end);
	if (!unit || whole > UINT64_MAX / 2 / unit)
		return false;
	*ret_ns = whole * unit + (uint64_t)((unsigned __int128)fraction * unit / scale);
	return true;
}

bool duration_read(const char *text, uint64_t *ret_ms)
{
	uint64_t ns;

	if (!duration_read_ns(text, &ns) || !ns || ns > NS_MAX)
		return false;
	*ret_ms = ns / NS_PER_MS + (ns % NS_PER_MS != 0);
	return true;
}
