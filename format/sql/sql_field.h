/* SPDX-License-Identifier: MIT */
/* The value of a field of a record. Records are not trusted: nothing outside them is read. */
#ifndef FORMAT_SQL_FIELD_H
#define FORMAT_SQL_FIELD_H

#include "format/sql/sql_value.h"

#include <event-parse.h>
#include <stdbool.h>

/* The type of a field in SQL: integer, real, text or blob. Arrays are texts in JSON. */
enum sql_kind sql_field_kind(const struct tep_format_field *field);

/*
 * A number of 1, 2, 4 or 8 bytes; unsigned ones above INT64_MAX become negative, because SQLite's numbers are signed.
 */
bool sql_field_number(const struct tep_format_field *field, const unsigned char *data, uint32_t size, bool big,
		      int64_t *ret_number);

/*
 * The value of any field. Texts are in the record, or in `room`, which needs SQL_FIELD_ROOM bytes: that is enough for
 * any array, because a record has less than 1 MiB and a byte becomes at most "-128,".
 */
#define SQL_FIELD_ROOM ((5u << 20) + 64)
struct sql_value sql_field_value(const struct tep_format_field *field, const unsigned char *data, uint32_t size,
				 bool big, char *room);

#endif
