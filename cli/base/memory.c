/* SPDX-License-Identifier: MIT */
#include "cli/base/memory.h"

#include <inttypes.h>
#include <stdio.h>

uint64_t memory_available(void)
{
	FILE *file = fopen("/proc/meminfo", "re");
	uint64_t kb = UINT64_MAX;
	char line[128];

	while (file && fgets(line, sizeof(line), file) && sscanf(line, "MemAvailable: %" SCNu64, &kb) != 1)
		;
	if (file)
		fclose(file);
	return kb > UINT64_MAX / 1024 ? UINT64_MAX : kb * 1024;
}
