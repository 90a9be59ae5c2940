/* SPDX-License-Identifier: MIT */
#include "format/view/view_rows.h"

#include <inttypes.h>
#include <stdio.h>

/* The id of a process's row is this number plus the pid, so it differs from the ids of the other headings. */
#define PROCESS_IDS (UINT64_C(1) << 32)

static void set_name(struct view_trace *trace, uint32_t row, const char *name)
{
	if (row != VIEW_NO_ROW)
		trace->rows[row].name = view_string(trace, name);
}

uint32_t view_group_row(struct view_trace *trace, enum view_group group)
{
	static const char *const names[] = { "",	 "CPUs", "Tasks",   "Spans by key", "States",
					     "Counters", "",	 "Threads", "Other threads" };
	bool is_new;
	const uint32_t row = view_row(trace, VIEW_GROUP, group, VIEW_NO_ROW, &is_new);

	if (is_new) {
		set_name(trace, row, names[group]);
		trace->rows[row].order = (uint64_t)group << 32;
	}
	return row;
}

uint32_t view_cpu_row(struct view_trace *trace, uint32_t cpu)
{
	bool is_new;
	const uint32_t row = view_row(trace, VIEW_CPU, cpu, view_group_row(trace, VIEW_GROUP_CPUS), &is_new);
	char name[32];

	if (is_new) {
		snprintf(name, sizeof(name), "CPU %" PRIu32, cpu);
		set_name(trace, row, name);
	}
	return row;
}

static const char *comm(const struct event_table *table, int32_t tid)
{
	return tid ? event_comm_shown(table, tid) : "idle";
}

uint32_t view_thread_name(struct view_trace *trace, const struct event_table *table, int32_t tid)
{
	char name[320];

	if (!tid)
		return view_string(trace, "idle");
	snprintf(name, sizeof(name), "%.256s-%" PRId32, comm(table, tid), tid);
	return view_string(trace, name);
}

static uint32_t process_row(struct view_trace *trace, const struct event_table *table, int32_t pid)
{
	bool is_new;
	const uint32_t row = view_row(trace, VIEW_GROUP, PROCESS_IDS + (uint32_t)pid, VIEW_NO_ROW, &is_new);
	char name[320];

	if (is_new) {
		snprintf(name, sizeof(name), "%.256s, process %" PRId32, comm(table, pid), pid);
		set_name(trace, row, name);
		/* The heading comes before the threads without a process. */
		trace->rows[row].order = ((uint64_t)VIEW_GROUP_PROCESSES << 32) + (uint32_t)pid;
	}
	return row;
}

static uint32_t group_of(struct view_trace *trace, const struct event_table *table, int32_t tid,
			 enum view_group otherwise)
{
	const int32_t process = event_process(table, tid);

	return process >= 0 ? process_row(trace, table, process) : view_group_row(trace, otherwise);
}

uint32_t view_thread_row(struct view_trace *trace, const struct event_table *table, int32_t tid)
{
	uint64_t known = number_map_get(&trace->row_of[VIEW_THREAD], (uint32_t)tid);
	uint32_t row;
	bool is_new;

	if (known)
		return (uint32_t)known - 1;
	row = view_row(trace, VIEW_THREAD, (uint32_t)tid, group_of(trace, table, tid, VIEW_GROUP_OTHERS), &is_new);
	if (row != VIEW_NO_ROW)
		trace->rows[row].name = view_thread_name(trace, table, tid);
	return row;
}

void view_thread_is_program(struct view_trace *trace, const struct event_table *table, uint32_t row)
{
	if (row != VIEW_NO_ROW && event_process(table, (int32_t)trace->rows[row].id) < 0)
		trace->rows[row].parent = view_group_row(trace, VIEW_GROUP_THREADS);
}
