/* SPDX-License-Identifier: MIT */
/*
 * Replacements for what a handle calls outside of the ring: gates, another lane for a thread whose lane is stuck, a
 * shared lane that is taken for one event. The originals are in lane_control.c, lane_thread.c and lane_share.c, which
 * need a whole process. This file is compiled as the ring is.
 */
#include "librecorder/core/atomic.h"
#include "model.h"

/* When no actor runs, at the end, it is the second thread. */
static uint32_t thread_here(void)
{
	return running < 0 ? THREAD(READER) : THREAD(running);
}

static bool is_held(const struct rec_lane *lane)
{
	return rec_load_relaxed(&lane->owner) == thread_here();
}

void lane_leave(struct rec_handle *handle)
{
	/* Release: edge O1. */
	rec_store_release(&handle->lane->owner, 0);
}

bool lane_take_orphan(void)
{
	struct rec_handle *handle = &m.shared.handle;
	uint32_t was = THREAD(WRITER);

	if (!m.writer_died || rec_load_relaxed(&handle->lane->owner) != was)
		return false;
	if (running >= 0)
		memory_death_seen((unsigned int)running);
	if (!rec_cmpxchg32(&handle->lane->owner, &was, thread_here()))
		return false;
	oracle_putting_back();
	rec_ring_repair(handle);
	oracle_put_back();
	return true;
}

uint8_t lane_missed(void)
{
	return (uint8_t)(running < 0 ? 1u : 1u << (unsigned int)(running * 4 + m.actors[running].depth));
}

static struct rec_handle *on_gate_shared(struct rec_handle *self)
{
	struct rec_handle *handle = &m.shared.handle;
	uint32_t was = 0;

	if (rec_load_relaxed(&handle->lane->owner) != 0 || !rec_cmpxchg32(&handle->lane->owner, &was, thread_here())) {
		if (!lane_take_orphan()) {
			m.missed |= lane_missed();
			return NULL;
		}
	}
	handle->cpu = self->cpu;
	return handle;
}

static struct rec_lane nowhere;

void share_lane(void)
{
	unsigned int i;

	m.shared.handle = m.handle;
	m.shared.handle.is_held = is_held;
	m.shared.handle.leave = lane_leave;
	m.shared.handle.entered = lane_leave;
	for (i = 0; i < ACTORS; i++)
		m.threads[i] = (struct rec_handle){
			.lane = &nowhere, .cpu = &m.shared.cpu, .on_gate = on_gate_shared, .capacity = 1
		};
}

/* The gate of a lane that is not shared. The request is granted, so the gate stays open. */
static struct rec_handle *on_gate_own(struct rec_handle *handle)
{
	if (handle->disabled) {
		m.missed |= lane_missed();
		return NULL;
	}
	handle->any_room = handle->capacity;
	return handle;
}

static struct rec_handle *on_gate_nowhere(struct rec_handle *handle)
{
	(void)handle;
	m.missed |= lane_missed();
	return NULL;
}

/* Replaces rec_context_repeat(), which writes a thread's context values to the sub-buffer that was entered. */
static void on_entered(struct rec_handle *handle)
{
	rec_store_relaxed(&handle->leave, NULL);
	rec_signal_fence();
	oracle_entered();
}

/* Replaces rec_thread_on_stuck(): the event goes to another lane, which is not checked. */
static struct rec_handle *on_stuck(struct rec_handle *stuck)
{
	if (with(STAYS))
		return stuck;
	oracle_leaves_stuck();
	return &m.threads[0];
}

void lease_lane(void)
{
	m.handle.on_gate = on_gate_own;
	m.handle.on_stuck = on_stuck;
	m.handle.entered = on_entered;
	m.threads[0] =
		(struct rec_handle){ .lane = &nowhere, .cpu = &m.shared.cpu, .on_gate = on_gate_nowhere,
				    .capacity = 1 };
}

struct rec_handle *lane_handle(void)
{
	return with(SHARED) ? &m.threads[thread_here() - 1] : &m.handle;
}
