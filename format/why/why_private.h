/* SPDX-License-Identifier: MIT */
/* The data kept from a trace, and the walk that explains a span. */
#ifndef FORMAT_WHY_PRIVATE_H
#define FORMAT_WHY_PRIVATE_H

#include "format/io/blob.h"
#include "format/io/number_map.h"
#include "format/io/text_pool.h"
#include "format/why/why.h"

/* A thread is in one state from begin to end. The list of a thread is in time order. */
struct why_state {
	uint64_t begin, end;
	enum model_run run;
	uint32_t cpu;
	int32_t waker;
	uint32_t waker_cpu;
	bool waker_irq;
	bool is_open;
	bool is_lost, is_inferred;
	enum model_absent absent;
};

/*
 * A span of a thread or of a CPU; lists are sorted by begin. `outer` is the distance back to the nearest earlier item
 * that ends later than this one; 0: no such item. To find the innermost item at a time, start at the last item that
 * has begun, and follow `outer`.
 */
struct why_inner {
	uint64_t begin, end;
	size_t outer;
	uint64_t model_id;
	const struct model_rule *rule;
	int32_t tid;	  /* its thread; of an interrupt, the one in which it began */
	int32_t number;	  /* number of the system call, interrupt or soft interrupt; -1: none */
	const char *name; /* name of the interrupt's device; NULL: not known */
};

struct why_task {
	uint64_t begin, end, task;
};

/* The tasks of all threads, sorted by task and begin. */
struct why_worker {
	uint64_t task, begin, end;
	int32_t tid;
};

struct why_thread {
	int32_t tid;
	struct blob states; /* why_state */
	struct blob inner;  /* why_inner: spans of programs and system calls */
	struct blob tasks;  /* why_task */
};

/* A thread ended another one's sleep. Places are those in `threads`, plus one; 0: nothing is known of the thread. */
struct why_wake {
	uint64_t ts;
	int32_t woken, waker;
	uint32_t woken_place, waker_place;
};

/*
 * Events of the kernel were lost on a CPU between two of its events. The list is in time order. Losses that overlap are
 * merged, with the CPU of the first.
 */
struct why_loss {
	uint64_t begin, end;
	uint32_t cpu;
};

/* The thread that ran on a CPU; the list is in time order. */
struct why_run {
	uint64_t begin, end;
	int32_t tid;
};

struct why_cpu {
	struct blob runs;   /* why_run */
	struct blob inner;  /* why_inner: interrupts */
	struct blob losses; /* why_loss */
	bool has_cut;	    /* an interrupt has ended unseen since the CPU's last event */
	bool is_doubtful;   /* an interrupt was running when events were lost, and may still be running */
};

/* A request to a block device, sorted by its end. */
struct why_request {
	uint64_t begin, end;
	uint32_t cpu; /* the CPU that completed it */
	uint64_t device, sector, sectors;
};

struct why {
	const struct event_table *table;
	struct model_rules *rules;
	struct model *model; /* until why_end() */
	struct text_pool pool;
	struct number_map names;  /* by thread: address of its name in the pool */
	struct number_map by_tid; /* place in `threads` plus one */
	struct why_thread *threads;
	size_t nr_threads;
	struct why_cpu *cpus;
	uint32_t nr_cpus;
	struct blob spans;    /* why_span */
	struct blob requests; /* why_request */
	struct blob losses;   /* why_loss, of all CPUs */
	struct blob workers;  /* why_worker */
	struct blob wakes;    /* why_wake, in time order: if `numbers` is not NULL */
	uint32_t *numbers;    /* by place of a thread: its number in a search of why_carrier.c; 0 outside of it */
	struct blob pieces;   /* why_piece, of the last why_explain() */
	uint64_t last_ts;
	bool counts_ns;
	bool has_switches, has_wakes, has_calls, has_interrupts, has_requests;
	struct dat_gaps gaps;
	unsigned int lacks; /* enum why_lack: what better answers need */
	int error;
};

/* What was needed to explain a span and was not recorded: kinds of kernel events, or interrupts of other threads. */
enum why_lack {
	LACK_SWITCHES = 1,
	LACK_WAKES = 2,
	LACK_CALLS = 4,
	LACK_INTERRUPTS = 8,
	LACK_REQUESTS = 16,
	LACK_THREADS = 32
};

#define why_items(type, blob, nr) ((nr) = (blob)->size / sizeof(type), (const type *)(const void *)(blob)->data)

/* NULL: nothing is known of the thread, or of the CPU. */
struct why_thread *why_thread(const struct why *why, int32_t tid);
const struct why_cpu *why_cpu(const struct why *why, uint32_t cpu);

/* A text that lives as long as the struct why. If there is no memory, "", and why->error is set. */
const char *why_text(struct why *why, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The name of a span or system call: "io:step", "read()". */
const char *why_inner_name(struct why *why, const struct why_inner *inner);

/* The index of the first item that contains or follows `ts`, in a list in time order. */
size_t why_state_from(const struct blob *states, uint64_t ts);
size_t why_run_from(const struct blob *runs, uint64_t ts);
size_t why_loss_from(const struct blob *losses, uint64_t ts);

/* why_loss.c: states that may be wrong because of losses become unknown. 0; -ENOMEM. */
int why_cut_losses(struct why *why);

/*
 * The innermost item that contains a time; NULL: no item does. Only items that began at `since` or later count. *until
 * is lowered to the time at which this item ends or another one begins; `until` may be NULL.
 */
const struct why_inner *why_innermost(const struct blob *inner, uint64_t ts, uint64_t since, uint64_t *until);

/* "timer", "network", "interrupt virtio1-req.0". */
const char *why_interrupt_name(struct why *why, const struct why_inner *interrupt);

/* A part of a thread's time that is being explained. */
struct why_walk {
	struct why *why;
	uint64_t since;	    /* begin of the explained span: spans that the thread began earlier have another purpose */
	uint64_t model_id;  /* model's id of the explained span */
	uint64_t task;	    /* the task for which the span was begun; 0: none */
	bool is_between;    /* the span waits for this thread, which does something else */
	bool is_waiting;    /* the span's thread waits during this part */
	const char *prefix; /* beginning of `what` while the span waits: how its thread sleeps */
	unsigned int depth;
};

void why_piece(struct why_walk *walk, enum why_class class, uint64_t begin, uint64_t end, int32_t tid, int32_t cpu,
	       const char *by, const char *what);

/* Explain the time of a thread from begin to end. */
void why_thread_pieces(struct why_walk *walk, int32_t tid, uint64_t begin, uint64_t end);

/* Explain the time of a whole span, by the threads that worked on it one after the other. 0; -ENOMEM. */
int why_carried_pieces(struct why_walk *walk, const struct why_span *span);

/* Fills why->workers. 0; -ENOMEM. */
int why_sort_workers(struct why *why);

/* Explain the part of a sleep from begin to end. */
void why_wait_pieces(struct why_walk *walk, int32_t tid, const struct why_state *sleep, uint64_t begin, uint64_t end);

#endif
