/* SPDX-License-Identifier: MIT */
/* See sql_field.h. */
#include "format/sql/sql_field.h"

#include "format/io/bytes.h"
#include "format/text/event_float.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Where the elements of a field are in the record. */
struct extent {
	const unsigned char *data;
	uint32_t size;
};

/* Whether the field is a text. libtraceevent also reports arrays of s8 and u8 as strings. */
static bool is_text(const struct tep_format_field *field)
{
	return field->flags & TEP_FIELD_IS_STRING && strstr(field->type, "char");
}

static bool is_signed(const struct tep_format_field *field)
{
	return field->flags & TEP_FIELD_IS_SIGNED || strstr(field->type, "s8");
}

enum sql_kind sql_field_kind(const struct tep_format_field *field)
{
	if (is_text(field))
		return SQL_TEXT;
	if (event_field_is_float(field))
		return SQL_REAL;
	if (!(field->flags & TEP_FIELD_IS_ARRAY))
		return field->size == 1 || field->size == 2 || field->size == 4 || field->size == 8 ? SQL_INT
												    : SQL_BLOB;
	/* The elements of bytes() are unsigned. Only an array of numbers has a length in its declaration. */
	if (field->flags & TEP_FIELD_IS_DYNAMIC && field->elementsize <= 1)
		return strstr(field->type, "s8") ? SQL_TEXT : SQL_BLOB;
	return field->elementsize == 1 || field->elementsize == 2 || field->elementsize == 4 || field->elementsize == 8
		       ? SQL_TEXT
		       : SQL_BLOB;
}

static int64_t number_at(const unsigned char *at, unsigned int width, bool is_signed, bool big)
{
	const void *from = at;

	switch (width) {
	case 1:
		return is_signed ? (int8_t)*at : *at;
	case 2:
		return is_signed ? (int16_t)bytes_get16(from, big) : bytes_get16(from, big);
	case 4:
		return is_signed ? (int32_t)bytes_get32(from, big) : (int64_t)bytes_get32(from, big);
	default:
		return (int64_t)bytes_get64(from, big);
	}
}

bool sql_field_number(const struct tep_format_field *field, const unsigned char *data, uint32_t size, bool big,
		      int64_t *ret_number)
{
	const uint32_t width = (uint32_t)field->size;

	if ((uint32_t)field->offset > size || width > size - (uint32_t)field->offset ||
	    (width != 1 && width != 2 && width != 4 && width != 8))
		return false;
	*ret_number = number_at(data + field->offset, width, field->flags & TEP_FIELD_IS_SIGNED, big);
	return true;
}

/*
 * A field without a size extends to the end of the record. So does an array that the record is too short for, such as a
 * stack of the kernel with fewer entries than its format.
 */
static bool extent_of(const struct tep_format_field *field, const unsigned char *data, uint32_t size, bool big,
		      struct extent *ret_extent)
{
	uint32_t offset = (uint32_t)field->offset, length = (uint32_t)field->size;

	if (offset > size)
		return false;
	if (field->flags & TEP_FIELD_IS_ARRAY && !(field->flags & TEP_FIELD_IS_DYNAMIC) && length > size - offset)
		length = size - offset;
	if (length > size - offset)
		return false;
	if (field->flags & TEP_FIELD_IS_DYNAMIC) {
		uint32_t place;

		if (length != 4)
			return false;
		place = bytes_get32((const void *)(data + offset), big);
		offset = (place & 0xffff) + (field->flags & TEP_FIELD_IS_RELATIVE ? offset + 4 : 0);
		length = place >> 16;
		if (offset > size || length > size - offset)
			return false;
	} else if (!length) {
		length = size - offset;
	}
	*ret_extent = (struct extent){ .data = data + offset, .size = length };
	return true;
}

static struct sql_value array_value(const struct tep_format_field *field, const struct extent *extent, bool big,
				    char *room)
{
	/* Room for a number, a comma and the end of the text. */
	enum { ELEMENT_MAX = 24 };
	const uint32_t width = field->elementsize ? field->elementsize : 1;
	size_t used = 0;

	room[used++] = '[';
	for (uint32_t at = 0; width <= extent->size - at && used + ELEMENT_MAX < SQL_FIELD_ROOM; at += width) {
		const int64_t number = number_at(extent->data + at, width, is_signed(field), big);
		const char *comma = at ? "," : "";

		used += (size_t)(is_signed(field) ?
					 sprintf(room + used, "%s%" PRId64, comma, number) :
					 sprintf(room + used, "%s%" PRIu64, comma, (uint64_t)number));
		if (at + width >= extent->size)
			break;
	}
	room[used++] = ']';
	return (struct sql_value){ .kind = SQL_TEXT, .text = room, .size = used };
}

struct sql_value sql_field_value(const struct tep_format_field *field, const unsigned char *data, uint32_t size,
				 bool big, char *room)
{
	const enum sql_kind kind = sql_field_kind(field);
	struct extent extent;
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
	if (!extent_of(field, data, size, big, &extent))
		return sql_null();
	if (kind == SQL_TEXT && !is_text(field))
		return array_value(field, &extent, big, room);
	if (kind == SQL_TEXT)
		extent.size = (uint32_t)strnlen((const char *)extent.data, extent.size);
	return (struct sql_value){ .kind = kind, .text = (const char *)extent.data, .size = extent.size };
}
