/* SPDX-License-Identifier: MIT */
/* A virtual table of SQLite over a trace, and how a query reads it. */
#ifndef FORMAT_SQL_TABLE_H
#define FORMAT_SQL_TABLE_H

#include "format/sql/sql_computed.h"
#include "format/sql/sql_scan.h"
#include "format/sql/sql_sqlite.h"

struct sql_table {
	sqlite3_vtab base; /* the part that SQLite uses; must be first */
	struct sql_trace *trace;
	int id;				     /* id of the event; or SQL_ALL_EVENTS */
	const struct sql_computed *computed; /* NULL: a table of events */
	struct sql_columns columns;
	struct sql_cells *cells;     /* computed tables, and tables of events that were read more than once; or NULL */
	uint64_t wanted;	     /* sql_column_bit() of the columns that queries have used */
	bool by_time;		     /* the first column is a time, and rows are in its order */
	sqlite3_vtab_cursor *unread; /* the newest cursor, until it is read; NULL: it has been read, or is closed */
};

/* How a query reads a table. SQLite passes these numbers from the plan to the cursor. */
enum sql_way {
	SQL_WAY_ROWS,	/* row by row, those that pass the filters */
	SQL_WAY_COUNTS, /* one row for each event name: the query cannot distinguish the events of a name */
};

/* Chooses a way for SQLite: xBestIndex. An SQLite code. */
int sql_plan(struct sql_table *table, sqlite3_index_info *info);

/* Whether the table's cells have all columns that queries have used. */
bool sql_has_what_is_wanted(const struct sql_table *table);

/* Read the table's rows into memory. Cursors that still read the previous cells keep them. 0; -ENOMEM; -EINTR. */
int sql_fill(struct sql_table *table);

/* The functions that SQLite calls. Their user data is the connection's struct sql_traces. */
extern const sqlite3_module sql_module;

/* The traces that a connection has opened. */
struct sql_traces {
	struct sql_trace **traces;
	unsigned int nr;
	bool takes_cut; /* recorder_open() takes files that were cut off; set by code that reports what they lack */
};

#endif
