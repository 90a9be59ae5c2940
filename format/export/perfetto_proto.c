/* SPDX-License-Identifier: MIT */
/* See perfetto_proto.h. */
#include "format/export/perfetto_proto.h"

#include <string.h>

#define VARINT_MAX 10u

enum { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_LENGTH = 2 };

static size_t encode(unsigned char *to, uint64_t value)
{
	size_t n = 0;

	while (value > 0x7f) {
		to[n++] = (unsigned char)(value | 0x80);
		value >>= 7;
	}
	to[n++] = (unsigned char)value;
	return n;
}

/* Puts two varints, and checks the room only once. */
static void put_two(struct blob *blob, uint64_t first, uint64_t second)
{
	unsigned char *to = blob_room(blob, 2 * VARINT_MAX);
	size_t n;

	if (!to)
		return;
	n = encode(to, first);
	n += encode(to + n, second);
	blob->size -= 2 * VARINT_MAX - n;
}

void proto_varint(struct blob *blob, uint64_t value)
{
	unsigned char *to = blob_room(blob, VARINT_MAX);

	if (to)
		blob->size -= VARINT_MAX - encode(to, value);
}

void proto_uint(struct blob *blob, uint32_t field, uint64_t value)
{
	put_two(blob, (uint64_t)field << 3 | WIRE_VARINT, value);
}

void proto_int(struct blob *blob, uint32_t field, int64_t value)
{
	put_two(blob, (uint64_t)field << 3 | WIRE_VARINT, (uint64_t)value);
}

void proto_fixed64(struct blob *blob, uint32_t field, uint64_t value)
{
	unsigned char bytes[8];

	for (unsigned int i = 0; i < 8; i++)
		bytes[i] = (unsigned char)(value >> (8 * i));
	proto_varint(blob, (uint64_t)field << 3 | WIRE_FIXED64);
	blob_put(blob, bytes, sizeof(bytes));
}

void proto_double(struct blob *blob, uint32_t field, double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	proto_fixed64(blob, field, bits);
}

void proto_bytes(struct blob *blob, uint32_t field, const void *bytes, size_t size)
{
	put_two(blob, (uint64_t)field << 3 | WIRE_LENGTH, size);
	blob_put(blob, bytes, size);
}

void proto_text(struct blob *blob, uint32_t field, const char *text)
{
	proto_bytes(blob, field, text, strlen(text));
}

/* Most messages are shorter than 128 bytes: one byte is left for the length, and a longer message is moved. */
size_t proto_begin(struct blob *blob, uint32_t field)
{
	put_two(blob, (uint64_t)field << 3 | WIRE_LENGTH, 0);
	return blob->size;
}

void proto_end(struct blob *blob, size_t begun)
{
	unsigned char length[VARINT_MAX];
	size_t size, n;

	if (blob->error)
		return;
	size = blob->size - begun;
	n = encode(length, size);
	if (n > 1 && !blob_room(blob, n - 1))
		return;
	if (n > 1)
		memmove(blob->data + begun + n - 1, blob->data + begun, size);
	memcpy(blob->data + begun - 1, length, n);
}
