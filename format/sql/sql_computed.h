/* SPDX-License-Identifier: MIT */
/* Tables that are computed from the whole trace when they are first used, and then kept in memory. */
#ifndef FORMAT_SQL_COMPUTED_H
#define FORMAT_SQL_COMPUTED_H

#include "format/sql/sql_cells.h"
#include "format/sql/sql_column.h"

struct sql_computed {
	const char *name;
	/*
	 * Names of the columns, with :t for a text, separated by blanks. If the first one is ts, rows are in time
	 * order.
	 */
	const char *columns;
	/* Adds the rows. 0; -ENOMEM. */
	int (*collect)(struct sql_trace *trace, struct sql_cells *cells);
};

/* The list of all computed tables; its last element has no name. NULL: there is no such table. */
extern const struct sql_computed sql_computed_tables[];
const struct sql_computed *sql_computed_find(const char *name);

int sql_columns_of_computed(const struct sql_computed *computed, struct sql_columns *ret_columns);

/* The functions in sql_computed_tables: sql_spans.c, sql_sched.c, sql_threads.c. */
int sql_collect_spans(struct sql_trace *trace, struct sql_cells *cells);
int sql_collect_counters(struct sql_trace *trace, struct sql_cells *cells);
int sql_collect_states(struct sql_trace *trace, struct sql_cells *cells);
int sql_collect_flows(struct sql_trace *trace, struct sql_cells *cells);
int sql_collect_contexts(struct sql_trace *trace, struct sql_cells *cells);
int sql_collect_tasks(struct sql_trace *trace, struct sql_cells *cells);
int sql_collect_losses(struct sql_trace *trace, struct sql_cells *cells);
int sql_collect_sched(struct sql_trace *trace, struct sql_cells *cells);
int sql_collect_irqs(struct sql_trace *trace, struct sql_cells *cells);
int sql_collect_syscalls(struct sql_trace *trace, struct sql_cells *cells);
int sql_collect_threads(struct sql_trace *trace, struct sql_cells *cells);
int sql_collect_processes(struct sql_trace *trace, struct sql_cells *cells);
int sql_collect_clocks(struct sql_trace *trace, struct sql_cells *cells);
int sql_collect_stacks(struct sql_trace *trace, struct sql_cells *cells);

#endif
