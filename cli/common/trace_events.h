/* SPDX-License-Identifier: MIT */
/*
 * The event formats of a file that a command opens. Formats that the table lacks are reported, because their events
 * have no names and no fields, and no table in SQL.
 */
#ifndef CLI_TRACE_EVENTS_H
#define CLI_TRACE_EVENTS_H

#include "format/text/event_parse.h"

/* event_table_open(), followed by trace_report_left_out() if it succeeds. */
int trace_events_open(const char *command, const char *path, const struct dat_file *file, unsigned int flags,
		      struct event_table **ret_table);

/* Reports on standard error the formats that were left out of the table. If the table is NULL, reports nothing. */
void trace_report_left_out(const char *command, const char *path, const struct event_table *table);

/*
 * Reports on standard error what the file is known not to have: CPUs that were not recorded, so that results may lack
 * what happened there; states of threads, if the file is of several machines.
 */
void trace_report_absent(const char *command, const char *path, const struct event_table *table);

#endif
