/* SPDX-License-Identifier: MIT */
/*
 * The writer's side of a lane: reserve, fill, commit or discard.
 *
 * What it guarantees. Wait-free for the writer: no lock, no system call, no allocation, errno untouched; a reservation
 * that is not interrupted takes one pass, one that is takes one more for each interruption. Writers of one lane nest: a
 * thread and the signal handlers that interrupt it, never two threads. Nested events become visible when the outermost
 * commits. A writer killed at any instruction loses its own unfinished event and nothing else.
 *
 * The lettered steps of a reservation and every ordering edge are told in docs/MEMORY-MODEL.md; here is the path of
 * an event that starts on the sub-buffer, the CPU and within the 2^27 clock units of the one before, and interrupts
 * nobody. Everything else leaves by rec_reserve_slow().
 *
 *                      | reserve/commit, same thread | same, signal handler on it | another thread | reader
 *  reserve/commit      | nests (LIFO)                | nests (LIFO)               | X              | free
 *  rec_lane_lease      | free                        | free                       | free           | free
 *  (X: the caller must serialise; leases see to it that it never happens.)
 */
#ifndef LIBRECORDER_RING_H
#define LIBRECORDER_RING_H

#include <librecorder/abi.h>
#include <librecorder/atomic.h>
#include <librecorder/page.h>
#include <librecorder/testpoint.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/*
 * What a thread needs to write to its lane: private to the process, one for each lane, in memory that a forked child
 * finds zeroed, so a child never writes to its parent's lanes.
 */
struct rec_handle {
	struct rec_lane *lane; /* NULL: none leased */
	unsigned char *data;   /* sub-buffer 0, behind its header */
	const uint32_t *cpu;   /* where the kernel keeps the thread's CPU number (rseq) */
	uint64_t common;       /* the common fields of an event with type 0 */
	uint32_t shift;	       /* log2 of the sub-buffer size */
	uint32_t room;	       /* as capacity; 0 while the gate is closed, so that each reservation leaves the fast path */
	uint32_t clock;	       /* REC_CLOCK_ */
	uint32_t overwrite;
	struct rec_subbuf *subbufs;
	struct rec_link *links;
	struct rec_lane_reader *reader;
	/*
	 * What to do before a reservation when the gate is closed: the handle to go on
	 * with, or NULL to refuse. May be NULL.
	 */
	struct rec_handle *(*attend)(struct rec_handle *handle);
	uint32_t nr_subbufs; /* sub-buffers that the lane's memory holds */
	uint32_t capacity;   /* of a sub-buffer, in words of four bytes */
	uint32_t disabled;   /* times that the lane was disabled and not enabled again */
	uint32_t wish_subbuf; /* change the sub-buffer size; 0: no wish */
	uint64_t wish_size;   /* resize the ring to hold so many bytes of events; 0: no wish */
	/*
	 * For a lane that is taken for one event: whether the calling thread has it, and what to do behind the
	 * event's commit, discard or refusal. Both NULL for any other lane.
	 */
	bool (*is_held)(const struct rec_lane *lane);
	void (*leave)(struct rec_handle *handle);
	/*
	 * A reservation stands open and may do so for ever: the handle to go on
	 * with, or NULL to refuse. May be NULL.
	 */
	struct rec_handle *(*elsewhere)(struct rec_handle *handle);
	struct rec_nested *nested; /* what was committed behind a reservation that stands open. May be NULL */
	uint64_t moving;	   /* the tail of whoever is moving the head, or changing the ring; 0: nobody */
};

/* A reservation, from reserve to commit or discard; lives on the writer's stack. */
struct rec_slot {
	struct rec_lane *lane;
	struct rec_handle *handle;
	uint64_t old;	  /* commit position at which this writer is the outermost; 0 when crossed says it */
	uint64_t end;	  /* tail right behind this reservation */
	uint64_t crossed; /* as old, for one that moved the tail to the next sub-buffer, or is on a shared lane; else 0 */
};

/* Out of line: everything rare. Same contracts as the inline functions that call them. */
void *rec_reserve_slow(struct rec_handle *handle, uint32_t size, struct rec_slot *ret_slot);
void rec_publish_slow(struct rec_handle *handle, struct rec_lane *lane, uint64_t from);
void rec_commit_slow(struct rec_handle *handle, struct rec_lane *lane, uint64_t from, uint64_t end);

/* CLOCK_MONOTONIC in ns. Signal-safe. */
uint64_t rec_clock_mono(void);

REC_INLINE uint64_t rec_clock_read(uint32_t clock)
{
#if defined(__x86_64__)
	uint32_t low, high;

	if (REC_LIKELY(clock == REC_CLOCK_TSC)) {
		/* The clobber pins it between the two looks at the CPU number. */
		__asm__ volatile("rdtsc" : "=a"(low), "=d"(high) : : "memory");
		return (uint64_t)high << 32 | low;
	}
#endif
	(void)clock;
	return rec_clock_mono();
}

/* The event word, and the length word of a long event, at `at`; returns where the payload begins. */
REC_INLINE void *rec_put_event_word(unsigned char *at, uint32_t delta, uint32_t size)
{
	const uint32_t total = rec_event_total(size);
	uint32_t word = delta << REC_TYPE_BITS;

	if (size > REC_EVENT_SMALL_MAX) {
		const uint32_t length = total - 4;

		__builtin_memcpy(at, &word, sizeof(word));
		__builtin_memcpy(at + 4, &length, sizeof(length));
		return at + 8;
	}
	word |= (total - 4) / 4;
	__builtin_memcpy(at, &word, sizeof(word));
	return at + 4;
}

/*
 * Reserve room for an event of `size` bytes, common fields included, on the handle's lane (handle->lane is not
 * NULL). Returns where to write them, aligned to 4, and fills *ret_slot; the caller fills all of it and calls
 * rec_commit() or rec_discard() on the same thread. NULL: refused, and counted in the lane (full in discard mode,
 * nested writers wrapped the lane, too long). Signal-safe.
 */
REC_INLINE_ALWAYS void *rec_reserve(struct rec_handle *handle, uint32_t size, struct rec_slot *ret_slot)
{
	struct rec_lane *lane = handle->lane;
	const uint32_t words = rec_event_total(size) / 4;
	const uint64_t old = rec_load_relaxed(&lane->tail);
	const uint32_t off = (uint32_t)(old & REC_POS_OFF_MASK);
	uint64_t after, now, delta;
	struct rec_slot rare;
	unsigned char *at;
	uint32_t cpu;

	/*
	 * The tail is read before the stamps: were it the other way round, a nested writer between the two would
	 * leave us a current tail with stale stamps, and the exchange below would succeed with a wrong delta.
	 */
	rec_signal_fence();
	after = rec_load_relaxed(&lane->after);
	cpu = rec_load_relaxed(handle->cpu);
	/*
	 * Full is found out before the clock is read: the clock is most of what an event costs. The cap keeps
	 * `words` from running over; where the size is known, or known to be small, it costs nothing.
	 */
	if (REC_LIKELY(size <= REC_SUBBUF_MAX && off + words <= rec_load_operand(&handle->room) &&
		       after == rec_load_relaxed(&lane->before) && cpu == lane->cpu)) {
		now = rec_clock_read(handle->clock);
		delta = now - after;
		if (REC_LIKELY(delta <= REC_DELTA_MAX && rec_load_relaxed(handle->cpu) == cpu)) {
			rec_store_relaxed(&lane->before, now);
			REC_TESTPOINT(reserve_before);
			if (REC_LIKELY(rec_local_cmpxchg64(&lane->tail, old, old + words + REC_POS_ONE_EVENT))) {
				REC_TESTPOINT(reserve_tail);
				at = handle->data + ((old >> REC_POS_ID_SHIFT) << handle->shift) + (size_t)off * 4;
				/*
				 * Before the time counts: should we never come back, who
				 * takes us out finds the delta.
				 */
				at = (unsigned char *)rec_put_event_word(at, (uint32_t)delta, size);
				rec_signal_fence();
				rec_store_relaxed(&lane->after, now);
				REC_TESTPOINT(reserve_after);
				ret_slot->lane = lane;
				ret_slot->handle = handle;
				ret_slot->old = old;
				ret_slot->end = old + words + REC_POS_ONE_EVENT;
				ret_slot->crossed = 0;
				return at;
			}
		}
	}
	/* A slot of its own, so that the caller's never has its address taken and stays in registers. */
	at = (unsigned char *)rec_reserve_slow(handle, size, &rare);
	*ret_slot = rare;
	return at;
}

/*
 * Make the event part of the lane. If this writer interrupted no other, everything up to the tail becomes visible, the
 * events of those that interrupted it included; otherwise the outermost will do it. Signal-safe.
 */
REC_INLINE void rec_commit(const struct rec_slot *slot)
{
	struct rec_lane *lane = slot->lane;

	/* Nobody else moves the commit position while it stands at our beginning, so a plain test and store will do. */
	if (REC_LIKELY(rec_load_relaxed(&lane->commit) == slot->old)) {
		/* Release: the payload and the event word come before it; pairs with the reader's acquire (edge C1). */
		rec_store_release(&lane->commit, slot->end);
		REC_TESTPOINT(commit);
		rec_signal_fence();
		if (REC_UNLIKELY(rec_load_relaxed(&lane->tail) != slot->end))
			rec_publish_slow(slot->handle, lane, slot->end);
	} else {
		rec_commit_slow(slot->handle, lane, slot->crossed ? slot->crossed : slot->old, slot->end);
	}
}

/*
 * Reserve, copy and commit in one call: an event of `size` bytes at `payload`, common fields included. 0, or -EBUSY:
 * refused and counted, as rec_reserve() says. Signal-safe.
 */
int rec_write(struct rec_handle *handle, const void *payload, uint32_t size);

/*
 * Take the event back. Its room is given back when nothing was reserved behind it, and becomes padding otherwise; it is
 * counted nowhere. `payload` is what rec_reserve() returned. Signal-safe.
 */
void rec_discard(const struct rec_slot *slot, void *payload);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif
#endif
