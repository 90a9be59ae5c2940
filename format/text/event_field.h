/* SPDX-License-Identifier: MIT */
/* Where the value of a field lies in a record, and whether it is a text. */
#ifndef FORMAT_EVENT_FIELD_H
#define FORMAT_EVENT_FIELD_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <traceevent/event-parse.h>

/*
 * The place of a field's value; for a dynamic field, of its text or its elements. A field without a size extends to the
 * end of the record. So does an array that the record is too short for, such as a stack of the kernel with fewer
 * entries than its format. False: the value is not in the record.
 */
bool event_field_place(const struct tep_format_field *field, const void *data, uint32_t size, bool big,
		       uint32_t *ret_offset, uint32_t *ret_length);

/* The text of a dynamic field, which no NUL ends; NULL: the field is not dynamic, or not in the record. */
const char *event_field_text(const struct tep_format_field *field, const void *data, uint32_t size, bool big,
			     uint32_t *ret_length);

/* Whether the field is a text. libtraceevent also reports arrays of s8 and u8, and bytes, as strings. */
static inline bool event_field_is_text(const struct tep_format_field *field)
{
	return field->flags & TEP_FIELD_IS_STRING && strstr(field->type, "char");
}

#endif
