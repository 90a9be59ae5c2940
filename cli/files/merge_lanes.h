/* SPDX-License-Identifier: MIT */
/*
 * Markers of CPUs in merged files. A stream of a raw recording is the lane of a thread, with markers that name the
 * thread's CPU; a marker holds until the next one. If streams of other files come into the same buffer, their events
 * get markers, too: otherwise they would get the CPU of a lane.
 */
#ifndef CLI_MERGE_LANES_H
#define CLI_MERGE_LANES_H

#include "cli/files/merge_files.h"

/* Find the lanes; call it once the buffers of the result are known. 0; -ENOMEM. merge_lanes_close() in any case. */
int merge_lanes_open(struct merge *merge);
void merge_lanes_close(struct merge *merge);

/* The CPU of the marker that the file's next event needs; DAT_NO_MARKER: it needs none. */
uint32_t merge_lanes_marker(const struct merge *merge, const struct merge_file *file);

#endif
