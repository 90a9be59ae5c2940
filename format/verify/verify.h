/* SPDX-License-Identifier: MIT */
/*
 * What must be true on a timeline that programs and the kernel share, checked in one pass over the events in the
 * order of time. The kernel's sched events say who ran where, and the rest has to agree with them:
 *
 * outside    An event of a program was recorded while its thread ran on that CPU: it lies between two sched_switch
 *            that follow each other on the CPU, the first with the thread as next, the second with it as prev, both
 *            times included. Some kernels leave out most switches out of idle: between one to idle and one from a
 *            thread the event may be that thread's, and is counted as from_idle. Where nothing is known it is
 *            unchecked: before a CPU's first switch, behind its last, around a loss, and where two switches
 *            contradict each other.
 * two_cpus   A thread is switched in only where it was switched out before, if it was on another CPU.
 * not_woken  A thread that was switched out asleep is woken (sched_waking) before it is seen to run, and a new one
 *            (sched_process_fork) by sched_wakeup_new. Looked at for threads of which a sched_waking was seen before.
 * woken_late sched_wakeup, which ends what sched_waking begins, comes before the switch that puts the thread in.
 * back       Within the stream of a CPU no event is earlier than the one before it.
 * count      What a CPU's statistics say was read and lost is what its stream holds and its pages tell as lost, and a
 *            recorder:end says what its page does. Where the size of a loss is unknown, no more than that is asked. What
 *            they say was left to read may be there, too, and one event not, if trace-cmd looked for the date by it.
 *
 * The three about threads compare the clocks of CPUs: the kernel orders these events by its locks. They need all of
 * them recorded, so nothing is asked across a loss, or switches that contradict each other, on any CPU; nor at all
 * where a CPU has no events of the kernel, as if it had been masked. Where switches of some threads alone were
 * recorded nothing is asked of threads, and events that do not lie in their thread's time are unchecked. Our files
 * say so; in one of somebody else's that may be, so nothing is asked of a thread before a switch between it and the
 * idle task, or another event of its own, was seen.
 *
 * Memory: a page of kept events at most for each CPU and each thread seen, and some more for the threads that have
 * events outside. Threads: one at a time per verify.
 */
#ifndef FORMAT_VERIFY_H
#define FORMAT_VERIFY_H

#include "format/dat/dat_merge.h"
#include "format/text/event_parse.h"

enum verify_kind {
	VERIFY_OUTSIDE,
	VERIFY_TWO_CPUS,
	VERIFY_NOT_WOKEN,
	VERIFY_WOKEN_LATE,
	VERIFY_BACK,
	VERIFY_COUNT,
	VERIFY_KINDS,
};

/* "outside", "two_cpus", ... */
extern const char *const verify_kind_names[VERIFY_KINDS];

struct verify_violation {
	enum verify_kind kind;
	uint64_t events; /* that it is about: all of a thread between two switches are one */
	const char *text;
	const struct dat_event *before; /* its neighbours and itself, for as long as the call; each may be NULL */
	const struct dat_event *event;
	const struct dat_event *after;
};

struct verify_figures {
	uint64_t events;
	uint64_t user_events; /* of programs: ids from 16384 on, user_events, what was written to trace_marker */
	uint64_t checked;     /* of these: between known switches */
	uint64_t unchecked;
	uint64_t from_idle; /* of the checked ones */
	uint64_t from_idle_stays;
	uint64_t switches;
	uint64_t contradictions; /* pairs of switches between which one is missing, those out of idle aside */
	uint64_t wakeups;
	uint64_t woken;	     /* runs of threads that had to be woken, and were looked at */
	uint64_t migrations; /* of threads, as the switches show them */
	uint64_t losses;     /* gaps in streams */
	uint64_t counts;     /* CPUs whose statistics were compared */
	uint64_t violations; /* all: events outside, and one for each of the others */
	uint64_t of_kind[VERIFY_KINDS];
	uint64_t nearest_ns; /* the least distance of a checked event to a switch of its thread; UINT64_MAX: none */
};

struct verify;

typedef void (*verify_report)(void *arg, const struct verify_violation *violation);

/* file and table must outlive it. 0; -ENOMEM. */
int verify_open(const struct dat_file *file, const struct event_table *table, verify_report report, void *arg,
		struct verify **ret_verify);

/* The file's next event, as dat_merge_next() gives it. 0; -ENOMEM. */
int verify_event(struct verify *verify, const struct dat_event *event);

/* That was the last one: what is still open is decided. 0; -ENOMEM. */
int verify_finish(struct verify *verify, struct verify_figures *ret_figures);

/* Takes NULL. Returns NULL. */
struct verify *verify_close(struct verify *verify);

#endif
