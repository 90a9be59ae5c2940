/* SPDX-License-Identifier: MIT */
/* See file_check.h. What dat_open() refuses is not checked again: sizes, counts and offsets that leave the file. */
#include "format/verify/file_check.h"
#include "format/verify/file_check_private.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/dat/dat_time.h"

#define VIEWER_ID_MAX 32767 /* KernelShark keeps ids in 16 bits with sign */

void check_say(struct checking *c, uint64_t offset, const char *fmt, ...)
{
	struct check_problem problem = { offset, c->buffer, c->cpu, c->text };
	va_list args;

	va_start(args, fmt);
	vsnprintf(c->text, sizeof(c->text), fmt, args);
	va_end(args);
	c->check->problems++;
	if (c->check->report)
		c->check->report(c->check->arg, &problem);
}

/* ------------------------------------------------------------------------------------------------------- ranges */

struct range {
	uint64_t start, end;
	const char *what; /* name of a section; NULL: a CPU's data */
	uint32_t cpu;
};

static int by_start(const void *a, const void *b)
{
	const struct range *x = a, *y = b;

	return x->start > y->start ? 1 : x->start < y->start ? -1 : 0;
}

/* Sections other than those of buffers, which contain the data of CPUs. */
static size_t take_ranges(const struct dat_file *file, struct range *ranges)
{
	size_t nr = 0;

	for (size_t i = 0; i < file->nr_sections; i++) {
		const struct dat_section *s = &file->sections[i];

		if (s->id != DAT_BUFFER)
			ranges[nr++] = (struct range){ s->offset, s->offset + 16 + s->size,
						       s->id ? dat_id_name(s->id) : "options", 0 };
	}
	for (size_t i = 0; i < file->nr_buffers; i++) {
		const struct dat_buffer *b = &file->buffers[i];

		for (uint32_t n = 0; n < b->nr_streams; n++) {
			const struct dat_stream *s = &b->streams[n];

			if (s->size)
				ranges[nr++] = (struct range){ s->offset, s->offset + s->size, NULL, s->cpu };
		}
	}
	return nr;
}

static void name_range(const struct range *range, char *text, size_t size)
{
	if (range->what)
		snprintf(text, size, "section %s", range->what);
	else
		snprintf(text, size, "data of CPU %" PRIu32, range->cpu);
}

static int check_ranges(struct checking *c)
{
	const struct dat_file *file = c->file;
	size_t nr = file->nr_sections + 1;
	struct range *ranges;
	char a[64], b[64];

	for (size_t i = 0; i < file->nr_buffers; i++)
		nr += file->buffers[i].nr_streams;
	ranges = calloc(nr, sizeof(*ranges));
	if (!ranges)
		return -ENOMEM;
	nr = take_ranges(file, ranges);
	qsort(ranges, nr, sizeof(*ranges), by_start);
	for (size_t i = 1; i < nr; i++) {
		if (ranges[i].start >= ranges[i - 1].end)
			continue;
		name_range(&ranges[i - 1], a, sizeof(a));
		name_range(&ranges[i], b, sizeof(b));
		check_say(c, ranges[i].start, "the %s and the %s overlap", a, b);
	}
	free(ranges);
	return 0;
}

/* -------------------------------------------------------------------------------------------------------- head */

static void check_times(struct checking *c)
{
	struct dat_error error = { 0 };
	struct dat_time time;
	const struct dat_option *clock = dat_option(c->file, DAT_TRACECLOCK);

	if (dat_time_open(c->file, 0, &time, &error))
		check_say(c, error.offset, "%s", error.text);
	else
		dat_time_close(&time);
	if (c->file->version == 6 && clock && !clock->size)
		check_say(c, clock->offset, "option traceclock is empty: trace-cmd may show times as plain numbers");
	if (c->file->version == 6 && dat_option(c->file, DAT_CPUCOUNT))
		check_say(c, dat_option(c->file, DAT_CPUCOUNT)->offset,
			  "option cpucount in version 6: viewers take it for the length of the tables after it");
}

/* The number after "size:" of the field `data` must be what the header leaves of a page. */
static void check_header_page(struct checking *c)
{
	const struct dat_text *text = &c->file->header_page;
	const char *at = strstr(text->text, " data;");
	unsigned long offset = 0, size = 0;

	if (at)
		at = strstr(at, "offset:");
	if (at)
		offset = strtoul(at + strlen("offset:"), NULL, 10);
	if (at)
		at = strstr(at, "size:");
	if (at)
		size = strtoul(at + strlen("size:"), NULL, 10);
	if (!at || offset != 8 + c->file->commit_size)
		check_say(c, text->offset, "the header_page text has no field data after the commit word");
	else if (offset + size != c->file->page_size)
		check_say(c, text->offset, "pages have %" PRIu32 " bytes, by the header_page text %lu",
			  c->file->page_size, offset + size);
}

/* A malformed line ends the names for viewers (trace-dat.md 3.4). */
static void check_cmdlines(struct checking *c)
{
	const char *at = c->file->cmdlines.text;
	unsigned int line = 1;

	for (; at && *at; line++) {
		const size_t size = strcspn(at, "\n");
		const size_t digits = strspn(at, "0123456789");

		if (size && (!digits || at[digits] != ' ' || size == digits + 1)) {
			check_say(c, c->file->cmdlines.offset,
				  "line %u of the command lines is not a thread and a name: viewers stop reading there",
				  line);
			return;
		}
		at += size + (at[size] == '\n');
	}
}

/* The number in a format's line "ID:"; -1: there is none. */
static long id_of(const char *format)
{
	const char *at = strncmp(format, "ID:", 3) ? strstr(format, "\nID:") : format - 1;

	return at ? strtol(at + 4, NULL, 10) : -1;
}

static void check_formats(struct checking *c)
{
	for (size_t i = 0; i < c->file->nr_formats; i++) {
		const struct dat_format *format = &c->file->formats[i];
		const long id = id_of(format->text.text);
		const struct event_type *type = event_type(c->table, (int)id);

		if (id < 0 || id > UINT16_MAX) {
			check_say(c, format->text.offset, "a format of system %s has no id from 0 to 65535",
				  format->system);
			continue;
		}
		if (c->ids[id])
			check_say(c, format->text.offset, "id %ld has two formats", id);
		c->ids[id] = true;
		if (!type)
			check_say(c, format->text.offset, "the format of id %ld, system %s, does not parse", id,
				  format->system);
		else if (type->event->flags & (int)TEP_EVENT_FL_FAILED)
			c->check->unparsed++;
		if (id > VIEWER_ID_MAX)
			check_say(c, format->text.offset, "id %ld: KernelShark shows no event above %d", id,
				  VIEWER_ID_MAX);
	}
}

int file_check(const struct dat_file *file, const struct event_table *table, struct file_check *check)
{
	struct checking c = { .file = file, .table = table, .check = check };
	int err;

	c.ids = calloc(UINT16_MAX + 1u, sizeof(*c.ids));
	c.unknown = calloc(UINT16_MAX + 1u, sizeof(*c.unknown));
	err = c.ids && c.unknown ? check_ranges(&c) : -ENOMEM;
	if (!err) {
		check_times(&c);
		check_header_page(&c);
		check_cmdlines(&c);
		check_formats(&c);
		err = check_pages(&c);
	}
	free(c.ids);
	free(c.unknown);
	return err;
}
