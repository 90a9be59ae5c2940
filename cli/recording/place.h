/* SPDX-License-Identifier: MIT */
/* A directory that is watched for buffers that come into being. */
#ifndef CLI_PLACE_H
#define CLI_PLACE_H

#include <librecorder/reader.h>

#include "cli/recording/dir_watch.h"
#include "cli/recording/drain.h"
#include "cli/recording/family.h"

struct buffer {
	char *name;
	uint64_t inode;
	struct rec_view *view; /* ours, and not over yet: to switch its events; the drain reads by another */
	bool taken;	       /* one of ours, named by the user or met */
	bool old;	       /* there before the recording, and not one that the user named */
	bool seen;	       /* by the last scan */
	bool passed_over;      /* what was in its lanes when it was found */
	struct process self, parent;
};

struct place {
	int fd;
	struct drain *drain;
	struct buffer *list;
	unsigned int nr;
	struct dir_watch watch;
	bool again; /* look at it, changed or not */
	int err;    /* why the last scan could not look at something: -errno; 0: it could */
};

/* The buffer that is listed under this name, or NULL. Valid until another one is added or dropped. */
struct buffer *place_find(struct place *place, const char *name, uint64_t inode);

/* List a buffer, by an open view that stays the caller's. NULL: no memory. */
struct buffer *place_add(struct place *place, const char *name, uint64_t inode, const struct rec_view *view);

/* Those whose files the last scan did not see need not be remembered, unless they have a view. */
void place_forget(struct place *place);

/* Close all that it has open. */
void place_close(struct place *place);

#endif
