/* SPDX-License-Identifier: MIT */
/*
 * Conditions of a query that the tables check themselves: a column compared with a value, or with a list of values.
 * SQLite checks them again on the rows that pass, so a condition that is not understood here may be left out.
 */
#ifndef FORMAT_SQL_FILTER_H
#define FORMAT_SQL_FILTER_H

#include "format/sql/sql_sqlite.h"
#include "format/sql/sql_value.h"

#include <stdbool.h>

enum sql_op { SQL_EQ = '=', SQL_NE = '!', SQL_LT = '<', SQL_LE = 'l', SQL_GT = '>', SQL_GE = 'g', SQL_IN = 'i' };

struct sql_filter {
	unsigned int column;
	enum sql_op op;
	struct sql_value value; /* the filter owns the text of `value` */
	struct sql_value *list; /* SQL_IN: sorted, numbers first */
	size_t nr_list;
	bool has_numbers, has_texts;
};

struct sql_filters {
	struct sql_filter *filters;
	unsigned int nr;
	bool is_empty; /* no row can pass: a comparison with NULL */
};

/*
 * The conditions that `plan` describes, as sql_plan() made it, with the values that SQLite has passed. 0; -ENOMEM.
 * sql_filters_close() takes an empty list, too.
 */
int sql_filters_open(const char *plan, int nr_values, sqlite3_value **values, struct sql_filters *ret_filters);
void sql_filters_close(struct sql_filters *filters);

bool sql_filter_passes(const struct sql_filter *filter, const struct sql_value *value);

/* The limits that the filters set to a time column. */
void sql_filters_bounds(const struct sql_filters *filters, unsigned int column, int64_t *ret_low, int64_t *ret_high);

#endif
