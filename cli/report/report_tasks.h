/* SPDX-License-Identifier: MIT */
/* --pid and --comm of 'recorder report': selects events of tasks, and events about them. */
#ifndef CLI_REPORT_TASKS_H
#define CLI_REPORT_TASKS_H

#include "cli/common/about_tasks.h"
#include "cli/common/opts.h"

/*
 * Read the lists "1001,1002" and "bash,sh" of the command line. 0; or the exit status, and one line was printed. A name
 * that no task has is an error. Call about_tasks_close() in any case.
 */
int report_tasks_open(struct about_tasks *tasks, const struct opt_list *pids, const struct opt_list *comms,
		      const struct event_table *table);

#endif
