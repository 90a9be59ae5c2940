/* SPDX-License-Identifier: MIT */
/*
 * A simulated machine: CPUs, threads with priorities, locks, pipes, a disk, timers, interrupts. It runs a random
 * program, nanosecond by nanosecond, and writes the events that a kernel and a traced program would write. The activity
 * of every thread and every CPU is noted for each nanosecond, so that the right answer of "why" is known without the
 * events.
 *
 * In each nanosecond one CPU does one thing, so no two events have the same time.
 */
#ifndef WHY_MACHINE_H
#define WHY_MACHINE_H

#include "format/text/event_parse.h"

#include <stdbool.h>
#include <stdint.h>

#define MACHINE_CPUS	 3
#define MACHINE_THREADS	 6 /* with the numbers from 1 on; 0 is idle */
#define MACHINE_LOCKS	 2
#define MACHINE_PIPES	 2
#define MACHINE_NS	 1600
#define MACHINE_ITEMS	 1600
#define MACHINE_REQUESTS 400
#define MACHINE_JOBS	 100
#define MACHINE_HANDS	 12
/* Time 0 of the machine in the trace. */
#define MACHINE_EPOCH 1000000u

/* Kinds of events, as arguments of `recorder record -e`. */
enum machine_kind {
	KIND_SWITCH,
	KIND_WAKE,
	KIND_WAKEUP,
	KIND_CALL,
	KIND_IRQ,
	KIND_TIMER,
	KIND_BLOCK,
	KIND_REQUEST,
	KIND_STEP,
	KIND_TASK,
	KIND_JOB,
	NR_KINDS
};

enum machine_state { STATE_NONE, STATE_RUNS, STATE_WAITS, STATE_SLEEPS };

/* A system call or a span of a thread, or an interrupt of a CPU. */
struct machine_item {
	enum machine_kind kind;
	int outer;		/* the item around it; -1: none */
	int begin, end;		/* `end` MACHINE_NS: open */
	int tid;		/* 0: of a CPU */
	const char *name;	/* as `why` calls it */
	const char *short_name; /* interrupts: if only the end is known */
	int events[2];		/* interrupts: places of their begin and end; -1: none */
	uint64_t task;		/* spans: of their thread at their begin */
	uint64_t id;		/* spans */
};

struct machine_request {
	int issuer, waiter; /* 0: no thread waits for it */
	int begin, end;	    /* end 0: it has not been completed */
	int irq;	    /* the innermost interrupt that completed it */
	uint32_t device, sectors;
	uint64_t sector;
	int due, cpu;
};

/* A keyed span: a thread that has it hands it to a thread that it wakes. */
struct machine_job {
	int begin, end;	    /* -1: not yet */
	int tid, end_tid;
	unsigned int task;  /* a logical task of its own; 0: none */
	unsigned int nr_hands;
	struct {
		int at, tid; /* the thread that got it */
		bool is_wake; /* the thread was asleep, and was woken for it */
	} hands[MACHINE_HANDS];
};

enum machine_waker { WAKER_NONE, WAKER_THREAD, WAKER_IDLE, WAKER_IRQ };

struct machine_sleep {
	int tid, begin, end;
	enum machine_waker by;
	int waker;	 /* thread, or the one that was interrupted */
	int irq;	 /* innermost interrupt */
	int place;	 /* the innermost item at its begin; -1: none */
	int request;	 /* that it waits for; -1: none */
	bool is_blocked; /* uninterruptible */
};

/* The state during one nanosecond. */
struct machine_moment {
	struct {
		enum machine_state state;
		int cpu;   /* where it runs, or which it waits for */
		int sleep; /* place of its sleep, STATE_SLEEPS; otherwise of the last one before; -1: none */
		int item;  /* the innermost one; -1: none */
		unsigned int task;
		bool is_woken; /* STATE_WAITS: after a sleep, not after it was preempted */
	} thread[MACHINE_THREADS + 1];
	struct {
		int tid;
		int irq; /* the innermost one; -1: none */
	} cpu[MACHINE_CPUS];
};

struct machine_event {
	enum machine_kind kind;
	int at, cpu;
	uint16_t size;
	unsigned char bytes[64];
	bool is_recorded;
	int64_t lost; /* before it */
};

struct machine {
	struct machine_moment moments[MACHINE_NS];
	struct machine_item items[MACHINE_ITEMS];
	struct machine_sleep sleeps[MACHINE_ITEMS];
	struct machine_request requests[MACHINE_REQUESTS];
	struct machine_event events[MACHINE_NS];
	struct machine_job jobs[MACHINE_JOBS];
	unsigned int nr_items, nr_sleeps, nr_requests, nr_events, nr_jobs;
	uint64_t random;
};

/* The formats of its events. */
struct event_table *machine_table(void);

/* Runs the machine. The seed determines everything. */
void machine_run(struct machine *machine, uint64_t seed);

unsigned int machine_below(struct machine *machine, unsigned int most);

#endif
