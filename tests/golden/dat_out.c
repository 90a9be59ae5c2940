/* SPDX-License-Identifier: MIT */
#include "dat_out.h"

#include <stdlib.h>
#include <string.h>

void *out_space(struct out *o, size_t size)
{
	if (o->size + size > o->room) {
		o->room = (o->size + size) * 2;
		o->data = realloc(o->data, o->room);
		if (!o->data)
			abort();
	}
	memset(o->data + o->size, 0, size);
	o->size += size;
	return o->data + o->size - size;
}

void out_put(struct out *o, const void *data, size_t size)
{
	if (size)
		memcpy(out_space(o, size), data, size);
}

void out_set(const struct out *o, void *at, uint64_t value, unsigned int size)
{
	unsigned char *to = at;

	for (unsigned int i = 0; i < size; i++)
		to[o->what->big ? size - 1 - i : i] = (unsigned char)(value >> (8 * i));
}

void out_number(struct out *o, uint64_t value, unsigned int size)
{
	out_set(o, out_space(o, size), value, size);
}

void out_string(struct out *o, const char *text)
{
	out_put(o, text, strlen(text) + 1);
}

void out_blob(struct out *o, const char *text, unsigned int size_of_size)
{
	out_number(o, strlen(text), size_of_size);
	out_put(o, text, strlen(text));
}

void out_text(struct out *o, const char *text)
{
	out_put(o, text, strlen(text));
}

void out_mark(struct out *o)
{
	if (o->nr_marks < DAT_MAKE_MARKS - 1)
		o->marks[o->nr_marks++] = o->size;
}

void out_align(struct out *o, size_t to)
{
	while (o->size % to)
		out_number(o, 0, 1);
}
