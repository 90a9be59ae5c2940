/* SPDX-License-Identifier: MIT */
/* The notes of merged files. */
#ifndef CLI_MERGE_NOTES_H
#define CLI_MERGE_NOTES_H

#include "cli/files/merge_files.h"

/*
 * Writes the notes of all files as one: processes, hidden threads, offsets and losses of each, the clock readings of
 * the first file, whose clock the result has, and how far the times of different files may be apart. 0; -ENOMEM.
 */
int merge_put_notes(const struct merge *merge);

#endif
