/* SPDX-License-Identifier: MIT */
/* Which events of a file 'recorder report' prints: by time, buffer, CPU, filters, interrupt. */
#ifndef CLI_REPORT_SELECT_H
#define CLI_REPORT_SELECT_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "cli/common/opts.h"
#include "cli/report/report_filter.h"
#include "cli/report/report_tasks.h"
#include "cli/report/report_thread.h"
#include "cli/report/report_window.h"
#include "format/text/event_print.h"

/* The command line. */
struct report_choice {
	struct opt_list cpus; /* lists, "0,2-5"; none: all */
	struct opt_list
		/*
		 * an event passes if one of them matches; empty: all events pass. The filters after a NULL item (-v)
		 * leave out events
		 */
		filters;
	struct opt_list pids, comms;
	struct opt_list buffers; /* patterns of names; none: all */
	bool no_hardirq;
	bool no_softirq;
	bool lines; /* the report is text, in which one line may stand for two events */
	bool spans; /* the report has spans, which --head and --tail count instead of events */
};

struct report_select {
	const struct report_choice *choice;
	struct report_window window;
	bool grows; /* the file is being written */
	const volatile sig_atomic_t *stopped; /* whether no more events are wanted; NULL: all are */

	bool *wanted; /* by CPU */
	uint32_t nr_wanted;
	struct event_table *table;
	struct report_thread_contexts contexts;
	struct report_filter **filter;
	unsigned int nr_filters, nr_wanted_filters; /* number of filters that select; the others leave out events */
	struct about_tasks tasks;
	bool *types; /* by id: the argument of dat_merge_only(); NULL: events of all types may be selected */
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

/*
 * Callbacks for dat_merge_open(); `select` is the selection. The first takes the selected CPUs of the selected buffers,
 * the second all CPUs of these buffers.
 */
bool report_select_has_cpu(const void *select, const struct dat_buffer *buffer, uint32_t cpu);
bool report_select_has_buffer(const void *select, const struct dat_buffer *buffer, uint32_t cpu);

/* Whether the CPUs with this number are selected. */
bool report_select_has_number(const struct report_select *select, uint32_t cpu);

/* Whether an event of a selected CPU is selected. Call this for all events in order. */
bool report_select_has(struct report_select *select, const struct dat_event *event, struct tep_record *record);

/* Whether neither this event nor a later one is selected. */
static inline bool report_select_ends(const struct report_select *select, const struct dat_event *event)
{
	return event->ts > select->window.until || (select->stopped && *select->stopped) ||
	       report_window_is_full(&select->window);
}

/*
 * Makes the merge leave out the types of events that no filter names. `call`: a type of event whose line may include
 * the event after it. If it is selected, events of all types are needed. NULL: there is no such type.
 */
void report_select_types(const struct report_select *select, const struct tep_event *call, struct dat_merge *merge);

/* Reset the state before a second walk over the events. */
void report_select_again(struct report_select *select);

#endif
