/* SPDX-License-Identifier: MIT */
/* A file that is made in memory (dat_make.h), and the parts that it consists of. */
#ifndef TESTS_DAT_OUT_H
#define TESTS_DAT_OUT_H

#include "dat_make.h"

struct out {
	unsigned char *data;
	size_t size;
	size_t room;
	const struct dat_make *what;
	size_t *marks;
	size_t nr_marks;
};

/* Append `size` zero bytes; returns their address, which is valid until something else is appended. */
void *out_space(struct out *o, size_t size);

void out_put(struct out *o, const void *data, size_t size);

/* Write a number of `size` bytes at this place, in the file's byte order; or append it. */
void out_set(const struct out *o, void *at, uint64_t value, unsigned int size);
void out_number(struct out *o, uint64_t value, unsigned int size);

/* Append a text with its final zero; or one that begins with its length instead. */
void out_string(struct out *o, const char *text);
void out_blob(struct out *o, const char *text, unsigned int size_of_size);

/* Append a text without a final zero or a length. */
void out_text(struct out *o, const char *text);

/* Mark the beginning or end of a section or table here. */
void out_mark(struct out *o);

/* Append zero bytes up to a multiple of `to`. */
void out_align(struct out *o, size_t to);

/* dat_formats.c: the descriptions of pages and events, and the texts that go with them. */
void put_header_info(struct out *o);
void put_ftrace_events(struct out *o);
void put_event_formats(struct out *o);
void put_kallsyms(struct out *o);
void put_printk(struct out *o);
void put_cmdlines(struct out *o);

/* dat_pages.c: whether a CPU of a buffer has pages; and the pages, with their events. */
bool has_data(const struct out *o, unsigned int cpu, unsigned int buffer);
void put_cpu(struct out *o, unsigned int cpu, unsigned int buffer);

/* dat_packed.c: a compressed section's contents; and the chunks of a stream; and the text of a latency tracer. */
void out_packed(struct out *o, const void *data, size_t size);
void out_chunks(struct out *o, const void *data, size_t size, size_t chunk);
void put_latency_text(struct out *o);

/* dat_options.c: an option with this payload; and all options that name neither a section nor a buffer. */
void put_option(struct out *o, unsigned int id, const struct out *payload);
void put_plain_options(struct out *o);

#endif
