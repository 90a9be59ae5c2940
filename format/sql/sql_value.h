/* SPDX-License-Identifier: MIT */
/* The value of one column in one row. */
#ifndef FORMAT_SQL_VALUE_H
#define FORMAT_SQL_VALUE_H

#include <stddef.h>
#include <stdint.h>

enum sql_kind { SQL_NULL, SQL_INT, SQL_TEXT, SQL_BLOB, SQL_REAL };

struct sql_value {
	enum sql_kind kind;
	int lasts;	  /* the text outlives the statement, so that SQLite need not copy it */
	int64_t number;
	double real;
	const char *text; /* TEXT and BLOB */
	size_t size;
};

static inline struct sql_value sql_null(void)
{
	return (struct sql_value){ .kind = SQL_NULL };
}

static inline struct sql_value sql_int(int64_t number)
{
	return (struct sql_value){ .kind = SQL_INT, .number = number };
}

#endif
