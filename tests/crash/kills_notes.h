/* SPDX-License-Identifier: MIT */
/*
 * Shared memory with the test's orders to the programs of tests/crash/test_kills.c, and with their notes of what they
 * did; it outlives them. A source is a writer of numbered events: a thread, or the signal handlers that run on it. A
 * source counts each event before and after REC(). So when it is dead the test knows which events it had committed,
 * except the event that it was in. Events that handlers commit inside an event of their thread become visible with that
 * event, so until then they are uncertain, too.
 */
#ifndef KILLS_NOTES_H
#define KILLS_NOTES_H

#include <stdbool.h>
#include <stdint.h>

#define KILLS_SOURCES 2048u
#define KILLS_EVENTS  (1u << 20) /* of all sources together */
#define KILLS_TAKEN   8192u
#define KILLS_FILL    256u /* longest contents */

/*
 * Padded: each source has a cache line of its own. Threads have even numbers, the handlers on a thread the next odd
 * number.
 */
struct kills_source {
	uint64_t asked, done;
	uint64_t sure; /* of a thread: what its handlers had done when it asked for its newest event */
	uint64_t unused[5];
};

/* A page that a reader was handed. */
struct kills_taken {
	uint32_t reader, lane;
	uint64_t first, lost;
};

struct kills_notes {
	/* Written by the test. */
	uint32_t threads; /* at a time */
	uint32_t waves;	  /* number of waves, each of that many threads */
	uint32_t each;	  /* events of a source, at most */
	uint32_t nested;  /* signals arrive, and their handlers write */
	uint32_t longest; /* size of an event's contents, at most */
	uint32_t gate;	  /* 1: wait before the first event */
	uint32_t ends;	  /* the program ends when all is written; otherwise it waits to be killed */
	/* Written by the writer. */
	uint32_t started, finished;
	struct kills_source source[KILLS_SOURCES];
	/* Written by readers, one after the other, the test being the last. Sources have `each` bits each. */
	uint32_t taken_count;
	struct kills_taken taken[KILLS_TAKEN];
	unsigned char seen[KILLS_EVENTS / 8];
};

/* The payload as it is in a lane and in a file. */
struct kills_event {
	uint16_t id;
	uint8_t flags, preempt;
	int32_t tid;
	uint64_t number;
	uint32_t source;
	uint16_t fill_offset, fill_size;
} __attribute__((packed));

/* An event's contents follow from its number and its source. */
static inline uint32_t kills_fill_size(uint64_t number, uint32_t source, uint32_t longest)
{
	const uint64_t mixed = (number + 1) * 2654435761u + source * 40503u;

	return (uint32_t)((mixed >> 7) % (longest + 1));
}

static inline unsigned char kills_fill_byte(uint64_t number, uint32_t source, uint32_t at)
{
	return (unsigned char)(number * 37 + source * 101 + at * 11 + 5);
}

#endif
