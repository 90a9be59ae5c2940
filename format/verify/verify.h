/* SPDX-License-Identifier: MIT */
/*
 * Rules for a timeline that programs and the kernel share, checked in one pass over the events in the order of time.
 * The kernel's sched events show which thread ran on which CPU, and the other events must agree with them:
 *
 * outside    An event of a program is recorded while its thread runs on that CPU: it lies between two sched_switch
 *            events that follow each other on the CPU, the first one to the thread, the second one from it, both times
 *            included. Some kernels leave out most switches out of idle: between a switch to idle and one
 *            from a thread, the event may be that thread's, and is counted as from_idle. If the thread is not known,
 *            the event is unchecked: before a CPU's first switch, after its last, around a loss, and if two switches
 *            contradict each other.
 * two_cpus   If a thread was on another CPU, it is switched in only after it was switched out there.
 * not_woken  A thread that was switched out asleep is woken (sched_waking) before it runs again, and a new one
 *            (sched_process_fork) by sched_wakeup_new. Checked for threads of which a sched_waking was seen before.
 * woken_late sched_wakeup, which ends what sched_waking begins, precedes the switch that puts the thread in.
 * back       Within the stream of a CPU no event is earlier than the one before it.
 * count      A CPU's statistics agree with the events in its stream and the losses in its pages, and a recorder:end
 *            agrees with its page. If the size of a loss is unknown, only the rest is compared. Events that the
 *            statistics count as unread may be in the stream, too, and one event may be missing, if trace-cmd used it
 *            to determine the date.
 *
 * The three rules about threads compare the clocks of CPUs: the kernel orders these events by its locks. They need all
 * of these events. So they are not applied across a loss on any CPU, or across switches that contradict each other; nor
 * at all if a CPU has no events of the kernel, because it may have been masked. If only the switches of some threads
 * were recorded, or if the file was merged from files of several machines, no rule about threads is applied, and events
 * outside the time of their thread are unchecked. Our files state that. Files of other programs do not; so a thread is
 * checked only after a switch between it and the idle task, or another event of its own, was seen.
 *
 * Memory: at most a page of kept events for each CPU and each thread seen, and some more for the threads that have
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
	/* Not a violation: two switches of a CPU between which one is missing. It is reported with `events` 0. */
	VERIFY_CONTRADICTION = VERIFY_KINDS,
};

/* "outside", "two_cpus", ... */
extern const char *const verify_kind_names[VERIFY_KINDS];

struct verify_violation {
	enum verify_kind kind;
	uint64_t events; /* number of events concerned: all events of a thread between two switches count as one */
	const char *text;
	const struct dat_event *before; /* the event and its neighbours, valid during the call; each may be NULL */
	const struct dat_event *event;
	const struct dat_event *after;
};

struct verify_figures {
	uint64_t events;
	uint64_t user_events; /* of programs: ids from 16384 on, user_events, writes to trace_marker */
	uint64_t checked;     /* the number of these that lie between known switches */
	uint64_t unchecked;
	uint64_t from_idle; /* number of checked ones that were counted so */
	uint64_t from_idle_stays;
	uint64_t switches;
	uint64_t contradictions; /* pairs of switches between which one is missing, except those out of idle */
	uint64_t wakeups;
	uint64_t woken;	     /* runs of threads that had to be woken, and were checked */
	uint64_t migrations; /* number of migrations of threads, according to the switches */
	uint64_t losses;     /* gaps in streams */
	uint64_t counts;     /* CPUs whose statistics were compared */
	uint64_t violations; /* all: events outside, and one for each other violation */
	uint64_t of_kind[VERIFY_KINDS];
	uint64_t nearest_ns; /* the least distance of a checked event to a switch of its thread; UINT64_MAX: none */
};

struct verify;

/* Called for each violation and each contradiction. */
typedef void (*verify_report)(void *arg, const struct verify_violation *violation);

/* file and table must outlive it. 0; -ENOMEM. */
int verify_open(const struct dat_file *file, const struct event_table *table, verify_report report, void *arg,
		struct verify **ret_verify);

/* The file's next event, from dat_merge_next(). 0; -ENOMEM. */
int verify_event(struct verify *verify, const struct dat_event *event);

/* There are no more events: everything undecided is decided. 0; -ENOMEM. */
int verify_finish(struct verify *verify, struct verify_figures *ret_figures);

/* Takes NULL. Returns NULL. */
struct verify *verify_close(struct verify *verify);

#endif
