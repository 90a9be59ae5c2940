/* SPDX-License-Identifier: MIT */
/*
 * Shared by verify.c (events, streams), verify_cpu.c (which thread runs on a CPU), verify_thread.c (threads),
 * verify_count.c.
 */
#ifndef FORMAT_VERIFY_PRIVATE_H
#define FORMAT_VERIFY_PRIVATE_H

#include "format/io/number_map.h"
#include "format/verify/verify.h"

/* A copy of an event that outlives its page. */
struct verify_kept {
	struct dat_event event; /* data NULL: none */
	unsigned char *bytes;
	uint32_t room;
};

/* The events of one thread on one CPU between two switches. */
struct verify_group {
	int32_t pid;
	uint64_t count;
	uint64_t at_begin; /* number of events at the time of the switch before */
	uint64_t at_last;  /* number of events at last_ts */
	uint64_t last_ts;
	struct verify_kept first;
};

struct verify_switch {
	int32_t prev;
	int32_t next;
	int64_t prev_state;
};

/* A CPU, as described by the sched_switch events of one buffer. */
struct verify_cpu {
	const struct dat_buffer *buffer; /* the buffer whose switches are used; NULL: no switch was seen */
	bool known;			 /* the last switch is known, and no event was lost since */
	struct verify_switch last;
	struct verify_kept last_event;
	struct verify_group *groups; /* groups since the last switch */
	uint32_t nr_groups;
	uint32_t room;
};

/* The pages of one CPU in one buffer. */
struct verify_stream {
	struct dat_event last; /* its bytes are invalid once another page was begun */
	bool begun;
	bool has_kernel;    /* whether it has events of the kernel */
	uint64_t kernel_ts; /* time of the last event of the kernel */
	uint64_t events;    /* number of events, except recorder:end */
	uint64_t lost;	    /* the sum of known losses; lost_at_end: the part of it in recorder:end */
	uint64_t lost_at_end;
	uint64_t lost_unknown;
};

/* The role of an event in the checks, by its id. */
enum verify_event_kind {
	EVENT_OTHER,
	EVENT_OWN, /* an event of the kernel about the running thread; the kinds after it are about threads, too */
	EVENT_USER,
	EVENT_END, /* recorder:end, whose time has no meaning */
	EVENT_SWITCH,
	EVENT_WAKING,
	EVENT_WAKEUP,
	EVENT_WAKEUP_NEW,
	EVENT_FORK,
};

enum thread_state { THREAD_UNKNOWN, THREAD_RUNS, THREAD_WAITS, THREAD_SLEEPS, THREAD_WOKEN };

struct verify_thread {
	int32_t tid;
	enum thread_state state;
	uint32_t cpu;
	uint64_t epoch;	       /* epoch of the state, which is not valid after a loss */
	bool is_new;	       /* asleep because it was forked */
	bool waking;	       /* sched_waking was seen since it was last switched in */
	bool wakings_are_seen; /* a sched_waking was seen at least once */
	bool is_hidden;	       /* its events were left out, and its wake-ups by other hidden threads */
	bool is_owed;	       /* a sched_wakeup is expected, because it was switched in after only a sched_waking */
	bool is_followed;      /* its switches are recorded, even if only those of some threads are */
	bool is_double;	       /* it has run on another CPU, and its switch out of left_cpu was not seen yet */
	uint32_t left_cpu;
	uint64_t unheard;      /* number of its latest suspicion whose `after` is not known yet; 0: none */
	struct verify_kept last_switch;
};

/*
 * A possible violation. A loss that is not reported yet might explain it, so it waits until all streams are past its
 * time. `after` is the thread's next sched event; if that has the same time, the suspicion is dropped.
 */
struct verify_pending {
	enum verify_kind kind;
	int32_t tid;
	bool is_dropped;
	uint64_t unheard; /* the previous one of the same thread, as above */
	struct verify_kept before, event, after;
};

struct verify_field {
	uint32_t offset;
	uint32_t size;
};

struct verify {
	const struct dat_file *file;
	const struct event_table *table;
	verify_report report;
	void *arg;
	struct verify_figures figures;
	uint8_t *kinds; /* kinds of events, by id */
	struct verify_field prev_pid, next_pid, prev_state;
	struct verify_field
		subject[EVENT_FORK + 1]; /* by kind: the thread concerned; for EVENT_END the number lost */

	struct verify_stream *streams; /* in the file's order */
	uint32_t *first_stream;	       /* by buffer */
	struct verify_cpu *cpus;
	uint32_t nr_cpus;

	struct number_map thread_places; /* by tid, one more than the place */
	struct verify_thread *threads;
	size_t nr_threads;
	size_t thread_room;
	uint64_t epoch;			/* number of losses of kernel events, reported or deduced */
	const struct dat_buffer *sched; /* the buffer of the first switch */
	bool all_begun;			/* each of its streams has begun */
	bool new_are_seen;		/* a sched_wakeup_new was seen */
	bool has_some;			/* not all switches, or those of several machines */
	bool is_foreign;		/* another program wrote the file, which does not state has_some */
	struct verify_pending *pending; /* a ring; numbers begin at 1 and are not reused */
	uint64_t pending_begin, pending_end;
};

/* verify.c */
int verify_keep(struct verify_kept *kept, const struct dat_event *event);
void verify_drop(struct verify_kept *kept);
static inline const struct dat_event *verify_kept_event(const struct verify_kept *kept)
{
	return kept->event.data ? &kept->event : NULL;
}
/* NULL: the buffer has no such CPU. */
const struct verify_stream *verify_stream_find(const struct verify *v, const struct dat_buffer *buffer, uint32_t cpu);
void verify_say(struct verify *v, const struct verify_violation *violation);

/* verify_cpu.c: an event of a program, a switch, a loss of kernel events before an event, the end. */
int verify_cpu_user(struct verify *v, const struct dat_event *event, int32_t pid);
int verify_cpu_switch(struct verify *v, const struct dat_event *event, const struct verify_switch *now);
void verify_cpu_lost(struct verify *v, struct verify_cpu *cpu);
void verify_cpu_free(struct verify_cpu *cpu);

/* verify_thread.c: the same; a wake-up, a fork. */
int verify_thread_switch(struct verify *v, const struct dat_event *event, const struct verify_switch *now);
int verify_thread_wake(struct verify *v, const struct dat_event *event, int32_t tid, enum verify_event_kind kind);
int verify_thread_fork(struct verify *v, const struct dat_event *event, int32_t tid);
/* The file states that this thread is hidden. 0 or -ENOMEM. */
int verify_thread_hide(struct verify *v, int32_t tid);
/*
 * An event of the thread itself was recorded: 0 or -ENOMEM. The second function: whether all switches of the thread
 * were recorded, according to the file.
 */
int verify_thread_follow(struct verify *v, int32_t tid);
bool verify_thread_is_followed(const struct verify *v, int32_t tid);
/* Note that events of the kernel between `since` and now are missing on some CPU. */
void verify_thread_lost(struct verify *v, uint64_t since);
/* Decide all waiting suspicions that are not later than `ts`. */
void verify_thread_decide(struct verify *v, uint64_t ts);
void verify_thread_free(struct verify *v);

/* verify_count.c: 0, -ENOMEM. */
int verify_counts(struct verify *v);

#endif
