/* SPDX-License-Identifier: MIT */
/* Version 7 after the prologue: sections, and the options that point to them (trace-dat.md 4). */
#include "format/dat/dat_internal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define CPUS_MAX (1u << 20) /* libtraceevent's plugins make arrays of this size; viewers fail with far fewer */

static const char *section_name(unsigned int id)
{
	return id == DAT_DONE ? "options" : dat_id_name(id);
}

/* Replaces the cursor on a compressed section by one on its plain contents. */
static int unpack(struct dat_file *file, uint64_t offset, unsigned int id, struct bytes *b, char **ret_plain,
		  struct dat_error *error)
{
	const uint32_t packed_size = bytes_u32(b), plain_size = bytes_u32(b);
	char *packed;
	int err;

	if (!b->error && plain_size > DAT_SECTIONS_MAX - file->unpacked)
		return dat_fail(error, -EBADMSG, offset, "damaged: the compressed sections up to %s at %" PRIu64
				" would take more than %u MiB", section_name(id), offset, DAT_SECTIONS_MAX >> 20);
	packed = dat_packed_fits(packed_size, plain_size) ? bytes_blob(b, packed_size) : NULL;
	if (!packed && b->error)
		return dat_fail_bytes(error, file, b, section_name(id));
	*ret_plain = packed && plain_size ? malloc(plain_size) : NULL;
	if (!*ret_plain)
		err = packed && plain_size ? -ENOMEM : -EBADMSG;
	else
		err = file->codec->decompress(*ret_plain, plain_size, packed, packed_size);
	free(packed);
	if (err)
		return dat_fail(error, err, offset, "damaged: the compressed section %s at %" PRIu64 " does not unpack",
				section_name(id), offset);
	file->unpacked += plain_size;
	bytes_from_memory(b, *ret_plain, plain_size, file->big);
	return 0;
}

int dat_open_contents(struct dat_file *file, const struct dat_section *section, struct bytes *ret_b, char **ret_plain,
		      struct dat_error *error)
{
	const uint64_t start = section->offset + DAT_SECTION_HEADER;

	bytes_from_file(ret_b, file->fd, start, start + section->size, file->big);
	if (!(section->flags & DAT_COMPRESSED) || section->id == DAT_BUFFER || section->id == DAT_BUFFER_TEXT)
		return 0; /* the data of buffers consist of chunks (dat_cursor.c) */
	if (!file->codec)
		return dat_fail(error, -EBADMSG, section->offset, "damaged: section %s at %" PRIu64
				" is compressed, the file names no compression", section_name(section->id),
				section->offset);
	return unpack(file, section->offset, section->id, ret_b, ret_plain, error);
}

int dat_open_section(struct dat_file *file, uint64_t offset, unsigned int id, struct bytes *ret_b, char **ret_plain,
		     struct dat_error *error)
{
	struct dat_section section = { .offset = offset };
	struct dat_section *sections;
	struct bytes b;
	int err;

	if (offset > file->size || file->size - offset < DAT_SECTION_HEADER)
		return dat_fail(error, -EBADMSG, offset, "truncated: the section %s should be at %" PRIu64
				", the file ends at %" PRIu64, section_name(id), offset, file->size);
	bytes_from_file(&b, file->fd, offset, file->size, file->big);
	section.id = bytes_u16(&b);
	section.flags = bytes_u16(&b);
	section.string = bytes_u32(&b);
	section.size = bytes_u64(&b);
	if (b.error)
		return dat_fail_bytes(error, file, &b, section_name(id));
	if (section.id != id)
		return dat_fail(error, -EBADMSG, offset, "damaged: the section at %" PRIu64 " should be %s, it says %u",
				offset, section_name(id), section.id);
	/* The data of CPUs may follow this section. */
	if (section.size > bytes_left(&b) && dat_is_growing(file) && (id == DAT_BUFFER || id == DAT_BUFFER_TEXT))
		section.size = bytes_left(&b);
	if (section.size > bytes_left(&b)) {
		err = dat_fail(error, -EBADMSG, offset, "truncated: the section %s at %" PRIu64 " has %" PRIu64
			       " bytes, the file ends at %" PRIu64, section_name(id), offset, section.size, file->size);
		err = dat_missing(file, err, error);
		if (err)
			return err;
		section.size = bytes_left(&b);
	}
	sections = dat_grow(file->sections, file->nr_sections, sizeof(*sections));
	if (sections)
		file->sections = sections;
	if (!sections || number_map_set(&file->known, offset, 1))
		return dat_fail(error, -ENOMEM, offset, "not enough memory for sections");
	sections[file->nr_sections++] = section;
	return dat_open_contents(file, &section, ret_b, ret_plain, error);
}

static int by_cpu(const void *a, const void *b)
{
	const struct dat_stream *x = a, *y = b;

	return x->cpu > y->cpu ? 1 : x->cpu < y->cpu ? -1 : 0;
}

/*
 * Parse the list of CPUs, which may be in any order; store them by number. A CPU must not be listed twice, because it
 * would have two streams.
 */
static int parse_streams(struct dat_buffer *buffer, struct bytes *b)
{
	uint32_t count = bytes_u32(b);

	if (b->error || count > bytes_left(b) / 20)
		return -EBADMSG;
	buffer->streams = calloc(count ? count : 1, sizeof(*buffer->streams));
	if (!buffer->streams)
		return -ENOMEM;
	buffer->nr_streams = count;
	for (uint32_t i = 0; i < count; i++) {
		struct dat_stream *stream = &buffer->streams[i];

		stream->cpu = bytes_u32(b);
		stream->offset = bytes_u64(b);
		stream->size = bytes_u64(b);
		if (stream->cpu >= CPUS_MAX)
			return -EBADMSG;
		if (stream->cpu >= buffer->cpus)
			buffer->cpus = stream->cpu + 1;
	}
	qsort(buffer->streams, count, sizeof(*buffer->streams), by_cpu);
	for (uint32_t i = 1; i < count; i++) {
		if (buffer->streams[i].cpu == buffer->streams[i - 1].cpu)
			return -EBADMSG;
	}
	return b->error;
}

static int parse_buffer_option(struct dat_file *file, const struct dat_option *option, struct dat_error *error)
{
	struct dat_buffer *buffer = dat_add_buffer(file);
	struct bytes b;
	int err;

	if (!buffer)
		return dat_fail(error, -ENOMEM, option->offset, "not enough memory for buffers");
	bytes_from_memory(&b, option->data, option->size, file->big);
	buffer->offset = bytes_u64(&b);
	buffer->name = bytes_string(&b, DAT_NAME_MAX);
	buffer->clock = bytes_string(&b, DAT_NAME_MAX);
	buffer->latency = option->id == DAT_BUFFER_TEXT;
	err = b.error;
	/* Two buffers with the same section would contain the same data twice. */
	if (!err && number_map_get(&file->known, buffer->offset))
		err = -EBADMSG;
	if (!err)
		err = number_map_set(&file->known, buffer->offset, 1);
	if (!err && !buffer->latency) {
		buffer->page_size = bytes_u32(&b);
		err = parse_streams(buffer, &b);
	}
	if (err) {
		dat_fail(error, err, option->offset, "damaged: the option of buffer \"%.32s\"",
			 buffer->name ? buffer->name : "");
		dat_drop_buffer(file);
		return err;
	}
	/* The top buffer's page size is the prologue's (trace-dat.md 5.6). */
	if (!buffer->name[0] || !buffer->page_size)
		buffer->page_size = file->page_size;
	if (!buffer->latency && (buffer->page_size & (buffer->page_size - 1) || buffer->page_size < 512 ||
				 buffer->page_size > 16u << 20)) {
		err = dat_fail(error, -EBADMSG, option->offset, "damaged: buffer \"%.32s\" has a page size of %" PRIu32,
			       buffer->name, buffer->page_size);
		dat_drop_buffer(file);
	}
	return err;
}

static int use_option(struct dat_file *file, const struct dat_option *option, struct dat_error *error)
{
	struct bytes b;

	if (option->id == DAT_BUFFER || option->id == DAT_BUFFER_TEXT)
		return parse_buffer_option(file, option, error);
	if (option->id >= DAT_HEADER_INFO && option->id <= DAT_CMDLINES && option->size >= 8) {
		bytes_from_memory(&b, option->data, option->size, file->big);
		file->where[option->id] = bytes_u64(&b);
	}
	return 0;
}

static int parse_options_section(struct dat_file *file, uint64_t *offset, struct dat_error *error)
{
	const struct dat_option *option;
	char *plain = NULL;
	struct bytes b;
	int err;

	err = dat_open_section(file, *offset, DAT_DONE, &b, &plain, error);
	while (!err) {
		err = dat_add_option(file, &b, !plain, error);
		if (err)
			break;
		option = &file->options[file->nr_options - 1];
		if (option->id == DAT_DONE) {
			struct bytes next;

			bytes_from_memory(&next, option->data, option->size, file->big);
			*offset = option->size ? bytes_u64(&next) : 0;
			err = dat_fail(error, next.error, b.pos, "damaged: the last option of a section has no offset");
			break;
		}
		err = use_option(file, option, error);
	}
	free(plain);
	return err;
}

int dat_parse_options_at(struct dat_file *file, uint64_t offset, struct dat_error *error)
{
	return number_map_get(&file->known, offset) ? 0 : parse_options_section(file, &offset, error);
}

/* Reads the blobs that the options point to; a missing blob is not an error here. */
static int parse_sections(struct dat_file *file, struct dat_error *error)
{
	for (unsigned int id = DAT_HEADER_INFO; id <= DAT_CMDLINES; id++) {
		char *plain = NULL;
		struct bytes b;
		int err;

		if (!file->where[id])
			continue;
		err = dat_open_section(file, file->where[id], id, &b, &plain, error);
		if (!err && id == DAT_HEADER_INFO)
			err = dat_parse_header_info(file, &b, error);
		else if (!err && id == DAT_FTRACE_EVENTS)
			err = dat_parse_ftrace_events(file, &b, error);
		else if (!err && id == DAT_EVENT_FORMATS)
			err = dat_parse_event_formats(file, &b, error);
		else if (!err)
			err = dat_parse_text(file, &b, id, error);
		free(plain);
		if (err && id != DAT_HEADER_INFO)
			err = dat_missing(file, err, error);
		if (err)
			return err;
	}
	if (!file->where[DAT_HEADER_INFO])
		return dat_fail(error, -EBADMSG, file->options_offset,
				"damaged: no option says where the header information is");
	return 0;
}

/* Parse the sections of buffers. Only a buffer's section shows whether its data are compressed. */
static int parse_buffers(struct dat_file *file, struct dat_error *error)
{
	for (size_t i = 0; i < file->nr_buffers; i++) {
		struct dat_buffer *buffer = &file->buffers[i];
		char *plain = NULL;
		struct bytes b;
		int err;

		err = dat_open_section(file, buffer->offset, buffer->latency ? DAT_BUFFER_TEXT : DAT_BUFFER, &b, &plain,
				       error);
		free(plain);
		if (err) {
			buffer->nr_streams = 0;
			err = dat_missing(file, err, error);
			if (err)
				return err;
			continue;
		}
		buffer->text = (struct dat_stream){ .offset = b.pos, .size = bytes_left(&b) };
		buffer->text.cut = file->missing.text[0] && b.end == file->size;
		buffer->compressed = file->sections[file->nr_sections - 1].flags & DAT_COMPRESSED;
		if (buffer->compressed && !file->codec)
			return dat_fail(error, -EBADMSG, buffer->offset,
					"damaged: buffer \"%.32s\" is compressed, the file names no compression",
					buffer->name);
	}
	return 0;
}

static int parse_options(struct dat_file *file, uint64_t offset, struct dat_error *error)
{
	uint64_t walked = 0;
	int err = 0;

	while (!err && offset) {
		/* Sections do not overlap: a chain longer than the file would be followed without end. */
		if (number_map_get(&file->known, offset) || walked > file->size)
			return dat_fail(error, -EBADMSG, offset, "damaged: the options point at themselves");
		err = parse_options_section(file, &offset, error);
		if (!err)
			walked += DAT_SECTION_HEADER + file->sections[file->nr_sections - 1].size;
	}
	return err;
}

int dat_parse_v7(struct dat_file *file, struct dat_error *error)
{
	uint64_t offset;
	struct bytes b;
	int err;

	bytes_from_file(&b, file->fd, DAT_PROLOGUE, file->size, file->big);
	file->compression = bytes_string(&b, DAT_NAME_MAX);
	file->compression_version = bytes_string(&b, DAT_NAME_MAX);
	file->options_offset = offset = bytes_u64(&b);
	if (b.error)
		return dat_fail_bytes(error, file, &b, "header");
	while (file->codec && strcmp(file->compression, file->codec->name) != 0)
		file->codec = file->codec->next;
	if (strcmp(file->compression, "none") != 0 &&
	    (!file->codec || (file->codec->is_there && !file->codec->is_there())))
		return dat_fail(error, -EPROTONOSUPPORT, DAT_PROLOGUE,
				"compressed with \"%.32s\", which cannot be read here", file->compression);
	if (offset)
		err = parse_options(file, offset, error);
	else
		err = dat_fail(error, -EBADMSG, DAT_PROLOGUE,
			       "unfinished: no options were written; its recording did not end");
	err = dat_missing(file, err, error);
	if (!err && file->missing.text[0])
		err = dat_find_sections(file, b.pos, error);
	if (!err)
		err = parse_sections(file, error);
	if (!err && file->missing.text[0])
		err = dat_find_buffers(file, b.pos, error);
	if (!err)
		err = parse_buffers(file, error);
	return err;
}
