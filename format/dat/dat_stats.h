/* SPDX-License-Identifier: MIT */
/*
 * The statistics of a CPU in a file (DAT_CPUSTAT): the text of the kernel's per_cpu/cpuN/stats, after a line with the
 * CPU, and lines of our own for events that were read and are not in the file.
 */
#ifndef FORMAT_DAT_STATS_H
#define FORMAT_DAT_STATS_H

#include "format/io/blob.h"

#include <stdbool.h>
#include <stdint.h>

enum dat_stat {
	DAT_STAT_CPU,
	DAT_STAT_ENTRIES,	 /* in the ring, and not read */
	DAT_STAT_OVERRUN,
	DAT_STAT_COMMIT_OVERRUN,
	DAT_STAT_BYTES,
	DAT_STAT_DROPPED,
	DAT_STAT_READ,
	DAT_STAT_LEFT_OUT,	 /* the part of READ that the weave left out: the recorder's own events, deep calls */
	DAT_STAT_NOT_KEPT,	 /* the part of READ that was in pages removed because of a size limit */
};

void dat_stats_put(struct blob *text, enum dat_stat what, uint64_t value);
/* A heading: the lines after it belong to the CPUs of this buffer. */
void dat_stats_put_buffer(struct blob *text, const char *name);
/* A heading: the lines after it count the programs' events of this CPU; those before count the kernel's. */
void dat_stats_put_programs(struct blob *text, uint32_t cpu);

/* Whether the line has this statistic; its value is stored in *ret_value. */
bool dat_stats_get(const char *line, enum dat_stat what, uint64_t *ret_value);
/* The name in the heading of a buffer, up to the end of the line; NULL: the line is something else. */
const char *dat_stats_get_buffer(const char *line);

#endif
