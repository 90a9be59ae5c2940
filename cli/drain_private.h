/* SPDX-License-Identifier: MIT */
/* Between drain.c and drain_find.c. */
#ifndef CLI_DRAIN_PRIVATE_H
#define CLI_DRAIN_PRIVATE_H

#include <librecorder/abi.h>
#include <librecorder/reader.h>

#include "cli/dir_watch.h"
#include "cli/drain.h"

/* One buffer that was found. */
struct drained {
	struct rec_view *view; /* NULL: finished, or not to be opened; stays listed as long as its file exists */
	char name[256];
	uint64_t inode;
	unsigned int process; /* its number in the spool */
	uint64_t log_at;
	uint64_t alive_ms; /* when its program was last known to live */
	bool rates_added;
	unsigned int nr_lanes;
	unsigned char *lane_off; /* nonzero: this lane gives nothing more */
	unsigned int retries;	 /* left in this turn */
	int unread;		 /* why a lane could not be read in this turn: -errno; or 0 */
	bool busy;		 /* somebody else reads a lane */
	bool kept;		 /* a lane was left to somebody else */
	bool cut;		 /* the file was cut short: nothing more comes of it */
};

struct drain {
	struct spool *spool;
	char only[256];
	unsigned int flags; /* DRAIN_ */
	bool last; /* there will be no other time */
	int fd;
	struct drained *list;
	unsigned int nr, room;
	struct dir_watch watch;
	bool again; /* look at the directory, changed or not */
	uint64_t anchored_at; /* ns, CLOCK_MONOTONIC */
	bool clocks[REC_CLOCK_MONO + 1]; /* in use */
	unsigned char *block;		 /* LOG_BLOCK bytes */
	struct drain_trouble trouble;
};

/* Take anchors of the clocks in use, if it is time for that or `now`. 0 or what the spool met. */
int drain_anchors(struct drain *drain, bool now);

/* The program's own. 0 or what the spool met. */
int drain_program_anchors(struct drain *drain, const struct drained *one);

/* Look for files that are not listed. 0, or why that cannot be done at the last time; what the spool met. */
int drain_scan(struct drain *drain);

/* The one file of this name, unless it is listed. 0 or as drain_scan(). */
int drain_look_for(struct drain *drain, const char *name);

/*
 * Whether this error is no matter of what is in the buffer: no descriptor or
 * memory to spare, a disk that does not answer.
 */
bool drain_may_pass(int err);

/* A buffer could not be read, because of this error. */
void drain_note_bad(struct drain *drain, const struct drained *one, int err);

#endif
