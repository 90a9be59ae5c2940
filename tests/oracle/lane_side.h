/* SPDX-License-Identifier: MIT */
/*
 * Our side: the lane of this thread, in the buffer of this process, read and controlled through the public functions.
 * Two things are changed by direct access: the lane's mode, which is otherwise that of the process, and the capacity of
 * its sub-buffers, which is set to that of the kernel's.
 */
#ifndef LANE_SIDE_H
#define LANE_SIDE_H

#include "side.h"

#include <librecorder/lane.h>
#include <librecorder/reader.h>

/* The lane's memory has room for this many pages of 32 KiB. */
#define LANE_PAGES_MAX 12u

struct lane_side {
	struct rec_handle *handle;
	struct rec_view *view;
	unsigned int lane;
	uint32_t lead; /* what every page begins with: marker and stamp */
	uint32_t pages;
	unsigned char *page;
};

void lane_open(struct lane_side *side);
void lane_close(struct lane_side *side);

/*
 * Continue in an empty lane whose sub-buffers, as large as necessary, have room for `capacity` bytes; counters at 0.
 * Returns the number of its next event.
 */
uint64_t lane_shape(struct lane_side *side, uint32_t pages, uint32_t capacity);

bool lane_write(struct lane_side *side, uint64_t number, uint32_t size);

/* Read the next page in place, or a copy with room for `room` bytes of records. Returns 1, 0 or -1 as kernel_read(). */
int lane_read(struct lane_side *side, struct batch *ret_batch);
int lane_copy(struct lane_side *side, uint32_t room, struct batch *ret_batch);

/* Peek at one event, and then consume it. Returns 1 or -1. */
int lane_consume(struct lane_side *side, struct batch *ret_batch);

/* 0 or negative errno. */
int lane_reset(struct lane_side *side);

void lane_set_overwrite(struct lane_side *side, bool on);
void lane_set_on(struct lane_side *side, bool on);

/* The events that were refused because they were too long, and because the lane was off. */
struct lane_refusals {
	uint64_t too_long, disabled;
};

void lane_stats(struct lane_side *side, struct side_stats *ret_stats, struct lane_refusals *ret_refusals);

#endif
