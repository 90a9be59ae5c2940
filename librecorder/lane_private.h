/* SPDX-License-Identifier: MIT */
/*
 * What the pool of lanes (lane.c), the threads that lease them (lane_thread.c), those that share (lane_share.c) and
 * those that change them (lane_control.c) have in common.
 */
#ifndef LANE_PRIVATE_H
#define LANE_PRIVATE_H

#include "ring_private.h"

#include <librecorder/lane.h>

struct rec_lane *rec_lane_at(uint32_t index);

uint32_t rec_lane_index(const struct rec_handle *handle);

/* Lanes that the file counts. */
uint32_t rec_lanes(void);

/* Whether the lane has its ring. Where the caller has the lane, and elsewhere once it was seen to be so. */
bool rec_lane_is_made(uint32_t index);

/* Give a handle, and the lane's meta page, the shape that goes with this sub-buffer size. */
void rec_lane_shape(struct rec_handle *handle, uint32_t index, uint32_t subbuf_size);

/* The caller has the lane, and nobody writes there: what its last writer left is put right. */
void rec_lane_repair(uint32_t index);

/*
 * Repair and give back the lanes of threads that ended by a raw exit while they moved the head: until then readers wait. `tid`
 * is the caller's. Signals blocked.
 */
void rec_lane_settle_orphans(uint32_t tid);

/* Become the owner of a lane of the pool, made if need be and put right. 0, or -errno. Signals blocked. */
int rec_lane_take(uint32_t tid, uint32_t *ret_index);

/* The same for this very lane, if it has a ring and nobody has it. */
bool rec_lane_claim(uint32_t index, uint32_t tid);

/* Whether the thread that owns a lane is gone. `owner` is of another thread than the caller. */
bool rec_lane_is_orphan(uint32_t owner);

/* Whoever wants it may have the lane. */
void rec_lane_give_back(uint32_t index);

/* Make the handle of a lane that was taken the calling thread's; its lane pointer is set last. */
void rec_lane_bind(uint32_t index, uint32_t tid);

/*
 * The lane was just taken and nobody writes there yet: give it the sub-buffer size that lanes have now, unless a reader
 * has it.
 */
void rec_lane_adapt(uint32_t index);

/* The gate of a lane is closed: do what is wished for. The handle to go on with, or NULL: the lane is disabled. */
struct rec_handle *rec_lane_attend(struct rec_handle *handle);

/* An event is lost because no lane could be had, says -errno. */
void rec_lane_count_lost(int err);

/* Handles from before fork, in the child: they lead to where they did, for events that fork interrupted. */
void rec_lane_restore_handles(void);

uint32_t rec_thread_id(void);
const uint32_t *rec_thread_cpu(void);

/* Lease a lane for the calling thread, which has none of its own. 0, or -errno. */
int rec_thread_lease(void);

/* The calling thread's end is to give back what it has. */
void rec_thread_watch_end(void);

/*
 * Where a thread goes whose lane is stuck (struct rec_handle, elsewhere). It keeps the lane that is stuck, for its
 * writer may come back, until it ends or finds it idle when it looks for another one.
 */
struct rec_handle *rec_thread_elsewhere(struct rec_handle *stuck);

/* Whether the calling thread has lanes besides the one that its handle shows. */
bool rec_thread_has_moved(void);

/* No lane of its own can be had, says -errno: from now on the calling thread shares. Its handle. Signals blocked. */
struct rec_handle *rec_share_begin(int err);

bool rec_share_is_handle(const struct rec_handle *handle);

/* The caller has the lane, which is put right: from now on it is shared. Signals blocked. */
void rec_share_add(uint32_t index);

/* Whether the pool is to give a lane away to be shared, before it is used up. */
bool rec_share_wants_lane(void);

/* Fork's child has no lanes to share. */
void rec_share_forked(void);

#endif
