/* SPDX-License-Identifier: MIT */
/* What the files of the reader's side have in common: an open buffer and its lanes. */
#ifndef READER_PRIVATE_H
#define READER_PRIVATE_H

#include <librecorder/reader.h>

#include "ring_private.h"

struct view_lane {
	struct rec_ring_reader ring;
	void *shared; /* the mapping of reader words and links; NULL: not opened */
	bool damaged;
	bool promised;	      /* a wait said that there is an event, */
	uint64_t promised_at; /* when the reader stood here */
};

/* A lane of the merge of all. */
struct merge_lane {
	uint64_t time; /* of its next event */
	uint64_t read; /* position of the lane's reader when that was looked up */
	bool queued;
};

struct merge {
	struct merge_lane *lanes;
	uint32_t *heap; /* lanes that have an event, the earliest on top */
	uint32_t nr_lanes;
	uint32_t nr_heap;
	uint64_t looked_at; /* the buffer's clock when the other lanes were last looked at */
};

struct rec_view {
	struct rec_view_info info;
	const unsigned char *map;
	size_t size;
	int fd;
	uint64_t self; /* this process, as lanes name their reader */
	uint64_t enable;
	uint64_t rules;
	uint64_t log;
	uint64_t log_size;
	uint64_t lanes;
	uint64_t lane_stride;
	uint64_t lane_reader;
	uint64_t lane_meta;
	uint32_t max_subbufs;
	struct view_lane *opened; /* max_lanes of them */
	struct merge merge;
	uint32_t wake;	/* futex; counts calls of rec_view_wake() */
	uint32_t woken; /* of them that a wait has ended by */
};

static inline const struct rec_buffer_header *rec_view_header(const struct rec_view *view)
{
	return (const struct rec_buffer_header *)(const void *)view->map;
}

/*
 * A reader of a lane as far as it can look without owning it: read-only, the shape checked, no position of its own.
 * 0; -EINVAL: no such lane; -EAGAIN: the program is changing its shape; -EBADMSG.
 */
int rec_view_look(const struct rec_view *view, uint32_t index, struct rec_ring_reader *ret_ring);

/* Behind an acquire fence: until the fence the lane had the shape that was looked at. */
bool rec_view_still(const struct rec_ring_reader *ring);

/*
 * The lane, opened, ours and not damaged. 0; -ENODATA: it has nothing and never will; or -errno as rec_view_read().
 */
int rec_view_lane(struct rec_view *view, uint32_t index, struct view_lane **ret_lane);

/*
 * What a call on the lane's ring returned, on its way to the user: damage is remembered. True: call again, for the
 * marks of a writer that is gone were settled; *tries counts these.
 */
bool rec_view_again(struct rec_view *view, struct view_lane *lane, int r, unsigned int *tries);

/* Nobody writes any more. */
bool rec_view_writers_are_gone(const struct rec_view *view);

/* ns after which a sleeper looks whether the program lives. A test makes it long: then nothing hides a lost wake-up. */
extern uint64_t rec_wait_life_slice;

void rec_merge_free(struct merge *merge);

#endif
