/* SPDX-License-Identifier: MIT */
/* Gives `why` the events of a test, one each nanosecond. */
#ifndef WHY_FEED_H
#define WHY_FEED_H

#include "format/why/why.h"
#include "why_machine_events.h"

extern struct event_table *table;
extern struct why *why;
extern struct machine machine;
extern uint64_t ts;
extern uint32_t cpu; /* of the next events */
extern int64_t lost; /* before the next event */

/* For test suites: with these, each test has a new `why`. */
void why_feed_begin(void);
void why_feed_end(void);

struct machine_event *event(enum machine_id id, int pid);
void feed(const struct machine_event *e);
void feed_number(enum machine_id id, int pid, uint64_t number);
void feed_switch(int from, int64_t state, int to);
void feed_wake(int by, int woken);

/* The second half of a wake-up, on the CPU of the woken thread. */
void feed_wakeup(int woken);

void feed_task_of(int pid, uint64_t task);
void feed_soft_interrupt(int pid);
void feed_task(uint64_t task);

/* The span with this number, or NULL. */
const struct why_span *span_of(uint64_t id);

#endif
