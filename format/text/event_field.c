/* SPDX-License-Identifier: MIT */
/* See event_field.h. */
#include "format/text/event_field.h"

#include <string.h>

#include "format/io/bytes.h"

/* A dynamic field has the offset of its value in the low half of this word, and the length in the high half. */
#define WORD_SIZE 4u

bool event_field_place(const struct tep_format_field *field, const void *data, uint32_t size, bool big,
		       uint32_t *ret_offset, uint32_t *ret_length)
{
	const bool is_dynamic = field->flags & TEP_FIELD_IS_DYNAMIC, is_array = field->flags & TEP_FIELD_IS_ARRAY;
	uint32_t offset = (uint32_t)field->offset, length = (uint32_t)field->size;

	if (offset > size)
		return false;
	if (!is_dynamic && (!length || (is_array && length > size - offset)))
		length = size - offset;
	if (length > size - offset || (is_dynamic && length != WORD_SIZE))
		return false;
	if (is_dynamic) {
		const uint32_t word = bytes_get32((const char *)data + offset, big);

		offset = (word & 0xffff) + (field->flags & TEP_FIELD_IS_RELATIVE ? offset + WORD_SIZE : 0);
		length = word >> 16;
		if (offset > size || length > size - offset)
			return false;
	}
	*ret_offset = offset;
	*ret_length = length;
	return true;
}

const char *event_field_text(const struct tep_format_field *field, const void *data, uint32_t size, bool big,
			     uint32_t *ret_length)
{
	uint32_t offset, length;

	if (!(field->flags & TEP_FIELD_IS_DYNAMIC) || !event_field_place(field, data, size, big, &offset, &length))
		return NULL;
	*ret_length = (uint32_t)strnlen((const char *)data + offset, length);
	return (const char *)data + offset;
}
