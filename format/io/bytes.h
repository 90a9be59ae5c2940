/* SPDX-License-Identifier: MIT */
/*
 * A bounded cursor: only this code accesses untrusted bytes. It walks a range of a file, or of memory, and never
 * leaves it. The first read that would leave it fails, and so does every later one, so a caller may read a whole
 * structure and check once. Numbers are converted to the machine's order.
 *
 * A file is read with pread, not mapped: if it is truncated meanwhile, it ends early and does not kill the reader.
 */
#ifndef FORMAT_BYTES_H
#define FORMAT_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BYTES_WINDOW 4096u /* one system page: enough for the numbers between two blobs */

struct bytes {
	uint64_t pos; /* offset of the next byte in the file or memory */
	uint64_t end; /* no byte at or after it is read */
	int error;    /* 0; -EBADMSG: the range ended early; or the -errno of pread. An error remains */
	bool big;     /* numbers are big endian */

	/* private */
	int fd; /* -1: memory */
	const unsigned char *memory;
	uint64_t window_pos;
	uint32_t window_len;
	unsigned char window[BYTES_WINDOW];
};

/* Numbers at an address that the caller has checked. */
uint16_t bytes_get16(const void *at, bool big);
uint32_t bytes_get32(const void *at, bool big);
uint64_t bytes_get64(const void *at, bool big);

/* Whether numbers have this width, in bytes. */
static inline bool bytes_is_number(uint32_t width)
{
	return width == 1 || width == 2 || width == 4 || width == 8;
}

/* A number of this width, sign-extended if is_signed. 0: no number has the width. */
int64_t bytes_number(const void *at, uint32_t width, bool is_signed, bool big);

/*
 * The range [pos, end) of the open file fd; or of the memory at data. Nothing is read yet; nothing needs to be closed.
 */
void bytes_from_file(struct bytes *b, int fd, uint64_t pos, uint64_t end, bool big);
void bytes_from_memory(struct bytes *b, const void *data, size_t size, bool big);

/* The number of bytes left; 0 after an error. */
uint64_t bytes_left(const struct bytes *b);

/* The next number; 0 after an error. */
uint8_t bytes_u8(struct bytes *b);
uint16_t bytes_u16(struct bytes *b);
uint32_t bytes_u32(struct bytes *b);
uint64_t bytes_u64(struct bytes *b);

/* Copies the next size bytes to dst; on an error dst is filled with zeros. */
void bytes_copy(struct bytes *b, void *dst, size_t size);

/* Skips size bytes. */
void bytes_skip(struct bytes *b, uint64_t size);

/*
 * If the next bytes are exactly these, skips them and returns true. A difference is not an error, unless reading
 * fails.
 */
bool bytes_match(struct bytes *b, const void *expected, size_t size);

/*
 * The next size bytes in allocated memory, followed by a NUL. The size is checked against the range before anything is
 * allocated. The caller frees it. NULL after an error (b->error, which may also be -ENOMEM).
 */
char *bytes_blob(struct bytes *b, uint64_t size);

/* The next NUL-terminated string, at most max bytes without its NUL; otherwise as bytes_blob. */
char *bytes_string(struct bytes *b, size_t max);

#endif
