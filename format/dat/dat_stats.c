/* SPDX-License-Identifier: MIT */
/* See dat_stats.h. */
#include "format/dat/dat_stats.h"
#include "librecorder/core/stats_text.h"

#include <inttypes.h>

#define BUFFER_HEADING "Buffer: "

static const char *const names[] = {
	[DAT_STAT_CPU] = "CPU",
	[DAT_STAT_ENTRIES] = "entries",
	[DAT_STAT_OVERRUN] = "overrun",
	[DAT_STAT_COMMIT_OVERRUN] = "commit overrun",
	[DAT_STAT_BYTES] = "bytes",
	[DAT_STAT_DROPPED] = "dropped events",
	[DAT_STAT_READ] = "read events",
	[DAT_STAT_LEFT_OUT] = "left out",
	[DAT_STAT_NOT_KEPT] = "not kept",
};

void dat_stats_put(struct blob *text, enum dat_stat what, uint64_t value)
{
	blob_printf(text, "%s: %" PRIu64 "\n", names[what], value);
}

void dat_stats_put_buffer(struct blob *text, const char *name)
{
	blob_printf(text, "\n" BUFFER_HEADING "%s\n\n", name);
}

void dat_stats_put_programs(struct blob *text, uint32_t cpu)
{
	blob_printf(text, "\n%s: %" PRIu32 ", programs\n", names[DAT_STAT_CPU], cpu);
}

bool dat_stats_get(const char *line, enum dat_stat what, uint64_t *ret_value)
{
	return rec_stats_line(line, names[what], ret_value);
}

const char *dat_stats_get_buffer(const char *line)
{
	const size_t size = strlen(BUFFER_HEADING);

	return strncmp(line, BUFFER_HEADING, size) == 0 ? line + size : NULL;
}
