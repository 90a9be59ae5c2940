/* SPDX-License-Identifier: MIT */
/* The rows of a query on standard output. */
#ifndef CLI_SQL_PRINT_H
#define CLI_SQL_PRINT_H

#include <sqlite3.h>
#include <stdbool.h>

struct blob;

enum sql_mode {
	SQL_MODE_BOX,  /* a table for people; rows are kept until the widths of the columns are known */
	SQL_MODE_CSV,  /* RFC 4180, with a line of names */
	SQL_MODE_JSON, /* an array of objects */
	SQL_MODE_LIST, /* values separated by | */
};

#define SQL_MODES "box|csv|json|list"

/*
 * Steps through a statement and prints its rows; one without columns prints nothing. An SQLite code: SQLITE_DONE at the
 * end, SQLITE_INTERRUPT if the rest was not printed. `escapes`: the output is for a terminal, so control characters are
 * escaped in CSV, too. *ret_written is false if standard output cannot be written.
 */
int sql_print(sqlite3_stmt *statement, enum sql_mode mode, bool escapes, bool *ret_written);

/*
 * Appends the text of a value; blobs as hexadecimal digits, in SQL's form: x'0aff'; nothing for NULL. Returns the type,
 * which must be read before SQLite converts the value to text.
 */
int sql_put_value(struct blob *out, sqlite3_stmt *s, int column);

#endif
