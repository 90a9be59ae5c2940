/* SPDX-License-Identifier: MIT */
/* See sql_cells.h. */
#include "format/sql/sql_cells.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * Rows with equal cells form a group, and are adjacent in `rows`. `groups` maps a cell to the number of its group plus
 * one.
 */
struct sql_index {
	struct number_map groups;
	uint32_t *starts; /* where each group begins in `rows`; has one element more than there are groups */
	uint32_t *rows;
	uint32_t nr_groups;
};

static struct sql_index *index_close(struct sql_index *index)
{
	if (!index)
		return NULL;
	number_map_free(&index->groups);
	free(index->starts);
	free(index->rows);
	free(index);
	return NULL;
}

struct sql_cells *sql_cells_open(struct text_pool *pool, const enum sql_kind *kinds, unsigned int nr_columns,
				 uint64_t wanted)
{
	struct sql_index **indices = calloc(nr_columns, sizeof(*indices));
	struct sql_cells *cells = calloc(1, sizeof(*cells));

	if (!indices || !cells) {
		free(indices);
		free(cells);
		return NULL;
	}
	*cells = (struct sql_cells){ .nr_users = 1,
				     .pool = pool,
				     .wanted = wanted,
				     .kinds = kinds,
				     .nr_columns = nr_columns,
				     .indices = indices };
	return cells;
}

struct sql_cells *sql_cells_close(struct sql_cells *cells)
{
	if (!cells || --cells->nr_users)
		return NULL;
	for (unsigned int i = 0; cells->indices && i < cells->nr_columns; i++)
		index_close(cells->indices[i]);
	free(cells->indices);
	free(cells->cells);
	free(cells);
	return NULL;
}

/* The distance between rows, in cells. */
static size_t pitch_of(const struct sql_cells *cells)
{
	return cells->nr_columns + 1;
}

int sql_cells_add(struct sql_cells *cells, const int64_t *row, uint64_t lowest)
{
	int64_t *to;

	if (cells->nr_rows == cells->room) {
		size_t room = cells->room ? 2 * cells->room : 64;
		int64_t *more;

		/* Rows are numbered with 32 bits. */
		if (room > UINT32_MAX)
			return -ENOMEM;
		more = reallocarray(cells->cells, room, pitch_of(cells) * sizeof(*more));
		if (!more)
			return -ENOMEM;
		cells->cells = more;
		cells->room = room;
	}
	to = cells->cells + cells->nr_rows++ * pitch_of(cells);
	memcpy(to, row, cells->nr_columns * sizeof(*row));
	to[cells->nr_columns] = (int64_t)lowest;
	return 0;
}

int64_t sql_cells_text(struct sql_cells *cells, const char *text, size_t size, int *ret_error)
{
	const struct pooled_text *copy = text ? text_pool_add(cells->pool, text, size) : NULL;

	if (text && !copy)
		*ret_error = -ENOMEM;
	return copy ? (int64_t)(intptr_t)copy : SQL_CELL_NULL;
}

static int by_cells(const void *a, const void *b, void *arg)
{
	const struct sql_cells *cells = arg;
	const int64_t *x = a, *y = b;

	for (unsigned int i = 0; i < cells->nr_columns; i++) {
		if (x[i] != y[i] && cells->kinds[i] == SQL_INT)
			return x[i] < y[i] ? -1 : 1;
	}
	return 0;
}

void sql_cells_sort(struct sql_cells *cells)
{
	if (cells->nr_rows)
		qsort_r(cells->cells, cells->nr_rows, pitch_of(cells) * sizeof(int64_t), by_cells, cells);
}

int64_t sql_cell_real(double real)
{
	int64_t cell;

	memcpy(&cell, &real, sizeof(cell));
	/* The bits of -0.0 are those of SQL_CELL_NULL, so it becomes 0.0. */
	return cell == SQL_CELL_NULL ? 0 : cell;
}

struct sql_value sql_cells_value(const struct sql_cells *cells, size_t row, unsigned int column)
{
	const int64_t *of_row = cells->cells + row * pitch_of(cells), cell = of_row[column];
	const struct pooled_text *text;

	if (cell == SQL_CELL_NULL && !((uint64_t)of_row[cells->nr_columns] & sql_lowest_bit(column)))
		return sql_null();
	if (cells->kinds[column] == SQL_INT)
		return sql_int(cell);
	if (cells->kinds[column] == SQL_REAL) {
		struct sql_value real = { .kind = SQL_REAL };

		memcpy(&real.real, &cell, sizeof(cell));
		return real;
	}
	text = (const struct pooled_text *)(intptr_t)cell;
	return (struct sql_value){ .kind = cells->kinds[column], .lasts = 1, .text = text->text, .size = text->size };
}

size_t sql_cells_from(const struct sql_cells *cells, int64_t value)
{
	size_t low = 0, high = cells->nr_rows;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (cells->cells[middle * pitch_of(cells)] < value)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static int64_t cell_of(const struct sql_cells *cells, size_t row, unsigned int column)
{
	return cells->cells[row * pitch_of(cells) + column];
}

/* Computes the size of each group, then its beginning, then stores its rows. */
static int index_fill(struct sql_index *index, const struct sql_cells *cells, unsigned int column)
{
	const uint32_t nr = (uint32_t)cells->nr_rows;
	uint32_t *group = calloc(nr ? nr : 1, sizeof(*group));
	int err = 0;

	index->starts = calloc((size_t)nr + 2, sizeof(*index->starts));
	index->rows = calloc(nr ? nr : 1, sizeof(*index->rows));
	if (!group || !index->starts || !index->rows)
		err = -ENOMEM;
	for (uint32_t i = 0; !err && i < nr; i++) {
		const uint64_t key = (uint64_t)cell_of(cells, i, column);
		uint64_t number = number_map_get(&index->groups, key);

		if (!number) {
			number = ++index->nr_groups;
			err = number_map_set(&index->groups, key, number);
		}
		group[i] = (uint32_t)number - 1;
		index->starts[number]++;
	}
	for (uint32_t i = 0; !err && i < index->nr_groups; i++)
		index->starts[i + 1] += index->starts[i];
	/*
	 * The rows are stored from last to first. starts[group + 1] moves from the end of the group to its beginning.
	 */
	for (uint32_t i = nr; !err && i-- > 0;)
		index->rows[--index->starts[group[i] + 1]] = i;
	free(group);
	return err;
}

static struct sql_index *index_make(const struct sql_cells *cells, unsigned int column)
{
	struct sql_index *index = calloc(1, sizeof(*index));

	if (index && index_fill(index, cells, column))
		return index_close(index);
	return index;
}

long sql_cells_find(struct sql_cells *cells, unsigned int column, int64_t cell, const uint32_t **ret_rows)
{
	struct sql_index *index = cells->indices[column];
	uint32_t group, end;

	if (!index) {
		index = cells->indices[column] = index_make(cells, column);
		if (!index)
			return -ENOMEM;
	}
	group = (uint32_t)number_map_get(&index->groups, (uint64_t)cell);
	if (!group)
		return 0;
	/*
	 * `group` is the number plus one, so starts[group] is the beginning of the group, and starts[group + 1] its
	 * end.
	 */
	end = group < index->nr_groups ? index->starts[group + 1] : (uint32_t)cells->nr_rows;
	*ret_rows = index->rows + index->starts[group];
	return (long)(end - index->starts[group]);
}
