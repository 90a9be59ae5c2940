/* SPDX-License-Identifier: MIT */
/* Between attach.c and attach_follow.c. */
#ifndef CLI_ATTACH_PRIVATE_H
#define CLI_ATTACH_PRIVATE_H

#include "cli/base/message.h"
#include "cli/recording/attach.h"
#include "cli/recording/family.h"
#include "cli/recording/place.h"

/* Programs that are ours, and cannot be had. */
struct missed {
	unsigned int nr;
	char pid[PROGRAMS_PID_SIZE]; /* of the first one */
	char comm[32];
	const char *reason;
};

struct attach {
	const struct message_sink *sink;
	const struct selections *selections;
	char *patterns; /* theirs, as rec_view_borrow() takes them */
	struct place *places;
	unsigned int nr;
	struct family family;
	uint64_t looked_ms; /* when it was last asked whether they are alive, */
	uint64_t alive_ms;  /* and when one of them was */
	struct missed missed;
	struct drain_trouble trouble;
};

/*
 * Switch the events of one of ours on: 0, or as rec_view_borrow(). What one that has
 * ended has left is recorded all the same.
 */
int attach_switch_on(const struct attach *attach, const struct buffer *buffer);

/* Why that could not be done, in words. */
const char *attach_reason(const struct rec_view *view, int err);

/*
 * Look for buffers that are not listed; the `first` time what is there is merely listed. Returns whether there were
 * some of ours, or what stops the recording.
 */
int attach_scan(struct attach *attach, struct place *place, bool first);

/* The same of all directories that have changed. */
int attach_follow(struct attach *attach);

#endif
