/* SPDX-License-Identifier: MIT */
/*
 * The virtual tables as SQLite sees them: CREATE VIRTUAL TABLE NAME USING recorder_table(TRACE, computed | event,
 * WHAT), where TRACE is the number of a trace of the connection. sql_open.c writes these statements.
 *
 * A table of events is scanned when it is read for the first time by a cursor. If a cursor begins again, the table is
 * the inner one of a join: then its rows are put into memory, and later reads find them by an index. If a subquery
 * depends on the outer row, each of its reads has a new cursor. So the cursors of such a loop pass on how often they
 * were read.
 */
#include "format/sql/sql_counts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct cursor {
	sqlite3_vtab_cursor base; /* the part that SQLite uses; must be first */
	struct sql_filters filters;
	unsigned int nr_reads;
	unsigned int nr_before; /* reads by the cursors that this one replaced */
	bool at_end;

	/* only one of these is used */
	struct sql_scan *scan;
	struct sql_record record;
	struct sql_counts *counts;
	struct sql_cells *cells;
	size_t row, end; /* indexes into the cells, or into `found` */
	const uint32_t *found;
};

static int code_of(int err)
{
	return err == -ENOMEM ? SQLITE_NOMEM : err == -EINTR ? SQLITE_INTERRUPT : err ? SQLITE_ERROR : SQLITE_OK;
}

/* ----------------------------------------------------------------------------------------------------------- tables */

static int open_columns(struct sql_table *table, const char *kind, const char *what)
{
	const struct event_type *type;
	int err;

	if (!strcmp(kind, "computed")) {
		table->computed = sql_computed_find(what);
		if (!table->computed)
			return -EINVAL;
		table->by_time = !strncmp(table->computed->columns, "ts ", 3);
		return sql_columns_of_computed(table->computed, &table->columns);
	}
	table->id = atoi(what);
	type = event_type(table->trace->table, table->id);
	if (table->id == SQL_ALL_EVENTS)
		err = sql_columns_of_events(&table->columns);
	else if (type)
		err = sql_columns_of_event(type, model_rule(table->trace->rules, table->id), &table->columns);
	else
		err = -EINVAL;
	/* If a field has the name of the time, another column is the first. */
	table->by_time = !err && table->columns.columns[0].source == SQL_OF_TS;
	return err;
}

static int table_close(sqlite3_vtab *vtab)
{
	struct sql_table *table = (struct sql_table *)vtab;

	sql_cells_close(table->cells);
	sql_columns_close(&table->columns);
	sql_trace_close(table->trace);
	free(table);
	return SQLITE_OK;
}

/* Connect to a table. argv: module, database, table, then the arguments. */
static int table_open(sqlite3 *db, void *arg, int argc, const char *const *argv, sqlite3_vtab **ret_vtab,
		      char **ret_error)
{
	const struct sql_traces *traces = arg;
	struct sql_table *table;
	unsigned long number;
	char *declaration;
	int err;

	number = argc == 6 ? strtoul(argv[3], NULL, 10) : traces->nr;
	if (number >= traces->nr) {
		*ret_error = sqlite3_mprintf("use: SELECT recorder_open('trace.dat')");
		return SQLITE_ERROR;
	}
	table = calloc(1, sizeof(*table));
	if (!table)
		return SQLITE_NOMEM;
	table->trace = traces->traces[number];
	table->trace->nr_users++;
	err = open_columns(table, argv[4], argv[5]);
	declaration = err ? NULL : sql_columns_declaration(&table->columns);
	if (!declaration || sqlite3_declare_vtab(db, declaration) != SQLITE_OK) {
		*ret_error = err ? sqlite3_mprintf("there is no table %s %s", argv[4], argv[5])
				 : sqlite3_mprintf("%s", sqlite3_errmsg(db));
		sqlite3_free(declaration);
		table_close(&table->base);
		return SQLITE_ERROR;
	}
	sqlite3_free(declaration);
	*ret_vtab = &table->base;
	return SQLITE_OK;
}

static int best_index(sqlite3_vtab *vtab, sqlite3_index_info *info)
{
	return sql_plan((struct sql_table *)vtab, info);
}

/* ---------------------------------------------------------------------------------------------------------- cursors */

static int cursor_open(sqlite3_vtab *vtab, sqlite3_vtab_cursor **ret_cursor)
{
	struct cursor *cursor = calloc(1, sizeof(*cursor));

	if (!cursor)
		return SQLITE_NOMEM;
	*ret_cursor = &cursor->base;
	((struct sql_table *)vtab)->unread = &cursor->base;
	return SQLITE_OK;
}

static struct sql_table *table_of(const struct cursor *cursor)
{
	return (struct sql_table *)cursor->base.pVtab;
}

/* Make the cursor ready for the next read. */
static void cursor_reset(struct cursor *cursor)
{
	cursor->cells = sql_cells_close(cursor->cells);
	cursor->scan = sql_scan_close(cursor->scan);
	cursor->counts = sql_counts_close(cursor->counts);
	cursor->found = NULL;
	sql_filters_close(&cursor->filters);
}

/*
 * To open a cursor that is already open, SQLite opens a new one, then closes the old one, which passes its count of
 * reads to the new one. If the new cursor belongs to another statement after all, its table is in memory sooner.
 */
static void pass_reads(struct cursor *cursor)
{
	struct sql_table *table = table_of(cursor);
	struct cursor *next = (struct cursor *)table->unread;

	if (next == cursor)
		table->unread = NULL;
	else if (next)
		next->nr_before = cursor->nr_before + cursor->nr_reads;
}

static int cursor_close(sqlite3_vtab_cursor *base)
{
	struct cursor *cursor = (struct cursor *)base;

	pass_reads(cursor);
	cursor_reset(cursor);
	free(cursor);
	return SQLITE_OK;
}

static size_t row_of(const struct cursor *cursor)
{
	return cursor->found ? cursor->found[cursor->row] : cursor->row;
}

/* If this few rows have the same value, no further column is searched. */
#define FEW_ROWS 16

static bool row_passes(const struct cursor *cursor)
{
	for (unsigned int i = 0; i < cursor->filters.nr; i++) {
		const struct sql_filter *filter = &cursor->filters.filters[i];
		const struct sql_value value = sql_cells_value(cursor->cells, row_of(cursor), filter->column);

		if (!sql_filter_passes(filter, &value))
			return false;
	}
	return true;
}

/* Moves to the next row that passes, from cursor->row on. */
static void cells_advance(struct cursor *cursor)
{
	while (cursor->row < cursor->end && !row_passes(cursor))
		cursor->row++;
	cursor->at_end = cursor->row >= cursor->end;
}

static int64_t cell_of(const struct sql_table *table, const struct sql_value *value)
{
	const struct pooled_text *text;

	if (value->kind == SQL_INT)
		return value->number;
	text = text_pool_find(&table->trace->pool, value->text, value->size);
	return text ? (int64_t)(intptr_t)text : SQL_CELL_NULL;
}

/* The index of the first number in the ascending list that is at least `row`. */
static size_t place_of(const uint32_t *numbers, size_t nr, size_t row)
{
	size_t low = 0;

	while (low < nr) {
		const size_t middle = low + (nr - low) / 2;

		if (numbers[middle] < row)
			low = middle + 1;
		else
			nr = middle;
	}
	return low;
}

/*
 * Reduces the cursor's rows to those with one of the values that columns must be equal to. Of several such columns, the
 * first one is used for the first read of the table; after that, the one with the fewest rows. So a table that is read
 * once gets one index only.
 */
static int find_equal(struct cursor *cursor)
{
	struct sql_table *table = table_of(cursor);
	struct sql_cells *cells = cursor->cells;
	const size_t low_row = cursor->row, high_row = cursor->end;

	for (unsigned int i = 0; i < cursor->filters.nr; i++) {
		const struct sql_filter *filter = &cursor->filters.filters[i];
		const uint32_t *found;
		size_t row, end;
		long nr;

		if (filter->op != SQL_EQ || filter->value.kind != table->columns.kinds[filter->column] ||
		    (!filter->column && cells->is_sorted))
			continue;
		if (cursor->found && (!cells->was_searched || cursor->end - cursor->row <= FEW_ROWS))
			break;
		nr = sql_cells_find(cells, filter->column, cell_of(table, &filter->value), &found);
		if (nr < 0)
			return (int)nr;
		if (!nr) {
			cursor->row = cursor->end = 0;
			break;
		}
		row = place_of(found, (size_t)nr, low_row);
		end = place_of(found, (size_t)nr, high_row);
		if (cursor->found && end - row >= cursor->end - cursor->row)
			continue;
		cursor->found = found;
		cursor->row = row;
		cursor->end = end;
	}
	cells->was_searched = true;
	return 0;
}

static int cells_begin(struct cursor *cursor)
{
	struct sql_table *table = table_of(cursor);
	const unsigned int time = 0;
	int64_t low, high;
	size_t low_row = 0, high_row;
	int err = sql_fill(table);

	if (err)
		return err;
	cursor->cells = table->cells;
	cursor->cells->nr_users++;
	high_row = cursor->cells->nr_rows;
	if (cursor->cells->is_sorted && !table->columns.columns[time].is_hidden) {
		sql_filters_bounds(&cursor->filters, time, &low, &high);
		low_row = sql_cells_from(cursor->cells, low);
		high_row = high == INT64_MAX ? high_row : sql_cells_from(cursor->cells, high + 1);
	}
	cursor->row = low_row;
	cursor->end = high_row;
	err = find_equal(cursor);
	if (err)
		return err;
	if (cursor->filters.is_empty)
		cursor->end = cursor->row;
	cells_advance(cursor);
	return 0;
}

/* -------------------------------------------------------------------------------------------------- SQLite's calls */

static int scan_next(struct cursor *cursor)
{
	const int ret = sql_scan_next(cursor->scan, &cursor->record);

	cursor->at_end = ret <= 0;
	return ret < 0 ? ret : 0;
}

/* Set the cursor's record to one that stands for all events of an id. */
static void counts_show(struct cursor *cursor)
{
	cursor->at_end = !sql_counts_id(cursor->counts, &cursor->record.id);
}

static int counts_begin(struct cursor *cursor)
{
	const int err = sql_counts_open(table_of(cursor), &cursor->filters, &cursor->counts);

	cursor->record = (struct sql_record){ 0 };
	if (!err)
		counts_show(cursor);
	return err;
}

/*
 * SQLite opens a cursor again for each term of an OR, too. A statement with a few terms should not need memory for the
 * whole table.
 */
#define MAX_SCANS 8

/* Whether to read from memory. */
static bool is_for_cells(struct cursor *cursor)
{
	const struct sql_table *table = table_of(cursor);

	if (table->computed || sql_has_what_is_wanted(table))
		return true;
	return cursor->nr_reads++ || cursor->nr_before >= MAX_SCANS;
}

static int cursor_filter(sqlite3_vtab_cursor *base, int way, const char *plan, int argc, sqlite3_value **argv)
{
	struct cursor *cursor = (struct cursor *)base;
	struct sql_table *table = table_of(cursor);
	int err;

	cursor_reset(cursor);
	if (table->unread == base)
		table->unread = NULL;
	table->trace->is_read = true;
	err = sql_filters_open(plan, argc, argv, &cursor->filters);
	if (err)
		return code_of(err);
	if (way == SQL_WAY_COUNTS)
		return code_of(counts_begin(cursor));
	if (is_for_cells(cursor))
		return code_of(cells_begin(cursor));
	err = sql_scan_open(table, &cursor->filters, &cursor->scan);
	return code_of(err ? err : scan_next(cursor));
}

static int cursor_next(sqlite3_vtab_cursor *base)
{
	struct cursor *cursor = (struct cursor *)base;

	if (cursor->counts) {
		sql_counts_next(cursor->counts);
		counts_show(cursor);
		return SQLITE_OK;
	}
	if (!cursor->cells)
		return code_of(scan_next(cursor));
	cursor->row++;
	cells_advance(cursor);
	return SQLITE_OK;
}

static int cursor_eof(sqlite3_vtab_cursor *base)
{
	return ((struct cursor *)base)->at_end;
}

static void answer(sqlite3_context *context, const struct sql_value *value)
{
	const sqlite3_destructor_type keep = value->lasts ? SQLITE_STATIC : SQLITE_TRANSIENT;

	if (value->kind == SQL_INT)
		sqlite3_result_int64(context, value->number);
	else if (value->kind == SQL_REAL)
		sqlite3_result_double(context, value->real);
	else if (value->kind == SQL_TEXT)
		sqlite3_result_text64(context, value->text, value->size, keep, SQLITE_UTF8);
	else if (value->kind == SQL_BLOB)
		sqlite3_result_blob64(context, value->text, value->size, keep);
}

static int cursor_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int i)
{
	struct cursor *cursor = (struct cursor *)base;
	struct sql_table *table = table_of(cursor);
	struct sql_value value;
	int err;

	if (cursor->cells) {
		value = sql_cells_value(cursor->cells, row_of(cursor), (unsigned int)i);
	} else {
		err = sql_column_value(table->trace, &table->columns.columns[i], &cursor->record, &value);
		if (err)
			return code_of(err);
	}
	answer(context, &value);
	return SQLITE_OK;
}

static int cursor_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *ret_rowid)
{
	const struct cursor *cursor = (const struct cursor *)base;
	const struct sql_table *table = table_of(cursor);

	if (cursor->counts)
		return code_of(sql_counts_rowid(cursor->counts, ret_rowid));
	if (cursor->cells && table->computed)
		*ret_rowid = (sqlite3_int64)row_of(cursor);
	else if (cursor->cells)
		*ret_rowid = sql_cells_value(cursor->cells, row_of(cursor), table->columns.nr).number;
	else
		*ret_rowid = sql_record_number(&cursor->record);
	return SQLITE_OK;
}

const sqlite3_module sql_module = {
	.iVersion = 1,
	.xCreate = table_open,
	.xConnect = table_open,
	.xBestIndex = best_index,
	.xDisconnect = table_close,
	.xDestroy = table_close,
	.xOpen = cursor_open,
	.xClose = cursor_close,
	.xFilter = cursor_filter,
	.xNext = cursor_next,
	.xEof = cursor_eof,
	.xColumn = cursor_column,
	.xRowid = cursor_rowid,
};
