/* SPDX-License-Identifier: MIT */
/* Which events of a trace.dat a command takes: by patterns, by threads, by names of threads, by CPU. */
#ifndef CLI_EVENT_SELECT_H
#define CLI_EVENT_SELECT_H

#include <stdbool.h>

#include "cli/common/about_tasks.h"
#include "cli/common/opts.h"
#include "format/dat/dat_merge.h"
#include "format/text/event_parse.h"

struct event_select {
	/* the command line */
	const char *patterns;	/* rec_pattern_check(); NULL: all */
	struct opt_list pids;	/* numbers, separated by commas; none: all. Events about the threads are included */
	struct opt_list comms;	/* names of threads; none: all */
	const char *cpus;	/* "0,2-5"; NULL: all */

	/* private */
	struct event_table *table;
	bool *ids; /* by id, 65536; NULL: all */
	struct about_tasks tasks;
	bool *wanted_cpus;
	uint32_t nr_cpus;
};

/* Check the command line. False: one line was printed. */
bool event_select_check(struct event_select *select, const char *command);

/*
 * Apply the selection to a file. 0; -ENOMEM; or -ENOENT: the file has no event, thread or CPU for one of the words, and
 * one line was printed. Call event_select_close() in any case.
 */
int event_select_open(struct event_select *select, const char *command, const struct dat_file *file);
void event_select_close(struct event_select *select);

/* The callback for dat_merge_open(); `select` is the selection. */
bool event_select_has_cpu(const void *select, const struct dat_buffer *buffer, uint32_t cpu);

/* Whether only events of some threads, and about them, are taken. */
bool event_select_has_threads(const struct event_select *select);

bool event_select_has(const struct event_select *select, const struct dat_event *event);

#endif
