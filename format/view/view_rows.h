/* SPDX-License-Identifier: MIT */
/* The rows of a trace by what they stand for, with their names and headings. */
#ifndef FORMAT_VIEW_ROWS_H
#define FORMAT_VIEW_ROWS_H

#include "format/text/event_parse.h"
#include "format/view/view_trace.h"

/* Headings, in the order in which they are shown. */
enum view_group {
	VIEW_GROUP_WHY, /* the overlay, which names it */
	VIEW_GROUP_CPUS,
	VIEW_GROUP_TASKS,
	VIEW_GROUP_KEYED,
	VIEW_GROUP_STATES,
	VIEW_GROUP_COUNTERS,
	VIEW_GROUP_PROCESSES, /* a heading for each */
	VIEW_GROUP_THREADS,   /* threads with events of programs, if the file does not state their process */
	VIEW_GROUP_OTHERS,    /* all other threads */
};

uint32_t view_group_row(struct view_trace *trace, enum view_group group);
uint32_t view_cpu_row(struct view_trace *trace, uint32_t cpu);

/* "kvserver-1234", as report prints it. */
uint32_t view_thread_name(struct view_trace *trace, const struct event_table *table, int32_t tid);

/*
 * The row is in the group of its process. If the process is not known, it is among the other threads, until
 * view_thread_is_program() moves it.
 */
uint32_t view_thread_row(struct view_trace *trace, const struct event_table *table, int32_t tid);

/* The thread wrote an event of its program. */
void view_thread_is_program(struct view_trace *trace, const struct event_table *table, uint32_t row);

#endif
