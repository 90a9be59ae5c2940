/* SPDX-License-Identifier: MIT */
/* Reads the rows of a table into memory. */
#include "format/sql/sql_table.h"

#include <errno.h>
#include <stdlib.h>

/* Adds the cells of one event; only the columns that queries use are filled. */
static int add_event(const struct sql_table *table, struct sql_cells *cells, const struct sql_record *record,
		     int64_t *row)
{
	uint64_t lowest = 0;
	int err = 0;

	for (unsigned int i = 0; !err && i < table->columns.nr; i++) {
		struct sql_value value = sql_null();

		if (cells->wanted & sql_column_bit(i))
			err = sql_column_value(table->trace, &table->columns.columns[i], record, &value);
		if (!err && (value.kind == SQL_TEXT || value.kind == SQL_BLOB))
			row[i] = sql_cells_text(cells, value.text, value.size, &err);
		else if (!err && value.kind == SQL_REAL)
			row[i] = sql_cell_real(value.real);
		else
			row[i] = value.kind == SQL_INT ? value.number : SQL_CELL_NULL;
		if (value.kind == SQL_INT && value.number == SQL_CELL_NULL)
			lowest |= sql_lowest_bit(i);
	}
	row[table->columns.nr] = sql_record_number(record);
	return err ? err : sql_cells_add(cells, row, lowest);
}

static int fill_with_events(const struct sql_table *table, struct sql_cells *cells)
{
	const struct sql_filters all = { 0 };
	struct sql_record record;
	struct sql_scan *scan;
	int64_t *row = calloc(table->columns.nr + 1, sizeof(*row));
	int ret = row ? sql_scan_open(table, &all, &scan) : -ENOMEM;

	if (!ret) {
		while ((ret = sql_scan_next(scan, &record)) > 0) {
			ret = add_event(table, cells, &record, row);
			if (ret)
				break;
		}
		sql_scan_close(scan);
	}
	free(row);
	return ret;
}

bool sql_has_what_is_wanted(const struct sql_table *table)
{
	return table->cells && !(table->wanted & ~table->cells->wanted);
}

int sql_fill(struct sql_table *table)
{
	const bool is_computed = table->computed;
	struct sql_cells *cells;
	int err;

	if (sql_has_what_is_wanted(table))
		return 0;
	/* The last cell of an event's row is the row's number. */
	cells = sql_cells_open(&table->trace->pool, table->columns.kinds, table->columns.nr + !is_computed,
			       table->wanted);
	if (!cells)
		return -ENOMEM;
	err = is_computed ? table->computed->collect(table->trace, cells) : fill_with_events(table, cells);
	if (err) {
		sql_cells_close(cells);
		return err;
	}
	if (is_computed)
		sql_cells_sort(cells);
	/* The scan read all events, so all steps back in time are counted. */
	cells->is_sorted = table->by_time && (is_computed || (table->trace->has_gaps && !table->trace->gaps.back));
	sql_cells_close(table->cells);
	table->cells = cells;
	return 0;
}
