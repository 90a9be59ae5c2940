/* SPDX-License-Identifier: MIT */
/* What no merged file has: the times between the files, and the CPUs and threads whose switches were not recorded. */
#ifndef CLI_MERGE_COVER_H
#define CLI_MERGE_COVER_H

#include "cli/files/merge_files.h"
#include "format/dat/dat_absent.h"

/* A file's part of the result. The files must have been opened for the merge; dat_merge_open() and so on come later. */
void merge_cover_open(struct merge_file *file);

/* An event of the file is written: its id in the file, and its time in the result. */
void merge_cover_event(struct merge_file *file, uint16_t type, uint64_t time);

/*
 * Find what the result lacks; call it after all events were written. The list of threads in *ret_absent is not set. The
 * times are those of the result's pages. 0; -ENOMEM. Call dat_absent_free() in any case.
 */
int merge_cover(const struct merge *merge, struct dat_absent *ret_absent);

/*
 * Convert a time of one of the file's CPUs to the time in the result. Nothing can be shown before time 0: an earlier
 * time is 0.
 */
uint64_t merge_raw_time(const struct merge *merge, const struct merge_file *file, uint32_t cpu, uint64_t time);

#endif
