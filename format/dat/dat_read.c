/* SPDX-License-Identifier: MIT */
/*
 * Opening, closing, and the pages. No number from the file is used before it was compared with the file's length. The
 * parts between prologue and CPU data, which differ between the two versions, are read by dat_parse.c.
 */
#include "format/dat/dat_read.h"
#include "format/dat/dat_internal.h"

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
 * A page holds at least a header and one event; the kernel makes none above
 * 1 MiB (facts A3.5), 64 KiB systems x 128.
 */
#define PAGE_SIZE_MIN 512u
#define PAGE_SIZE_MAX (16u * 1024u * 1024u)

/* Chunks of compressed data: trace-cmd writes 10 pages, we 256; no writer has a reason for more than this. */
#define CHUNK_MAX (64u * 1024u * 1024u)

/* Uncompressed data are read in blocks of this size; those of all streams together have no more than BLOCKS_ROOM. */
#define BLOCK_MAX   (64u * 1024u)
#define BLOCKS_ROOM (4u * 1024u * 1024u)

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

void *dat_grow(void *array, size_t count, size_t element)
{
	if (count & (count - 1) || (count > 0 && count > SIZE_MAX / 2 / element))
		return count & (count - 1) ? array : NULL;
	return realloc(array, (count ? 2 * count : 1) * element);
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
	if (!file->size)
		return dat_fail(error, -EPROTO, 0, "not a trace.dat file (it is empty)");
	return 0;
}

static bool has_data(const struct dat_file *file)
{
	for (size_t i = 0; i < file->nr_buffers; i++) {
		if (file->buffers[i].latency)
			return true;
		for (uint32_t s = 0; s < file->buffers[i].nr_streams; s++)
			if (file->buffers[i].streams[s].size)
				return true;
	}
	return false;
}

static int open_file(const char *path, const struct dat_codec *codec, bool rest, struct dat_file **ret_file,
		     struct dat_error *ret_error)
{
	struct dat_file *file = calloc(1, sizeof(*file));
	int err;

	ret_error->offset = 0;
	if (!file)
		return dat_fail(ret_error, -ENOMEM, 0, "not enough memory");
	file->fd = -1;
	file->codec = codec;
	file->rest = rest;
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
	return open_file(path, codec, false, ret_file, ret_error);
}

int dat_open_rest(const char *path, const struct dat_codec *codec, struct dat_file **ret_file,
		  struct dat_error *ret_error)
{
	return open_file(path, codec, true, ret_file, ret_error);
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

/* The file has only the first part of the stream, or nothing of it. */
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

int dat_check_buffers(struct dat_file *file, struct dat_error *error)
{
	int err = 0;

	for (size_t i = 0; i < file->nr_buffers; i++) {
		const struct dat_buffer *buffer = &file->buffers[i];

		for (uint32_t s = 0; s < buffer->nr_streams && !err; s++) {
			struct dat_stream *stream = &buffer->streams[s];

			/* The offset of an empty CPU means nothing. */
			if (!stream->size)
				continue;
			if (stream->offset > UINT64_MAX - stream->size)
				return dat_fail(error, -EBADMSG, buffer->offset,
						"damaged: CPU %" PRIu32 " has %" PRIu64 " bytes at %" PRIu64,
						stream->cpu, stream->size, stream->offset);
			if (stream->offset + stream->size > file->size)
				err = shorten(file, stream, error);
		}
	}
	return err;
}

ssize_t dat_read_raw(const struct dat_file *file, uint64_t offset, void *dst, size_t size, struct dat_error *ret_error)
{
	struct bytes b;

	bytes_from_file(&b, file->fd, offset, file->size, file->big);
	if (size > bytes_left(&b))
		size = (size_t)bytes_left(&b);
	bytes_copy(&b, dst, size);
	return b.error ? dat_fail_bytes(ret_error, file, &b, "text") : (ssize_t)size;
}

/* What is read at once of uncompressed data: whole pages; less if there are many streams, so that memory is bounded. */
static uint32_t block_room(const struct dat_file *file, uint32_t page_size)
{
	uint32_t streams = 0, room;

	for (size_t i = 0; i < file->nr_buffers; i++)
		streams += file->buffers[i].nr_streams;
	room = streams <= BLOCKS_ROOM / BLOCK_MAX ? BLOCK_MAX : BLOCKS_ROOM / streams;
	return room < page_size ? page_size : room - room % page_size;
}

int dat_cursor_open(const struct dat_file *file, const struct dat_buffer *buffer, const struct dat_stream *stream,
		    struct dat_cursor *ret_cursor)
{
	struct dat_cursor cursor = {
		.file = file, .buffer = buffer, .stream = stream, .pos = stream->offset, .kept = 1
	};

	if (!buffer->compressed) {
		cursor.block_room = block_room(file, buffer->page_size);
		cursor.blocks[0] = malloc(cursor.block_room);
		cursor.blocks[1] = malloc(cursor.block_room);
		if (!cursor.blocks[0] || !cursor.blocks[1]) {
			dat_cursor_close(&cursor);
			return -ENOMEM;
		}
	}
	*ret_cursor = cursor;
	return 0;
}

void dat_cursor_close(struct dat_cursor *cursor)
{
	free(cursor->blocks[0]);
	free(cursor->blocks[1]);
	cursor->blocks[0] = NULL;
	cursor->blocks[1] = NULL;
}

void dat_cursor_keep(struct dat_cursor *cursor)
{
	cursor->kept = cursor->now;
}

/*
 * Reads the page of `size` bytes at the position, and as many after it as there is room for; `left` are in the stream.
 */
static int fill_block(struct dat_cursor *c, uint64_t left, uint32_t size, struct dat_error *error)
{
	const size_t wanted = left < c->block_room ? (size_t)left : c->block_room;
	struct bytes b;
	ssize_t n;

	c->now = !c->kept;
	c->block_pos = c->block_size = 0;
	n = pread(c->file->fd, c->blocks[c->now], wanted, (off_t)c->pos);
	if (n >= (ssize_t)size) {
		/* After a short read the rest is read by the next call. */
		c->block_size = (uint32_t)n == left ? (uint32_t)n : (uint32_t)n - (uint32_t)n % c->buffer->page_size;
		return 0;
	}
	bytes_from_file(&b, c->file->fd, c->pos, c->file->size, c->file->big);
	bytes_copy(&b, c->blocks[c->now], size);
	if (b.error)
		return dat_fail_bytes(error, c->file, &b, "page");
	c->block_size = size;
	return 0;
}

static int next_plain(struct dat_cursor *c, struct dat_page *ret_page, struct dat_error *error)
{
	uint64_t left = c->stream->offset + c->stream->size - c->pos;
	uint32_t size = left < c->buffer->page_size ? (uint32_t)left : c->buffer->page_size;
	int err;

	if (!size)
		return 0;
	if (c->block_size - c->block_pos < size) {
		err = fill_block(c, left, size, error);
		if (err)
			return err;
	}
	*ret_page = (struct dat_page){ .data = c->blocks[c->now] + c->block_pos,
				       .size = size,
				       .offset = c->pos,
				       .cut = c->stream->cut && size == left };
	c->block_pos += size;
	c->pos += size;
	return 1;
}

/*
 * Compressed: u32 chunks, then each { u32 compressed size, u32 plain size, bytes }. Only the count shows where it ends:
 * the size that trace-cmd 3.1.6 gives for the whole is too small.
 */
static int next_chunk(struct dat_cursor *c, struct dat_error *error)
{
	uint32_t packed_size, plain_size;
	struct bytes b;
	char *packed;
	int err;

	bytes_from_file(&b, c->file->fd, c->pos, c->file->size, c->file->big);
	if (!c->started)
		c->chunks_left = bytes_u32(&b);
	c->started = true;
	if (b.error == -EBADMSG && c->stream->cut)
		return 0;
	if (b.error)
		return dat_fail_bytes(error, c->file, &b, "number of chunks");
	if (!c->chunks_left)
		return 0;
	c->chunks_left--;
	c->chunk_offset = b.pos;
	packed_size = bytes_u32(&b);
	plain_size = bytes_u32(&b);
	if (!b.error && (!plain_size || plain_size > CHUNK_MAX))
		return dat_fail(error, -EBADMSG, c->chunk_offset, "damaged: a chunk of %" PRIu32 " bytes", plain_size);
	packed = bytes_blob(&b, packed_size);
	/* That the file ends here was noted when it was opened. */
	if (!packed && c->stream->cut && b.error == -EBADMSG)
		return 0;
	if (!packed)
		return dat_fail_bytes(error, c->file, &b, "compressed data");
	c->pos = b.pos;
	c->now = !c->kept;
	free(c->blocks[c->now]);
	c->chunk_pos = 0;
	c->chunk_size = plain_size;
	c->blocks[c->now] = malloc(plain_size);
	err = c->blocks[c->now] ? c->file->codec->decompress(c->blocks[c->now], plain_size, packed, packed_size)
				: -ENOMEM;
	free(packed);
	return err ? dat_fail(error, err, c->chunk_offset,
			      "damaged: the compressed data at %" PRIu64 " does not unpack", c->chunk_offset)
		   : 1;
}

int dat_cursor_next(struct dat_cursor *cursor, struct dat_page *ret_page, struct dat_error *ret_error)
{
	struct dat_cursor *c = cursor;
	size_t size;
	int ret;

	if (!c->stream->size)
		return 0;
	if (!c->buffer->compressed)
		return next_plain(c, ret_page, ret_error);
	if (c->chunk_pos == c->chunk_size) {
		ret = next_chunk(c, ret_error);
		if (ret <= 0) {
			c->chunk_pos = c->chunk_size = 0;
			c->chunks_left = 0;
			return ret;
		}
	}
	size = c->chunk_size - c->chunk_pos;
	if (size > c->buffer->page_size)
		size = c->buffer->page_size;
	*ret_page = (struct dat_page){
		.data = c->blocks[c->now] + c->chunk_pos, .size = (uint32_t)size, .offset = c->chunk_offset
	};
	c->chunk_pos += size;
	return 1;
}
