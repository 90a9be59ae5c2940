/* SPDX-License-Identifier: MIT */
/* Memory is doubled when it grows, so appending takes constant time per byte. See blob.h. */
#include "format/io/blob.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLOB_FIRST 1024u

void blob_free(struct blob *blob)
{
	free(blob->data);
	memset(blob, 0, sizeof(*blob));
}

static int blob_grow(struct blob *blob, size_t need)
{
	size_t capacity = blob->capacity ? blob->capacity : BLOB_FIRST;
	unsigned char *data;

	while (capacity < need) {
		if (capacity > SIZE_MAX / 2)
			return -ENOMEM;
		capacity *= 2;
	}
	data = realloc(blob->data, capacity);
	if (!data)
		return -ENOMEM;
	blob->data = data;
	blob->capacity = capacity;
	return 0;
}

void *blob_room(struct blob *blob, size_t size)
{
	void *room;

	if (!blob->error && size > SIZE_MAX - blob->size)
		blob->error = -ENOMEM;
	/* The first append allocates even if it is of 0 bytes, so that data is not NULL afterwards. */
	if (!blob->error && (!blob->data || blob->size + size > blob->capacity))
		blob->error = blob_grow(blob, blob->size + size);
	if (blob->error)
		return NULL;
	room = blob->data + blob->size;
	blob->size += size;
	return room;
}

void blob_put(struct blob *blob, const void *bytes, size_t size)
{
	void *room = blob_room(blob, size);

	if (room && size)
		memcpy(room, bytes, size);
}

void blob_printf(struct blob *blob, const char *fmt, ...)
{
	va_list args;
	char *room;
	int len;

	va_start(args, fmt);
	len = vsnprintf(NULL, 0, fmt, args);
	va_end(args);
	if (len < 0) {
		blob->error = -ENOMEM;
		return;
	}
	room = blob_room(blob, (size_t)len + 1);
	if (!room)
		return;
	va_start(args, fmt);
	vsnprintf(room, (size_t)len + 1, fmt, args);
	va_end(args);
	blob->size--; /* the NUL */
}

void blob_string(struct blob *blob, const char *string)
{
	blob_put(blob, string, strlen(string) + 1);
}

void blob_u16(struct blob *blob, uint16_t value)
{
	if (blob->swapped)
		value = __builtin_bswap16(value);
	blob_put(blob, &value, sizeof(value));
}

void blob_u32(struct blob *blob, uint32_t value)
{
	if (blob->swapped)
		value = __builtin_bswap32(value);
	blob_put(blob, &value, sizeof(value));
}

void blob_u64(struct blob *blob, uint64_t value)
{
	if (blob->swapped)
		value = __builtin_bswap64(value);
	blob_put(blob, &value, sizeof(value));
}

void blob_set_u32(struct blob *blob, size_t offset, uint32_t value)
{
	if (blob->swapped)
		value = __builtin_bswap32(value);
	if (!blob->error)
		memcpy(blob->data + offset, &value, sizeof(value));
}

void blob_set_u64(struct blob *blob, size_t offset, uint64_t value)
{
	if (blob->swapped)
		value = __builtin_bswap64(value);
	if (!blob->error)
		memcpy(blob->data + offset, &value, sizeof(value));
}

void blob_zeros(struct blob *blob, size_t size)
{
	const size_t pad = size > blob->size ? size - blob->size : 0;
	void *room = blob_room(blob, pad);

	if (room)
		memset(room, 0, pad);
}
