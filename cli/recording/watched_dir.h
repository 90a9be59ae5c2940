/* SPDX-License-Identifier: MIT */
/* A directory that is watched for new buffers. */
#ifndef CLI_WATCHED_DIR_H
#define CLI_WATCHED_DIR_H

#include <librecorder/reader.h>

#include "cli/recording/dir_watch.h"
#include "cli/recording/drain.h"
#include "cli/recording/family.h"
#include "format/io/number_map.h"

struct buffer {
	char *name;
	uint64_t inode;
	struct rec_view
		*view; /* our view, while the program is recorded: to switch its events; the drain has another view */
	bool taken;	       /* recorded by us, because the user named it or it belongs to a recorded program */
	bool old;	       /* existed before the recording, and was not named by the user */
	bool seen;	       /* found by the last scan */
	bool passed_over;      /* the events that were in its lanes when it was found were skipped */
	struct rec_view_losses before; /* its losses until then; otherwise 0 */
	struct process self, parent;
};

struct watched_dir {
	int fd;
	struct drain *drain;
	struct buffer *list;
	unsigned int nr;
	struct number_map by_inode; /* during a scan: index + 1 of a buffer that was listed with this inode */
	struct dir_watch watch;
	bool again; /* scan it, changed or not */
	bool full;  /* there were no descriptors for a buffer: it is tried again when other buffers are closed */
	int err;    /* reason why the last scan was incomplete: -errno; 0: it was complete */
};

/* A scan begins: no buffer is seen yet. 0 or -ENOMEM. */
int watched_dir_begin_scan(struct watched_dir *watched);

/*
 * The buffer that is listed under this name, or NULL. Only during a scan. Valid until another one is added or dropped.
 */
struct buffer *watched_dir_find(struct watched_dir *watched, const char *name, uint64_t inode);

/* List a buffer, by an open view that still belongs to the caller. NULL: no memory. */
struct buffer *watched_dir_add(struct watched_dir *watched, const char *name, uint64_t inode,
			       const struct rec_view *view);

/* Whether it is the directory of a recording of a command: it has the link to the spool. */
bool watched_dir_is_session(const struct watched_dir *watched);

/* Whether the recorder of such a recording is alive: it has the directory's lock. May wait a second. */
bool watched_dir_is_locked(const struct watched_dir *watched);

/* Drop buffers whose files the last scan did not find, unless they have a view. */
void watched_dir_forget(struct watched_dir *watched);

/* Close everything that is open for the directory. */
void watched_dir_close(struct watched_dir *watched);

#endif
