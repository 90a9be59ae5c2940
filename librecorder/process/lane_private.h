/* SPDX-License-Identifier: MIT */
/*
 * Shared by the pool of lanes (lane_pool.c, lane.c), the threads that lease them (lane_thread.c), those that share
 * (lane_share.c), those that grow (lane_grow.c), those that change lanes (lane_control.c), and the context values
 * (context.c).
 */
#ifndef LANE_PRIVATE_H
#define LANE_PRIVATE_H

#include "librecorder/process/geometry.h"
#include "librecorder/ring/ring_private.h"

#include <librecorder/lane.h>

/* Other data about a lane that only this process knows. */
struct rec_lane_own {
	uint32_t made;	 /* it has its ring */
	uint32_t shared; /* it is taken for one event at a time: its place among those lanes plus 1; or 0 */
	uint32_t bereft; /* the id of an ended thread whose lane another thread is just taking over (lane.c); or 0 */
};

/* What this process knows about its lanes. Other code uses the functions here and in lane_life.h. */
struct rec_pool {
	struct rec_buffer_header *header; /* NULL: there is no buffer */
	struct rec_handle *handles;	  /* one for each lane; zeroed in a copy of this process */
	struct rec_lane_own *own;	  /* one for each lane; the same */
	struct rec_geometry geometry;
	uint32_t clock;
	uint32_t overwrite;
	int32_t free_lanes; /* lanes that have a ring, are not shared, and are not in use */
	uint32_t grown;	    /* lanes that threads took because theirs were full, and that were not given up since */
	uint32_t nr_shared;
	struct rec_handle *shared[REC_SHARED_MAX]; /* handles of the shared lanes */
};

extern struct rec_pool rec_pool;

struct rec_lane *rec_lane_at(uint32_t index);

uint32_t rec_lane_index(const struct rec_handle *handle);

/* The number of lanes in the file. */
uint32_t rec_lanes(void);

/* Whether the lane has its ring. Valid if the caller has the lane, or after it was seen to be true. */
bool rec_lane_is_made(uint32_t index);

/* Whether threads take the lane for one event at a time. This changes only while a thread owns the lane. */
bool rec_lane_is_shared(uint32_t index);

/* Size and number of the sub-buffers in the ring. 0: any size; any number. */
struct rec_shape {
	uint32_t subbuf_size;
	uint32_t pages;
};

bool rec_lane_has_shape(const struct rec_handle *handle, const struct rec_shape *shape);

/* Give a handle, and the lane's meta page, this shape. Neither of its members is 0. */
void rec_lane_shape(struct rec_handle *handle, uint32_t index, const struct rec_shape *shape);

/* Give memory to meta page, reader page and ring of this shape. Returns the same values as rec_process_populate(). */
int rec_lane_populate(uint32_t index, const struct rec_shape *shape);

/* Repair what the lane's last writer left. The caller has the lane, and no thread writes there. */
void rec_lane_repair(uint32_t index);

/*
 * Repair and give back the lanes of threads that ended by a raw exit while they moved the head; until then readers
 * wait. `tid` is the caller's. Signals blocked.
 */
void rec_lane_settle_orphans(uint32_t tid);

/*
 * Become the owner of a lane of the pool that has this shape; it is made if necessary, and repaired. NULL: a lane with
 * sub-buffers of the current size, or else any lane. 0, or -errno. Signals blocked.
 */
int rec_lane_take(uint32_t tid, const struct rec_shape *shape, uint32_t *ret_index);

/*
 * The same for a lane without a ring: one that the caller has given up; or, unless `own_only`, another one, or a new
 * one. *ret_was_own: the caller owned it before. Returns 0 or -errno. Signals blocked.
 */
int rec_lane_take_new(uint32_t tid, const struct rec_shape *shape, bool own_only, uint32_t *ret_index,
		      bool *ret_was_own);

/* The same for this particular lane, if it has a ring and is not in use. */
bool rec_lane_claim(uint32_t index, uint32_t tid);

/* The caller became the owner of a lane that is made: repair it. Returns whether it can be used, with this shape. */
bool rec_lane_is_usable(uint32_t index, const struct rec_shape *shape);

/*
 * Become the owner of a lane whose owner, another thread than the caller, is gone. False: that thread lives, or a third
 * one takes the lane. Signals blocked. A child of vfork must not call it: the child may be killed during the call.
 */
bool rec_lane_take_over(uint32_t index, uint32_t owner, uint32_t tid);

/*
 * Whether the calling thread may become the owner of lanes. False: it has none yet, and another thread is just taking
 * over a lane from a former thread with the same id.
 */
bool rec_lane_may_own(uint32_t tid);

/* Make the lane available to any thread. */
void rec_lane_give_back(uint32_t index);

/* Give back a lane that the caller owns, whatever its last writer left, and whether or not it still has memory. */
void rec_lane_settle(uint32_t index);

/* Make the handle of a lane that was taken the calling thread's handle; its lane pointer is set last. */
void rec_lane_bind(uint32_t index, uint32_t tid);

/*
 * Remake a lane with this shape, unless it has that shape. The lane was just taken, and nothing is reserved there.
 * Returns 0; -EBUSY: it has events that were not read, or a reader has it open; or an error of rec_process_populate().
 */
int rec_lane_fit(uint32_t index, const struct rec_shape *shape);

/*
 * Give back the memory of a lane, except for its head, until it is made again. The caller has the lane, and nothing is
 * reserved there. False: it holds unread events, or a reader has it open.
 */
bool rec_lane_unmake(uint32_t index);

/* Become the reader of a lane that has none, so that no other reader begins (edge O2). False: a reader has it. */
bool rec_lane_take_from_readers(struct rec_handle *handle);

/*
 * Make a lane again that was given up. The caller is its reader, and readers may begin afterwards. Its handle is
 * complete.
 */
void rec_lane_make_again(struct rec_handle *handle);

/*
 * Called when the gate of a lane is closed: does what was requested. Returns the handle to continue with, or NULL: the
 * lane is disabled.
 */
struct rec_handle *rec_lane_on_gate(struct rec_handle *handle);

/* Count an event that is lost because no lane was available; the reason is -errno. */
void rec_lane_count_lost(int err);

/*
 * Called in a forked child: lets handles from before the fork lead to their old lanes again, for events that the fork
 * interrupted.
 */
void rec_lane_restore_handles(void);

/*
 * The calling thread's id; or REC_OWNER_HELD, which is not an id, if a seccomp filter forbids the system call, and did
 * so before the thread had a lane.
 */
uint32_t rec_thread_id(void);

static inline bool rec_is_thread_id(uint32_t tid)
{
	return (int32_t)tid > 0;
}

const uint32_t *rec_thread_cpu(void);

/* Lease a lane for the calling thread, which has none of its own. 0, or -errno. */
int rec_thread_lease(void);

/*
 * The calling thread continues in another lane, of this shape as in rec_lane_take(). It keeps its old lane, because a
 * writer that this one interrupted may be about to write there. 0, or the reason why there is no such lane. Signals
 * blocked.
 */
int rec_thread_move(const struct rec_shape *shape);

/*
 * Give back the lanes that the calling thread left and in which nothing is open. The thread must not be in a signal
 * handler, because the handler may have interrupted a writer there. Signals blocked.
 */
void rec_thread_give_back_left(void);

/*
 * The calling thread continues in this lane, which it has just taken, or which it owned already (`was_own`). It keeps
 * the lane that it leaves. Signals blocked.
 */
void rec_thread_continue(uint32_t index, bool was_own);

/* Whether the calling thread leased its lane by rec_thread_attach(): then its events make no system calls. */
bool rec_thread_is_attached(void);

/* Whether this is a lane that the calling thread has left, and nothing is open in it. */
bool rec_thread_has_left(uint32_t index, uint32_t tid);

/*
 * Called if the lane is full of unread events. Returns the handle of another lane of the thread, if a reader permits
 * that and there is one; else the same handle.
 */
struct rec_handle *rec_thread_grow(struct rec_handle *handle);

/* Make sure that the calling thread gives back its lanes when it ends. */
void rec_thread_watch_end(void);

/*
 * The lane in which a thread continues if its own is stuck (struct rec_handle, on_stuck). The thread keeps the lane
 * that is stuck, because its writer may come back, until the thread ends or, when it looks for another lane, finds it
 * idle.
 */
struct rec_handle *rec_thread_on_stuck(struct rec_handle *stuck);

/* Whether the calling thread has lanes in addition to that of its handle. */
bool rec_thread_has_moved(void);

/*
 * Called if no lane of its own is available for the calling thread; `err`, the reason, is -errno. From now on the
 * thread shares. Returns its handle. Signals blocked.
 */
struct rec_handle *rec_share_begin(int err);

bool rec_share_is_handle(const struct rec_handle *handle);

/*
 * The owner word of the shared lanes that the calling thread takes: its id, or a number that stands for the id. 0: it
 * has never shared. In a forked child that does not share, it may be that of the thread that forked.
 */
uint32_t rec_share_owner(void);

/* From now on this lane is shared. The caller has the lane, which was repaired. Signals blocked. */
void rec_share_add(uint32_t index);

/* Whether the pool must turn a lane into a shared one, before it is used up. */
bool rec_share_wants_lane(void);

/* Call it in a forked child, which has no lanes to share. */
void rec_share_forked(void);

#endif
