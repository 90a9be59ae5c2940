/* SPDX-License-Identifier: MIT */
/* See sql_field.h. */
#include "format/sql/sql_field.h"

#include "format/io/bytes.h"
#include "format/text/event_field.h"
#include "format/text/event_float.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static bool is_signed(const struct tep_format_field *field)
{
	return field->flags & TEP_FIELD_IS_SIGNED || strstr(field->type, "s8");
}

enum sql_kind sql_field_kind(const struct tep_format_field *field)
{
	if (event_field_is_text(field))
		return SQL_TEXT;
	if (event_field_is_float(field))
		return SQL_REAL;
	if (!(field->flags & TEP_FIELD_IS_ARRAY))
		return bytes_is_number((uint32_t)field->size) ? SQL_INT : SQL_BLOB;
	/* The elements of bytes() are unsigned. Only an array of numbers has a length in its declaration. */
	if (field->flags & TEP_FIELD_IS_DYNAMIC && field->elementsize <= 1)
		return strstr(field->type, "s8") ? SQL_TEXT : SQL_BLOB;
	return bytes_is_number((uint32_t)field->elementsize) ? SQL_TEXT : SQL_BLOB;
}

bool sql_field_number(const struct tep_format_field *field, const unsigned char *data, uint32_t size, bool big,
		      int64_t *ret_number)
{
	const uint32_t width = (uint32_t)field->size;

	if ((uint32_t)field->offset > size || width > size - (uint32_t)field->offset ||
	    (width != 1 && width != 2 && width != 4 && width != 8))
		return false;
	*ret_number = bytes_number(data + field->offset, width, field->flags & TEP_FIELD_IS_SIGNED, big);
	return true;
}

static struct sql_value array_value(const struct tep_format_field *field, const unsigned char *data, uint32_t size,
				    bool big, char *room)
{
	/* Room for a number, a comma and the end of the text. */
	enum { ELEMENT_MAX = 24 };
	const uint32_t width = field->elementsize ? field->elementsize : 1;
	size_t used = 0;

	room[used++] = '[';
	for (uint32_t at = 0; width <= size - at && used + ELEMENT_MAX < SQL_FIELD_ROOM; at += width) {
		const int64_t number = bytes_number(data + at, width, is_signed(field), big);
		const char *comma = at ? "," : "";

		used += (size_t)(is_signed(field) ?
					 sprintf(room + used, "%s%" PRId64, comma, number) :
					 sprintf(room + used, "%s%" PRIu64, comma, (uint64_t)number));
		if (at + width >= size)
			break;
	}
	room[used++] = ']';
	return (struct sql_value){ .kind = SQL_TEXT, .text = room, .size = used };
}

struct sql_value sql_field_value(const struct tep_format_field *field, const unsigned char *data, uint32_t size,
				 bool big, char *room)
{
	const enum sql_kind kind = sql_field_kind(field);
	uint32_t offset, length;
	int64_t number;

	if (kind == SQL_REAL && sql_field_number(field, data, size, big, &number)) {
		const double real = event_float_value((uint64_t)number, (uint32_t)field->size);

		/* SQLite has no NaN. */
		return isnan(real) ? sql_null() : (struct sql_value){ .kind = SQL_REAL, .real = real };
	}
	if (kind == SQL_REAL)
		return sql_null();
	if (kind == SQL_INT)
		return sql_field_number(field, data, size, big, &number) ? sql_int(number) : sql_null();
	if (!event_field_place(field, data, size, big, &offset, &length))
		return sql_null();
	if (kind == SQL_TEXT && !event_field_is_text(field))
		return array_value(field, data + offset, length, big, room);
	if (kind == SQL_TEXT)
		length = (uint32_t)strnlen((const char *)data + offset, length);
	return (struct sql_value){ .kind = kind, .text = (const char *)data + offset, .size = length };
}
