/* SPDX-License-Identifier: MIT */
/*
 * The texts of functions that the kernel's tracers record: trace-cmd report does not print these events by their
 * formats. A call and its return are one line if no event is between them.
 */
#ifndef FORMAT_EVENT_FTRACE_H
#define FORMAT_EVENT_FTRACE_H

#include "format/dat/dat_merge.h"
#include "format/text/event_parse.h"

/* Belongs to one printer; must not move while the table exists. */
struct event_ftrace {
	const struct event_table *table;
	struct tep_event *call, *ret; /* NULL: the file has none */
	bool leaf;		      /* the call that is printed next is a leaf: its return is the next event */
	uint64_t duration;	      /* of the leaf: ns until its return */
};

/* Makes libtraceevent call us for these texts, unless a plugin provides them, or plugins are disabled. 0; -ENOMEM. */
int event_ftrace_open(struct event_ftrace *ftrace, const struct event_table *table);

/* Whether the next event may become part of this event's line. If not, the next event need not be known. */
bool event_ftrace_may_take(const struct event_ftrace *ftrace, const struct tep_record *record);

/*
 * Call this before an event is printed: returns whether the event after it, `next`, is its return and part of its line.
 * `next` NULL: there is no further event.
 */
bool event_ftrace_takes(struct event_ftrace *ftrace, const struct tep_record *record, const struct dat_event *next);

#endif
