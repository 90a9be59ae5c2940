/* SPDX-License-Identifier: MIT */
/* The lines of the kernel's per_cpu/cpuN/stats, "NAME: NUMBER". */
#ifndef STATS_TEXT_H
#define STATS_TEXT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Whether the line has this name, which may be the end of another name. */
static inline bool rec_stats_line(const char *line, const char *name, uint64_t *ret_value)
{
	const size_t size = strlen(name);

	if (strncmp(line, name, size) != 0 || line[size] != ':')
		return false;
	*ret_value = strtoull(line + size + 1, NULL, 10);
	return true;
}

/* The value with this name; 0: the text does not have the name. */
static inline uint64_t rec_stats_figure(const char *stats, const char *name)
{
	uint64_t value = 0;

	for (const char *line = stats; !rec_stats_line(line, name, &value); line++) {
		line = strchr(line, '\n');
		if (!line)
			break;
	}
	return value;
}

#endif
