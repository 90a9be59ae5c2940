/* SPDX-License-Identifier: MIT */
/* The value of a field of a record. Records are not trusted: nothing outside them is read. */
#ifndef FORMAT_SQL_FIELD_H
#define FORMAT_SQL_FIELD_H

#include "format/sql/sql_value.h"

#include <event-parse.h>
#include <stdbool.h>

/* What a field is in SQL: a whole number, or a float or double; a text, also for arrays, which are JSON; or bytes. */
enum sql_kind sql_field_kind(const struct tep_format_field *field);

/* A number of 1, 2, 4 or 8 bytes; unsigned ones above INT64_MAX become negative, as SQLite has no others. */
bool sql_field_number(const struct tep_format_field *field, const unsigned char *data, uint32_t size, bool big,
		      int64_t *ret_number);

/*
 * The value of any field. Texts are in the record, or in `room`, which needs SQL_FIELD_ROOM bytes: enough for any
 * array, as a record has less than 1 MiB, and a byte becomes "-128," at most.
 */
#define SQL_FIELD_ROOM ((5u << 20) + 64)
struct sql_value sql_field_value(const struct tep_format_field *field, const unsigned char *data, uint32_t size,
				 bool big, char *room);

#endif
