/* SPDX-License-Identifier: MIT */
/*
 * A row of a computed table, filled cell by cell in the order of its columns. Texts that the query does not use are
 * left out, because they take most of the time and of the memory.
 */
#ifndef FORMAT_SQL_ROW_H
#define FORMAT_SQL_ROW_H

#include "format/sql/sql_computed.h"

#include <string.h>

#define SQL_ROW_MAX 20u

struct sql_row {
	struct sql_trace *trace;
	struct sql_cells *cells;
	unsigned int nr;
	int error;
	uint64_t lowest; /* the argument of sql_cells_add() */
	int64_t row[SQL_ROW_MAX];
};

static inline void sql_row_cell(struct sql_row *row, int64_t cell)
{
	row->row[row->nr++] = cell;
}

static inline void sql_row_int(struct sql_row *row, int64_t number)
{
	if (number == SQL_CELL_NULL)
		row->lowest |= sql_lowest_bit(row->nr);
	sql_row_cell(row, number);
}

static inline void sql_row_null(struct sql_row *row)
{
	sql_row_cell(row, SQL_CELL_NULL);
}

static inline void sql_row_int_if(struct sql_row *row, bool is_known, int64_t number)
{
	if (is_known)
		sql_row_int(row, number);
	else
		sql_row_null(row);
}

/* Whether the next cell, a text, is to be filled: if not, it may be NULL. */
static inline bool sql_row_wants(const struct sql_row *row)
{
	return row->cells->wanted & sql_column_bit(row->nr);
}

static inline void sql_row_words(struct sql_row *row, const char *text, size_t size)
{
	if (!sql_row_wants(row))
		sql_row_null(row);
	else
		sql_row_cell(row, sql_cells_text(row->cells, text, size, &row->error));
}

/* NULL: no value. */
static inline void sql_row_text(struct sql_row *row, const char *text)
{
	sql_row_words(row, text, text && sql_row_wants(row) ? strlen(text) : 0);
}

/* tid, pid and comm of a thread. */
static inline void sql_row_comm(struct sql_row *row, int32_t tid)
{
	const struct pooled_text *comm = sql_row_wants(row) ? sql_trace_comm(row->trace, tid) : NULL;

	sql_row_cell(row, comm ? (int64_t)(intptr_t)comm : SQL_CELL_NULL);
}

static inline void sql_row_pid(struct sql_row *row, int32_t tid)
{
	const struct sql_value pid = sql_trace_process(row->trace, tid);

	sql_row_int_if(row, pid.kind == SQL_INT, pid.number);
}

static inline void sql_row_thread(struct sql_row *row, int32_t tid)
{
	sql_row_int(row, tid);
	sql_row_pid(row, tid);
	sql_row_comm(row, tid);
}

/* Adds the row to the table and begins the next one. 0; -ENOMEM. */
static inline int sql_row_end(struct sql_row *row)
{
	const int err = row->error ? row->error : sql_cells_add(row->cells, row->row, row->lowest);

	row->nr = 0;
	row->lowest = 0;
	return err;
}

#endif
