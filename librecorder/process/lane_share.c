/* SPDX-License-Identifier: MIT */
/*
 * Shared lanes: threads that have no lane of their own take them for one event at a time.
 *
 * The handle of such a thread has its gate closed, so each reservation leaves the fast path and comes here. By
 * one exchange of the owner, the thread becomes the only writer of a shared lane; a signal handler that interrupts it
 * takes another lane. The commit leaves the fast path, too, and gives the lane back. The lane is chosen by the CPU, so
 * its cache lines stay on that CPU and its events need no marker. It is held by another thread only if that thread was
 * preempted, or interrupted, in the middle of an event, or ended there without notice. Then the thread tries the next
 * lane, until it has tried each of them. If no lane is free, the event is lost and counted.
 *
 * The pool turns some of its lanes into shared ones before it is used up (rec_share_wants_lane()), so they exist when
 * they are needed. They stay shared.
 */
#include "librecorder/process/context_private.h"
#include "librecorder/process/lane_private.h"
#include "librecorder/core/atomic.h"
#include "librecorder/process/process.h"
#include "librecorder/os/signal_block.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

/*
 * The handle of a sharing thread points to this lane, because some code reads the handle's lane before the handle's
 * gate. No events are written to it.
 */
static struct rec_lane nowhere;

static __thread struct rec_handle own_handle __attribute__((tls_model("initial-exec")));

/*
 * The owner of the lanes that this thread takes: its id; without one, a number that is not an id, so no other thread
 * takes over a lane with this owner.
 */
static __thread uint32_t own_tid __attribute__((tls_model("initial-exec")));

/* If there is no lane to share, this number of events of the process are lost before the next attempt to get one. */
#define RETRY_INTERVAL 4096u

/*
 * After finding held lanes this number of times, a thread checks whether the holder of the last one is gone. Normally
 * few lanes are found held, and each is soon free again. The number is a prime above the number of shared lanes: so if
 * each search finds the same lanes held, each of them is checked in turn.
 */
#ifndef SHARE_PATIENCE
#define SHARE_PATIENCE 251u
#endif

static __thread uint32_t nr_held __attribute__((tls_model("initial-exec")));

/* Set when no lane was available for the first time. */
static uint32_t starved;

bool rec_share_is_handle(const struct rec_handle *handle)
{
	return handle == &own_handle;
}

uint32_t rec_share_owner(void)
{
	return own_tid;
}

bool rec_share_wants_lane(void)
{
	const struct rec_geometry *g = &rec_pool.geometry;

	return rec_load_relaxed(&rec_pool.nr_shared) < g->shared_max &&
	       (rec_lanes() >= g->max_lanes / 2 || rec_load_relaxed(&starved));
}

static bool is_held(const struct rec_lane *lane)
{
	return rec_load_relaxed(&lane->owner) == own_tid;
}

static void leave(struct rec_handle *handle)
{
	const uint64_t entered = handle->lane->pages_touched;
	const uint32_t nr_subbufs = handle->nr_subbufs, index = rec_lane_index(handle);
	uint32_t shared = 0;

	/* To a forked child that returns to this event, the handle is one of another pool, or the pool is zeroed. */
	if (REC_UNLIKELY(rec_thread_context) && index < rec_pool.geometry.max_lanes)
		shared = rec_load_relaxed(&rec_pool.own[index].shared);
	/* Release: the thread that takes the lane next sees everything that we wrote (edge O1). */
	rec_store_release(&handle->lane->owner, 0);
	if (REC_UNLIKELY(shared))
		rec_context_repeat_shared(shared - 1, index, entered, nr_subbufs);
}

void rec_share_add(uint32_t index)
{
	struct rec_handle *handle = &rec_pool.handles[index];
	uint32_t nr = rec_load_relaxed(&rec_pool.nr_shared);

	do {
		if (nr >= rec_pool.geometry.shared_max) {
			rec_lane_give_back(index);
			return;
		}
	} while (!rec_cmpxchg32(&rec_pool.nr_shared, &nr, nr + 1));
	handle->lane = rec_lane_at(index);
	handle->is_held = is_held;
	handle->leave = leave;
	handle->entered = leave;
	handle->on_stuck = NULL;
	handle->grow = NULL;
	rec_store_relaxed(&handle->lane->shared, 1);
	rec_store_relaxed(&rec_pool.own[index].shared, nr + 1);
	/* Release: a thread that finds the lane finds its handle complete (edge N2). */
	rec_store_release(&rec_pool.shared[nr], handle);
	rec_lane_give_back(index);
}

static struct rec_handle *slot_at(uint32_t i)
{
	/* Acquire: edge N2. In the child of a raw clone the handle exists, but is zeroed. */
	struct rec_handle *handle = rec_load_acquire(&rec_pool.shared[i]);

	return handle && handle->lane ? handle : NULL;
}

static inline bool take(struct rec_handle *handle, uint32_t was, const struct rec_handle *self)
{
	if (!rec_cmpxchg32(&handle->lane->owner, &was, own_tid))
		return false;
	handle->cpu = self->cpu;
	return true;
}

/* Take a shared lane whose holder is gone. A child of vfork must not call this: see rec_lane_take_over(). */
static __attribute__((noinline)) bool adopt(struct rec_handle *handle, const struct rec_handle *self)
{
	const int saved = errno;
	struct rec_signal_block block;
	uint32_t owner;
	bool taken;

	if (rec_process_is_guest())
		return false;
	rec_signal_block_begin(&block);
	owner = rec_load_relaxed(&handle->lane->owner);
	taken = owner && owner != own_tid && rec_lane_take_over(rec_lane_index(handle), owner, own_tid);
	if (taken) {
		handle->cpu = self->cpu;
		rec_lane_repair(rec_lane_index(handle));
	}
	rec_signal_block_end(&block);
	errno = saved;
	return taken;
}

/*
 * The lane of this CPU, if it is free: the usual case. A lane that is held is counted by find_free(), which looks at it
 * again. shared_max may be 0; then there is no handle in any place of the array.
 */
static inline struct rec_handle *find_on_cpu(const struct rec_handle *self)
{
	const uint32_t mask = (rec_pool.geometry.shared_max - 1) & (REC_SHARED_MAX - 1);
	struct rec_handle *handle = slot_at(rec_load_relaxed(self->cpu) & mask);

	if (REC_LIKELY(handle && rec_load_relaxed(&handle->lane->owner) == 0 && take(handle, 0, self)))
		return handle;
	return NULL;
}

static __attribute__((noinline)) struct rec_handle *find_free(const struct rec_handle *self)
{
	const uint32_t slots = rec_pool.geometry.shared_max;
	const uint32_t cpu = rec_load_relaxed(self->cpu);
	uint32_t i;

	for (i = 0; i < slots; i++) {
		struct rec_handle *handle = slot_at((cpu + i) & (slots - 1));

		if (!handle)
			continue;
		if (REC_LIKELY(rec_load_relaxed(&handle->lane->owner) == 0) && take(handle, 0, self))
			return handle;
		/* The events of a thread that is gone must not wait until all lanes are held. */
		if (++nr_held % SHARE_PATIENCE == 0 && adopt(handle, self))
			return handle;
	}
	return NULL;
}

/* Called if all lanes are held: find one whose holder is gone. */
static struct rec_handle *find_orphan(const struct rec_handle *self)
{
	uint32_t i;

	for (i = 0; i < rec_pool.geometry.shared_max; i++) {
		struct rec_handle *handle = slot_at(i);

		if (handle && adopt(handle, self))
			return handle;
	}
	return NULL;
}

/*
 * Returns a handle whose gate is open. There are two reasons for a closed gate: the thread has taken a shared lane that
 * was disabled or is broken, or it has a lane of its own now.
 */
static struct rec_handle *pass_gate(struct rec_handle *handle)
{
	struct rec_handle *open =
		REC_LIKELY(rec_gate_is_open(handle)) ? handle : rec_lane_on_gate(handle);

	if (REC_LIKELY(open))
		return open;
	rec_local_add64(&handle->lane->disabled, 1);
	/* A broken lane is not used any more. */
	if (handle->is_held && handle->lane->broken)
		rec_lane_give_back(rec_lane_index(handle));
	else if (handle->is_held)
		leave(handle);
	return NULL;
}

/* Whether the thread may get a lane of its own now. */
static bool is_worth_a_try(void)
{
	if (!rec_is_thread_id(own_tid))
		return false;
	if (rec_load_relaxed(&rec_pool.free_lanes) > 0)
		return true;
	return !rec_load_relaxed(&rec_pool.nr_shared) &&
	       rec_load_relaxed(&rec_pool.header->lost_no_lane) % RETRY_INTERVAL == 0;
}

/* The part of finding a lane that is not needed for every event. NULL: the event is lost. */
static __attribute__((noinline)) struct rec_handle *find_rarely(const struct rec_handle *self)
{
	const int saved = errno;
	struct rec_handle *handle = NULL;

	if (!rec_process_is_guest()) {
		/* From here on the child of a raw clone has a buffer of its own, and this thread has no handle. */
		if (!rec_process_is_own() || rec_thread_handle != self)
			handle = rec_lane_lease();
		else if (is_worth_a_try() && rec_thread_lease() == 0)
			handle = rec_thread_handle;
	}
	if (!handle || handle == &own_handle)
		handle = find_free(self);
	if (!handle)
		handle = find_orphan(self);
	if (!handle)
		rec_lane_count_lost(rec_load_relaxed(&rec_pool.nr_shared) ? -EBUSY : -(int)rec_load_relaxed(&starved));
	errno = saved;
	return handle;
}

/* A sharing thread reserves: on a lane of its own if there is one now, otherwise on a shared one. */
static struct rec_handle *share_on_gate(struct rec_handle *self)
{
	struct rec_handle *handle = NULL;

	if (REC_LIKELY(rec_load_relaxed(&rec_pool.free_lanes) <= 0 || rec_thread_has_moved())) {
		handle = find_on_cpu(self);
		if (REC_UNLIKELY(!handle))
			handle = find_free(self);
	}
	if (REC_UNLIKELY(!handle))
		handle = find_rarely(self);
	return handle ? pass_gate(handle) : NULL;
}

struct rec_handle *rec_share_begin(int err)
{
	const uint32_t tid = rec_thread_id();
	const struct rec_event_common common = { .pid = (int32_t)tid };

	own_tid = rec_is_thread_id(tid) ? tid : rec_thread_without_id();
	rec_store_relaxed(&starved, (uint32_t)-err);
	own_handle = (struct rec_handle){
		.lane = &nowhere,
		.cpu = rec_thread_cpu(),
		.clock = rec_pool.clock,
		.on_gate = share_on_gate,
		.capacity = 1,
	};
	memcpy(&own_handle.common, &common, sizeof(common));
	rec_thread_handle = &own_handle;
	rec_thread_watch_end();
	return &own_handle;
}

void rec_share_forked(void)
{
	uint32_t i;

	for (i = 0; i < REC_SHARED_MAX; i++)
		rec_store_relaxed(&rec_pool.shared[i], NULL);
	rec_store_relaxed(&rec_pool.nr_shared, 0);
	rec_pool.free_lanes = 0;
	rec_pool.grown = 0;
	starved = 0;
}
