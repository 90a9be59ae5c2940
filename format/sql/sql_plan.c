/* SPDX-License-Identifier: MIT */
/*
 * Tells SQLite, before a query, which conditions a table can check itself, and at what cost. The plan is a text: for
 * each condition the number of its column and a character, as sql_filter.h has them.
 *
 * Costs are relative. Their purpose: if a join has a condition of equality on a table's column, SQLite should make that
 * table the inner one, whose rows are then found by an index.
 */
#include "format/sql/sql_table.h"

#include <stdio.h>
#include <string.h>

static char op_of(sqlite3_index_info *info, int i)
{
	switch (info->aConstraint[i].op) {
	case SQLITE_INDEX_CONSTRAINT_EQ:
		return sqlite3_vtab_in(info, i, -1) ? SQL_IN : SQL_EQ;
	case SQLITE_INDEX_CONSTRAINT_NE:
		return SQL_NE;
	case SQLITE_INDEX_CONSTRAINT_LT:
		return SQL_LT;
	case SQLITE_INDEX_CONSTRAINT_LE:
		return SQL_LE;
	case SQLITE_INDEX_CONSTRAINT_GT:
		return SQL_GT;
	case SQLITE_INDEX_CONSTRAINT_GE:
		return SQL_GE;
	default:
		return '\0';
	}
}

/*
 * Whether the table can check a condition. Texts are compared only for equality, byte by byte; SQLite itself handles
 * other collations.
 */
static bool can_check(const struct sql_table *table, sqlite3_index_info *info, int i, char op)
{
	const int column = info->aConstraint[i].iColumn;
	enum sql_kind kind;

	if (!info->aConstraint[i].usable || !op || column < 0)
		return false;
	kind = table->columns.columns[column].kind;
	if (kind == SQL_TEXT)
		return (op == SQL_EQ || op == SQL_IN || op == SQL_NE) &&
		       !strcmp(sqlite3_vtab_collation(info, i), "BINARY");
	return kind == SQL_INT;
}

/*
 * Whether SQLite need not repeat the check: the column is compared with a number or text that is written in the
 * statement and has the column's own kind. Other values are converted by SQLite's rules.
 */
static bool is_exact(const struct sql_table *table, sqlite3_index_info *info, int i, char op)
{
	const enum sql_kind kind = table->columns.columns[info->aConstraint[i].iColumn].kind;
	sqlite3_value *value;

	if (op == SQL_IN || sqlite3_vtab_rhs_value(info, i, &value) != SQLITE_OK)
		return false;
	return sqlite3_value_type(value) == (kind == SQL_INT ? SQLITE_INTEGER : SQLITE_TEXT);
}

/* Whether the query uses only names and values that depend on them: then all events of an id are equal rows. */
static bool uses_names_only(const struct sql_table *table, const sqlite3_index_info *info)
{
	for (unsigned int i = 0; i < table->columns.nr; i++) {
		const enum sql_source source = table->columns.columns[i].source;

		if (info->colUsed & sql_column_bit(i) && source != SQL_OF_NAME && source != SQL_OF_SYSTEM &&
		    source != SQL_OF_ID)
			return false;
	}
	return true;
}

/* Whether the query has GROUP BY or ORDER BY on a name, for which SQLite would sort all events. */
static bool is_count_by_name(const struct sql_table *table, const sqlite3_index_info *info)
{
	return !table->computed && table->id == SQL_ALL_EVENTS && info->nOrderBy == 1 && !info->aOrderBy[0].desc &&
	       info->aOrderBy[0].iColumn >= 0 &&
	       table->columns.columns[info->aOrderBy[0].iColumn].source == SQL_OF_NAME && uses_names_only(table, info);
}

/* Whether the file's events are in time order, which they are unless it is damaged. */
static bool is_in_order(const struct sql_table *table)
{
	struct sql_gaps gaps;

	return !sql_trace_gaps(table->trace, &gaps) && !gaps.back;
}

static bool is_time_order(const struct sql_table *table, const sqlite3_index_info *info)
{
	const int column = info->nOrderBy == 1 && !info->aOrderBy[0].desc ? info->aOrderBy[0].iColumn : -1;

	if (column < 0)
		return false;
	if (table->computed)
		return table->by_time && column == 0;
	return table->columns.columns[column].source == SQL_OF_TS && is_in_order(table);
}

static double cost_of(const struct sql_table *table, const char *ops, int nr_bounds)
{
	double rows = table->cells ? (double)table->cells->nr_rows + 1 : table->trace->rows;

	/* Each equality reduces the cost; otherwise SQLite would not use those that depend on another table. */
	if (strchr(ops, SQL_EQ)) {
		rows /= 100;
		for (; *ops; ops++)
			rows = *ops == SQL_EQ ? rows / 10 : rows;
		return rows + 1;
	}
	if (strchr(ops, SQL_IN))
		return rows / 100 + 1;
	while (nr_bounds-- > 0)
		rows = rows / 4 + 1;
	return rows;
}

int sql_plan(struct sql_table *table, sqlite3_index_info *info)
{
	char *plan = sqlite3_mprintf(""), ops[128] = "";
	int nr = 0, nr_bounds = 0;

	for (int i = 0; plan && i < info->nConstraint && nr < (int)sizeof(ops) - 1; i++) {
		const char op = info->aConstraint[i].usable ? op_of(info, i) : '\0';

		if (!can_check(table, info, i, op))
			continue;
		if (op == SQL_IN)
			sqlite3_vtab_in(info, i, 1);
		plan = sqlite3_mprintf("%z%d%c", plan, info->aConstraint[i].iColumn, op);
		ops[nr] = op;
		info->aConstraintUsage[i].argvIndex = ++nr;
		info->aConstraintUsage[i].omit = is_exact(table, info, i, op);
		table->wanted |= sql_column_bit((unsigned int)info->aConstraint[i].iColumn);
		if (op != SQL_NE && table->columns.columns[info->aConstraint[i].iColumn].source == SQL_OF_TS)
			nr_bounds++;
		else if (op != SQL_NE && table->by_time && !info->aConstraint[i].iColumn)
			nr_bounds++;
	}
	if (!plan)
		return SQLITE_NOMEM;
	/* The rows are in the order of the first column. */
	table->wanted |= info->colUsed | sql_column_bit(0);
	info->idxStr = plan;
	info->needToFreeIdxStr = 1;
	info->idxNum = is_count_by_name(table, info) ? SQL_WAY_COUNTS : SQL_WAY_ROWS;
	info->orderByConsumed = info->idxNum == SQL_WAY_COUNTS || is_time_order(table, info);
	info->estimatedCost = cost_of(table, ops, nr_bounds);
	info->estimatedRows = (sqlite3_int64)info->estimatedCost;
	return SQLITE_OK;
}
