/* SPDX-License-Identifier: MIT */
/*
 * Output of an export, in pieces of EXPORT_OUT_ROOM bytes, to a file or a pipe. The first error is kept, so a caller
 * may write repeatedly and check once.
 */
#ifndef FORMAT_EXPORT_OUT_H
#define FORMAT_EXPORT_OUT_H

#include <stddef.h>
#include <stdint.h>

#define EXPORT_OUT_ROOM (256u * 1024u)

struct export_out {
	int fd;
	int error; /* 0; -ENOMEM; the -errno of write */
	unsigned char *data;
	size_t size;
	uint64_t written; /* bytes written in earlier pieces */
};

/* The descriptor stays the caller's. */
void export_out_open(struct export_out *ret_out, int fd);

/* Write the rest; 0, or the first error. Ends the output in either case. */
int export_out_close(struct export_out *out);

void export_out_put(struct export_out *out, const void *bytes, size_t size);
void export_out_text(struct export_out *out, const char *text);
void export_out_printf(struct export_out *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
