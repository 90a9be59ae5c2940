/* SPDX-License-Identifier: MIT */
/* Which events of a file 'recorder report' prints: by CPU, by filters, by interrupt. */
#ifndef CLI_REPORT_SELECT_H
#define CLI_REPORT_SELECT_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/opts.h"
#include "cli/report_filter.h"
#include "format/text/event_print.h"

struct report_select {
	/* the command line */
	const char *cpus;	 /* "0,2-5"; NULL: all */
	struct opt_list filters; /* any of them; none: all events */
	bool no_hardirq;
	bool no_softirq;

	bool *wanted; /* by CPU */
	uint32_t nr_wanted;
	struct event_table *table;
	struct report_filter **filter;
	unsigned int nr_filters;
	bool *stack_follows; /* by CPU: an event was shown, so its stack is shown, too */
	uint32_t nr_stack_cpus;
	int stack_id;
};

/* Read the list of CPUs. 0, or the exit status, and one line was printed. */
int report_select_cpus(struct report_select *select);

/*
 * Apply the filters to the file. The file, its times and the table must outlive the selection. Returns as above. Call
 * report_select_close() in any case.
 */
int report_select_open(struct report_select *select, const struct dat_file *file, const struct dat_time *time,
		       struct event_table *table);
void report_select_close(struct report_select *select);

/* For dat_merge_open(); `select` is the selection. */
bool report_select_has_cpu(const void *select, const struct dat_buffer *buffer, uint32_t cpu);

/* Whether an event of such a CPU is printed; call it for all events in order. */
bool report_select_has(struct report_select *select, const struct dat_event *event, struct tep_record *record);

#endif
