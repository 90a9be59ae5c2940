/* SPDX-License-Identifier: MIT */
/*
 * Events that carry the context value of their thread, and a check that derives the value from the recording by the
 * rule of docs/MEANING.md, from a copy of all events in a buffer.
 */
#ifndef CONTEXT_FIXTURE_H
#define CONTEXT_FIXTURE_H

#include <librecorder/event.h>
#include <stdbool.h>
#include <stdint.h>

/* `value` is the number that the key "n" has, in decimal; 0: none. */
REC_EVENT(context, step, u64(value), string(filler));

/* A buffer with the monotonic clock; `lanes` 0: as many as there is room for. All events are on. */
void context_begin(unsigned int subbufs, unsigned int lanes, bool discard);

/* Set "n", and write events that carry it, with a filler of this length. */
void context_set_number(uint64_t value);
void context_write(uint64_t value, unsigned int events, unsigned int filler);

/* The result of the check for the buffer at `path`, from which no event is taken. */
struct verdict {
	unsigned int events;
	unsigned int wrong;   /* the derived value is another one */
	unsigned int unknown; /* no value can be derived */
	unsigned int begins;  /* records of changes */
	unsigned int repeats;
};

struct verdict context_judge_of(const char *path);

/* The same for this process's buffer. */
struct verdict context_judge(void);

#endif
