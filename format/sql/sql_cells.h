/* SPDX-License-Identifier: MIT */
/*
 * A table in memory: rows of cells, in the order of their first column, with an index over any column on demand. Two
 * kinds of tables are kept in this way: those that are computed from the whole trace (spans, states of threads), and
 * tables of events that a join reads repeatedly. Columns that are not wanted may be NULL in all rows.
 *
 * A cell is a number, or the address of a text in the trace's pool: equal cells are equal numbers.
 */
#ifndef FORMAT_SQL_CELLS_H
#define FORMAT_SQL_CELLS_H

#include "format/io/number_map.h"
#include "format/io/text_pool.h"
#include "format/sql/sql_value.h"

#include <stdbool.h>

/* A cell with this value is NULL, unless the row states that it is the number (`lowest` of sql_cells_add()). */
#define SQL_CELL_NULL INT64_MIN

/* The bit of a column in `lowest`. The last bit is for all further columns: few events have this many fields. */
static inline uint64_t sql_lowest_bit(unsigned int column)
{
	return UINT64_C(1) << (column < 63 ? column : 63);
}

struct sql_index;

struct sql_cells {
	unsigned int nr_users; /* the table, and cursors that read it */
	struct text_pool *pool;
	uint64_t wanted;	    /* sql_column_bit() of the columns whose values were stored */
	bool is_sorted;		    /* by the first column, which is a time */
	bool was_searched;	    /* set to true when an index is used */
	const enum sql_kind *kinds; /* kinds of the columns */
	unsigned int nr_columns;
	size_t nr_rows;
	size_t room;		    /* the number of rows for which there is memory */
	int64_t *cells;		    /* the cells of each row, then its `lowest` */
	struct sql_index **indices; /* by column; NULL: not made yet */
};

/* The new table has one user. `kinds` must outlive it. NULL: out of memory. */
struct sql_cells *sql_cells_open(struct text_pool *pool, const enum sql_kind *kinds, unsigned int nr_columns,
				 uint64_t wanted);

/* Removes a user; the last one frees the table. Takes NULL; returns NULL. */
struct sql_cells *sql_cells_close(struct sql_cells *cells);

/* Adds a row. `lowest`: the columns, by sql_lowest_bit(), whose SQL_CELL_NULL is that number, not NULL. 0; -ENOMEM. */
int sql_cells_add(struct sql_cells *cells, const int64_t *row, uint64_t lowest);

/* A number with a fraction as a cell. */
int64_t sql_cell_real(double real);

/* A text as a cell; SQL_CELL_NULL for a NULL text. -ENOMEM through *ret_error, which is otherwise untouched. */
int64_t sql_cells_text(struct sql_cells *cells, const char *text, size_t size, int *ret_error);

/*
 * After the last sql_cells_add(): sorts the rows by their numbers, the first column first. Texts are not compared:
 * their order would depend on which texts the query wants.
 */
void sql_cells_sort(struct sql_cells *cells);

struct sql_value sql_cells_value(const struct sql_cells *cells, size_t row, unsigned int column);

/* The first row whose first column is at least `value`. Only if the first column is a time. */
size_t sql_cells_from(const struct sql_cells *cells, int64_t value);

/*
 * The rows whose `column` has this cell, in order: *ret_rows are their numbers. Returns how many there are. Makes the
 * index if the column has none yet; -ENOMEM.
 */
long sql_cells_find(struct sql_cells *cells, unsigned int column, int64_t cell, const uint32_t **ret_rows);

#endif
