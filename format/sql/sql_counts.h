/* SPDX-License-Identifier: MIT */
/* Events in the order of their names, for a query that uses only the names: events are counted instead of sorted. */
#ifndef FORMAT_SQL_COUNTS_H
#define FORMAT_SQL_COUNTS_H

#include "format/sql/sql_table.h"

struct sql_counts;

/* Counts the events that pass, and begins with the first one. Table and filters must outlive it. 0; -ENOMEM. */
int sql_counts_open(const struct sql_table *table, const struct sql_filters *filters, struct sql_counts **ret_counts);
struct sql_counts *sql_counts_close(struct sql_counts *counts);

/* The id of the event; -1 if it has none. False: there are no more events. */
bool sql_counts_id(const struct sql_counts *counts, int *ret_id);
void sql_counts_next(struct sql_counts *counts);

/* The event's number, as sql_scan.h gives it. Reads the trace again when it is asked for the first time. 0; -ENOMEM. */
int sql_counts_rowid(struct sql_counts *counts, sqlite3_int64 *ret_rowid);

#endif
