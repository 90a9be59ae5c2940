/* SPDX-License-Identifier: MIT */
/* Waits until another process appends to a file, and finds out when no process writes to it any more. */
#ifndef CLI_FILE_WATCH_H
#define CLI_FILE_WATCH_H

#include <signal.h>
#include <stdbool.h>

/* Begins as zeros. */
struct file_watch {
	bool open;
	int file;
	int events;	      /* inotify */
	bool closed;	      /* a writer has closed the file */
	unsigned int pace_ms; /* if so, and nothing is new: the time until the next search for other writers */
};

/* Begin to watch for changes. 0; or the errno of open or of inotify. file_watch_close() ends this. */
int file_watch_open(struct file_watch *watch, const char *path);
void file_watch_close(struct file_watch *watch);

/*
 * Wait until the file may have changed since the last call, or since it was opened. 1; 0: it has not, and has no
 * writer; -EINTR: *stopped became true, set by the handler of a signal in `signals`; -EPIPE: nobody reads `out`, a
 * descriptor, any more.
 *
 * Only the owner of a file, and root, can ask the kernel whether it has a writer. For other users, the first close by a
 * writer counts as the last.
 */
int file_watch_wait(struct file_watch *watch, int out, const sigset_t *signals, const volatile sig_atomic_t *stopped);

#endif
