/* SPDX-License-Identifier: MIT */
/*
 * The events of a trace one after the other, in time order: all of them, or those of one id, as far as they pass the
 * conditions of a query. Nothing is kept.
 */
#ifndef FORMAT_SQL_SCAN_H
#define FORMAT_SQL_SCAN_H

#include "format/sql/sql_column.h"
#include "format/sql/sql_filter.h"

#define SQL_ALL_EVENTS (-1)

struct sql_scan;

/* columns and filters must outlive the scan. 0; -ENOMEM. sql_scan_close() takes NULL; returns NULL. */
int sql_scan_open(struct sql_trace *trace, int id, const struct sql_columns *columns, const struct sql_filters *filters,
		  struct sql_scan **ret_scan);
struct sql_scan *sql_scan_close(struct sql_scan *scan);

/* 1: *ret_record is the next event, valid until the next call. 0: there are no more. -ENOMEM. */
int sql_scan_next(struct sql_scan *scan, struct sql_record *ret_record);

#endif
