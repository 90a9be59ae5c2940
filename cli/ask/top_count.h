/* SPDX-License-Identifier: MIT */
/* Counts by process, thread, event and span: which took most of a trace. */
#ifndef CLI_TOP_COUNT_H
#define CLI_TOP_COUNT_H

#include "format/dat/dat_gaps.h"
#include "format/io/number_map.h"
#include "format/io/text_pool.h"
#include "format/model/model.h"

struct top_row {
	uint64_t key;	   /* process, thread, event or span */
	const char *name;  /* lives as long as the struct top */
	int32_t tid, pid;  /* of a thread or process; pid -1: not known */
	uint64_t events;   /* number of events, or of spans */
	uint64_t running;  /* ns on a CPU; for a span: its duration */
	uint64_t runnable; /* ns waiting for a CPU; for a span: its own time */
	bool has_times;	   /* of a thread or process: `running` and `runnable` are known for some of the time */
	uint64_t longest;  /* of a span: the longest one, ns */
};

enum top_kind { TOP_PROCESSES, TOP_THREADS, TOP_EVENTS, TOP_SPANS, TOP_KINDS };

struct top_list {
	struct top_row *rows;
	size_t nr, room;
	struct number_map places; /* index + 1 of a key */
};

struct top {
	struct top_list lists[TOP_KINDS];
	uint64_t events;
	uint64_t begin, end; /* times of the first and the last event */
	struct dat_gaps gaps;
	bool has_switches;   /* `running` and `runnable` of a thread are known */
	bool records_switches; /* the trace has switches, perhaps of other threads alone */

	/* while counting */
	struct text_pool pool;
	const struct event_table *table;
};

/*
 * Reads a trace; all zeros before. Rows are sorted, those that took the most first. 0; -ENOMEM; -EBADMSG with ret_error
 * filled in: pages are damaged, so that events are missing. top_close() takes any struct top that began with zeros.
 */
int top_open(const struct dat_file *file, const struct dat_time *time, const struct event_table *table,
	     struct top *ret_top, struct dat_error *ret_error);
void top_close(struct top *top);

#endif
