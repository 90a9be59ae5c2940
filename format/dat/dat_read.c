/* SPDX-License-Identifier: MIT */
/*
 * Opening and closing. No number from the file is used before it was compared with the file's length. The parts between
 * prologue and CPU data, which differ between the two versions, are read by dat_parse.c.
 */
#include "format/dat/dat_read.h"
#include "format/dat/dat_chunks.h"
#include "format/dat/dat_internal.h"
#include "format/dat/dat_notes.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * Limits of the page size. A page has at least a header and one event. A sub-buffer has at most 128 pages of the
 * machine (facts A3.5); machines with pages of 64 KiB have the largest.
 */
#define PAGE_SIZE_MIN 512u
#define PAGE_SIZE_MAX (16u * 1024u * 1024u)

const char *dat_id_name(unsigned int id)
{
	static const char *const names[] = {
		[DAT_DONE] = "done",
		[DAT_DATE] = "date",
		[DAT_CPUSTAT] = "cpustat",
		[DAT_BUFFER] = "buffer",
		[DAT_TRACECLOCK] = "traceclock",
		[DAT_UNAME] = "uname",
		[DAT_HOOK] = "hook",
		[DAT_OFFSET] = "offset",
		[DAT_CPUCOUNT] = "cpucount",
		[DAT_VERSION] = "version",
		[DAT_PROCMAPS] = "procmaps",
		[DAT_TRACEID] = "traceid",
		[DAT_TIME_SHIFT] = "time_shift",
		[DAT_GUEST] = "guest",
		[DAT_TSC2NSEC] = "tsc2nsec",
		[DAT_STRINGS] = "strings",
		[DAT_HEADER_INFO] = "header_info",
		[DAT_FTRACE_EVENTS] = "ftrace_events",
		[DAT_EVENT_FORMATS] = "event_formats",
		[DAT_KALLSYMS] = "kallsyms",
		[DAT_PRINTK] = "printk",
		[DAT_CMDLINES] = "cmdlines",
		[DAT_BUFFER_TEXT] = "buffer_text",
		[DAT_BTF_FILE] = "btf_file",
		[DAT_LAST_BOOT_INFO] = "last_boot_info",
		[DAT_MODULES_FILE] = "modules_file",
	};

	return id < sizeof(names) / sizeof(names[0]) ? names[id] : "unknown";
}

int dat_fail(struct dat_error *error, int err, uint64_t offset, const char *fmt, ...)
{
	va_list args;

	if (!err)
		return 0;
	error->offset = offset;
	va_start(args, fmt);
	vsnprintf(error->text, sizeof(error->text), fmt, args);
	va_end(args);
	return err;
}

int dat_fail_bytes(struct dat_error *error, const struct dat_file *file, const struct bytes *b, const char *what)
{
	if (b->error == -EBADMSG && b->end == file->size && b->fd >= 0)
		return dat_fail(error, b->error, b->pos,
				"truncated: the %s at %" PRIu64 " does not fit, the file ends at %" PRIu64, what,
				b->pos, file->size);
	if (b->error == -EBADMSG)
		return dat_fail(error, b->error, b->pos,
				"damaged: the %s does not fit its section, which ends at %" PRIu64, what, b->end);
	return dat_fail(error, b->error, b->pos, "cannot read the %s at %" PRIu64 ": %s", what, b->pos,
			strerror(-b->error));
}

int dat_missing(struct dat_file *file, int err, const struct dat_error *error)
{
	if (err != -EBADMSG || !file->rest)
		return err;
	if (!file->missing.text[0])
		file->missing = *error;
	return 0;
}

static int parse_prologue(struct dat_file *file, struct dat_error *error)
{
	static const unsigned char magic[10] = "\x17\x08\x44tracing";
	struct bytes b;
	char *version;
	uint8_t order;
	int err;

	bytes_from_file(&b, file->fd, 0, file->size, false);
	if (!bytes_match(&b, magic, sizeof(magic)))
		return dat_fail(error, b.error ? b.error : -EPROTO, 0,
				"not a trace.dat file (it does not begin as one)");
	version = bytes_string(&b, 16);
	if (!version)
		return dat_fail_bytes(error, file, &b, "version");
	if (!strcmp(version, "6") || !strcmp(version, "7"))
		file->version = (unsigned int)(version[0] - '0');
	err = dat_fail(error, file->version ? 0 : -EPROTONOSUPPORT, 10,
		       "a trace.dat of version \"%.16s\"; versions 6 and 7 can be read", version);
	free(version);
	if (err)
		return err;

	order = bytes_u8(&b);
	file->big = order == 1;
	file->long_size = bytes_u8(&b);
	b.big = file->big;
	file->page_size = bytes_u32(&b);
	if (b.error)
		return dat_fail_bytes(error, file, &b, "header");
	if (order > 1)
		return dat_fail(error, -EBADMSG, 12, "damaged: byte order %u is neither little (0) nor big (1)", order);
	if (file->page_size < PAGE_SIZE_MIN || file->page_size > PAGE_SIZE_MAX ||
	    (file->page_size & (file->page_size - 1)))
		return dat_fail(error, -EBADMSG, 14, "damaged: a page size of %" PRIu32 " bytes", file->page_size);
	return 0;
}


static int open_regular(const char *path, struct dat_file *file, struct dat_error *error)
{
	struct stat st;

	file->fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (file->fd < 0 && errno == ENOENT && !strcmp(path, "-"))
		return dat_fail(error, -ENOENT, 0,
				"a trace.dat cannot be read from standard input; write it to a file first");
	if (file->fd < 0)
		return dat_fail(error, -errno, 0, "cannot open: %s", strerror(errno));
	if (fstat(file->fd, &st))
		return dat_fail(error, -errno, 0, "cannot stat: %s", strerror(errno));
	if (S_ISDIR(st.st_mode))
		return dat_fail(error, -EISDIR, 0, "a directory, not a trace.dat file");
	if (!S_ISREG(st.st_mode))
		return dat_fail(error, -ESPIPE, 0,
				"not a regular file; a trace.dat cannot be read from a pipe or device");
	file->size = (uint64_t)st.st_size;
	if (file->growth && file->size < DAT_PROLOGUE)
		return dat_fail(error, -EBADMSG, 0, "truncated: the file ends at %" PRIu64, file->size);
	if (!file->size)
		return dat_fail(error, -EPROTO, 0, "not a trace.dat file (it is empty)");
	return 0;
}

const struct dat_buffer *dat_latency(const struct dat_file *file)
{
	for (size_t i = 0; i < file->nr_buffers; i++) {
		if (file->buffers[i].latency)
			return &file->buffers[i];
	}
	return NULL;
}

int dat_check_events(const struct dat_file *file, struct dat_error *ret_error)
{
	if (!dat_latency(file))
		return 0;
	snprintf(ret_error->text, sizeof(ret_error->text),
		 "has the text of a latency tracer and no events; see 'recorder report'");
	return -EBADMSG;
}

static bool has_data(const struct dat_file *file)
{
	for (size_t i = 0; i < file->nr_buffers; i++) {
		for (uint32_t s = 0; s < file->buffers[i].nr_streams; s++)
			if (file->buffers[i].streams[s].size)
				return true;
	}
	return dat_latency(file);
}

static int open_file(const char *path, const struct dat_codec *codec, bool rest, struct dat_growth *growth,
		     struct dat_file **ret_file, struct dat_error *ret_error)
{
	struct dat_file *file = calloc(1, sizeof(*file));
	int err;

	ret_error->offset = 0;
	if (!file)
		return dat_fail(ret_error, -ENOMEM, 0, "not enough memory");
	file->fd = -1;
	file->codec = codec;
	file->rest = rest;
	file->growth = growth;
	file->chunks = calloc(1, sizeof(*file->chunks));
	err = file->chunks ? 0 : dat_fail(ret_error, -ENOMEM, 0, "not enough memory");
	if (!err)
		err = open_regular(path, file, ret_error);
	if (!err)
		err = parse_prologue(file, ret_error);
	if (!err)
		err = file->version == 6 ? dat_parse_v6(file, ret_error) : dat_parse_v7(file, ret_error);
	if (!err)
		err = dat_check_buffers(file, ret_error);
	if (!err)
		err = dat_read_parts(file, ret_error);
	if (!err && file->missing.text[0] && !has_data(file)) {
		*ret_error = file->missing;
		err = -EBADMSG;
	}
	if (err)
		dat_close(file);
	else
		*ret_file = file;
	return err;
}

int dat_open(const char *path, const struct dat_codec *codec, struct dat_file **ret_file, struct dat_error *ret_error)
{
	return open_file(path, codec, false, NULL, ret_file, ret_error);
}

int dat_open_file(const char *path, const struct dat_codec *codec, struct dat_growth *growth,
		  struct dat_file **ret_file, struct dat_error *ret_error)
{
	return open_file(path, codec, false, growth, ret_file, ret_error);
}

int dat_open_rest(const char *path, const struct dat_codec *codec, struct dat_file **ret_file,
		  struct dat_error *ret_error)
{
	return open_file(path, codec, true, NULL, ret_file, ret_error);
}

struct dat_file *dat_close(struct dat_file *file)
{
	if (!file)
		return NULL;
	for (size_t i = 0; i < file->nr_buffers; i++) {
		free(file->buffers[i].name);
		free(file->buffers[i].clock);
		free(file->buffers[i].streams);
	}
	for (size_t i = 0; i < file->nr_options; i++)
		free(file->options[i].data);
	for (size_t i = 0; i < file->nr_formats; i++)
		free(file->formats[i].text.text);
	for (size_t i = 0; i < file->nr_systems; i++)
		free(file->systems[i]);
	for (size_t i = 0; i < file->nr_parts; i++)
		free(file->parts[i].text.text);
	free(file->parts);
	free(file->boot_symbols.text);
	free(file->buffers);
	free(file->options);
	free(file->formats);
	free(file->systems);
	free(file->sections);
	number_map_free(&file->known);
	free(file->header_page.text);
	free(file->header_event.text);
	free(file->kallsyms.text);
	free(file->printk.text);
	free(file->cmdlines.text);
	if (file->chunks)
		dat_chunks_free(file->chunks);
	free(file->chunks);
	free(file->compression);
	free(file->compression_version);
	if (file->fd >= 0)
		close(file->fd);
	free(file);
	return NULL;
}

const struct dat_option *dat_option(const struct dat_file *file, unsigned int id)
{
	for (size_t i = 0; i < file->nr_options; i++) {
		if (file->options[i].id == id)
			return &file->options[i];
	}
	return NULL;
}

bool dat_notes_of(const struct dat_file *file, struct dat_notes *ret_notes)
{
	const struct dat_option *version = dat_option(file, DAT_VERSION);

	return dat_notes_read(version ? version->data : NULL, ret_notes);
}

/* Shorten a stream of which the file has only the first part, or nothing. */
static int shorten(struct dat_file *file, struct dat_stream *stream, struct dat_error *error)
{
	int err = dat_fail(error, -EBADMSG, stream->offset,
			   "truncated: the CPU %" PRIu32 " data should end at %" PRIu64 ", the file ends at %" PRIu64,
			   stream->cpu, stream->offset + stream->size, file->size);

	err = dat_missing(file, err, error);
	stream->size = stream->offset < file->size ? file->size - stream->offset : 0;
	stream->cut = true;
	return err;
}

static int by_offset(const void *a, const void *b)
{
	const struct dat_stream *x = *(struct dat_stream *const *)a, *y = *(struct dat_stream *const *)b;

	return x->offset > y->offset ? 1 : x->offset < y->offset ? -1 : 0;
}

/*
 * Check that no byte belongs to two streams: if data were used many times, the file's length would not bound memory and
 * time. In a file that is read although it is cut off, the second of the two is left out.
 */
static int check_overlaps(struct dat_file *file, struct dat_stream **streams, size_t nr, struct dat_error *error)
{
	struct dat_stream *last = NULL;

	qsort(streams, nr, sizeof(*streams), by_offset);
	for (size_t i = 0; i < nr; i++) {
		struct dat_stream *stream = streams[i];

		if (last && stream->offset < last->offset + last->size) {
			int err = dat_fail(error, -EBADMSG, stream->offset,
					   "damaged: the data of CPU %" PRIu32 " and of CPU %" PRIu32 " overlap",
					   last->cpu, stream->cpu);

			err = dat_missing(file, err, error);
			if (err)
				return err;
			stream->size = 0;
			continue;
		}
		last = stream;
	}
	return 0;
}

/* Check the ranges of a buffer's streams, and add those with data to *ret_streams. */
static int check_buffer(struct dat_file *file, struct dat_buffer *buffer, struct dat_stream **ret_streams, size_t *nr,
			struct dat_error *error)
{
	int err = 0;

	for (uint32_t s = 0; s < buffer->nr_streams && !err; s++) {
		struct dat_stream *stream = &buffer->streams[s];

		/* The offset of a CPU without data has no meaning. */
		if (!stream->size)
			continue;
		if (stream->offset > UINT64_MAX - stream->size)
			return dat_fail(error, -EBADMSG, buffer->offset,
					"damaged: CPU %" PRIu32 " has %" PRIu64 " bytes at %" PRIu64, stream->cpu,
					stream->size, stream->offset);
		if (stream->offset + stream->size > file->size && !dat_is_growing(file))
			err = shorten(file, stream, error);
		if (stream->size)
			ret_streams[(*nr)++] = stream;
	}
	return err;
}

int dat_check_buffers(struct dat_file *file, struct dat_error *error)
{
	struct dat_stream **streams;
	size_t nr = 0;
	int err = 0;

	for (size_t i = 0; i < file->nr_buffers; i++)
		nr += file->buffers[i].nr_streams;
	streams = calloc(nr + 1, sizeof(*streams));
	if (!streams)
		return dat_fail(error, -ENOMEM, 0, "not enough memory for CPUs");
	nr = 0;
	for (size_t i = 0; i < file->nr_buffers && !err; i++) {
		struct dat_buffer *buffer = &file->buffers[i];

		if (buffer->latency && file->version == 6)
			buffer->text.size = (dat_is_growing(file) ? INT64_MAX : file->size) - buffer->text.offset;
		err = check_buffer(file, buffer, streams, &nr, error);
	}
	file->nr_streams = nr;
	if (!err)
		err = check_overlaps(file, streams, nr, error);
	free(streams);
	return err;
}
