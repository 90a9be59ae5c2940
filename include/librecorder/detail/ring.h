/* SPDX-License-Identifier: MIT */
/*
 * The writer's side of a lane: reserve, fill, commit or discard.
 *
 * Guarantees. The writer is wait-free: no lock, no system call, no allocation, errno unchanged. A reservation takes one
 * pass, and one more for each interruption. Writers of one lane nest: they are a thread and the signal handlers that
 * interrupt it, never two threads. Nested events become visible when the outermost commits. A writer killed at any
 * instruction loses only its own unfinished event, and the events that are nested in it.
 *
 * docs/MEMORY-MODEL.md explains the lettered steps of a reservation and every ordering edge. This file has the path of
 * an event that is on the same sub-buffer and CPU as the event before, within 2^27 clock units of it, and that
 * interrupts no other event. All other events leave this path by rec_reserve_slow() or rec_reserve_rest(); so a writer
 * that interrupts another one is never on this path.
 *
 *                      | reserve/commit, same thread | same, signal handler on it | another thread | reader
 *  reserve/commit      | nests (LIFO)                | nests (LIFO)               | X              | free
 *  rec_lane_lease      | free                        | free                       | free           | free
 *  (X: the caller must serialise; leases ensure that this never happens.)
 */
#ifndef REC__DETAIL
#error "for the public headers alone: include <librecorder/lane.h>"
#endif
#ifndef LIBRECORDER_RING_H
#define LIBRECORDER_RING_H

#include <librecorder/detail/abi.h>
#include <librecorder/detail/word.h>
#include <librecorder/page.h>
#include <stddef.h>

#ifdef __cplusplus
/* The rest is written in C, with casts that C++ compilers may warn about. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wold-style-cast"
extern "C" {
#endif

/*
 * Write the event word of an event of `words` words, itself included, at `at`; a long event has a length word, too.
 * Returns where the payload begins.
 */
static inline void *rec_put_first_word(unsigned char *at, uint32_t delta, uint32_t words)
{
	uint32_t word = delta << REC_TYPE_BITS;

	if (words > 1 + REC_EVENT_SMALL_MAX / 4) {
		const uint32_t length = (words - 1) * 4;

		__builtin_memcpy(at, &word, sizeof(word));
		__builtin_memcpy(at + 4, &length, sizeof(length));
		return at + 8;
	}
	word |= words - 1;
	__builtin_memcpy(at, &word, sizeof(word));
	return at + 4;
}

#pragma GCC visibility push(default)

/* A place where the project's own tests stop or kill a process. In other programs it expands to nothing. */
#ifndef REC_TESTPOINT
#define REC_TESTPOINT(name) ((void)0)
#endif

/*
 * What a thread needs to write to its lane. Private to the process, one for each lane, in memory that is zeroed in a
 * forked child, so a child never writes to its parent's lanes.
 */
struct rec_handle {
	/* Used by inline functions, so compiled programs depend on these places (docs/COMPATIBILITY.md). */
	struct rec_lane *lane; /* NULL: none leased */
	unsigned char *data;   /* sub-buffer 0, after its header */
	const uint32_t *cpu;   /* where the kernel keeps the thread's CPU number (rseq) */
	uint64_t common;       /* the common fields of an event with type 0 */
	uint32_t shift;	       /* log2 of the sub-buffer size */
	/*
	 * The same as `capacity`, but 0 while the gate is closed, so that each reservation leaves the fast path. `room`
	 * is also 0 if the clock is not the TSC, for callers that cannot read any other.
	 */
	uint32_t room;
	uint32_t clock;	       /* REC_CLOCK_ */
	uint32_t any_room;
	/* Only the library uses the rest: places and size may change. */
	uint32_t overwrite;
	struct rec_subbuf *subbufs;
	struct rec_link *links;
	struct rec_lane_reader *reader;
	/*
	 * Called before a reservation when the gate is closed. Returns the handle to continue with, or NULL to refuse.
	 * May be NULL.
	 */
	struct rec_handle *(*on_gate)(struct rec_handle *handle);
	uint32_t nr_subbufs; /* ring and reader page */
	uint32_t capacity;   /* of a sub-buffer, in words of four bytes */
	/* Number of times that the lane was disabled and not enabled again. UINT32_MAX: the lane was given up. */
	uint32_t disabled;
	/*
	 * If not 0: the thread shall continue in another lane, with sub-buffers of wanted_subbuf bytes, for wanted_size
	 * bytes of events.
	 */
	uint32_t wanted_subbuf;
	uint64_t wanted_size;
	/*
	 * For a lane that is taken for one event: returns true if the calling thread has the lane. NULL for any other
	 * lane.
	 */
	bool (*is_held)(const struct rec_lane *lane);
	/*
	 * Called after a commit or discard that was not the plain case; for a lane that is taken for one event, called
	 * after each commit or discard, and after a refusal. NULL: nothing is to be done. When the commit position
	 * enters a sub-buffer, `leave` is set to `entered`. A signal handler may set `leave` to NULL at any time: load
	 * it once.
	 */
	void (*leave)(struct rec_handle *handle);
	void (*entered)(struct rec_handle *handle);
	/*
	 * Called if a reservation is open and may stay open for ever. Returns the handle to continue with, or NULL to
	 * refuse. May be NULL.
	 */
	struct rec_handle *(*on_stuck)(struct rec_handle *handle);
	/* Called if the next event may overwrite unread events. Returns the handle to continue with. May be NULL. */
	struct rec_handle *(*grow)(struct rec_handle *handle);
	/* 1: the lane has no ring any more. The gate is closed, and `on_gate` returns another handle */
	uint32_t given_up;
	uint64_t movers; /* writers that began to move the head and have not finished, even if they never will */
	uint64_t moving; /* the tail when the first of them began */
};

/*
 * No CPU has this number. So if rec_lane.cpu has this value, the CPU of the next event differs from it, and the event
 * states time and CPU.
 */
#define REC_CPU_NONE UINT32_C(0xfffffffe)

/* A reservation, from reserve to commit or discard; lives on the writer's stack. */
struct rec_slot {
	struct rec_lane *lane;
	struct rec_handle *handle;
	uint64_t old;	/* the tail immediately before this reservation */
	uint64_t end;	/* the tail immediately after this reservation */
	uint64_t now;	/* time of the event */
	/* the lane's open word as this writer set it (step C); 0: reserved on the fast path */
	uint64_t open;
};

#if __SIZEOF_POINTER__ == 8
REC_ABI_ASSERT(offsetof(struct rec_handle, lane) == 0 && offsetof(struct rec_handle, data) == 8 &&
		       offsetof(struct rec_handle, cpu) == 16 && offsetof(struct rec_handle, common) == 24 &&
		       offsetof(struct rec_handle, shift) == 32 && offsetof(struct rec_handle, room) == 36 &&
		       offsetof(struct rec_handle, clock) == 40 && offsetof(struct rec_handle, any_room) == 44,
	       "docs/COMPATIBILITY.md: handle");
REC_ABI_ASSERT(offsetof(struct rec_slot, lane) == 0 && offsetof(struct rec_slot, handle) == 8 &&
		       offsetof(struct rec_slot, old) == 16 && offsetof(struct rec_slot, end) == 24 &&
		       offsetof(struct rec_slot, now) == 32 && offsetof(struct rec_slot, open) == 40 &&
		       sizeof(struct rec_slot) == 48,
	       "docs/COMPATIBILITY.md: slot");
#endif
REC_ABI_ASSERT(offsetof(struct rec_lane, tail) == 0 && offsetof(struct rec_lane, after) == 8 &&
		       offsetof(struct rec_lane, before) == 16 && offsetof(struct rec_lane, commit) == 24 &&
		       offsetof(struct rec_lane, open) == 40 && offsetof(struct rec_lane, cpu) == 48,
	       "docs/COMPATIBILITY.md: lane");

/*
 * These functions are not inline; they handle all rare cases. They have the same contracts as the inline functions that
 * call them; all are signal-safe and preserve errno. rec_reserve_slow() does all that rec_reserve() does.
 */
void *rec_reserve_slow(struct rec_handle *handle, uint32_t size, struct rec_slot *ret_slot);
/*
 * Reserves if rec_reserve_fast() did not, for any reason. The caller's stack frame begins at `here`, and the caller
 * calls no function that reserves while its own reservation is open. So an earlier reservation that was left at the
 * same depth is recognised.
 */
void *rec_reserve_rest(struct rec_handle *handle, uint32_t size, const void *here, struct rec_slot *ret_slot);
/* rec_commit() of an event that rec_reserve_slow() or rec_reserve_rest() reserved. */
void rec_commit_slow(const struct rec_slot *slot);
/*
 * The rest of rec_commit_fast(): rec_publish_slow() if other writers reserved after this event, rec_commit_moved() if
 * the commit position is not where this event begins.
 */
void rec_publish_slow(struct rec_handle *handle, struct rec_lane *lane, uint64_t end);
void rec_commit_moved(struct rec_handle *handle, struct rec_lane *lane, uint64_t old, uint64_t end, uint64_t now);

#if defined(__x86_64__)
#define REC_HAS_TSC 1
#else
#define REC_HAS_TSC 0
#endif

/* CLOCK_MONOTONIC in ns. Never fails. Any thread; signal-safe. */
uint64_t rec_clock_mono(void);

/*
 * The time of a clock. For REC_CLOCK_TSC, it is in the counter's own units. For any other value, and on machines
 * without this counter, it is CLOCK_MONOTONIC in ns. Never fails. Any thread; signal-safe.
 */
REC_INLINE uint64_t rec_clock_read(uint32_t clock)
{
#if REC_HAS_TSC
	uint64_t low, high;

	if (REC_LIKELY(clock == REC_CLOCK_TSC)) {
		/* The clobber keeps the clock reading before the reading of the CPU number. */
		__asm__ volatile("rdtsc" : "=a"(low), "=d"(high) : : "memory");
		return high << 32 | low;
	}
#endif
	(void)clock;
	return rec_clock_mono();
}

/*
 * Mark that a writer is inside: a writer that interrupts it from here on leaves the fast path. The open word becomes
 * the writer's stack pointer. A writer that interrupts this one has a lower stack pointer (see rec_ring_is_left()).
 */
REC_INLINE_ALWAYS void rec_ring_open(struct rec_lane *lane)
{
#if defined(__x86_64__) && !defined(REC_GENERIC_ATOMICS)
	__asm__ volatile("movq %%rsp, %0" : "=m"(lane->open) : : "memory");
#else
	rec_signal_fence();
	rec_store_relaxed(&lane->open, (uint64_t)(uintptr_t)__builtin_frame_address(0));
	rec_signal_fence();
#endif
}

/* rec_put_first_word() of an event with `size` bytes of payload. */
REC_INLINE void *rec_put_event_word(unsigned char *at, uint32_t delta, uint32_t size)
{
	return rec_put_first_word(at, delta, rec_event_total(size) / 4);
}

/*
 * The plain case of rec_reserve(). Returns NULL if the case is not plain; then nothing was done. If `any_clock` is 0
 * and the clock needs a function call, the event is left to the slow path. So with `any_clock` 0 this function calls
 * nothing, and its caller saves no registers.
 */
REC_INLINE_ALWAYS void *rec_reserve_fast(struct rec_handle *handle, uint32_t size, int any_clock,
					 struct rec_slot *ret_slot)
{
	struct rec_lane *lane = handle->lane;
	const uint32_t words = rec_event_total(size) / 4;
	const uint64_t old = rec_load_relaxed(&lane->tail);
	const uint32_t off = (uint32_t)(old & REC_POS_OFF_MASK);
	uint64_t now, delta;
	unsigned char *at;

	/*
	 * A: the tail is read before the stamp. In the opposite order, a nested writer between the two would leave us
	 * a current tail with a stale stamp, and the exchange below would succeed with a wrong delta.
	 */
	rec_signal_fence();
	/*
	 * A full sub-buffer is detected before the clock is read, because the clock is most of the cost of an event.
	 * The cap keeps `words` from overflowing; if the size is a constant, or known to be small, it costs nothing.
	 */
	if (REC_UNLIKELY(size > REC_SUBBUF_MAX ||
			 off + words > rec_load_operand(any_clock ? &handle->any_room : &handle->room) ||
			 rec_load_operand(&lane->open)))
		return NULL;
	/*
	 * The address is computed here, because less is to be kept while the clock is read. The statement without an
	 * instruction keeps the compiler from moving it.
	 */
	at = handle->data + ((old >> REC_POS_ID_SHIFT) << handle->shift) + (size_t)off * 4;
	__asm__ volatile("" : "+r"(at));
	/* B: the clock, and then the CPU. If it is the CPU of the event before, that event has stated CPU and time. */
	now = rec_clock_read(any_clock ? handle->clock : REC_CLOCK_TSC);
	delta = now - rec_load_operand(&lane->after);
	if (REC_UNLIKELY(delta > REC_DELTA_MAX || rec_load_relaxed(handle->cpu) != lane->cpu))
		return NULL;
	/* C */
	rec_ring_open(lane);
	REC_TESTPOINT(reserve_open);
	rec_store_relaxed(&lane->before, now);
	REC_TESTPOINT(reserve_before);
	/* D */
	if (REC_UNLIKELY(!rec_local_cmpxchg64(&lane->tail, old, old + words + REC_POS_ONE_EVENT))) {
		rec_store_relaxed(&lane->open, 0);
		return NULL;
	}
	REC_TESTPOINT(reserve_tail);
	at = (unsigned char *)rec_put_first_word(at, (uint32_t)delta, words);
	ret_slot->lane = lane;
	ret_slot->handle = handle;
	ret_slot->old = old;
	ret_slot->end = old + words + REC_POS_ONE_EVENT;
	ret_slot->now = now;
	ret_slot->open = 0;
	return at;
}

/*
 * Reserve room for an event of `size` bytes, including common fields, on the handle's lane (handle->lane is not NULL).
 * Returns where to write them, aligned to 4, and fills *ret_slot. The caller fills all of the room and calls
 * rec_commit() or rec_discard() on the same thread, before it returns (rec_ring_is_left()). NULL: refused, and counted
 * in the lane (full in discard mode, nested writers wrapped the lane, too long). Signal-safe.
 */
REC_INLINE_ALWAYS void *rec_reserve(struct rec_handle *handle, uint32_t size, struct rec_slot *ret_slot)
{
	void *at = rec_reserve_fast(handle, size, 1, ret_slot);
	struct rec_slot rare;

	if (REC_LIKELY(at != NULL))
		return at;
	/* A separate slot, so that the address of the caller's slot is never taken and the slot stays in registers. */
	at = rec_reserve_slow(handle, size, &rare);
	*ret_slot = rare;
	return at;
}

/* rec_commit() of a reservation by rec_reserve_fast(). */
REC_INLINE_ALWAYS void rec_commit_fast(const struct rec_slot *slot)
{
	struct rec_lane *lane = slot->lane;

	/*
	 * While the commit position is where our event begins, no other writer moves it. So a plain test and store
	 * suffice.
	 */
	if (REC_UNLIKELY(rec_load_operand(&lane->commit) != slot->old)) {
		rec_commit_moved(slot->handle, lane, slot->old, slot->end, slot->now);
		return;
	}
	/* G: while we are still inside, store `after`, so that no writer uses it before it is known to be right. */
	rec_store_relaxed(&lane->after, slot->now);
	REC_TESTPOINT(commit_after);
	rec_signal_fence();
	/* Release: the payload and the event word are stored before it. Pairs with the reader's acquire (edge C1). */
	rec_store_release(&lane->commit, slot->end);
	REC_TESTPOINT(commit);
	rec_signal_fence();
	if (REC_UNLIKELY(rec_load_operand(&lane->tail) != slot->end)) {
		rec_publish_slow(slot->handle, lane, slot->end);
		return;
	}
	rec_signal_fence();
	/* H: from here on the next writer is outermost. */
	rec_store_relaxed(&lane->open, 0);
	REC_TESTPOINT(commit_open);
}

/*
 * Make the event part of the lane. If this writer interrupted no other, everything up to the tail becomes visible,
 * including the events of writers that interrupted it. Otherwise the outermost writer will publish it. Signal-safe.
 */
REC_INLINE void rec_commit(const struct rec_slot *slot)
{
	if (REC_LIKELY(!slot->open))
		rec_commit_fast(slot);
	else
		rec_commit_slow(slot);
}

/*
 * Reserve, copy and commit in one call: an event of `size` bytes at `payload`, including common fields. Returns 0, or
 * -EBUSY: refused and counted, as for rec_reserve(). Signal-safe.
 */
int rec_write(struct rec_handle *handle, const void *payload, uint32_t size);

/*
 * Take the event back. If nothing was reserved after it, its room is freed; otherwise it becomes padding. It is not
 * counted anywhere. `payload` is what rec_reserve() returned. Signal-safe.
 */
void rec_discard(const struct rec_slot *slot, void *payload);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#pragma GCC diagnostic pop
#endif
#endif
