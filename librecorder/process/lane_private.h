/* SPDX-License-Identifier: MIT */
/*
 * What the pool of lanes (lane.c), the threads that lease them (lane_thread.c), those that share (lane_share.c) and
 * those that change them (lane_control.c) have in common.
 */
#ifndef LANE_PRIVATE_H
#define LANE_PRIVATE_H

#include "librecorder/ring/ring_private.h"

#include <librecorder/lane.h>

struct rec_lane *rec_lane_at(uint32_t index);

uint32_t rec_lane_index(const struct rec_handle *handle);

/* Lanes that the file counts. */
uint32_t rec_lanes(void);

/* Whether the lane has its ring. Where the caller has the lane, and elsewhere once it was seen to be so. */
bool rec_lane_is_made(uint32_t index);

/* Sub-buffers of this size, and this many of them in the ring. 0: any size; any number. */
struct rec_shape {
	uint32_t subbuf_size;
	uint32_t pages;
};

bool rec_lane_has_shape(const struct rec_handle *handle, const struct rec_shape *shape);

/* Give a handle, and the lane's meta page, this shape, which is complete. */
void rec_lane_shape(struct rec_handle *handle, uint32_t index, const struct rec_shape *shape);

/* Memory for meta page, reader page and ring of this shape. 0 or as rec_process_populate(). */
int rec_lane_populate(uint32_t index, const struct rec_shape *shape);

/* The caller has the lane, and nobody writes there: what its last writer left is put right. */
void rec_lane_repair(uint32_t index);

/*
 * Repair and give back the lanes of threads that ended by a raw exit while they moved the head: until then readers wait. `tid`
 * is the caller's. Signals blocked.
 */
void rec_lane_settle_orphans(uint32_t tid);

/*
 * Become the owner of a lane of the pool that has this shape, made if need be and put right. NULL: a lane with sub-buffers of
 * the size that lanes have now; if there is none, any lane. 0, or -errno. Signals blocked.
 */
int rec_lane_take(uint32_t tid, const struct rec_shape *shape, uint32_t *ret_index);

/* The same for this very lane, if it has a ring and nobody has it. */
bool rec_lane_claim(uint32_t index, uint32_t tid);

/* Become the owner of a lane whose owner, another thread than the caller, is gone. False: it lives. */
bool rec_lane_take_over(uint32_t index, uint32_t owner, uint32_t tid);

/* Whoever wants it may have the lane. */
void rec_lane_give_back(uint32_t index);

/* Make the handle of a lane that was taken the calling thread's; its lane pointer is set last. */
void rec_lane_bind(uint32_t index, uint32_t tid);

/*
 * The lane was just taken, and nothing is reserved there: make it anew with this shape, unless it has it. 0; -EBUSY: it
 * holds events that nobody has read, or a reader has it open; or as rec_process_populate().
 */
int rec_lane_fit(uint32_t index, const struct rec_shape *shape);

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

/*
 * The calling thread continues in another lane, of this shape as in rec_lane_take(). It keeps the lane that it leaves: a
 * writer that this one interrupted may be about to write there. 0, or why there is no such lane. Signals blocked.
 */
int rec_thread_move(const struct rec_shape *shape);

/*
 * Give back the lanes that the calling thread left and in which nothing is open. It must not be in a signal handler, which
 * may have interrupted a writer there. Signals blocked.
 */
void rec_thread_give_back_left(void);

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
