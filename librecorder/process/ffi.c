/* SPDX-License-Identifier: MIT */
/*
 * The inline functions of the headers, out of line, for other languages.
 *
 * A reservation belongs to the function that calls rec_reserve(), and lasts after rec_reserve() has returned. So the
 * open word must be the stack pointer of the caller: with that of a frame here, which is gone by then, the caller's
 * next event would take the reservation for one that was left (rec_ring_is_left()).
 */

/* This file defines the inline functions for other languages; no C code needs their prototypes. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#define REC_INLINE
#define REC_INLINE_ALWAYS static inline __attribute__((always_inline))

#include <librecorder/ffi.h>

#include "librecorder/core/atomic.h"
#include "librecorder/ring/ring_private.h"

/* The functions that are always inlined get their twins here, under other names for the compiler. */
#define TWIN(name) __asm__(#name) __attribute__((visibility("default")))

void *twin_reserve(struct rec_handle *handle, uint32_t size, struct rec_slot *ret_slot) TWIN(rec_reserve);
void *twin_reserve_fast(struct rec_handle *handle, uint32_t size, int any_clock, struct rec_slot *ret_slot)
	TWIN(rec_reserve_fast);
void twin_commit_fast(const struct rec_slot *slot) TWIN(rec_commit_fast);
void twin_ring_open(struct rec_lane *lane) TWIN(rec_ring_open);

/*
 * Store the caller's stack pointer `frame` in the open word, if this reservation is the outermost one. If a signal
 * handler has left a reservation meanwhile, the exchange fails, and the next writer finds the handler's.
 */
static void hand_to_caller(struct rec_slot *slot, uint64_t frame)
{
	struct rec_lane *lane = slot->lane;
	const uint64_t open = rec_load_relaxed(&lane->open);

	/* A lane that is taken for one event is not taken a second time before that. */
	if (slot->open == REC_OPEN_BORROWED || REC_OPEN_DEPTH(open) || (slot->open && slot->open != open))
		return;
	if (rec_local_cmpxchg64(&lane->open, open, frame) && slot->open)
		slot->open = frame;
}

void *twin_reserve_fast(struct rec_handle *handle, uint32_t size, int any_clock, struct rec_slot *ret_slot)
{
	void *at = rec_reserve_fast(handle, size, any_clock, ret_slot);

	if (at)
		hand_to_caller(ret_slot, (uint64_t)(uintptr_t)__builtin_dwarf_cfa());
	return at;
}

void *twin_reserve(struct rec_handle *handle, uint32_t size, struct rec_slot *ret_slot)
{
	void *at = rec_reserve(handle, size, ret_slot);

	if (at)
		hand_to_caller(ret_slot, (uint64_t)(uintptr_t)__builtin_dwarf_cfa());
	return at;
}

void twin_commit_fast(const struct rec_slot *slot)
{
	rec_commit_fast(slot);
}

void twin_ring_open(struct rec_lane *lane)
{
	rec_signal_fence();
	rec_store_relaxed(&lane->open, (uint64_t)(uintptr_t)__builtin_dwarf_cfa());
	rec_signal_fence();
}
