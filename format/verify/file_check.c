/* SPDX-License-Identifier: MIT */
/*
 * See file_check.h. Sizes, counts and offsets beyond the file are not checked again, because dat_open() refuses them.
 */
#include "format/verify/file_check.h"
#include "format/verify/file_check_private.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/dat/dat_lines.h"
#include "format/dat/dat_time.h"

#define VIEWER_ID_MAX 32767 /* KernelShark keeps ids in 16 bits with sign */
#define PAGE_SIZE_MIN 4096u

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

static void check_head(struct checking *c)
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
	else if (clock && (!strchr(clock->data, '[') || !strchr(strchr(clock->data, '['), ']')))
		check_say(c, clock->offset, "option traceclock has no clock in brackets");
	if (c->check->strict && c->file->page_size < PAGE_SIZE_MIN)
		check_say(c, 14, "pages have %" PRIu32 " bytes: kernels make none below %u", c->file->page_size,
			  PAGE_SIZE_MIN);
	if (c->file->version == 6 && dat_option(c->file, DAT_CPUCOUNT))
		check_say(c, dat_option(c->file, DAT_CPUCOUNT)->offset,
			  "option cpucount in version 6: viewers take it for the length of the tables after it");
}

/*
 * Check the header_page text, by which viewers find time, commit word and data. The data are the rest of the page after
 * the header.
 */
static void check_header_page(struct checking *c)
{
	const struct dat_text *text = &c->file->header_page;
	uint32_t offset, size;

	if (!dat_line_field(text->text, " timestamp;", &offset, &size) || offset != 0 || size != 8)
		check_say(c, text->offset, "the header_page text has no field timestamp of 8 bytes at 0");
	if (!dat_line_field(text->text, " commit;", &offset, &size) || offset != 8)
		check_say(c, text->offset, "the header_page text has no field commit at 8");
	if (!dat_line_field(text->text, " data;", &offset, &size) || offset != 8 + c->file->commit_size)
		check_say(c, text->offset, "the header_page text has no field data after the commit word");
	else if ((uint64_t)offset + size != c->file->page_size)
		check_say(c, text->offset, "pages have %" PRIu32 " bytes, by the header_page text %" PRIu64,
			  c->file->page_size, (uint64_t)offset + size);
}

static void check_formats(struct checking *c)
{
	for (size_t i = 0; i < c->file->nr_formats; i++) {
		const struct dat_format *format = &c->file->formats[i];
		const char *number = dat_line_id(format->text.text);
		const long id = number ? strtol(number, NULL, 10) : -1;
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
	err = c.ids && c.unknown ? check_parts(&c) : -ENOMEM;
	if (!err) {
		check_head(&c);
		check_header_page(&c);
		check_formats(&c);
		err = check_texts(&c);
	}
	if (!err)
		err = check_pages(&c);
	free(c.ids);
	free(c.unknown);
	return err;
}
