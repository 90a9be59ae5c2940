/* SPDX-License-Identifier: MIT */
/* See export_out.h. */
#include "format/export/export_out.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void export_out_open(struct export_out *ret_out, int fd)
{
	*ret_out = (struct export_out){ .fd = fd, .data = malloc(EXPORT_OUT_ROOM) };
	if (!ret_out->data)
		ret_out->error = -ENOMEM;
}

static void flush(struct export_out *out)
{
	size_t done = 0;

	while (done < out->size && !out->error) {
		const ssize_t n = write(out->fd, out->data + done, out->size - done);

		if (n >= 0)
			done += (size_t)n;
		else if (errno != EINTR)
			out->error = -errno;
	}
	out->written += done;
	out->size = 0;
}

int export_out_close(struct export_out *out)
{
	flush(out);
	free(out->data);
	out->data = NULL;
	return out->error;
}

void export_out_put(struct export_out *out, const void *bytes, size_t size)
{
	const unsigned char *from = bytes;

	while (size && !out->error) {
		const size_t room = EXPORT_OUT_ROOM - out->size;
		const size_t n = size < room ? size : room;

		memcpy(out->data + out->size, from, n);
		out->size += n;
		from += n;
		size -= n;
		if (out->size == EXPORT_OUT_ROOM)
			flush(out);
	}
}

void export_out_text(struct export_out *out, const char *text)
{
	export_out_put(out, text, strlen(text));
}

void export_out_printf(struct export_out *out, const char *format, ...)
{
	char text[512];
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	export_out_put(out, text, n < (int)sizeof(text) ? (size_t)n : sizeof(text) - 1);
}
