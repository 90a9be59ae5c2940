/* SPDX-License-Identifier: MIT */
/*
 * What the events of a trace mean: spans, counters, states, flows, logical tasks, and the states of threads.
 * docs/MEANING.md has the rule by which names and formats of events carry the meaning; model_rules.c applies it, and
 * knows the kernel's pairs.
 *
 * Feed all events of a file, in time order, to model_event(); then call model_end(). The sink is called for each item
 * as soon as it is known: for a span when it ends. An item that is not completely known is marked, and nothing is
 * guessed: a span whose end was not seen, or one that an outer end or a loss cut short.
 */
#ifndef FORMAT_MODEL_H
#define FORMAT_MODEL_H

#include "format/dat/dat_merge.h"
#include "format/model/span_state.h"
#include "format/text/event_parse.h"

#include <stdbool.h>
#include <stdint.h>

/* A record that an item came from; valid only within a callback. NULL data: the record was not seen. */
struct model_record {
	const struct event_type *type;
	const unsigned char *data;
	uint32_t size;
};

enum model_meaning {
	MODEL_POINT,   /* none of the others */
	MODEL_BEGIN,   /* of a span */
	MODEL_END,
	MODEL_TIMED,   /* a whole span, written at its end with its duration */
	MODEL_COUNTER,
	MODEL_STATE,
	MODEL_TASK,    /* this thread now works for a logical task */
	MODEL_SWITCH,  /* sched_switch */
	MODEL_WAKE,    /* sched_waking, sched_wakeup, sched_wakeup_new */
};

/* A number of a record; 0 if the record is too short. Signed fields are sign-extended. */
int64_t model_number(const struct tep_format_field *field, const struct model_record *record);

/* The text of a dynamic field, as event_field_text(). */
const char *model_text(const struct tep_format_field *field, const struct model_record *record, uint32_t *ret_length);

#define MODEL_KEYS_MAX 4u

/* Fields of MODEL_SWITCH, and of MODEL_WAKE. */
enum model_sched_field {
	MODEL_PREV_PID,
	MODEL_PREV_PRIO,
	MODEL_PREV_STATE,
	MODEL_NEXT_PID,
	MODEL_NEXT_PRIO,
	MODEL_SCHED_FIELDS,
	MODEL_WOKEN_PID = 0,
	MODEL_WOKEN_PRIO,
	MODEL_WOKEN_CPU,
	MODEL_WOKEN_FLAGS, /* the common ones */
};

/* How the spans of the kernel's pairs get names of their own, from a field of their events. */
enum model_naming {
	MODEL_NAME_RULE,     /* all have the rule's name */
	MODEL_NAME_TEXT,     /* the field's text */
	MODEL_NAME_FUNCTION, /* the function at the field's address */
	MODEL_NAME_CALL,     /* the system call with the field's number */
	MODEL_NAME_SOFTIRQ,  /* the soft interrupt with the field's number */
};

/* What one event id means. Lives as long as the rules. */
struct model_rule {
	enum model_meaning meaning;
	const char *system;
	const char *name;      /* of the span, counter, state: "request" for request_begin; of the event otherwise */
	const struct event_type *type;
	unsigned int pair;     /* the same for begin and end of a span, and for states of one name; else unique */
	bool is_program;       /* a program's event; otherwise the kernel's */
	bool is_kernel;	       /* one of the kernel's pairs */
	bool is_of_cpu;	       /* nests on its CPU, not on a thread: interrupts */
	bool is_keyed;	       /* begins and ends on any thread, found by its keys */
	bool is_call;	       /* a system call: raw_syscalls and syscalls may both have it */
	bool is_birth;	       /* sched_wakeup_new: before it, the woken thread ran nothing */
	bool is_single;	       /* a thread is in one at a time: system calls, works of a workqueue */
	enum model_naming naming;
	struct tep_format_field *naming_field;
	struct tep_format_field *same; /* has the same number in begin and end of a span; NULL: no field has */
	struct tep_format_field *depth; /* functions: the number of those around it; NULL: it is not known */
	unsigned int nr_keys;
	struct tep_format_field *keys[MODEL_KEYS_MAX];
	struct tep_format_field *value;	   /* of counters, states, tasks; the duration of MODEL_TIMED */
	struct tep_format_field *flow;	   /* NULL: none */
	struct tep_format_field *sched[MODEL_SCHED_FIELDS];
};

struct model_rules;

/*
 * The rules for all events of a table. 0; -ENOMEM. The table must outlive them. model_rules_close() takes NULL, returns
 * NULL.
 */
int model_rules_open(const struct event_table *table, struct model_rules **ret_rules);
struct model_rules *model_rules_close(struct model_rules *rules);

/* The table that model_rules_open() was given. */
const struct event_table *model_rules_table(const struct model_rules *rules);

/* Never NULL: an event whose id has no format is a point. */
const struct model_rule *model_rule(const struct model_rules *rules, int id);

/* It began before the trace, or its begin was lost: `begin` is the time from which it is known. */
#define MODEL_NO_BEGIN 1u
/* It is still open where the trace ends, or where its thread ended: `end` is that time. */
#define MODEL_NO_END 2u
/*
 * An outer span ended first (a jump); or events were lost inside, or a span ended inside whose begin was not seen; or,
 * with MODEL_NO_END, events were lost while it was open, and its end may be among them. Also the outermost of more than
 * a thousand open spans of one thread, when another one begins.
 */
#define MODEL_CUT 4u

struct model_span {
	uint64_t id;	 /* from 1, unique in this run */
	uint64_t parent; /* id of the innermost span that was open on its thread at its begin; 0: none */
	const struct model_rule *rule; /* of its begin, or of its end without one */
	const char *name; /* the rule's, or its own: "vfs_read" of a funcgraph pair. Lives as long as the rules */
	/*
	 * The span does not nest, although it is on a thread and has no key. This is the second span of a system call
	 * that has two events at its begin and two at its end.
	 */
	bool is_beside;
	/* With MODEL_CUT: too many spans were open on its thread. It was the outermost; those inside are still open. */
	bool is_given_up;
	unsigned int depth; /* number of spans around it on its thread */
	unsigned int flags;
	uint64_t begin, end;   /* ns, as dat_event.ts */
	uint64_t own;	       /* ns that no child span covers; only for spans without a key */
	int32_t tid, end_tid;  /* threads of begin and end */
	uint32_t cpu, end_cpu;
	uint64_t task;	       /* logical task of the thread at its begin; 0: none */
	unsigned int nr_keys;
	uint64_t keys[MODEL_KEYS_MAX];
	struct model_record first, last; /* its begin and its end; the same record for MODEL_TIMED */
};

/* A span that is open over a loss is cut: its end may be that of another span. */
static inline enum model_span_state model_flags_state(unsigned int flags)
{
	if (flags & MODEL_NO_BEGIN)
		return MODEL_SPAN_NO_BEGIN;
	if (flags & MODEL_CUT)
		return MODEL_SPAN_CUT;
	return flags & MODEL_NO_END ? MODEL_SPAN_OPEN : MODEL_SPAN_WHOLE;
}

static inline enum model_span_state model_span_state(const struct model_span *span)
{
	return model_flags_state(span->flags);
}

/* "whole", "no begin", "cut", "open". */
const char *model_span_state_name(enum model_span_state state);

struct model_counter {
	const struct model_rule *rule;
	uint64_t ts;
	int32_t tid;
	uint32_t cpu;
	int64_t value;
	struct model_record record;
};

/* Something is in a state from `begin` until the next state with the same keys, or until the end of the trace. */
struct model_state {
	const struct model_rule *rule;
	uint64_t begin, end;
	bool is_open; /* its end was not seen: it ended with the trace, or was given up because too many are known */
	unsigned int nr_keys;
	uint64_t keys[MODEL_KEYS_MAX];
	int64_t value;
	int32_t tid;
	struct model_record record;
};

/* A key, or a value, as digits: with a sign if the field has one. As snprintf(). */
int model_number_text(const struct tep_format_field *field, uint64_t number, char *ret_text, size_t size);

/* "system:name 7 8": what is in the state, by its keys; `size` is at least MODEL_TITLE. */
#define MODEL_TITLE 320u
void model_state_title(const struct model_state *state, char *ret_text, size_t size);

/* An event that carries a flow number other than 0: those with the same number are linked in time order. */
struct model_flow {
	uint64_t flow;
	uint64_t ts;
	int32_t tid;
	uint32_t cpu;
	uint64_t span;	/* the span of which this is the begin or end, or the innermost open one; 0: none */
	uint64_t from_ts; /* the event with this number before it; 0: it is the first */
	int32_t from_tid;
	uint64_t from_span;
	struct model_record record;
};

/* A thread worked for a logical task. */
struct model_task {
	uint64_t task; /* never 0 */
	const char *name; /* the last one that was not empty; NULL: none */
	int32_t tid;
	uint64_t begin, end;
	bool is_open;
};

/*
 * Only losses of the kernel's events concern states. A loss becomes known with the next event after it. Until then,
 * states may be wrong from the time at which the loss began. A consumer that needs correct states cuts them at the
 * losses that it gets here.
 */
enum model_run {
	MODEL_RUNNING,
	MODEL_RUNNABLE,	/* woken, or preempted, and waiting for a CPU */
	MODEL_SLEEPING,	/* interruptible; or idle, as kernel threads that wait for work are */
	MODEL_BLOCKED,	/* uninterruptible */
	MODEL_STOPPED,	/* stopped, traced, parked */
	MODEL_DEAD,
	MODEL_UNKNOWN,	/* events were lost or not recorded, or a switch is missing that the host has hidden */
};

/* Why events about a thread were not recorded, as the file notes it. */
enum model_absent {
	MODEL_RECORDED,
	MODEL_NO_CPU,  /* the thread was on a CPU that was not recorded */
	MODEL_NO_TIME, /* no switch of the thread was recorded at that time: the file was merged of others */
	/* the state is that of the kernel's thread of this id, not the program's: event_is_ambiguous() */
	MODEL_OTHER_IDS,
};

struct model_thread_state {
	int32_t tid;
	enum model_run state;
	/*
	 * MODEL_RUNNING: where the thread runs. MODEL_RUNNABLE: the CPU that it waits for: where it was preempted, or
	 * that of sched_wakeup; without that event, where it ran next. MODEL_UNKNOWN with is_lost: the CPU whose events
	 * were lost; with MODEL_NO_CPU: the CPU that was not recorded; with MODEL_OTHER_IDS: where the kernel's thread
	 * of this id ran. UINT32_MAX: not known, or it did not run.
	 */
	uint32_t cpu;
	uint64_t begin, end;
	bool is_open;	     /* ended with the trace */
	bool is_cut;	     /* what it ended with is not known: from its end on the state is unknown */
	bool is_preempted;   /* MODEL_RUNNABLE after running, without a wake-up */
	bool is_lost;	     /* MODEL_UNKNOWN: because events were lost */
	enum model_absent absent; /* MODEL_UNKNOWN: why */
	bool is_inferred;    /* it began after a loss, and is known only from the event that ended it */
	uint32_t prio;
	int32_t waker;	     /* the thread that ended the sleep, for MODEL_SLEEPING and MODEL_BLOCKED; -1: not known */
	uint32_t waker_cpu;
	uint64_t waker_span; /* innermost span open on the waker */
	bool waker_irq;	     /* an interrupt woke it; the waker is the thread that was interrupted */
	bool waker_early;    /* the waker began the wake-up before the thread had left its CPU */
};

/* Whether a thread of this id, which may be another one than that of the program's events, ran on the state's CPU. */
static inline bool model_state_runs(const struct model_thread_state *state)
{
	return state->state == MODEL_RUNNING || (state->absent == MODEL_OTHER_IDS && state->cpu != UINT32_MAX);
}

struct model_loss {
	uint64_t ts;   /* time of the event after the loss */
	/*
	 * The lost events came after this time. If is_program, it is the time of the last event of the CPU before the
	 * loss; otherwise that of the last event before the loss in the kernel's ring, which is the ring of the CPU in
	 * `buffer`. It is never earlier than the first event of the trace.
	 */
	uint64_t since;
	uint32_t cpu;
	int64_t lost;  /* as dat_event.lost */
	bool is_program; /* model_loss_is_programs(): nothing of the kernel was lost, so states of threads are known */
	const struct dat_buffer *buffer;
};

/*
 * Whether the events that were lost before an event are all events of programs, or all of the kernel. In all files of
 * recorder the event after a loss is of the same lane, or of the same ring of the kernel; but a recorder:end of thread
 * 0 reports losses of the kernel. A loss of unknown number may be damage of a page, which may concern events of both,
 * unless the file's notes have a loss of one of the two there.
 */
bool model_loss_is_programs(const struct event_table *table, const struct dat_event *event);
bool model_loss_is_kernels(const struct event_table *table, const struct dat_event *event);

/* Each function may be NULL. If one returns a value other than 0, model_event() ends and returns it. */
struct model_sink {
	void *arg;
	int (*span)(void *arg, const struct model_span *span);
	int (*counter)(void *arg, const struct model_counter *counter);
	int (*state)(void *arg, const struct model_state *state);
	int (*flow)(void *arg, const struct model_flow *flow);
	int (*task)(void *arg, const struct model_task *task);
	int (*thread_state)(void *arg, const struct model_thread_state *state);
	int (*loss)(void *arg, const struct model_loss *loss);
	/* Called for each event that is not part of another item, with the innermost open span of its thread. */
	int (*point)(void *arg, const struct model_record *record, const struct dat_event *event, int32_t tid,
		     uint64_t span);
	/* A span begins; span->end is 0. For consumers that need begins in time order. */
	int (*span_begin)(void *arg, const struct model_span *span);
	/*
	 * NULL, or a counter: of the spans that were cut, and of the states whose end is not known, only because too
	 * many were open or known at the same time.
	 */
	uint64_t *given_up;
};

struct model;

/* 0; -ENOMEM. The rules must outlive it. model_close() takes NULL, returns NULL. */
int model_open(const struct model_rules *rules, const struct model_sink *sink, struct model **ret_model);
struct model *model_close(struct model *model);

/* The next event. 0; -ENOMEM; what the sink returned. The event's bytes are copied where they must outlive the call. */
int model_event(struct model *model, const struct dat_event *event);

/* Whether there were switches, whatever could be derived from them. */
bool model_has_switches(const struct model *model);

/* Call it after the last event: open items are given to the sink, and end with that event. 0; as model_event(). */
int model_end(struct model *model);

#endif
