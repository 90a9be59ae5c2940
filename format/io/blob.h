/* SPDX-License-Identifier: MIT */
/*
 * A buffer of bytes that grows, for assembling texts and tables of a file. The first failure is kept, so that a caller
 * may append repeatedly and check once.
 */
#ifndef FORMAT_BLOB_H
#define FORMAT_BLOB_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct blob {
	unsigned char *data;
	size_t size;
	size_t capacity;
	int error; /* 0 or -ENOMEM */
	bool swapped; /* numbers are stored in the opposite of the machine's byte order */
};

#define BLOB_INIT { NULL, 0, 0, 0, false }
#define BLOB_SWAPPED(swapped) { NULL, 0, 0, 0, swapped }

/* Frees the bytes; the blob may be used again. */
void blob_free(struct blob *blob);

/* Append `size` uninitialised bytes; NULL after an error. Valid until the next append. */
void *blob_room(struct blob *blob, size_t size);

void blob_put(struct blob *blob, const void *bytes, size_t size);
void blob_printf(struct blob *blob, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Append a text with its NUL. */
void blob_string(struct blob *blob, const char *string);

/* Numbers, in the blob's order. */
void blob_u16(struct blob *blob, uint16_t value);
void blob_u32(struct blob *blob, uint32_t value);
void blob_u64(struct blob *blob, uint64_t value);

/* Replaces the number at `offset`, which must exist. */
void blob_set_u32(struct blob *blob, size_t offset, uint32_t value);
void blob_set_u64(struct blob *blob, size_t offset, uint64_t value);

/* Append zeros until the blob has `size` bytes. */
void blob_zeros(struct blob *blob, size_t size);

#endif
