/* SPDX-License-Identifier: MIT */
#include "cli/base/human_size.h"

#include <stdio.h>

const char *human_size(uint64_t bytes, char *text, int size)
{
	static const char units[][3] = { "kB", "MB", "GB", "TB" };
	double value = (double)bytes / 1000;
	unsigned int unit = 0;

	if (bytes < 1000) {
		snprintf(text, (size_t)size, "%u bytes", (unsigned int)bytes);
		return text;
	}
	/* A value that would be rounded to 1000 of a unit is shown as 1.0 of the next unit. */
	while (value >= 999.95 && unit < 3) {
		value /= 1000;
		unit++;
	}
	snprintf(text, (size_t)size, "%.1f %s", value, units[unit]);
	return text;
}
