/* SPDX-License-Identifier: MIT */
/* See sql_scan.h. */
#include "format/sql/sql_scan.h"

#include "format/sql/sql_field.h"

#include <errno.h>
#include <stdlib.h>

#define NR_IDS 65536u

enum verdict { VERDICT_UNKNOWN, VERDICT_PASSES, VERDICT_FAILS };

struct sql_scan {
	struct sql_trace *trace;
	const struct sql_columns *columns;
	const struct sql_filters *filters;
	int id;
	struct dat_merge *merge;
	struct sql_gaps gaps; /* of the events so far */
	bool is_part;	      /* not of all CPUs */
	int64_t last_ts;
	unsigned char *verdicts; /* all events: by id, whether names and id pass */
	struct number_map tasks; /* by thread: the logical task that it works for */
	bool has_tasks;
	/* Events so far of each CPU of each buffer; those of a buffer begin at `firsts` of its place in the file. */
	uint64_t *ordinals;
	uint32_t *firsts;
};

/* A column that is the same in all events of an id. */
static bool is_of_id(const struct sql_column *column)
{
	return column->source == SQL_OF_SYSTEM || column->source == SQL_OF_NAME || column->source == SQL_OF_ID;
}

static bool cpu_passes(const void *arg, const struct dat_buffer *buffer, uint32_t cpu)
{
	const struct sql_scan *scan = arg;
	const struct sql_value value = sql_int(cpu);

	(void)buffer;
	for (unsigned int i = 0; i < scan->filters->nr; i++) {
		const struct sql_filter *filter = &scan->filters->filters[i];

		if (scan->columns->columns[filter->column].source == SQL_OF_CPU && !sql_filter_passes(filter, &value))
			return false;
	}
	return true;
}

static bool has_task_events(const struct sql_trace *trace)
{
	for (uint32_t i = 0; i < trace->table->nr_events; i++) {
		if (model_rule(trace->rules, trace->table->all[i].event->id)->meaning == MODEL_TASK)
			return true;
	}
	return false;
}

static int open_ordinals(struct sql_scan *scan)
{
	const struct dat_file *file = scan->trace->file;
	uint32_t nr = 0;

	scan->firsts = calloc(file->nr_buffers + 1, sizeof(*scan->firsts));
	for (size_t i = 0; scan->firsts && i < file->nr_buffers; i++) {
		scan->firsts[i] = nr;
		nr += file->buffers[i].cpus;
	}
	scan->ordinals = calloc((size_t)nr + 1, sizeof(*scan->ordinals));
	return scan->firsts && scan->ordinals ? 0 : -ENOMEM;
}

/*
 * SQLite combines the rows of several scans by their numbers, as for an OR. So a number is that of the event in its
 * CPU's stream, which no filter changes.
 */
static int64_t next_rowid(struct sql_scan *scan, const struct dat_event *event)
{
	const uint32_t slot = scan->firsts[event->buffer - scan->trace->file->buffers] + event->cpu;

	return (int64_t)((uint64_t)slot << 40 | scan->ordinals[slot]++);
}

int sql_scan_open(struct sql_trace *trace, int id, const struct sql_columns *columns, const struct sql_filters *filters,
		  struct sql_scan **ret_scan)
{
	struct sql_scan *scan = calloc(1, sizeof(*scan));
	int64_t low;

	if (!scan)
		return -ENOMEM;
	*scan = (struct sql_scan){
		.trace = trace, .columns = columns, .filters = filters, .id = id, .last_ts = INT64_MAX
	};
	for (unsigned int i = 0; i < columns->nr; i++) {
		int64_t high;

		if (columns->columns[i].source != SQL_OF_TS)
			continue;
		sql_filters_bounds(filters, i, &low, &high);
		if (high < scan->last_ts)
			scan->last_ts = high;
	}
	for (unsigned int i = 0; i < filters->nr; i++)
		scan->is_part |= columns->columns[filters->filters[i].column].source == SQL_OF_CPU;
	scan->has_tasks = has_task_events(trace);
	if (id == SQL_ALL_EVENTS)
		scan->verdicts = calloc(NR_IDS, 1);
	if ((id == SQL_ALL_EVENTS && !scan->verdicts) || open_ordinals(scan) ||
	    (!filters->is_empty && dat_merge_open(trace->file, &trace->time, cpu_passes, scan, &scan->merge))) {
		sql_scan_close(scan);
		return -ENOMEM;
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
	free(scan->verdicts);
	free(scan->ordinals);
	free(scan->firsts);
	free(scan);
	return NULL;
}

/* The tasks of threads change with events that the query may not want. */
static int follow_task(struct sql_scan *scan, const struct sql_record *record)
{
	const struct model_rule *rule = model_rule(scan->trace->rules, record->id);
	int64_t task;

	if (rule->meaning != MODEL_TASK || !rule->value ||
	    !sql_field_number(rule->value, record->event.data, record->event.size, scan->trace->file->big, &task))
		return 0;
	/* The map has no place for 0. */
	return number_map_set(&scan->tasks, (uint64_t)(uint32_t)record->tid, task ? (uint64_t)task : UINT64_MAX);
}

static uint64_t task_of(const struct sql_scan *scan, int32_t tid)
{
	const uint64_t task = number_map_get(&scan->tasks, (uint64_t)(uint32_t)tid);

	return task == UINT64_MAX ? 0 : task;
}

/* 1: the filters on the id's columns, or on the others, pass. 0: one does not. -ENOMEM. */
static int filters_pass(struct sql_scan *scan, const struct sql_record *record, bool of_id)
{
	for (unsigned int i = 0; i < scan->filters->nr; i++) {
		const struct sql_filter *filter = &scan->filters->filters[i];
		const struct sql_column *column = &scan->columns->columns[filter->column];
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

static int id_passes(struct sql_scan *scan, const struct sql_record *record)
{
	unsigned char *verdict;
	int ret;

	if (scan->id != SQL_ALL_EVENTS)
		return record->id == scan->id;
	if (record->id < 0)
		return 1;
	verdict = &scan->verdicts[(uint32_t)record->id % NR_IDS];
	if (*verdict == VERDICT_UNKNOWN) {
		ret = filters_pass(scan, record, true);
		if (ret < 0)
			return ret;
		*verdict = ret ? VERDICT_PASSES : VERDICT_FAILS;
	}
	return *verdict == VERDICT_PASSES;
}

/* The next event of the file is in ret_record->event. */
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
		if (!dat_merge_next(scan->merge, &ret_record->event)) {
			if (!scan->is_part)
				sql_trace_read_all(scan->trace, &scan->gaps, scan->merge);
			break;
		}
		sql_gaps_note(&scan->gaps, &ret_record->event);
		ret_record->rowid = next_rowid(scan, &ret_record->event);
		/* Times do not decrease, except in a damaged file, where an event may be missed. */
		if ((int64_t)ret_record->event.ts > scan->last_ts)
			break;
		ret = consider(scan, ret_record);
	}
	return ret;
}
