/* SPDX-License-Identifier: MIT */
/*
 * Threads that grow: while a reader permits it, a thread whose lane is full of unread events continues in another lane
 * instead of overwriting them.
 *
 * Guarantees. Signal-safe; no thread waits. No lane becomes larger, and there are no more lanes than the cap allows, so
 * there is not more memory either. A quarter of the lanes is left to threads that begin later, and the file system
 * keeps free room. The thread keeps the lanes that it leaves, as after a resize (lane_control.c), and comes back to
 * them when they were read. A thread that called rec_thread_attach() does not grow: it was promised that its events
 * make no system calls.
 *
 * When no reader permits it any more, threads give up lanes in which everything was read: their memory is given back,
 * and a lane that is not made remains. A reader permits growth for some seconds, and repeats that, so the permission of
 * a reader that was killed ends soon.
 */
#include "librecorder/os/signal_block.h"
#include "librecorder/core/atomic.h"
#include "librecorder/process/lane_private.h"
#include "librecorder/process/process.h"

#include <errno.h>
#include <sys/vfs.h>

/* A thread that found nothing to do looks again when it has entered this part of its lane's sub-buffers. */
#define PATIENCE_PART 16u

/* Sub-buffers that this thread enters until it looks again, unless the permission has changed since it looked. */
static __thread uint32_t patience __attribute__((tls_model("initial-exec")));
static __thread uint64_t looked_for __attribute__((tls_model("initial-exec")));

static uint32_t part_of(const struct rec_handle *handle)
{
	const uint32_t part = handle->nr_subbufs / PATIENCE_PART;

	return part ? part : 1;
}

/*
 * The number of sub-buffers that a thread which continues in this lane can fill before it overwrites unread events; 0
 * for a lane that cannot be used. The lane may be another thread's, so its handle is not used. Readers write some of
 * the words, so the result is an estimate.
 */
static uint32_t room_in(uint32_t index, const struct rec_handle *like)
{
	const struct rec_lane *lane = rec_lane_at(index);
	const struct rec_handle *handle = &rec_pool.handles[index];
	uint64_t touched, gone, unread;

	if (rec_load_relaxed(&lane->broken) || rec_load_relaxed(&handle->disabled) ||
	    rec_load_relaxed(&lane->subbuf_size) != UINT32_C(1) << like->shift ||
	    rec_load_relaxed(&lane->nr_subbufs) != like->nr_subbufs)
		return 0;
	touched = rec_load_relaxed(&lane->pages_touched);
	gone = rec_load_relaxed(&lane->pages_lost) + rec_load_relaxed(&handle->reader->pages_read);
	unread = touched > gone ? touched - gone : 0;
	/* The reader page is not in the ring, and the sub-buffer that the tail is on may be full. */
	return unread + 2 < like->nr_subbufs ? like->nr_subbufs - 2 - (uint32_t)unread : 0;
}

/*
 * Of the lanes that the thread has left, and those that are not in use, find the one with the most room. Returns the
 * room.
 */
static uint32_t find_roomiest(uint32_t tid, const struct rec_handle *like, uint32_t *ret_index)
{
	const uint32_t lanes = rec_lanes();
	uint32_t index, room, most = 0;

	for (index = 0; index < lanes; index++) {
		if (!rec_lane_is_made(index) || rec_lane_is_shared(index) ||
		    (rec_load_relaxed(&rec_lane_at(index)->owner) && !rec_thread_has_left(index, tid)))
			continue;
		room = room_in(index, like);
		if (room > most) {
			most = room;
			*ret_index = index;
		}
	}
	return most;
}

/*
 * Become the owner of a lane that is not in use, and not shared: it may have become a shared one since the caller
 * looked. Whether it is shared changes only while a thread owns it.
 */
static bool claim_unshared(uint32_t index, uint32_t tid)
{
	if (!rec_lane_claim(index, tid))
		return false;
	if (!rec_lane_is_shared(index))
		return true;
	rec_lane_give_back(index);
	return false;
}

static bool claim(uint32_t index, uint32_t tid, const struct rec_shape *shape)
{
	if (!claim_unshared(index, tid))
		return false;
	if (rec_lane_is_usable(index, shape))
		return true;
	rec_lane_give_back(index);
	return false;
}

/* Whether enough lanes would be left for threads that begin later. */
static bool may_take_more(void)
{
	const uint32_t max = rec_pool.geometry.max_lanes;
	const int32_t spare = rec_load_relaxed(&rec_pool.free_lanes);

	return max - rec_lanes() + (spare > 0 ? (uint32_t)spare : 0) > max / 4;
}

/*
 * Whether enough room is left for other programs in a small file system, such as a container's /dev/shm: all lanes of
 * this program would fit once more.
 */
static bool has_room_for_others(void)
{
	struct statfs fs;

	return statfs(rec_process_path(), &fs) == 0 &&
	       (!fs.f_blocks || fs.f_bavail >= rec_pool.geometry.file_size / (uint64_t)fs.f_bsize);
}

/* Move to a lane with room. False: no such lane is available. */
static bool move(const struct rec_handle *full)
{
	const struct rec_shape shape = { UINT32_C(1) << full->shift, full->nr_subbufs - 1 };
	const uint32_t tid = rec_thread_id();
	uint32_t index = 0, made = 0;
	const uint32_t room = find_roomiest(tid, full, &index);
	bool was_own = room && rec_load_relaxed(&rec_lane_at(index)->owner) == tid;
	bool found = room >= full->nr_subbufs / 2 && (was_own || (may_take_more() && claim(index, tid, &shape)));

	if (!found && has_room_for_others() &&
	    rec_lane_take_new(tid, &shape, !may_take_more(), &made, &was_own) == 0) {
		__atomic_fetch_add(&rec_pool.grown, 1, __ATOMIC_RELAXED);
		index = made;
		found = true;
	}
	/* A lane with little room is better than overwriting at once. */
	if (!found && room >= part_of(full) && rec_thread_has_left(index, tid))
		found = was_own = true;
	if (found)
		rec_thread_continue(index, was_own);
	return found;
}

/* Give up a lane that the calling thread has left, or one that is not in use. */
static bool give_up(uint32_t index, uint32_t tid)
{
	bool done;

	/* Leave a shared lane alone: the threads that share it should not find it taken. */
	if (rec_lane_is_shared(index))
		return false;
	if (rec_thread_has_left(index, tid))
		return rec_lane_unmake(index);
	if (!claim_unshared(index, tid))
		return false;
	rec_lane_repair(index);
	done = rec_lane_unmake(index);
	if (done) {
		rec_pool.handles[index].lane = NULL;
		rec_store_release(&rec_lane_at(index)->owner, 0);
	} else {
		rec_lane_give_back(index);
	}
	return done;
}

/* Take one from the count of lanes that may be given up; other threads may do the same. False: it is 0. */
static bool take_grown(void)
{
	uint32_t grown = rec_load_relaxed(&rec_pool.grown);

	while (grown && !rec_cmpxchg32(&rec_pool.grown, &grown, grown - 1))
		continue;
	return grown;
}

/* Called when no reader permits growth any more: give up as many lanes as threads have taken because they grew. */
static void shrink(void)
{
	const uint32_t tid = rec_thread_id();
	uint32_t index = rec_lanes();

	while (index-- && take_grown())
		if (!give_up(index, tid))
			__atomic_fetch_add(&rec_pool.grown, 1, __ATOMIC_RELAXED);
}

static __attribute__((noinline)) struct rec_handle *grow_or_shrink(struct rec_handle *handle, uint64_t until)
{
	const int saved = errno;
	struct rec_signal_block block;

	if (rec_process_is_guest())
		return handle;
	rec_signal_block_begin(&block);
	/* The thread may have moved since this event looked for a lane. */
	if (rec_thread_handle == handle) {
		patience = part_of(handle);
		looked_for = until;
		if (until <= rec_clock_mono())
			shrink();
		else if (move(handle))
			patience = 0;
	}
	handle = rec_thread_handle;
	rec_signal_block_end(&block);
	errno = saved;
	return handle;
}

struct rec_handle *rec_thread_grow(struct rec_handle *handle)
{
	const uint64_t until = rec_load_relaxed(&rec_pool.header->grow_until);

	if (REC_LIKELY(!until && !rec_load_relaxed(&rec_pool.grown)))
		return handle;
	if (patience && looked_for == until) {
		patience--;
		return handle;
	}
	return rec_thread_is_attached() ? handle : grow_or_shrink(handle, until);
}
