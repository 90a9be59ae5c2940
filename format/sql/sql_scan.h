/* SPDX-License-Identifier: MIT */
/*
 * The events of a trace one after the other, in time order: all of them, or those of one id, if they pass the
 * conditions of a query. Nothing is kept. Pages before a lower limit of the time are not read. Events of types that
 * cannot pass are left out before their time and CPU are looked at.
 */
#ifndef FORMAT_SQL_SCAN_H
#define FORMAT_SQL_SCAN_H

#include "format/sql/sql_column.h"
#include "format/sql/sql_filter.h"

#define SQL_ALL_EVENTS (-1)

struct sql_scan;
struct sql_table;

/*
 * Begin to scan a table of events. `task` is valid only if table->wanted has a column that needs it, or a filter does.
 * Table and filters must outlive the scan. 0; -ENOMEM. sql_scan_close() takes NULL; returns NULL.
 */
int sql_scan_open(const struct sql_table *table, const struct sql_filters *filters, struct sql_scan **ret_scan);
struct sql_scan *sql_scan_close(struct sql_scan *scan);

/* 1: *ret_record is the next event, valid until the next call. 0: there are no more. -ENOMEM. */
int sql_scan_next(struct sql_scan *scan, struct sql_record *ret_record);

#endif
