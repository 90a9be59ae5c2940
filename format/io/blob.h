/* SPDX-License-Identifier: MIT */
/*
 * Bytes that grow: how texts and tables of a file are put together. The first failure sticks, so that a caller may
 * append as it likes and ask once.
 */
#ifndef FORMAT_BLOB_H
#define FORMAT_BLOB_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

struct blob {
	unsigned char *data;
	size_t size;
	size_t capacity;
	int error; /* 0 or -ENOMEM */
};

#define BLOB_INIT { NULL, 0, 0, 0 }

/* Frees the bytes; the blob may be used again. */
void blob_free(struct blob *blob);

/* `size` more bytes at the end, not set; NULL after an error. Valid until the next append. */
void *blob_room(struct blob *blob, size_t size);

void blob_put(struct blob *blob, const void *bytes, size_t size);
void blob_printf(struct blob *blob, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* With its NUL. */
void blob_string(struct blob *blob, const char *string);

/* Numbers in the machine's order. */
void blob_u16(struct blob *blob, uint16_t value);
void blob_u32(struct blob *blob, uint32_t value);
void blob_u64(struct blob *blob, uint64_t value);

/* Replaces the number at `offset`, which was put there before. */
void blob_set_u32(struct blob *blob, size_t offset, uint32_t value);
void blob_set_u64(struct blob *blob, size_t offset, uint64_t value);

/* Zeros, until it has `size` bytes. */
void blob_zeros(struct blob *blob, size_t size);

#endif
