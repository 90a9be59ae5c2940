/* SPDX-License-Identifier: MIT */
/* See sql_scan.h. */
#include "format/sql/sql_scan.h"

#include "format/sql/sql_field.h"
#include "format/sql/sql_table.h"

#include <errno.h>
#include <stdlib.h>

#define NR_IDS EVENT_NR_IDS

struct sql_scan {
	struct sql_trace *trace;
	const struct sql_columns *columns;
	const struct sql_filters *filters;
	int id;
	struct dat_merge *merge;
	struct sql_gaps gaps; /* losses among them */
	bool is_part;	      /* the scan does not begin at the start of the file, or does not include all CPUs */
	int64_t first_ts, last_ts;
	bool *passes;		 /* by id: whether the event's id and names pass the filters; NULL: all pass */
	struct number_map tasks; /* by thread: the logical task that it works for */
	bool has_tasks;
};

/* Whether a column has the same value in all events of an id. */
static bool is_of_id(const struct sql_column *column)
{
	return column->source == SQL_OF_SYSTEM || column->source == SQL_OF_NAME || column->source == SQL_OF_ID;
}

static const struct sql_column *column_of(const struct sql_scan *scan, const struct sql_filter *filter)
{
	return &scan->columns->columns[filter->column];
}

/* Run the filters on the id's columns (`of_id`), or those on the other columns. 1: all pass; 0: one fails; -ENOMEM. */
static int filters_pass(struct sql_scan *scan, const struct sql_record *record, bool of_id)
{
	for (unsigned int i = 0; i < scan->filters->nr; i++) {
		const struct sql_filter *filter = &scan->filters->filters[i];
		const struct sql_column *column = column_of(scan, filter);
		struct sql_value value;
		int err;

		if (is_of_id(column) != of_id)
			continue;
		err = sql_column_value(scan->trace, column, record, &value);
		if (err)
			return err;
		if (!sql_filter_passes(filter, &value))
			return 0;
	}
	return 1;
}

static bool cpu_passes(const void *arg, const struct dat_buffer *buffer, uint32_t cpu)
{
	const struct sql_scan *scan = arg;
	const struct sql_value value = sql_int(cpu);

	(void)buffer;
	for (unsigned int i = 0; i < scan->filters->nr; i++) {
		const struct sql_filter *filter = &scan->filters->filters[i];

		if (column_of(scan, filter)->source == SQL_OF_CPU && !sql_filter_passes(filter, &value))
			return false;
	}
	return true;
}

/*
 * The tasks of threads change with events that the query may not want, and that may be before its times, or on other
 * CPUs.
 */
static bool needs_tasks(const struct sql_scan *scan, uint64_t wanted)
{
	const struct sql_trace *trace = scan->trace;
	bool is_used = false;

	for (unsigned int i = 0; i < scan->columns->nr; i++)
		is_used |= scan->columns->columns[i].source == SQL_OF_TASK && wanted & sql_column_bit(i);
	for (unsigned int i = 0; i < scan->filters->nr; i++)
		is_used |= column_of(scan, &scan->filters->filters[i])->source == SQL_OF_TASK;
	for (uint32_t i = 0; is_used && i < trace->table->nr_events; i++) {
		if (model_rule(trace->rules, trace->table->all[i].event->id)->meaning == MODEL_TASK)
			return true;
	}
	return false;
}

static void find_bounds(struct sql_scan *scan)
{
	scan->first_ts = 0;
	scan->last_ts = INT64_MAX;
	for (unsigned int i = 0; i < scan->columns->nr; i++) {
		int64_t low, high;

		if (scan->columns->columns[i].source != SQL_OF_TS)
			continue;
		sql_filters_bounds(scan->filters, i, &low, &high);
		if (low > scan->first_ts)
			scan->first_ts = low;
		if (high < scan->last_ts)
			scan->last_ts = high;
	}
}

/* Finds the ids that can pass: that of the table, or those whose names pass. */
static int find_types(struct sql_scan *scan)
{
	bool has_filters = false;

	for (unsigned int i = 0; i < scan->filters->nr; i++)
		has_filters |= is_of_id(column_of(scan, &scan->filters->filters[i]));
	if (scan->id == SQL_ALL_EVENTS && !has_filters)
		return 0;
	scan->passes = calloc(NR_IDS, sizeof(*scan->passes));
	if (!scan->passes)
		return -ENOMEM;
	if (scan->id != SQL_ALL_EVENTS && scan->id < (int)NR_IDS)
		scan->passes[scan->id] = true;
	for (int id = 0; scan->id == SQL_ALL_EVENTS && id < (int)NR_IDS; id++) {
		const struct sql_record record = { .id = id };
		const int ret = filters_pass(scan, &record, true);

		if (ret < 0)
			return ret;
		scan->passes[id] = ret;
	}
	return 0;
}

static int open_merge(struct sql_scan *scan)
{
	const uint64_t from = scan->has_tasks ? 0 : (uint64_t)scan->first_ts;
	const struct sql_trace *trace = scan->trace;
	int err = find_types(scan);

	if (scan->filters->is_empty)
		return err;
	scan->is_part = from > 0;
	for (unsigned int i = 0; i < scan->filters->nr; i++)
		scan->is_part |= column_of(scan, &scan->filters->filters[i])->source == SQL_OF_CPU;
	if (!err)
		err = dat_merge_open_at(trace->file, &trace->time, scan->has_tasks ? NULL : cpu_passes, scan, from,
					&scan->merge);
	if (!err && scan->passes && !scan->has_tasks && event_ids_lead(trace->table))
		dat_merge_only(scan->merge, scan->passes);
	return err;
}

int sql_scan_open(const struct sql_table *table, const struct sql_filters *filters, struct sql_scan **ret_scan)
{
	struct sql_scan *scan = calloc(1, sizeof(*scan));
	int err;

	if (!scan)
		return -ENOMEM;
	*scan = (struct sql_scan){
		.trace = table->trace, .columns = &table->columns, .filters = filters, .id = table->id
	};
	find_bounds(scan);
	scan->has_tasks = needs_tasks(scan, table->wanted);
	err = open_merge(scan);
	if (err) {
		sql_scan_close(scan);
		return err;
	}
	*ret_scan = scan;
	return 0;
}

struct sql_scan *sql_scan_close(struct sql_scan *scan)
{
	if (!scan)
		return NULL;
	dat_merge_close(scan->merge);
	number_map_free(&scan->tasks);
	free(scan->passes);
	free(scan);
	return NULL;
}

static int follow_task(struct sql_scan *scan, const struct sql_record *record)
{
	const struct model_rule *rule = model_rule(scan->trace->rules, record->id);
	int64_t task;

	if (rule->meaning != MODEL_TASK || !rule->value ||
	    !sql_field_number(rule->value, record->event.data, record->event.size, scan->trace->file->big, &task))
		return 0;
	/* The map cannot store the value 0. */
	return number_map_set(&scan->tasks, (uint64_t)(uint32_t)record->tid, task ? (uint64_t)task : UINT64_MAX);
}

static uint64_t task_of(const struct sql_scan *scan, int32_t tid)
{
	const uint64_t task = number_map_get(&scan->tasks, (uint64_t)(uint32_t)tid);

	return task == UINT64_MAX ? 0 : task;
}

static int id_passes(struct sql_scan *scan, const struct sql_record *record)
{
	if (scan->id != SQL_ALL_EVENTS)
		return record->id == scan->id;
	if (!scan->passes)
		return 1;
	/* The record is too short for an id, or the file's ids have another size. */
	if (record->id < 0 || record->id >= (int)NR_IDS)
		return filters_pass(scan, record, true);
	return scan->passes[record->id];
}

/* Examine the next event of the file, which is in ret_record->event. */
static int consider(struct sql_scan *scan, struct sql_record *ret_record)
{
	const struct sql_trace *trace = scan->trace;
	int ret;

	ret_record->id = event_id(trace->table, ret_record->event.data, ret_record->event.size);
	if (!scan->has_tasks) {
		ret = id_passes(scan, ret_record);
		if (ret <= 0)
			return ret;
	}
	ret_record->tid = event_pid(trace->table, ret_record->event.data, ret_record->event.size);
	ret_record->task = 0;
	if (scan->has_tasks) {
		if (follow_task(scan, ret_record))
			return -ENOMEM;
		ret = id_passes(scan, ret_record);
		if (ret <= 0)
			return ret;
		ret_record->task = task_of(scan, ret_record->tid);
	}
	return filters_pass(scan, ret_record, false);
}

int sql_scan_next(struct sql_scan *scan, struct sql_record *ret_record)
{
	int ret = 0;

	while (!ret && scan->merge) {
		if (sql_pass_ends(scan->trace))
			return -EINTR;
		if (!dat_merge_next(scan->merge, &ret_record->event)) {
			if (!scan->is_part)
				sql_trace_read_all(scan->trace, &scan->gaps, scan->merge);
			break;
		}
		sql_gaps_note(&scan->gaps, &ret_record->event);
		/* Times do not decrease, except in a damaged file, where an event may be missed. */
		if ((int64_t)ret_record->event.ts > scan->last_ts)
			break;
		ret = consider(scan, ret_record);
	}
	return ret;
}
