/* SPDX-License-Identifier: MIT */
/* A directory that is watched for buffers that come into being. */
#ifndef CLI_PLACE_H
#define CLI_PLACE_H

#include <librecorder/reader.h>
#include <time.h>

#include "cli/drain.h"
#include "cli/family.h"

struct buffer {
	char *name;
	uint64_t inode;
	struct rec_view *view; /* ours, and not over yet: to switch its events; the drain reads by another */
	bool taken;	       /* met, and one of ours */
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
	struct timespec changed; /* the directory, when it was last looked at */
	bool again;		 /* look at it whatever its time stamp says */
};

/* The buffer that is listed under this name, or NULL. Valid until another one is added or dropped. */
struct buffer *place_find(struct place *place, const char *name, uint64_t inode);

/* List a buffer, by an open view that stays the caller's. NULL: no memory. */
struct buffer *place_add(struct place *place, const char *name, uint64_t inode, const struct rec_view *view);

/* Those whose files the last scan did not see need not be remembered, unless they have a view. */
void place_forget(struct place *place);

/* Whether the directory may have changed since this was last asked. */
bool place_has_changed(struct place *place);

/* Close all that it has open. */
void place_close(struct place *place);

#endif
