/* SPDX-License-Identifier: MIT */
/* Parses the parts that both versions of trace.dat have: the contents of the blobs, and options (trace-dat.md 3). */
#include "format/dat/dat_internal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "format/dat/dat_lines.h"

/* ------------------------------------------------------------------------------------------------------ blobs */

/*
 * The size of the field "commit" in the header_page text; 0 if it has none. It determines the length of a page's
 * header.
 */
static unsigned int commit_size_of(const char *text)
{
	uint32_t offset, size;

	return dat_line_field(text, " commit;", &offset, &size) ? size : 0;
}

static int read_text(struct dat_file *file, struct bytes *b, uint64_t size, const char *what, struct dat_text *text,
		     struct dat_error *error)
{
	char *blob;

	if (b->error)
		return dat_fail_bytes(error, file, b, what);
	text->offset = b->pos;
	blob = bytes_blob(b, size);
	if (!blob)
		return dat_fail_bytes(error, file, b, what);
	free(text->text);
	text->text = blob;
	text->size = (size_t)size;
	return 0;
}

int dat_parse_header_info(struct dat_file *file, struct bytes *b, struct dat_error *error)
{
	uint64_t offset = b->pos;
	int err;

	if (!bytes_match(b, "header_page", 12))
		return b->error || bytes_left(b) < 12
			       ? dat_fail(error, -EBADMSG, offset, "truncated: no header_page")
			       : dat_fail(error, -EBADMSG, offset, "damaged: no header_page at %" PRIu64, offset);
	err = read_text(file, b, bytes_u64(b), "header_page", &file->header_page, error);
	if (err)
		return err;
	offset = b->pos;
	if (!bytes_match(b, "header_event", 13))
		return dat_fail(error, -EBADMSG, offset, "damaged: no header_event at %" PRIu64, offset);
	err = read_text(file, b, bytes_u64(b), "header_event", &file->header_event, error);
	if (err)
		return err;
	file->commit_size = commit_size_of(file->header_page.text);
	if (file->commit_size != 4 && file->commit_size != 8)
		return dat_fail(error, -EBADMSG, file->header_page.offset,
				"damaged: the header_page text has no commit field of 4 or 8 bytes");
	return 0;
}

static int add_format(struct dat_file *file, struct bytes *b, const char *system, struct dat_error *error)
{
	struct dat_format *formats = dat_grow(file->formats, file->nr_formats, sizeof(*formats));
	int err;

	if (!formats)
		return dat_fail(error, -ENOMEM, b->pos, "not enough memory for the event formats");
	file->formats = formats;
	formats[file->nr_formats] = (struct dat_format){ .system = system };
	err = read_text(file, b, bytes_u64(b), "event format", &formats[file->nr_formats].text, error);
	/* A format whose text is missing does not count: the rest of a damaged file is read without it. */
	file->nr_formats += !err;
	return err;
}

int dat_parse_ftrace_events(struct dat_file *file, struct bytes *b, struct dat_error *error)
{
	uint32_t count = bytes_u32(b);
	int err = b->error ? dat_fail_bytes(error, file, b, "ftrace events") : 0;

	/*
	 * Each event takes at least the bytes of its size field, so if the count is too high, the file ends before
	 * memory does.
	 */
	for (; count && !err; count--)
		err = add_format(file, b, "ftrace", error);
	file->nr_ftrace = file->nr_formats;
	return err;
}

static int parse_system(struct dat_file *file, struct bytes *b, struct dat_error *error)
{
	char **systems = dat_grow(file->systems, file->nr_systems, sizeof(*systems));
	uint32_t count;
	int err = 0;
	char *name;

	if (!systems)
		return dat_fail(error, -ENOMEM, b->pos, "not enough memory for the event formats");
	file->systems = systems;
	name = bytes_string(b, DAT_NAME_MAX);
	if (!name)
		return dat_fail_bytes(error, file, b, "name of an event system");
	systems[file->nr_systems++] = name;
	count = bytes_u32(b);
	if (b->error)
		return dat_fail_bytes(error, file, b, "number of events");
	for (; count && !err; count--)
		err = add_format(file, b, name, error);
	return err;
}

int dat_parse_event_formats(struct dat_file *file, struct bytes *b, struct dat_error *error)
{
	uint32_t count = bytes_u32(b);
	int err = b->error ? dat_fail_bytes(error, file, b, "event formats") : 0;

	for (; count && !err; count--)
		err = parse_system(file, b, error);
	return err;
}

int dat_parse_text(struct dat_file *file, struct bytes *b, unsigned int id, struct dat_error *error)
{
	struct dat_text *text = id == DAT_KALLSYMS ? &file->kallsyms
				: id == DAT_PRINTK ? &file->printk
						   : &file->cmdlines;
	uint64_t size = id == DAT_CMDLINES ? bytes_u64(b) : bytes_u32(b);

	return read_text(file, b, size, dat_id_name(id), text, error);
}

/* ---------------------------------------------------------------------------------------------------- options */

struct dat_buffer *dat_add_buffer(struct dat_file *file)
{
	struct dat_buffer *buffers = dat_grow(file->buffers, file->nr_buffers, sizeof(*buffers));

	if (!buffers)
		return NULL;
	file->buffers = buffers;
	buffers[file->nr_buffers] = (struct dat_buffer){ .page_size = file->page_size };
	return &buffers[file->nr_buffers++];
}

void dat_drop_buffer(struct dat_file *file)
{
	struct dat_buffer *buffer = &file->buffers[--file->nr_buffers];

	free(buffer->name);
	free(buffer->clock);
	free(buffer->streams);
}

int dat_add_option(struct dat_file *file, struct bytes *b, bool in_file, struct dat_error *error)
{
	struct dat_option *options = dat_grow(file->options, file->nr_options, sizeof(*options));
	struct dat_option option = { 0 };

	if (!options)
		return dat_fail(error, -ENOMEM, b->pos, "not enough memory for the options");
	file->options = options;
	option.id = bytes_u16(b);
	if (!b->error && file->version == 6 && option.id == DAT_DONE)
		goto add;
	option.size = bytes_u32(b);
	option.offset = in_file ? b->pos : 0;
	option.data = bytes_blob(b, option.size);
	if (!option.data)
		return dat_fail_bytes(error, file, b, "option");
add:
	options[file->nr_options++] = option;
	return 0;
}
