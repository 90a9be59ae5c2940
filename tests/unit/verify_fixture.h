/* SPDX-License-Identifier: MIT */
/*
 * Made-up events for the checks of format/verify/verify.h: two CPUs; the test sets the times. Events follow in file
 * order.
 */
#ifndef REC_TEST_VERIFY_FIXTURE_H
#define REC_TEST_VERIFY_FIXTURE_H

#include "format/verify/verify.h"

#include <librecorder/detail/abi.h>

enum { ID_SWITCH = 100, ID_WAKING, ID_WAKEUP, ID_NEW, ID_FORK, ID_PRINT, ID_OTHER };
#define ID_USER (REC_EVENT_ID_FIRST + 3)
#define ID_END	(REC_EVENT_ID_FIRST + 4)

/* prev_state */
#define R 0
#define S 1
#define X 16

/* The file: a top buffer, an instance, and one whose streams are lanes; two CPUs each. It has no options. */
extern struct dat_file file;
extern struct dat_buffer buffers[3];
extern struct dat_option options[8];
extern struct verify_figures figures; /* valid after finish() */

/* What was reported last. */
struct report {
	unsigned int nr;
	enum verify_kind kind;
	uint64_t events;
	uint64_t before, event, after; /* their times */
};
extern struct report said, contradiction;

/* The buffer of the next events; and the number of events lost before the next one, which is 0 after it. */
extern const struct dat_buffer *into;
extern int64_t lost_before;

/* Opens the file. It is a recorder's unless the test has set DAT_VERSION. */
void begin(void);
/* begin(), and then events on both CPUs; thread 5, which the test wakes, runs on CPU 0. */
void begin_running(void);
/* Switch both CPUs to the idle task, long after all events, so that waiting suspicions are decided. */
void end_idle(int32_t on_0, int32_t on_1);
void finish(void);
/* Checks that no violation was reported. */
void finish_clean(void);
/* Checks that one violation was reported, for this number of events. */
void finish_with(enum verify_kind kind, uint64_t events);

/* An event of that id, after its common fields: `size` bytes of `rest`. */
void put(uint32_t cpu, uint64_t ts, int id, int pid, const void *rest, uint32_t size);
/* sched_switch; an event about a thread; an event of a thread's program. */
void sw(uint32_t cpu, uint64_t ts, int32_t prev, int64_t state, int32_t next);
void of(int id, uint32_t cpu, uint64_t ts, int32_t tid);
void user(uint32_t cpu, uint64_t ts, int32_t tid);

#endif
