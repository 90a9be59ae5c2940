/* SPDX-License-Identifier: MIT */
/* Shared by attach.c, attach_follow.c and attach_stopped.c. */
#ifndef CLI_ATTACH_PRIVATE_H
#define CLI_ATTACH_PRIVATE_H

#include "cli/base/message.h"
#include "cli/recording/attach.h"
#include "cli/recording/family.h"
#include "cli/recording/watched_dir.h"

/* Programs that belong to the recording, and cannot be recorded. */
struct missed {
	unsigned int nr;
	char pid[PROGRAMS_PID_SIZE]; /* pid of the first one */
	char comm[32];
	const char *reason;
};

struct attach {
	const struct message_sink *sink;
	const struct selections *selections;
	char *patterns; /* patterns of their events, for rec_view_borrow() */
	struct watched_dir *watched_dirs;
	unsigned int nr;
	struct family family;
	unsigned int waiting; /* the most programs at a time for which there were no descriptors */
	uint64_t looked_ms; /* when it was last checked whether the programs are alive */
	uint64_t alive_ms;  /* when one of the programs was last found alive */
	struct missed missed;
	struct drain_trouble trouble;
};

/*
 * Switch on the events of one of the programs: 0, or as rec_view_borrow(). If it has ended, the events in its buffer
 * are recorded nevertheless.
 */
int attach_switch_on(const struct attach *attach, const struct buffer *buffer);

/* The reason why attach_switch_on() failed, in words. */
const char *attach_reason(const struct rec_view *view, int err);

/*
 * Look for buffers that are not listed. With `first`, existing buffers are only listed. Returns whether some of them
 * belong to the recording, or the error that stops the recording.
 */
int attach_scan(struct attach *attach, struct watched_dir *watched, bool first);

/* The same for all directories that have changed. */
int attach_follow(struct attach *attach);

#endif
