/* SPDX-License-Identifier: MIT */
/*
 * The filters of 'recorder report -F': patterns of events and a filter, in the grammar of librecorder/filter.h, spelled
 * as a selector ("io:submit if fd == 3") or as trace-cmd has it ("io/submit:fd == 3", or "io/submit" alone). A filter
 * without patterns is for all events.
 */
#ifndef CLI_REPORT_FILTER_H
#define CLI_REPORT_FILTER_H

#include "format/dat/dat_merge.h"
#include "format/text/event_parse.h"

struct report_filter;
struct report_thread_contexts;

/* What a filter is applied to. All of it outlives the filter. */
struct report_filter_file {
	const struct dat_file *file;
	const struct dat_time *time;
	const struct event_table *table;
	bool grows; /* it is being written, so that values of contexts cannot be read beforehand */
	struct report_thread_contexts *contexts; /* shared by all filters of the file; NULL: the filter has its own */
};

/*
 * Compile the filter for the events of a file. Messages begin with `command`. 0; or the exit status, and the error was
 * printed.
 */
int report_filter_open(const char *command, const char *text, const struct report_filter_file *file,
		       struct report_filter **ret_filter);

/* Takes NULL. Returns NULL. */
struct report_filter *report_filter_close(struct report_filter *filter);

/* Whether the patterns name the event with this id. */
bool report_filter_names(const struct report_filter *filter, int id);

/* Whether an event passes. */
bool report_filter_has(struct report_filter *filter, const struct dat_event *event, const struct tep_record *record);

#endif
