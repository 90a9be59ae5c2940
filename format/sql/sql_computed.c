/* SPDX-License-Identifier: MIT */
/* See sql_computed.h. docs/SQL.md describes the columns. */
#include "format/sql/sql_computed.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

const struct sql_computed sql_computed_tables[] = {
	{ "spans",
	  "ts dur system:t name:t id parent depth own tid pid comm:t cpu end_tid end_cpu task key state:t args:t",
	  sql_collect_spans },
	{ "counters", "ts system:t name:t value tid pid comm:t cpu", sql_collect_counters },
	{ "states", "ts dur system:t name:t key value value_name:t tid pid comm:t state:t", sql_collect_states },
	{ "flows", "ts flow tid cpu span from_ts from_tid from_span", sql_collect_flows },
	{ "contexts", "ts dur key:t value:t tid pid comm:t", sql_collect_contexts },
	{ "tasks", "ts dur task name:t tid pid comm:t", sql_collect_tasks },
	{ "sched", "ts dur tid pid comm:t cpu state:t preempted prio waker waker_comm:t waker_cpu waker_span is_open",
	  sql_collect_sched },
	{ "irqs", "ts dur cpu kind:t number name:t tid comm:t", sql_collect_irqs },
	{ "syscalls", "ts dur cpu tid pid comm:t number name:t ret state:t", sql_collect_syscalls },
	{ "losses", "ts cpu buffer:t lost", sql_collect_losses },
	{ "stacks", "ts cpu tid comm:t kind:t depth address symbol:t event event_ts", sql_collect_stacks },
	{ "threads", "tid pid comm:t first last events", sql_collect_threads },
	{ "processes", "pid comm:t threads first last events", sql_collect_processes },
	{ "clocks", "cpu clock:t low high rounds error", sql_collect_clocks },
	{ NULL, NULL, NULL },
};

const struct sql_computed *sql_computed_find(const char *name)
{
	for (const struct sql_computed *c = sql_computed_tables; c->name; c++) {
		if (!strcasecmp(c->name, name))
			return c;
	}
	return NULL;
}

int sql_columns_of_computed(const struct sql_computed *computed, struct sql_columns *ret_columns)
{
	struct sql_columns columns = { 0 };
	int err = 0;

	for (const char *at = computed->columns; !err && *at;) {
		const size_t size = strcspn(at, " :");
		const bool is_text = at[size] == ':';
		char name[32];

		snprintf(name, sizeof(name), "%.*s", (int)size, at);
		err = sql_columns_add(&columns, name, is_text ? SQL_TEXT : SQL_INT, SQL_OF_CELL);
		at += size + (is_text ? 2 : 0);
		at += *at == ' ';
	}
	if (err)
		sql_columns_close(&columns);
	*ret_columns = columns;
	return err;
}
