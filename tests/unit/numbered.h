/* SPDX-License-Identifier: MIT */
/* Numbered events of this program's threads, and their outcome: each is read once, or counted. */
#ifndef NUMBERED_H
#define NUMBERED_H

#include <librecorder/event.h>
#include <librecorder/lane.h>
#include <stdint.h>

#define NUMBERED_MAX 2000000u

REC_EVENT(numbered, step, u64(number), u64(copy));

struct sums {
	uint64_t events;
	uint64_t reported; /* lost, according to the pages that were read */
	uint64_t lost; /* lost, but in no page's report yet; while writers continue, a later page may report it */
	uint64_t torn, no_lane;
};

/* For each number: how often it was read, and the thread that its event names. */
extern unsigned char *seen;
extern uint32_t *seen_tids;

/*
 * A buffer with lanes of this many sub-buffers of 4096, and this many lanes (0: as many as there is room for); the
 * events on.
 */
void numbered_begin(unsigned int subbufs, unsigned int lanes);

void numbered_write(uint64_t number);

/* Write the numbers that follow; numbered_next is the first of them. */
extern uint64_t numbered_next;
void numbered_write_some(unsigned int events);

/* Events that fill a lane of this many sub-buffers: two u64 each, with the event word and the common fields. */
#define NUMBERED_IN(subbufs) ((subbufs) * (4080u / 28u))

/* The lane that the calling thread writes to. */
unsigned int numbered_lane(void);

/* Permit growth for this time, as a reader does. */
void numbered_want_growth(unsigned int seconds);

/*
 * Reserve an event that the caller commits, or does not: inline, in the caller's frame, because an event of a function
 * that has returned counts as left. NULL: refused.
 */
REC_INLINE_ALWAYS unsigned char *numbered_reserve(uint64_t number, struct rec_slot *slot)
{
	struct rec_handle *handle = rec_handle_get();
	unsigned char *payload = rec_reserve(handle, REC_EVENT_COMMON_SIZE + 2 * sizeof(number), slot), *at;

	if (payload) {
		at = rec_put_common(payload, handle, rec_event_id(&rec_event_numbered__step));
		at = rec_put(at, &number, sizeof(number));
		rec_put(at, &number, sizeof(number));
	}
	return payload;
}

/* Read what is new in this process's buffer, or another; `torn` and `no_lane` are totals since the start. */
struct sums numbered_read(void);
struct sums numbered_read_of(const char *path);

/* Check that no lane is held, when all threads have ended or are between two events. */
void numbered_expect_no_owner(void);

#endif
