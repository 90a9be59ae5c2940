/* SPDX-License-Identifier: MIT */
/*
 * The two layouts of trace.dat between prologue and CPU data: the fixed sequence of version 6, the sections and options
 * of version 7. The bodies of the blobs are the same in both (trace-dat.md 3).
 */
#include "dat_internal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define NAME_MAX_LEN 4096u	       /* of a system or buffer */
#define SECTION_PLAIN_MAX (256u << 20) /* what a compressed section may unpack to */
#define SECTION_HEADER_SIZE 16u
#define CPUS_MAX (1u << 20) /* libtraceevent's plugins make arrays of them; viewers end far below */

/* ------------------------------------------------------------------------------------------------------ blobs */

/* The size of the field "commit" in the header_page text; 0 when it has none. Decides how long a page's header is. */
static unsigned int commit_size_of(const char *text)
{
	const char *at = strstr(text, " commit;");
	const char *end = at ? strchr(at, '\n') : NULL;
	const char *size = at ? strstr(at, "size:") : NULL;

	if (!size || (end && size > end))
		return 0;
	return (unsigned int)strtoul(size + strlen("size:"), NULL, 10);
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
		return b->error || bytes_left(b) < 12 ? dat_fail(error, -EBADMSG, offset, "truncated: no header_page") :
							dat_fail(error, -EBADMSG, offset, "damaged: no header_page at %" PRIu64, offset);
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

	if (!formats)
		return dat_fail(error, -ENOMEM, b->pos, "not enough memory for the event formats");
	file->formats = formats;
	formats[file->nr_formats] = (struct dat_format){ .system = system };
	file->nr_formats++;
	return read_text(file, b, bytes_u64(b), "event format", &formats[file->nr_formats - 1].text, error);
}

int dat_parse_ftrace_events(struct dat_file *file, struct bytes *b, struct dat_error *error)
{
	uint32_t count = bytes_u32(b);
	int err = b->error ? dat_fail_bytes(error, file, b, "ftrace events") : 0;

	/* An event takes at least its size, so a count that lies ends with the bytes, not with the memory. */
	for (; count && !err; count--)
		err = add_format(file, b, "ftrace", error);
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
	name = bytes_string(b, NAME_MAX_LEN);
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
	struct dat_text *text = id == DAT_KALLSYMS ? &file->kallsyms : id == DAT_PRINTK ? &file->printk : &file->cmdlines;
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

/* -------------------------------------------------------------------------------------------------- version 6 */

static int parse_cpu_table(struct dat_file *file, struct bytes *b, struct dat_buffer *buffer, struct dat_error *error)
{
	buffer->offset = b->pos;
	/* The tables of all buffers lie apart from each other: together they are no longer than the file. */
	if (file->cpus > bytes_left(b) / 16 || file->nr_buffers * (uint64_t)file->cpus > file->size / 16) {
		b->error = -EBADMSG;
		return dat_fail_bytes(error, file, b, "table of CPUs");
	}
	buffer->streams = calloc(file->cpus ? file->cpus : 1, sizeof(*buffer->streams));
	if (!buffer->streams)
		return dat_fail(error, -ENOMEM, b->pos, "not enough memory for %" PRIu32 " CPUs", file->cpus);
	buffer->cpus = file->cpus;
	buffer->nr_streams = file->cpus;
	for (uint32_t i = 0; i < file->cpus; i++) {
		struct dat_stream *stream = &buffer->streams[i];

		stream->cpu = i;
		stream->offset = bytes_u64(b);
		stream->size = bytes_u64(b);
	}
	if (b->error)
		return dat_fail_bytes(error, file, b, "table of CPUs");

	/* The clock stands here only in files that carry the option; and then it may be unreadable (trace-dat.md 4.5). */
	if (dat_option(file, DAT_TRACECLOCK)) {
		uint64_t size = bytes_u64(b);

		if (!b->error && size <= bytes_left(b) && size <= NAME_MAX_LEN)
			buffer->clock = bytes_blob(b, size);
	}
	return 0;
}

static int parse_instances(struct dat_file *file, struct dat_error *error)
{
	for (size_t i = 0; i < file->nr_options; i++) {
		const struct dat_option *option = &file->options[i];
		struct dat_buffer *buffer;
		struct bytes b;
		uint64_t offset;
		char *name;
		int err;

		if (option->id != DAT_BUFFER)
			continue;
		bytes_from_memory(&b, option->data, option->size, file->big);
		offset = bytes_u64(&b);
		name = bytes_string(&b, NAME_MAX_LEN);
		if (!name)
			return dat_fail(error, b.error, option->offset, "damaged: a buffer option without offset or name");
		buffer = dat_add_buffer(file);
		if (!buffer) {
			free(name);
			return dat_fail(error, -ENOMEM, option->offset, "not enough memory for buffers");
		}
		buffer->name = name;
		bytes_from_file(&b, file->fd, offset, file->size, file->big);
		if (!bytes_match(&b, "flyrecord", 10))
			return dat_fail(error, -EBADMSG, offset, "damaged: no data of buffer \"%.32s\" at %" PRIu64, name, offset);
		err = parse_cpu_table(file, &b, buffer, error);
		if (err)
			return err;
	}
	return 0;
}

static int parse_data_head(struct dat_file *file, struct bytes *b, struct dat_error *error)
{
	struct dat_buffer *top;
	int err;

	if (bytes_match(b, "options  ", 10)) {
		do {
			err = dat_add_option(file, b, true, error);
			if (err)
				return err;
		} while (file->options[file->nr_options - 1].id != DAT_DONE);
		file->nr_options--;
	}
	top = dat_add_buffer(file);
	if (!top || !(top->name = strdup("")))
		return dat_fail(error, -ENOMEM, b->pos, "not enough memory");
	if (bytes_match(b, "latency  ", 10)) {
		top->latency = true;
		top->cpus = file->cpus;
		file->latency_offset = b->pos;
		return 0;
	}
	if (!bytes_match(b, "flyrecord", 10))
		return dat_fail(error, -EBADMSG, b->pos, "%s: no CPU data at %" PRIu64 " where the headers end",
				bytes_left(b) < 10 ? "truncated" : "damaged", b->pos);
	err = parse_cpu_table(file, b, top, error);
	return err ? err : parse_instances(file, error);
}

int dat_parse_v6(struct dat_file *file, struct dat_error *error)
{
	struct bytes b;
	int err;

	bytes_from_file(&b, file->fd, 18, file->size, file->big);
	err = dat_parse_header_info(file, &b, error);
	if (!err)
		err = dat_parse_ftrace_events(file, &b, error);
	if (!err)
		err = dat_parse_event_formats(file, &b, error);
	if (!err)
		err = dat_parse_text(file, &b, DAT_KALLSYMS, error);
	if (!err)
		err = dat_parse_text(file, &b, DAT_PRINTK, error);
	if (!err)
		err = dat_parse_text(file, &b, DAT_CMDLINES, error);
	if (err)
		return err;
	file->cpus = bytes_u32(&b);
	if (b.error)
		return dat_fail_bytes(error, file, &b, "number of CPUs");
	return parse_data_head(file, &b, error);
}

/* -------------------------------------------------------------------------------------------------- version 7 */

static const char *section_name(unsigned int id)
{
	return id == DAT_DONE ? "options" : dat_id_name(id);
}

/* What stands behind a section's header, as a cursor; *ret_plain must be freed when it is set. */
static int open_section(struct dat_file *file, uint64_t offset, unsigned int id, struct bytes *ret_b, char **ret_plain,
			struct dat_error *error)
{
	struct dat_section section = { .offset = offset };
	struct dat_section *sections;
	uint32_t packed_size, plain_size;
	struct bytes b;
	char *packed;
	int err;

	if (offset > file->size || file->size - offset < SECTION_HEADER_SIZE)
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
		return dat_fail(error, -EBADMSG, offset, "damaged: the section at %" PRIu64 " should be %s, it says %u", offset,
				section_name(id), section.id);
	if (section.size > bytes_left(&b))
		return dat_fail(error, -EBADMSG, offset, "truncated: the section %s at %" PRIu64 " has %" PRIu64
				" bytes, the file ends at %" PRIu64, section_name(id), offset, section.size, file->size);
	sections = dat_grow(file->sections, file->nr_sections, sizeof(*sections));
	if (!sections)
		return dat_fail(error, -ENOMEM, offset, "not enough memory for sections");
	file->sections = sections;
	sections[file->nr_sections++] = section;
	bytes_from_file(ret_b, file->fd, b.pos, b.pos + section.size, file->big);
	if (!(section.flags & DAT_COMPRESSED) || id == DAT_BUFFER)
		return 0;
	if (!file->codec)
		return dat_fail(error, -EBADMSG, offset, "damaged: section %s at %" PRIu64
				" is compressed, the file names no compression", section_name(id), offset);

	packed_size = bytes_u32(ret_b);
	plain_size = bytes_u32(ret_b);
	packed = bytes_blob(ret_b, packed_size);
	if (!packed)
		return dat_fail_bytes(error, file, ret_b, section_name(id));
	*ret_plain = plain_size && plain_size <= SECTION_PLAIN_MAX ? malloc(plain_size) : NULL;
	if (!*ret_plain)
		err = plain_size && plain_size <= SECTION_PLAIN_MAX ? -ENOMEM : -EBADMSG;
	else
		err = file->codec->decompress(*ret_plain, plain_size, packed, packed_size);
	free(packed);
	if (err)
		return dat_fail(error, err, offset, "damaged: the compressed section %s at %" PRIu64 " does not unpack",
				section_name(id), offset);
	bytes_from_memory(ret_b, *ret_plain, plain_size, file->big);
	return 0;
}

static int by_cpu(const void *a, const void *b)
{
	const struct dat_stream *x = a, *y = b;

	return x->cpu > y->cpu ? 1 : x->cpu < y->cpu ? -1 : 0;
}

/* Listed in any order, kept by number; a CPU that is listed twice would be two streams of one. */
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
	buffer->name = bytes_string(&b, NAME_MAX_LEN);
	buffer->clock = bytes_string(&b, NAME_MAX_LEN);
	buffer->latency = option->id == DAT_BUFFER_TEXT;
	err = b.error;
	if (!err && !buffer->latency) {
		buffer->page_size = bytes_u32(&b);
		err = parse_streams(buffer, &b);
	}
	if (err)
		return dat_fail(error, err, option->offset, "damaged: the option of buffer \"%.32s\"",
				buffer->name ? buffer->name : "");
	/* The top buffer's page size is the prologue's (trace-dat.md 5.6). */
	if (!buffer->name[0] || !buffer->page_size)
		buffer->page_size = file->page_size;
	if (!buffer->latency && (buffer->page_size & (buffer->page_size - 1) || buffer->page_size < 512 ||
				 buffer->page_size > 16u << 20))
		return dat_fail(error, -EBADMSG, option->offset, "damaged: buffer \"%.32s\" has a page size of %" PRIu32,
				buffer->name, buffer->page_size);
	return 0;
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

	err = open_section(file, *offset, DAT_DONE, &b, &plain, error);
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

/* The blobs that the options point to; those that are absent are no error here. */
static int parse_sections(struct dat_file *file, struct dat_error *error)
{
	for (unsigned int id = DAT_HEADER_INFO; id <= DAT_CMDLINES; id++) {
		char *plain = NULL;
		struct bytes b;
		int err;

		if (!file->where[id])
			continue;
		err = open_section(file, file->where[id], id, &b, &plain, error);
		if (!err && id == DAT_HEADER_INFO)
			err = dat_parse_header_info(file, &b, error);
		else if (!err && id == DAT_FTRACE_EVENTS)
			err = dat_parse_ftrace_events(file, &b, error);
		else if (!err && id == DAT_EVENT_FORMATS)
			err = dat_parse_event_formats(file, &b, error);
		else if (!err)
			err = dat_parse_text(file, &b, id, error);
		free(plain);
		if (err)
			return err;
	}
	if (!file->where[DAT_HEADER_INFO])
		return dat_fail(error, -EBADMSG, file->options_offset, "damaged: no option says where the header information is");
	return 0;
}

/* Whether the data of each buffer is compressed says the buffer's section, nothing else. */
static int parse_buffers(struct dat_file *file, struct dat_error *error)
{
	for (size_t i = 0; i < file->nr_buffers; i++) {
		struct dat_buffer *buffer = &file->buffers[i];
		char *plain = NULL;
		struct bytes b;
		int err;

		err = open_section(file, buffer->offset, buffer->latency ? DAT_BUFFER_TEXT : DAT_BUFFER, &b, &plain, error);
		free(plain);
		if (err)
			return err;
		if (buffer->latency && !buffer->name[0])
			file->latency_offset = b.pos;
		buffer->compressed = file->sections[file->nr_sections - 1].flags & DAT_COMPRESSED;
		if (buffer->compressed && !file->codec)
			return dat_fail(error, -EBADMSG, buffer->offset,
					"damaged: buffer \"%.32s\" is compressed, the file names no compression", buffer->name);
	}
	return 0;
}

int dat_parse_v7(struct dat_file *file, struct dat_error *error)
{
	uint64_t offset, walked = 0;
	struct bytes b;
	int err = 0;

	bytes_from_file(&b, file->fd, 18, file->size, file->big);
	file->compression = bytes_string(&b, NAME_MAX_LEN);
	file->compression_version = bytes_string(&b, NAME_MAX_LEN);
	file->options_offset = offset = bytes_u64(&b);
	if (b.error)
		return dat_fail_bytes(error, file, &b, "header");
	if (strcmp(file->compression, "none") && (!file->codec || strcmp(file->compression, file->codec->name)))
		return dat_fail(error, -EPROTONOSUPPORT, 18, "compressed with \"%.32s\", which cannot be read here",
				file->compression);
	if (!strcmp(file->compression, "none"))
		file->codec = NULL;
	if (!offset)
		return dat_fail(error, -EBADMSG, 18, "unfinished: no options were written; its recording did not end");
	while (!err && offset) {
		err = parse_options_section(file, &offset, error);
		if (err)
			break;
		/* Sections do not overlap: a chain longer than the file closes on itself and would be followed for ever. */
		walked += SECTION_HEADER_SIZE + file->sections[file->nr_sections - 1].size;
		if (walked > file->size)
			err = dat_fail(error, -EBADMSG, offset, "damaged: the options point at themselves");
	}
	if (!err)
		err = parse_sections(file, error);
	if (!err)
		err = parse_buffers(file, error);
	return err;
}
