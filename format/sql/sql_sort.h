/* SPDX-License-Identifier: MIT */
/*
 * Sorts the values of an aggregate by keys, unsigned numbers in the order of the values. Many values take seconds, in
 * which SQLite cannot notice that the statement was interrupted: so the sort does.
 */
#ifndef FORMAT_SQL_SORT_H
#define FORMAT_SQL_SORT_H

#include "format/sql/sql_sqlite.h"

#include <stddef.h>
#include <stdint.h>

/* The keys' order is that of the numbers. A double is not NaN. */
uint64_t sql_key_of_int(int64_t value);
uint64_t sql_key_of_double(double value);
double sql_key_double(uint64_t key);

/*
 * Sorts *keys, which malloc() has allocated, and may be replaced. 0; -EINTR: the statement of the connection that runs
 * was interrupted; -ENOMEM.
 */
int sql_sort(sqlite3 *db, uint64_t **keys, size_t nr);

#endif
