/* SPDX-License-Identifier: MIT */
/* A directory that is looked at again and again. */
#ifndef CLI_DIR_WATCH_H
#define CLI_DIR_WATCH_H

#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>

/* Begins as zeros. Nanoseconds of CLOCK_REALTIME. */
struct dir_watch {
	uint64_t changed;   /* the directory, when it was last looked at */
	uint64_t looked_at; /* which was then */
};

/* Whether the open directory may have changed since this was last asked. */
bool dir_watch_has_changed(struct dir_watch *watch, int dir);

/* A stream of its entries that leaves the descriptor alone. NULL: errno says why. */
DIR *dir_entries(int dir);

#endif
