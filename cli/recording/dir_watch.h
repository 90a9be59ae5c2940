/* SPDX-License-Identifier: MIT */
/* Finds changes in a directory. */
#ifndef CLI_DIR_WATCH_H
#define CLI_DIR_WATCH_H

#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>

/* Begins as zeros. Nanoseconds of CLOCK_REALTIME. */
struct dir_watch {
	uint64_t changed;   /* the directory's time stamp at the last look */
	uint64_t looked_at; /* the time of the last look */
	bool notified;	    /* the kernel reports changes */
	int events;	    /* descriptor for these reports (inotify) */
	uint64_t retry_ms;  /* when to look again, CLOCK_MONOTONIC */
	unsigned int tries; /* number of looks without success so far */
};

/*
 * Let the kernel report changes of the open directory: then a check costs one system call, and opens nothing. If that
 * is not available, the directory's time stamp is checked. dir_watch_close() ends it.
 */
void dir_watch_open(struct dir_watch *watch, int dir);
void dir_watch_close(struct dir_watch *watch);

/* Whether the open directory may have changed since the last call. */
bool dir_watch_has_changed(struct dir_watch *watch, int dir);

/*
 * Whether to read the directory now: it may have changed, or `again`: something in it was not ready. Such a retry is
 * due soon at first, then less and less often; after dir_watch_retry() at once.
 */
bool dir_watch_is_due(struct dir_watch *watch, int dir, bool again);
void dir_watch_retry(struct dir_watch *watch);

/* A stream of the directory's entries, which does not take over the descriptor. NULL: errno has the reason. */
DIR *dir_entries(int dir);

#endif
