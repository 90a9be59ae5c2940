/* SPDX-License-Identifier: MIT */
/*
 * A model that is fed with events, and the items that it reports. No file is needed: formats are parsed from texts,
 * records are made here.
 */
#ifndef MODEL_FIXTURE_H
#define MODEL_FIXTURE_H

#include <stddef.h>
#include <stdint.h>

/* The ids of the events that have a format. */
enum {
	SWITCH = 300,
	WAKING = 301,
	IRQ_ENTRY = 302,
	IRQ_EXIT = 303,
	READ_ENTER = 304,
	READ_EXIT = 305,
	WAKEUP = 306,
	CALL_ENTER,
	CALL_EXIT,
	BLOCK_ISSUE,
	BLOCK_COMPLETE,
	FUNCTION_ENTRY,
	FUNCTION_EXIT,
	WORK_START,
	WORK_END,
	TIMER_ENTRY,
	TIMER_EXIT,
	HRTIMER_ENTRY,
	HRTIMER_EXIT,
	SOFTIRQ_ENTRY,
	SOFTIRQ_EXIT,
	NOTE,
	WAKEUP_NEW,
	DEEP_ENTRY,
	DEEP_EXIT,
	OUTER_BEGIN = 16400,
	OUTER_END,
	INNER_BEGIN,
	INNER_END,
	RPC_BEGIN,
	RPC_END,
	HEAP,
	STATE,
	TASK,
	SEND,
	FLUSH,
	PLAIN,
	COUNTER_BEGIN,
	STATE_END,
	TIMED_END,
	STATE_REASON,
};

/* The items so far, one on each line. */
extern char items_text[8192];

/* The number of spans and states that the model gave up. */
extern uint64_t items_given_up;

/* The CPUs for which threads waited. */
extern uint32_t items_waits[8];
extern unsigned int items_nr_waits;

/* The test's model; .init and .fini of its suite. */
void model_fixture_open(void);
void model_fixture_close(void);

/* The test's model has these notes instead, before the first event is fed. */
void model_fixture_reopen(const char *notes);

/* The next events are in this buffer of the file, 0 or 1. */
void model_fixture_buffer(unsigned int which);

/* Begin an event with its common fields, add the other fields in order, then feed it. */
void event_of(int id, int32_t tid);
void event_put32(int32_t value);
void event_put64(int64_t value);
void event_put_text(const char *value);
void event_put_padding(uint32_t size); /* zeros */
void event_feed(uint64_t ts, uint32_t cpu);
void event_feed_lost(uint64_t ts, uint32_t cpu, int64_t lost); /* events were lost before it */

/* A whole event on CPU 0: with one number of 32 bits, or of 64, or without fields. */
void feed_int(uint64_t ts, int id, int32_t tid, int32_t value);
void feed_long(uint64_t ts, int id, int32_t tid, int64_t value);
void feed_bare(uint64_t ts, int id, int32_t tid);

/*
 * sched_switch, with the kernel's bits of prev_state; sched_waking; and sched_wakeup, the second event of a wake-up,
 * which any CPU may write.
 */
void switch_lost(uint64_t ts, uint32_t cpu, int32_t from, int64_t state, int32_t to, int64_t lost);
void switch_to(uint64_t ts, uint32_t cpu, int32_t from, int64_t state, int32_t to);
void wake(uint64_t ts, uint32_t cpu, int32_t waker, int32_t woken);
void wakeup(uint64_t ts, uint32_t cpu, int32_t current, int32_t woken, int32_t target);

/*
 * The notes of the file state that events of programs, or of the kernel, were lost between the times, before the first
 * event is fed.
 */
void model_fixture_lose_programs(uint64_t since, uint64_t until);
void model_fixture_lose_kernel(uint64_t since, uint64_t until);

/* End the trace, and check that the items are these. */
void expect_items(const char *wanted);

/* The same for spans, counters and states of objects alone. */
void expect_spans(const char *wanted);

#endif
