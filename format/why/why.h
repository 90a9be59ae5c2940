/* SPDX-License-Identifier: MIT */
/*
 * Explains why a span took its time: every nanosecond between its begin and its end belongs to one piece, in time
 * order, without gaps. A piece has a class and names the thread that it is about. While the span's thread sleeps, the
 * chain of wake-ups is followed backwards: the thread that woke it, what that thread did meanwhile, the thread that
 * woke that one, and so on, to an interrupt or to the begin of the sleep.
 *
 * why_open() keeps what is needed of a trace in memory: states of threads, spans, interrupts and requests to devices.
 */
#ifndef FORMAT_WHY_H
#define FORMAT_WHY_H

#include "format/dat/dat_gaps.h"
#include "format/model/model.h"

enum why_class {
	WHY_RUNNING,	 /* its thread ran */
	WHY_RUNNABLE,	 /* its thread waited for a CPU */
	WHY_BLOCKED,	 /* its thread slept, or worked for another task */
	WHY_INTERRUPTED, /* its thread had a CPU, on which an interrupt ran */
	WHY_UNKNOWN,
	WHY_CLASSES,
};

const char *why_class_name(enum why_class class);

struct why_piece {
	enum why_class class;
	uint64_t begin, end;
	int32_t tid;	/* the thread that this is about: the span's, or the last one of the chain of wake-ups */
	int32_t cpu;	/* -1: none */
	const char *by; /* the cause: a thread, interrupt, span or call; "": none. Valid as long as the struct why */
	const char *what;
};

struct why_span {
	const struct model_rule *rule;
	/*
	 * The key, or the first number among the fields of its begin; otherwise the model's id. If is_signed is set, it
	 * is an int64_t
	 */
	uint64_t id;
	bool is_signed;
	uint64_t model_id;
	uint64_t begin, end;
	int32_t tid, end_tid;
	uint64_t task;
	unsigned int flags; /* of the model: MODEL_NO_END ... */
};

struct why;

/* Reads the trace. 0; -ENOMEM. table, file and time must outlive the result. why_close() takes NULL; returns NULL. */
int why_open(const struct dat_file *file, const struct dat_time *time, const struct event_table *table,
	     struct why **ret_why);
struct why *why_close(struct why *why);

/*
 * For events that are not in a file, instead of why_open(): why_event() for each in time order, then why_end(). 0;
 * -ENOMEM.
 */
int why_begin(const struct event_table *table, struct why **ret_why);
int why_event(struct why *why, const struct dat_event *event);
int why_end(struct why *why);

/* The spans of programs, in the order of their ends. */
const struct why_span *why_spans(const struct why *why, size_t *ret_nr);

/*
 * The pieces of a span, valid until the next call: their durations add up to the span's. Returns the number of pieces;
 * -ENOMEM. `sums` gets the ns of each class; it may be NULL.
 */
long why_explain(struct why *why, const struct why_span *span, const struct why_piece **ret_pieces,
		 uint64_t sums[WHY_CLASSES]);

/*
 * The kernel's events that why_explain() has needed and not found so far, as words for `recorder record -e`:
 * "sched_switch block"; "": none.
 */
const char *why_missing(struct why *why);

/*
 * Whether why_explain() has needed interrupts that are not in the trace, because they came while other threads ran than
 * those that `recorder record -F` or -P chose.
 */
bool why_lacks_threads(const struct why *why);

/* Whether the times are nanoseconds; otherwise they are ticks of the file's clock. */
bool why_counts_ns(const struct why *why);

/* The number of events that are missing from the trace. */
const struct dat_gaps *why_gaps(const struct why *why);

/* "system:name", as the file has it. Valid as long as the struct why; "": out of memory. */
const char *why_span_name(struct why *why, const struct why_span *span);

/* The name of a thread, as "comm-tid". Valid as long as the struct why; NULL: out of memory. */
const char *why_thread_name(struct why *why, int32_t tid);

#endif
