/* SPDX-License-Identifier: MIT */
/*
 * --pid and --comm of 'recorder report': selects events of tasks, and events about them, whose field pid or next_pid is
 * the task's.
 */
#ifndef CLI_REPORT_TASKS_H
#define CLI_REPORT_TASKS_H

#include "cli/common/opts.h"
#include "format/dat/dat_merge.h"
#include "format/text/event_parse.h"

struct report_tasks {
	const struct event_table *table;
	uint64_t *pids;
	unsigned int nr;
	/* By event of the table: the fields pid and next_pid. */
	struct tep_format_field *(*fields)[2];
};

/*
 * Read the lists "1001,1002" and "bash,sh" of the command line. 0; or the exit status, and one line was printed. A name
 * that no task has is an error. Call report_tasks_close() in any case.
 */
int report_tasks_open(struct report_tasks *tasks, const struct opt_list *pids, const struct opt_list *comms,
		      const struct event_table *table);
void report_tasks_close(struct report_tasks *tasks);

/* Whether it is an event of one of the tasks, or about one. Without tasks: false. */
bool report_tasks_have(const struct report_tasks *tasks, const struct tep_record *record);

#endif
