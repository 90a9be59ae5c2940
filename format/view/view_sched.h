/* SPDX-License-Identifier: MIT */
/* Who runs where, and which threads wait: from the kernel's sched events. */
#ifndef FORMAT_VIEW_SCHED_H
#define FORMAT_VIEW_SCHED_H

#include "format/dat/dat_merge.h"
#include "format/text/event_parse.h"
#include "format/view/view_trace.h"

struct view_thread {
	int32_t tid;
	enum view_run state;
	uint64_t since;
	uint32_t row;
	uint32_t cpu;
	uint16_t flags;
};

struct view_running {
	int32_t tid; /* -1: not known */
	uint64_t since;
};

struct view_sched {
	struct view_trace *trace;
	const struct event_table *table;
	struct number_map thread_of; /* by tid; the place in `threads` plus 1 */
	struct view_thread *threads;
	size_t nr_threads;
	struct view_running *cpus;
	uint32_t nr_cpus;
};

/* True: it was a sched event that says which thread runs, or wakes. */
bool view_sched_event(struct view_sched *sched, const struct event_type *type, const struct dat_event *event, int32_t tid);

/* Events of this CPU were lost: what ran there is not known any more. */
void view_sched_lost(struct view_sched *sched, uint32_t cpu, uint64_t ts);

/* Ends what lasts, at the end of the trace, and frees everything. */
void view_sched_close(struct view_sched *sched, uint64_t ts);

#endif
