/* SPDX-License-Identifier: MIT */
/* The correct answer of "why" for each nanosecond, from the notes of the machine of why_machine.h. */
#ifndef WHY_TRUTH_H
#define WHY_TRUTH_H

#include "format/why/why.h"
#include "why_machine.h"

struct answer {
	enum why_class class;
	int tid, cpu;
	char by[64];
	char what[400];
};

/* The recorded part of a run, and what can be derived from it. */
struct truth {
	const struct machine *m;
	bool recorded[NR_KINDS];
	int first, last;		/* times of the first and the last recorded event */
	int known[MACHINE_THREADS + 1]; /* the time from which the state of a thread is known; MACHINE_NS: never */
	unsigned int task[MACHINE_THREADS + 1][MACHINE_NS]; /* the task for which a thread is known to work */
	bool has_task[MACHINE_THREADS + 1][MACHINE_NS];	    /* the thread has named a task, at this time or before */
	bool has_interrupts;
};

/* Derive the truth from the machine's events, whose is_recorded must be set. Nothing is lost. */
void truth_open(struct truth *truth, const struct machine *m);

/* The innermost item of a stack that is known from the recording; -1: none. */
int truth_item(const struct truth *truth, int item);

/* The reason why the span `item` was not finished at a time. `task` is what its thread worked for at its begin. */
void truth_at(const struct truth *truth, int item, uint64_t task, int at, struct answer *ret_answer);

/* A job as `why` must explain it, in times of the machine. */
struct truth_job {
	int tid, end_tid, begin, end;
	uint64_t task;
};

/* The thread that had the job in each nanosecond. */
struct truth_path {
	int tid[MACHINE_NS];
	bool is_between[MACHINE_NS]; /* no thread had it; this thread got it next */
	int last_hand;		     /* when the last thread got it, if a wake-up shows that; otherwise -1 */
};

/* False: this cannot be derived. */
bool truth_path(const struct truth *truth, const struct truth_job *job, struct truth_path *ret_path);

/* Whether another thread ended a sleep of this one between two times. */
bool truth_sleeps_after(const struct truth *truth, int tid, int begin, int end);

/* The reason why a job was not finished at a time. */
void truth_of_job(const struct truth *truth, const struct truth_job *job, const struct truth_path *path, int at,
		  struct answer *ret_answer);

/* The true state of a thread, as a class, independent of the recording. */
enum why_class truth_class(const struct truth *truth, int tid, int at);

#endif
