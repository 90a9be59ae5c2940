/* SPDX-License-Identifier: MIT */
/* See sql_counts.h. */
#include "format/sql/sql_counts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Records without an id have the number -1. */
#define NR_IDS 65536
#define NO_ID  NR_IDS

struct count {
	int id;
	uint64_t rows;
};

struct sql_counts {
	const struct sql_table *table;
	const struct sql_filters *filters;
	struct count *list; /* in the order of names */
	size_t nr, at;
	uint64_t of_id, row; /* the event's place, among those of its id and among all */
	int64_t *numbers;    /* the numbers of all events; NULL: not read yet */
};

static uint32_t slot_of(int id)
{
	return id < 0 ? NO_ID : (uint32_t)id % NR_IDS;
}

static int by_name(const void *a, const void *b, void *arg)
{
	const struct count *x = a, *y = b;
	const struct sql_event_name *n = sql_trace_name(arg, x->id), *m = sql_trace_name(arg, y->id);
	const int order = strcmp(n->name ? n->name->text : "", m->name ? m->name->text : "");

	return order ? order : x->id - y->id;
}

static int count(struct sql_counts *counts)
{
	struct sql_trace *trace = counts->table->trace;
	struct sql_scan *scan = NULL;
	struct sql_record record;
	int ret;

	counts->list = calloc(NR_IDS + 1, sizeof(*counts->list));
	ret = counts->list ? sql_scan_open(counts->table, counts->filters, &scan) : -ENOMEM;
	while (!ret && (ret = sql_scan_next(scan, &record)) > 0) {
		counts->list[slot_of(record.id)].rows++;
		ret = 0;
	}
	sql_scan_close(scan);
	if (ret)
		return ret;
	for (int id = 0; id <= NR_IDS; id++) {
		if (counts->list[id].rows)
			counts->list[counts->nr++] = (struct count){ id == NO_ID ? -1 : id, counts->list[id].rows };
	}
	qsort_r(counts->list, counts->nr, sizeof(*counts->list), by_name, trace);
	return 0;
}

int sql_counts_open(const struct sql_table *table, const struct sql_filters *filters, struct sql_counts **ret_counts)
{
	struct sql_counts *counts = calloc(1, sizeof(*counts));
	int err;

	if (!counts)
		return -ENOMEM;
	*counts = (struct sql_counts){ .table = table, .filters = filters };
	err = count(counts);
	if (err) {
		sql_counts_close(counts);
		return err;
	}
	*ret_counts = counts;
	return 0;
}

struct sql_counts *sql_counts_close(struct sql_counts *counts)
{
	if (!counts)
		return NULL;
	free(counts->list);
	free(counts->numbers);
	free(counts);
	return NULL;
}

bool sql_counts_id(const struct sql_counts *counts, int *ret_id)
{
	if (counts->at == counts->nr)
		return false;
	*ret_id = counts->list[counts->at].id;
	return true;
}

void sql_counts_next(struct sql_counts *counts)
{
	counts->row++;
	if (++counts->of_id < counts->list[counts->at].rows)
		return;
	counts->of_id = 0;
	counts->at++;
}

static int read_numbers(struct sql_counts *counts)
{
	uint64_t *next = calloc(NR_IDS + 1, sizeof(*next)), nr = 0;
	struct sql_scan *scan = NULL;
	struct sql_record record;
	int ret = next ? 0 : -ENOMEM;

	for (size_t i = 0; !ret && i < counts->nr; i++) {
		next[slot_of(counts->list[i].id)] = nr;
		nr += counts->list[i].rows;
	}
	counts->numbers = calloc(nr + 1, sizeof(*counts->numbers));
	if (!counts->numbers)
		ret = -ENOMEM;
	if (!ret)
		ret = sql_scan_open(counts->table, counts->filters, &scan);
	while (!ret && (ret = sql_scan_next(scan, &record)) > 0) {
		counts->numbers[next[slot_of(record.id)]++] = sql_record_number(&record);
		ret = 0;
	}
	sql_scan_close(scan);
	free(next);
	return ret;
}

int sql_counts_rowid(struct sql_counts *counts, sqlite3_int64 *ret_rowid)
{
	const int err = counts->numbers ? 0 : read_numbers(counts);

	if (!err)
		*ret_rowid = counts->numbers[counts->row];
	return err;
}
