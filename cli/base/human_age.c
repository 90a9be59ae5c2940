/* SPDX-License-Identifier: MIT */
#include "cli/base/human_age.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

const char *human_age(uint64_t made, char *text, size_t size)
{
	const uint64_t now = (uint64_t)time(NULL), seconds = now > made ? now - made : 0;

	if (seconds < 120)
		snprintf(text, size, "%" PRIu64 " s", seconds);
	else if (seconds < 120 * 60)
		snprintf(text, size, "%" PRIu64 " min", seconds / 60);
	else if (seconds < 48 * 3600)
		snprintf(text, size, "%" PRIu64 " h", seconds / 3600);
	else
		snprintf(text, size, "%" PRIu64 " d", seconds / 86400);
	return text;
}
