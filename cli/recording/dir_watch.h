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
	bool notified;	    /* the kernel says what happens there, by */
	int events;	    /* this descriptor (inotify) */
	uint64_t retry_ms;  /* CLOCK_MONOTONIC: when to look again, */
	unsigned int tries; /* after so many looks that were in vain */
};

/*
 * Let the kernel say when the open directory changes: to ask costs one system call then, and opens nothing. Where
 * that cannot be had its time stamp is looked at. dir_watch_close() ends it.
 */
void dir_watch_open(struct dir_watch *watch, int dir);
void dir_watch_close(struct dir_watch *watch);

/* Whether the open directory may have changed since this was last asked. */
bool dir_watch_has_changed(struct dir_watch *watch, int dir);

/*
 * Whether to look at it: it may have changed, or `again`: something in it was not ready. That is tried often at
 * first, then less and less; dir_watch_retry(): now.
 */
bool dir_watch_is_due(struct dir_watch *watch, int dir, bool again);
void dir_watch_retry(struct dir_watch *watch);

/* A stream of its entries that leaves the descriptor alone. NULL: errno says why. */
DIR *dir_entries(int dir);

#endif
