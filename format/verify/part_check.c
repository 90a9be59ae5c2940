/* SPDX-License-Identifier: MIT */
/*
 * Checks for file_check.c where the parts of a file are: no part overlaps another one, except that the data of a CPU
 * are within the section of its buffer. Also checks that no two buffers have the same name, and that each listed CPU
 * has data.
 */
#include "format/verify/file_check_private.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct range {
	uint64_t start, end;
	const char *what; /* name of a section or table; NULL: a CPU's data */
	uint32_t cpu;
};

static int by_start(const void *a, const void *b)
{
	const struct range *x = a, *y = b;

	return x->start > y->start ? 1 : x->start < y->start ? -1 : 0;
}

static bool is_within(const struct dat_stream *stream, const struct dat_stream *section)
{
	return stream->offset >= section->offset &&
	       stream->offset + stream->size <= section->offset + section->size;
}

/*
 * Version 6 has no sections: everything up to the end of the first table is one part, and so is each further table.
 * Readers find the data of a CPU of version 7 without its section: data outside it may be part of another section.
 */
static size_t take_buffer(struct checking *c, const struct dat_buffer *buffer, struct range *ranges, bool is_first)
{
	const struct dat_stream *section = &buffer->text;
	const bool has_section = c->file->version == 7;
	size_t nr = 0;

	if (!has_section && buffer->nr_streams)
		ranges[nr++] = (struct range){ is_first ? 0 : buffer->offset - sizeof("flyrecord"),
					       buffer->offset + 16 * (uint64_t)buffer->nr_streams,
					       is_first ? "head of the file" : "table of CPUs", 0 };
	c->buffer = buffer;
	for (uint32_t n = 0; n < buffer->nr_streams; n++) {
		const struct dat_stream *s = &buffer->streams[n];

		c->cpu = s->cpu;
		if (has_section && !s->size)
			check_say(c, buffer->offset, "the CPU has no data, and is listed");
		if (!s->size || (has_section && is_within(s, section)))
			continue;
		if (has_section)
			check_say(c, s->offset, "the data are not within the section of the buffer, %" PRIu64
				  " to %" PRIu64, buffer->offset, section->offset + section->size);
		ranges[nr++] = (struct range){ s->offset, s->offset + s->size, NULL, s->cpu };
	}
	c->buffer = NULL;
	return nr;
}

static size_t take_ranges(struct checking *c, struct range *ranges)
{
	const struct dat_file *file = c->file;
	size_t nr = 0;

	for (size_t i = 0; i < file->nr_sections; i++) {
		const struct dat_section *s = &file->sections[i];

		ranges[nr++] = (struct range){ s->offset, s->offset + DAT_SECTION_HEADER + s->size,
					       s->id ? dat_id_name(s->id) : "options", 0 };
	}
	for (size_t i = 0; i < file->nr_buffers; i++)
		nr += take_buffer(c, &file->buffers[i], ranges + nr, i == 0);
	return nr;
}

static void name_range(const struct range *range, bool is_section, char *text, size_t size)
{
	if (range->what)
		snprintf(text, size, "%s%s", is_section ? "section " : "", range->what);
	else
		snprintf(text, size, "data of CPU %" PRIu32, range->cpu);
}

static int check_ranges(struct checking *c)
{
	const struct dat_file *file = c->file;
	const bool has_sections = file->version == 7;
	size_t nr = file->nr_sections + file->nr_buffers + 1, last = 0;
	struct range *ranges;
	char a[64], b[64];

	for (size_t i = 0; i < file->nr_buffers; i++)
		nr += file->buffers[i].nr_streams;
	ranges = calloc(nr, sizeof(*ranges));
	if (!ranges)
		return -ENOMEM;
	nr = take_ranges(c, ranges);
	qsort(ranges, nr, sizeof(*ranges), by_start);
	for (size_t i = 1; i < nr; i++) {
		if (ranges[i].start < ranges[last].end) {
			name_range(&ranges[last], has_sections, a, sizeof(a));
			name_range(&ranges[i], has_sections, b, sizeof(b));
			check_say(c, ranges[i].start, "the %s and the %s overlap", a, b);
		}
		/* The part that ends last is kept, because it may contain several later ones. */
		if (ranges[i].end > ranges[last].end)
			last = i;
	}
	free(ranges);
	return 0;
}

static int by_name(const void *a, const void *b)
{
	const struct dat_buffer *const *x = a, *const *y = b;

	return strcmp((*x)->name, (*y)->name);
}

/* Checks that no two buffers have the same name: viewers and options identify a buffer by its name. */
static int check_names(struct checking *c)
{
	const struct dat_buffer **sorted = calloc(c->file->nr_buffers + 1, sizeof(struct dat_buffer *));
	size_t nr = 0;

	if (!sorted)
		return -ENOMEM;
	for (size_t i = 0; i < c->file->nr_buffers; i++)
		sorted[nr++] = &c->file->buffers[i];
	qsort(sorted, nr, sizeof(struct dat_buffer *), by_name);
	for (size_t i = 1; i < nr; i++) {
		if (!strcmp(sorted[i]->name, sorted[i - 1]->name))
			check_say(c, sorted[i]->offset, "two buffers have the name \"%s\"", sorted[i]->name);
	}
	free(sorted);
	return 0;
}

int check_parts(struct checking *c)
{
	const int err = check_ranges(c);

	return err ? err : check_names(c);
}
