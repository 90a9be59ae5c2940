/* SPDX-License-Identifier: MIT */
/*
 * Guarantees: no byte outside [pos, end) is touched, no size is used before it was compared with what is left, and an
 * error is kept. See bytes.h.
 */
#include "format/io/bytes.h"
#include "format/io/read_at.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

uint16_t bytes_get16(const void *at, bool big)
{
	uint16_t v;

	memcpy(&v, at, sizeof(v));
	return big == (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__) ? v : __builtin_bswap16(v);
}

uint32_t bytes_get32(const void *at, bool big)
{
	uint32_t v;

	memcpy(&v, at, sizeof(v));
	return big == (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__) ? v : __builtin_bswap32(v);
}

uint64_t bytes_get64(const void *at, bool big)
{
	uint64_t v;

	memcpy(&v, at, sizeof(v));
	return big == (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__) ? v : __builtin_bswap64(v);
}

int64_t bytes_number(const void *at, uint32_t width, bool is_signed, bool big)
{
	switch (width) {
	case 1:
		return is_signed ? *(const int8_t *)at : *(const uint8_t *)at;
	case 2:
		return is_signed ? (int16_t)bytes_get16(at, big) : bytes_get16(at, big);
	case 4:
		return is_signed ? (int32_t)bytes_get32(at, big) : (int64_t)bytes_get32(at, big);
	case 8:
		return (int64_t)bytes_get64(at, big);
	default:
		return 0;
	}
}

void bytes_from_file(struct bytes *b, int fd, uint64_t pos, uint64_t end, bool big)
{
	b->pos = pos;
	b->end = end < pos ? pos : end;
	b->error = 0;
	b->big = big;
	b->fd = fd;
	b->memory = NULL;
	b->window_pos = 0;
	b->window_len = 0;
}

void bytes_from_memory(struct bytes *b, const void *data, size_t size, bool big)
{
	bytes_from_file(b, -1, 0, size, big);
	b->memory = data;
}

uint64_t bytes_left(const struct bytes *b)
{
	return b->error ? 0 : b->end - b->pos;
}

/* Small reads go through a window of one page, so that a table of numbers costs one system call for each page. */
static int read_windowed(struct bytes *b, void *dst, size_t size)
{
	if (b->pos < b->window_pos || b->pos + size > b->window_pos + b->window_len) {
		uint64_t left = b->end - b->pos;
		size_t want = left < BYTES_WINDOW ? (size_t)left : BYTES_WINDOW;
		int err = read_exactly(b->fd, b->window, want, b->pos);

		b->window_len = 0;
		if (err)
			return err;
		b->window_pos = b->pos;
		b->window_len = (uint32_t)want;
	}
	memcpy(dst, b->window + (b->pos - b->window_pos), size);
	return 0;
}

void bytes_copy(struct bytes *b, void *dst, size_t size)
{
	if (!b->error && size > b->end - b->pos)
		b->error = -EBADMSG;
	if (!b->error && size) {
		if (b->memory)
			memcpy(dst, b->memory + b->pos, size);
		else if (size <= BYTES_WINDOW / 2)
			b->error = read_windowed(b, dst, size);
		else
			b->error = read_exactly(b->fd, dst, size, b->pos);
	}
	if (b->error) {
		memset(dst, 0, size);
		return;
	}
	b->pos += size;
}

uint8_t bytes_u8(struct bytes *b)
{
	uint8_t v;

	bytes_copy(b, &v, sizeof(v));
	return v;
}

uint16_t bytes_u16(struct bytes *b)
{
	unsigned char raw[2];

	bytes_copy(b, raw, sizeof(raw));
	return bytes_get16(raw, b->big);
}

uint32_t bytes_u32(struct bytes *b)
{
	unsigned char raw[4];

	bytes_copy(b, raw, sizeof(raw));
	return bytes_get32(raw, b->big);
}

uint64_t bytes_u64(struct bytes *b)
{
	unsigned char raw[8];

	bytes_copy(b, raw, sizeof(raw));
	return bytes_get64(raw, b->big);
}

void bytes_skip(struct bytes *b, uint64_t size)
{
	if (b->error)
		return;
	if (size > b->end - b->pos) {
		b->error = -EBADMSG;
		return;
	}
	b->pos += size;
}

bool bytes_match(struct bytes *b, const void *expected, size_t size)
{
	unsigned char have[32];
	uint64_t start = b->pos;

	if (size > sizeof(have) || size > bytes_left(b))
		return false;
	bytes_copy(b, have, size);
	if (!b->error && !memcmp(have, expected, size))
		return true;
	b->pos = start;
	return false;
}

char *bytes_blob(struct bytes *b, uint64_t size)
{
	char *blob;

	if (!b->error && size > b->end - b->pos)
		b->error = -EBADMSG;
	if (b->error)
		return NULL;
	blob = size < SIZE_MAX ? malloc((size_t)size + 1) : NULL;
	if (!blob) {
		b->error = -ENOMEM;
		return NULL;
	}
	bytes_copy(b, blob, (size_t)size);
	blob[size] = '\0';
	if (b->error) {
		free(blob);
		blob = NULL;
	}
	return blob;
}

char *bytes_string(struct bytes *b, size_t max)
{
	uint64_t start = b->pos;
	size_t len = 0;
	char *string;

	while (!b->error && bytes_u8(b)) {
		if (++len > max)
			b->error = -EBADMSG;
	}
	if (b->error)
		return NULL;
	b->pos = start;
	string = bytes_blob(b, len);
	bytes_skip(b, 1);
	return string;
}
