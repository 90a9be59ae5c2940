/* SPDX-License-Identifier: MIT */
/*
 * Records of declared events, put together value by value. Nothing is allocated and nothing is shared, so everything
 * here works in any thread and in signal handlers. The first mistake is kept: a record with a mistake is never written.
 */
#include "librecorder/process/declared.h"

#include <errno.h>
#include <string.h>

/* A value of `error`: the event is off, so values are ignored. Errors are negative. */
#define OFF 1

static const struct declared *declared_of(const struct rec_fields *fields)
{
	return (const struct declared *)(const void *)fields->event;
}

static int fail(struct rec_fields *fields, int error)
{
	fields->error = error;
	return error;
}

/*
 * Take the next field, if its kind is one of the bits `kinds`, and find the address of its bytes. NULL: there is
 * nothing to put, and the caller returns *ret_result.
 */
static const struct declared_field *take_field(struct rec_fields *fields, uint32_t kinds, unsigned char **ret_at,
					       int *ret_result)
{
	const struct declared *declared = declared_of(fields);
	const struct declared_field *field;

	if (fields->error) {
		*ret_result = fields->error == OFF ? 0 : fields->error;
		return NULL;
	}
	field = fields->nr_put < declared->nr_fields ? &declared->fields[fields->nr_put] : NULL;
	if (!field || !(kinds & 1u << field->kind)) {
		*ret_result = fail(fields, -EINVAL);
		return NULL;
	}
	fields->nr_put++;
	*ret_at = fields->room + field->offset - REC_EVENT_COMMON_SIZE;
	return field;
}

/* Write the low bytes of a number. */
static void put_number(unsigned char *at, uint64_t number, unsigned int size)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	memcpy(at, (const unsigned char *)&number + sizeof(number) - size, size);
#else
	memcpy(at, &number, size);
#endif
}

int rec_fields_begin(struct rec_fields *fields, struct rec_event *event, void *room, size_t size)
{
	const size_t most = REC_EVENT_SIZE_MAX - REC_EVENT_COMMON_SIZE;

	*fields = (struct rec_fields){ .event = event, .room = room, .size = (uint32_t)(size < most ? size : most) };
	if (!rec_event_on(event)) {
		fields->error = OFF;
		return 0;
	}
	fields->used = declared_of(fields)->fixed_size - REC_EVENT_COMMON_SIZE;
	if (fields->used > fields->size)
		return fail(fields, -ENOSPC);
	return 1;
}

int rec_fields_put_unsigned(struct rec_fields *fields, uint64_t value)
{
	const uint32_t kinds = 1u << REC_FIELD_UNSIGNED | 1u << REC_FIELD_HEX | 1u << REC_FIELD_POINTER |
			       1u << REC_FIELD_FLAG | 1u << REC_FIELD_NAMED;
	const struct declared_field *field;
	unsigned char *at;
	uint64_t most;
	int result;

	field = take_field(fields, kinds, &at, &result);
	if (!field)
		return result;
	if (field->is_signed)
		return fail(fields, -EINVAL);
	most = field->kind == REC_FIELD_FLAG ? 1 : UINT64_MAX >> (64 - 8 * field->element);
	if (value > most)
		return fail(fields, -ERANGE);
	put_number(at, value, field->element);
	return 0;
}

int rec_fields_put_signed(struct rec_fields *fields, int64_t value)
{
	const struct declared_field *field;
	unsigned char *at;
	int64_t most;
	int result;

	field = take_field(fields, 1u << REC_FIELD_SIGNED | 1u << REC_FIELD_NAMED, &at, &result);
	if (!field)
		return result;
	if (!field->is_signed)
		return fail(fields, -EINVAL);
	most = (int64_t)(UINT64_MAX >> (65 - 8 * field->element));
	if (value > most || value < -most - 1)
		return fail(fields, -ERANGE);
	put_number(at, (uint64_t)value, field->element);
	return 0;
}

int rec_fields_put_real(struct rec_fields *fields, double value)
{
	const float single = (float)value;
	const struct declared_field *field;
	unsigned char *at;
	int result;

	field = take_field(fields, 1u << REC_FIELD_REAL | 1u << REC_FIELD_FLOAT, &at, &result);
	if (!field)
		return result;
	if (field->kind == REC_FIELD_FLOAT && field->element == sizeof(single))
		memcpy(at, &single, sizeof(single));
	else if (field->kind == REC_FIELD_FLOAT)
		memcpy(at, &value, sizeof(value));
	else
		put_number(at, (uint64_t)rec_fixed_point(value, field->decimals), field->element);
	return 0;
}

int rec_fields_put_array(struct rec_fields *fields, const void *elements, size_t element_size, size_t count)
{
	const struct declared_field *field;
	unsigned char *at;
	int result;

	field = take_field(fields, 1u << REC_FIELD_ARRAY, &at, &result);
	if (!field)
		return result;
	if (element_size != field->element || count != field->length)
		return fail(fields, -EINVAL);
	memcpy(at, elements, element_size * count);
	return 0;
}

/* Append a dynamic field to the record: `size` bytes, then `nuls` (0 or 1) bytes of 0. */
static int put_dynamic(struct rec_fields *fields, unsigned char *at, const void *from, size_t size, size_t nuls)
{
	const uint32_t left = fields->size - fields->used;

	if (size > left || nuls > left - size)
		return fail(fields, -ENOSPC);
	rec_put_location(at, REC_EVENT_COMMON_SIZE + fields->used, size + nuls);
	if (size)
		memcpy(fields->room + fields->used, from, size);
	memset(fields->room + fields->used + size, 0, nuls);
	fields->used += (uint32_t)(size + nuls);
	return 0;
}

int rec_fields_put_text(struct rec_fields *fields, const char *text, size_t size)
{
	unsigned char *at;
	int result;

	if (!take_field(fields, 1u << REC_FIELD_STRING, &at, &result))
		return result;
	return text ? put_dynamic(fields, at, text, size, 1) : put_dynamic(fields, at, "(null)", strlen("(null)"), 1);
}

int rec_fields_put_bytes(struct rec_fields *fields, const void *bytes, size_t size)
{
	unsigned char *at;
	int result;

	if (!take_field(fields, 1u << REC_FIELD_BYTES, &at, &result))
		return result;
	return put_dynamic(fields, at, bytes, bytes ? size : 0, 0);
}

int rec_fields_write(struct rec_fields *fields)
{
	if (fields->error)
		return fields->error == OFF ? 0 : fields->error;
	if (fields->nr_put < declared_of(fields)->nr_fields)
		return fail(fields, -EINVAL);
	return rec_event_write(fields->event, fields->room, fields->used);
}
