/* SPDX-License-Identifier: MIT */
/* Shared by the parts of the model: threads, CPUs, open spans. */
#ifndef FORMAT_MODEL_PRIVATE_H
#define FORMAT_MODEL_PRIVATE_H

#include "format/io/hash.h"
#include "format/io/number_map.h"
#include "format/model/model.h"

/* A span whose end has not come: on the stack of a thread or a CPU, or in the table of keyed ones. */
struct model_open {
	struct model_span span;
	/* The next outer one on the stack; or the next one in a chain of the table, or in the list of unused ones. */
	struct model_open *outer;
	struct model_open *child; /* on the stack: the next inner one */
	struct model_open *older, *newer; /* in the table: in the order of their begins */
	uint64_t inner;		  /* ns covered by child spans that have ended */
	uint64_t inner_until;	  /* the end of the last of them; 0: none */
	bool has_second;	  /* of a system call on the stack: its second span has begun */
	bool is_over;		  /* on the stack: it has ended unseen, and ends with the span inside it */
	int32_t process;	  /* of a keyed span: the process of its begin; -1: not known */
	uint64_t raw;		  /* the time of its begin in the units of the pages */
	unsigned char *bytes;	  /* copy of the first record */
	uint32_t room;
};

/* The number of the idle tasks of all CPUs. */
#define MODEL_IDLE 0

/*
 * Spans that are begun and never ended, for example because only begins were recorded, must neither fill the memory nor
 * make each search long: of more than this many, the outermost one is given up.
 */
#define MODEL_DEPTH_MAX 1024u

/*
 * If more keyed spans than this are open, the oldest is cut. If more states than this are known, the one that was
 * known first is given up. If more threads than this are known, half of them are given up. At most this many flow
 * numbers are kept; the last MODEL_KNOWN_MAX / 2 always are. At most this many names of tasks are kept.
 */
#define MODEL_KNOWN_MAX (1u << 18)

/* The same for the bytes of the records of keyed spans, and of states: a record may be as large as a page. */
#define MODEL_BYTES_MAX (UINT64_C(1) << 26)

/* Spans that have ended, next to each other on a stack. */
struct model_ended {
	uint64_t begin; /* of the first of them */
	uint64_t sum;	/* ns of all of them */
};

/* A stack has at most this many of them. */
#define MODEL_ENDED_MAX 128u

/* A stack of open spans; `top` is the innermost, `bottom` the outermost. */
struct model_stack {
	struct model_open *top, *bottom;
	struct model_open *single; /* the one whose rule->is_single; NULL: none */
	unsigned int depth;
	/*
	 * For timed spans, which are known only when they end: the spans that ended and are in no other span that
	 * ended, by time. They are kept only if the trace has timed spans. NULL: there are none yet.
	 */
	struct model_ended *ended;
	unsigned int nr_ended, room_ended;
};

/* Who woke a thread, as sched_waking shows it. */
struct model_waker {
	bool is_known;
	int32_t tid;
	uint32_t cpu;
	uint64_t span; /* innermost span open on the waker */
	bool irq;
};

struct model_thread {
	int32_t tid;
	uint64_t key; /* in model.threads */
	bool is_ambiguous; /* event_is_ambiguous(): the id is that of two threads, each with a struct of its own */
	uint32_t cpu;	      /* of its last event: the place in model.cpus */
	uint64_t last_ts;     /* of its last event */
	uint64_t program_loss_ts; /* events of its program may be missing before this time; 0: none are */
	uint64_t kernel_loss_ts; /* the same for events of the kernel that concern it */
	uint64_t born_ts;	 /* when it was woken for the first time; 0: not known */
	struct model_stack stack;
	struct model_open *beside; /* a system call that does not nest; NULL: none */
	uint64_t beside_until;	   /* when the other span of this call ended; 0: not yet */
	uint64_t task, task_begin;
	bool has_state;
	bool is_only_woken; /* a wake-up is all that is known of it, or all since a loss */
	/*
	 * With MODEL_UNKNOWN: since this time nothing was missing, and the thread is in one state, which its next
	 * event will show. 0: not yet.
	 */
	uint64_t settled;
	struct model_thread_state state; /* `end` is not set */
	/* A wake-up that began while the thread ran, and whose second half has not come: see model_wake_event(). */
	struct model_waker early;
	bool is_listed; /* all its switches were recorded: see model_sched.c */
	bool is_live;	/* in model.live */
};

struct model_cpu {
	uint64_t last_ts;   /* of its last event; 0: none */
	struct number_map rings; /* by buffer: the time of the last event of the kernel in the CPU's ring there */
	uint64_t switch_ts; /* of its last switch; 0: none since the trace began, or since events were lost */
	uint64_t program_loss_ts; /* the last loss of events of programs on it; 0: none */
	uint64_t kernel_loss_ts;  /* the same for events of the kernel */
	bool is_running_known;
	/*
	 * A switch was seen, or an event of a second thread: so it is known that more than one thread has run since the
	 * beginning.
	 */
	bool is_switched;
	int32_t running;  /* the thread that runs; 0: idle */
	uint64_t shown_ts; /* the last switch to it, or its last event: it ran at least until then */
	/* The thread that the last switch has left, as long as the kernel has written no event of another thread. */
	bool has_left;
	int32_t left;
	uint64_t alone_ts; /* time of the last end of an interrupt whose begin was not seen */
	struct model_stack stack; /* interrupts */
	struct model_stack idle;  /* spans of the kernel in the CPU's idle task */
};

/* A chained hash table of open spans by pair and keys. */
struct model_keyed {
	struct model_open **chains;
	size_t nr_chains; /* a power of two, or 0 */
	size_t used;
	uint64_t bytes; /* allocated for their records */
	struct model_open *oldest, *newest;
};

struct model_items;

/* Which switches were recorded at a time. */
enum model_scope {
	MODEL_ALL,
	MODEL_SOME, /* those of some threads */
	MODEL_NO_SWITCHES,
	MODEL_NO_KERNEL, /* and no other events of the kernel, either */
};

struct model_change {
	uint64_t raw; /* it holds from this time on, in the units of the pages */
	enum model_scope scope;
	bool no_programs; /* no events of programs */
};

struct model {
	const struct model_rules *rules;
	struct model_sink sink;
	uint64_t first_ts, last_ts;
	uint64_t last_raw; /* the latest time of an event in the units of the pages */
	bool has_begun;
	uint64_t program_loss_ts; /* the last loss of events of programs anywhere; 0: none */
	uint64_t kernel_loss_ts; /* the same for events of the kernel */
	uint64_t tail_loss_ts; /* the last loss of programs after the last event of a lane */
	uint64_t given_up_ts; /* when threads were last given up; 0: never */
	bool has_switch, has_waking, has_timed;
	const struct dat_absent *absent;
	struct model_change *changes; /* of the scope, in time order */
	size_t nr_changes, at;	      /* `at`: the next one */
	enum model_scope scope;
	uint64_t scope_ts; /* time of the last change */
	bool no_programs; /* no events of programs were recorded at this time */
	bool by_number; /* with MODEL_SOME: all events of the kernel are those of the recorded threads, too */
	uint64_t next_id;
	struct number_map threads; /* address of struct model_thread */
	struct model_thread **list;
	size_t nr_list, room_list;
	/*
	 * Those of the list that may have a state other than dead: model_thread() and model_program_thread() add
	 * them.
	 */
	struct model_thread **live;
	size_t nr_live;
	struct model_cpu *cpus; /* by number, or by `places` */
	uint32_t nr_cpus;
	struct number_map places; /* of a file of several machines: by buffer and number, the place in `cpus` plus 1 */
	const struct dat_buffer *first_buffer; /* with `places`: the buffer of the first event */
	struct model_keyed keyed;
	struct model_open *unused;
	struct model_items *items; /* states and flows */
};

/* An event on its way through the model. */
struct model_step {
	const struct dat_event *event;
	const struct model_rule *rule;
	struct model_record record;
	struct model_thread *thread;
	struct model_cpu *cpu;
	uint64_t span; /* the span of which this is the begin or end, or the innermost open one of the thread */
};

/* model.c: whether the event is recorder:end, which no thread has written. */
bool model_is_end_of_program(const struct model_step *step);

/*
 * model_threads.c. The thread with this number for the kernel, or for programs; NULL: out of memory.
 * model_threads_bound() gives up half of them: call it if there are too many, when no thread is in use. 0; -ENOMEM;
 * what the sink returned.
 */
struct model_thread *model_thread(struct model *model, int32_t tid);
struct model_thread *model_program_thread(struct model *model, int32_t tid);
int model_threads_bound(struct model *model);
void model_threads_free(struct model *model);

/* Count a span or a state that is given up because there are too many. */
void model_count_given_up(const struct model *model);

/* model_names.c: the name of a span by its record, see model_span.name; NULL: out of memory. */
struct model_names;
const char *model_name(const struct model_rules *rules, const struct model_rule *rule,
		       const struct model_record *record);
struct model_names *model_names_open(void);
void model_names_close(struct model_names *names);
/* model_rules.c: the names that belong to the rules; whether an event is a timed span. */
struct model_names *model_rules_names(const struct model_rules *rules);
bool model_rules_have_timed(const struct model_rules *rules);

/* model_keyed.c. 0; -ENOMEM. */
int model_keyed_add(struct model_keyed *keyed, struct model_open *open);
/*
 * Takes an open span with the keys of `like` out of the table: the last one that this process began; if it began none,
 * or if more than 1024 spans of other processes are newer, the last one of all. NULL: no such span is open. (Processes
 * of the same program often number their requests from 1, independently.)
 */
struct model_open *model_keyed_take(struct model_keyed *keyed, const struct model_span *like, int32_t process);
/* Takes out the span that was begun first; there must be one. */
struct model_open *model_keyed_oldest(struct model_keyed *keyed);

/* model_spans.c. 0; -ENOMEM; what the sink returned. */
int model_span_begin(struct model *model, struct model_step *step);
int model_span_end(struct model *model, struct model_step *step);
int model_span_timed(struct model *model, struct model_step *step);
/* Whether an end of an open span without a key, or its next begin, may be lost before this step. */
bool model_span_has_loss(const struct model *m, const struct model_step *step, const struct model_open *open);

/*
 * Close all open spans of a stack, or of a thread, whose ends were not seen, with MODEL_NO_END and `flags`. For keyed
 * spans this is done at the end of the trace.
 */
int model_spans_stop(struct model *model, struct model_stack *stack, uint64_t ts, unsigned int flags);
int model_thread_stop(struct model *model, struct model_thread *thread, uint64_t ts);
int model_keyed_stop(struct model *model, uint64_t ts);
void model_spans_free(struct model *model);

/* model_stack.c. An unused open span: NULL: out of memory. */
struct model_open *model_open_take(struct model *model);
void model_open_give(struct model *model, struct model_open *open);
/* Whether an end belongs to an open span: their rules are a pair, and no field shows that they are different spans. */
bool model_open_fits(const struct model_open *open, const struct model_step *step);
/* Whether a program's span is inside an open span on a stack, or is that span. */
bool model_has_program_inside(const struct model_open *open);
/* A span that is on no stack ends: the sink gets it, and `open` is unused. */
int model_open_end(struct model *model, struct model_open *open, uint64_t ts, unsigned int flags);
int model_stack_push(struct model *model, struct model_stack *stack, struct model_open *open);
/*
 * A timed span has ended on the stack: sets its `own`, and adds that to the covered time of the open span around it.
 * Own times are inexact if the span begins between spans that were put together because too many have ended. 0;
 * -ENOMEM.
 */
int model_stack_timed(struct model_stack *stack, struct model_span *span);

/* The innermost span of a stack ends, and those around it that are over. Its time is no longer its parent's own. */
int model_stack_pop(struct model *model, struct model_stack *stack, uint64_t ts, unsigned int flags);

/*
 * model_calls.c: begin and end a span whose rule has is_single. *ret_open is the open span that the end belongs to. If
 * no span is open, *ret_open is NULL, and *ret_since is the earliest time at which the span can have begun.
 */
int model_single_begin(struct model *model, const struct model_step *step, struct model_open *open);
int model_single_end(struct model *model, const struct model_step *step, struct model_open **ret_open,
		     uint64_t *ret_since);
/* The span beside the stack ends. model_beside_leave(): its end was not seen until `ts`; there may be no such span. */
int model_beside_end(struct model *model, struct model_thread *thread, uint64_t ts, unsigned int flags);
int model_beside_leave(struct model *model, struct model_thread *thread, uint64_t ts, unsigned int flags);

/*
 * model_graph.c: a function begins, or the end of one without a begin came: the open ones that are not around it are
 * cut. `loss` is the last loss that may hide their ends; 0: none. 0; -ENOMEM; what the sink returned.
 */
int model_graph_cut(struct model *m, const struct model_step *step, struct model_stack *stack, uint64_t loss);

/* model_items.c: counters, states, flows, tasks. */
int model_items_open(struct model *model);
void model_items_free(struct model *model);
int model_counter_event(struct model *model, const struct model_step *step);
int model_state_event(struct model *model, const struct model_step *step);
int model_flow_event(struct model *model, const struct model_step *step);
int model_task_event(struct model *model, const struct model_step *step);
int model_task_stop(struct model *model, struct model_thread *thread, uint64_t ts);
int model_states_stop(struct model *model, uint64_t ts);

/*
 * model_absent.c: what was not recorded. 0; -ENOMEM; what the sink returned. model_absent_pass(): called for each event
 * before the others.
 */
int model_absent_open(struct model *model);
int model_absent_pass(struct model *model, const struct dat_event *event);
/* If a CPU was not recorded, a thread that seems to wait for a CPU is unknown. */
void model_absent_doubt(const struct model *model, struct model_thread *thread);
/* Since its state began, the thread was on this CPU, which was not recorded; UINT32_MAX: on one of several. */
void model_absent_hide(struct model_thread *thread, uint32_t cpu);

/*
 * model_sched.c: states of threads. model_sched_open() takes the listed threads from the table: 0; -ENOMEM.
 * model_sched_loss(): events of the step's CPU were lost between `since` and the step.
 */
int model_switch_event(struct model *model, const struct model_step *step);
int model_wake_event(struct model *model, const struct model_step *step);
int model_sched_open(struct model *model);
int model_sched_loss(struct model *model, const struct model_step *step, uint64_t since);
int model_sched_stop(struct model *model, struct model_thread *thread, uint64_t ts);
/* The state of the thread ends: the sink gets it. 0; what the sink returned. The next state begins. */
int model_state_give(const struct model *m, struct model_thread *thread, uint64_t ts, bool is_open);
void model_state_set(struct model_thread *thread, enum model_run state, uint32_t cpu, uint64_t ts, uint32_t prio);
/* The state of the thread is known until `ts`, and unknown from then on. */
int model_sched_forget(struct model *model, struct model_thread *thread, uint64_t ts);

/*
 * model_runs.c: which thread runs on a CPU if no switch shows it. 0; what the sink returned.
 * model_run_note(): called for each event, after model_sched_loss() and before the others: the event shows that its
 * thread runs.
 * model_run_may_have_left(): the thread may have been on other CPUs since its span began.
 * model_run_forget(): of the CPU nothing is known any longer: events were lost, or not recorded.
 * model_run_list(): the thread turns out to be a listed one.
 * model_run_unknown(): a switch to the thread, on this CPU, is missing: until `ts` it is not known what it did.
 * model_run_stop(): the thread that runs on the CPU has left it unseen: it ran at least until what shows that it ran;
 * from then on its state is unknown.
 * model_run_stop_elsewhere(): the thread is seen on this CPU; if it seemed to run on another one, it has left that one.
 */
int model_run_note(struct model *model, const struct model_step *step);
void model_run_forget(struct model_cpu *cpu);
bool model_runs_on(const struct model_thread *thread, uint32_t cpu);
bool model_run_may_have_left(const struct model *m, const struct model_thread *thread, const struct model_open *open);
void model_run_list(struct model_thread *thread);
int model_run_unknown(const struct model *m, struct model_thread *thread, uint32_t cpu, uint64_t ts);
int model_run_stop(struct model *m, uint32_t number);
int model_run_stop_elsewhere(struct model *m, struct model_thread *thread, uint32_t cpu);

/* The hash of a pair, or a state, and its keys. */
static inline uint64_t model_hash(unsigned int pair, const uint64_t *keys, unsigned int nr_keys)
{
	uint64_t hash = hash_number(pair);

	for (unsigned int i = 0; i < nr_keys; i++)
		hash = hash_step(hash, keys[i]);
	return hash;
}

/* The stack of the event's thread. Works of a workqueue, and system calls, are never in an idle task. */
static inline struct model_stack *model_thread_stack(const struct model_step *step)
{
	const struct model_rule *rule = step->rule;
	const bool is_idle = step->thread->tid == MODEL_IDLE && !rule->is_program && !rule->is_single;

	return is_idle ? &step->cpu->idle : &step->thread->stack;
}

/* Whether the switches of a thread were recorded. */
static inline bool model_scope_has(enum model_scope scope, const struct model_thread *thread)
{
	return scope == MODEL_ALL || (scope == MODEL_SOME && thread->is_listed);
}

static inline uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

#endif
