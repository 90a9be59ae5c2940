/* SPDX-License-Identifier: MIT */
/* What leasing lanes (lane.c) and changing them (lane_control.c) share. */
#ifndef LANE_PRIVATE_H
#define LANE_PRIVATE_H

#include <librecorder/lane.h>

struct rec_lane *rec_lane_at(uint32_t index);

/* Give a handle, and the lane's meta page, the shape that goes with this sub-buffer size. */
void rec_lane_shape(struct rec_handle *handle, uint32_t index, uint32_t subbuf_size);

/* The caller has the lane, and nobody writes there: what its last writer left is put right. */
void rec_lane_repair(uint32_t index);

/* Become the owner of a lane, made if need be and put right. 1, or -errno. Signal-safe. */
int rec_lane_take(uint32_t tid, uint32_t *ret_index);

/* Whoever wants it may have the lane. */
void rec_lane_give_back(uint32_t index);

/* Make the handle of a lane that was taken the calling thread's; its lane pointer is set last. */
void rec_lane_bind(uint32_t index, uint32_t tid);

/* The calling thread's end is to give this handle's lane back. */
void rec_lane_watch_end(struct rec_handle *handle);

/*
 * The lane was just taken and nobody writes there yet: give it the sub-buffer size that lanes have now, unless a reader
 * has it.
 */
void rec_lane_adapt(uint32_t index);

/* The gate of a lane is closed: do what is wished for. The handle to go on with, or NULL: the lane is disabled. */
struct rec_handle *rec_lane_attend(struct rec_handle *handle);

#endif
