/* SPDX-License-Identifier: MIT */
/*
 * Trace files in a database connection: SELECT recorder_open('trace.dat') makes the tables of a file. The extension and
 * the command both begin here.
 */
#ifndef FORMAT_SQL_OPEN_H
#define FORMAT_SQL_OPEN_H

#include "format/sql/sql_sqlite.h"
#include "format/sql/sql_trace.h"

struct sql_traces;

/*
 * Adds the functions and the tables' module to a connection. They end with it. *ret_traces is the list of opened
 * traces, valid as long as the connection; ret_traces may be NULL. An SQLite code.
 */
int sql_register(sqlite3 *db, struct sql_traces **ret_traces);

/*
 * Opens a file and makes its tables in the schema "temp": one for each event, and those that all traces have. The
 * tables of a second file get the prefix fN_. A file that does not have all its parts is refused, unless takes_cut is
 * true; then the caller reports what is missing. An SQLite code. *ret_text is the result of recorder_open(), or the
 * reason of a failure; NULL: there is not enough memory. Free it with sqlite3_free().
 */
int sql_open(sqlite3 *db, struct sql_traces *traces, const char *path, bool takes_cut, char **ret_text);

/* percentile(), histogram(), interval_overlap(). An SQLite code. */
int sql_register_functions(sqlite3 *db);

/* recorder_cast(). An SQLite code. */
int sql_register_cast(sqlite3 *db, struct sql_traces *traces);

#endif
