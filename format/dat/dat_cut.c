/* SPDX-License-Identifier: MIT */
/*
 * Reads what is left of a file of version 7 that was cut off or never finished. The options, which name the sections
 * and describe the buffers, may be missing, because trace-cmd writes them last. Sections follow one another, so they
 * are found by their headers. If the option of a buffer is missing, the buffer has no name and its CPUs have no
 * numbers: they are counted from 0. Every CPU's data begin at a page, and its pages are in order of time; so a page
 * that begins before the end of the previous page is the first one of the next CPU. Compressed data have a count of
 * chunks for each CPU, and each chunk has its size; the data of the next CPU follow directly or, after zeros, at a
 * page. trace-cmd writes the size of a section, and the count of chunks, when it has written the data; until then both
 * are 0.
 */
#include "format/dat/dat_internal.h"
#include "format/dat/dat_page.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define CPUS_MAX   4096u       /* more CPUs than this are not guessed: no machine has more */
#define PAGE_LEAST 512u	       /* the smallest page that the reader accepts */
#define PAGE_MOST  (16u << 20) /* the largest one: padding is shorter than this */
#define TRIES_MAX  (64u << 20) /* at most this many bytes are unpacked to find where data begin */

struct found {
	uint16_t id;
	uint16_t flags;
	uint64_t offset; /* offset of the section's header */
	uint64_t size;
	uint64_t end;
	bool cut; /* the file ends before the end of the section */
};

/* Reads what may be a section's header at an offset. False: the file ends there. */
static bool read_header(const struct dat_file *file, uint64_t offset, struct found *ret_found)
{
	struct found found = { .offset = offset };
	struct bytes b;

	bytes_from_file(&b, file->fd, offset, file->size, file->big);
	found.id = bytes_u16(&b);
	found.flags = bytes_u16(&b);
	bytes_skip(&b, 4);
	found.size = bytes_u64(&b);
	if (b.error)
		return false;
	found.cut = found.size > bytes_left(&b);
	found.end = found.cut ? file->size : b.pos + found.size;
	*ret_found = found;
	return true;
}

/* Whether a section certainly begins at an offset: these are not the data of a buffer, nor padding. */
static bool is_section(const struct dat_file *file, uint64_t offset)
{
	struct found found;

	return read_header(file, offset, &found) && found.id <= DAT_OPTION_LAST && found.flags <= DAT_COMPRESSED &&
	       !found.cut && (found.size || found.id == DAT_BUFFER);
}

/* Finds the section that begins at an offset. False: no section begins there. */
static bool find_section(const struct dat_file *file, uint64_t offset, struct found *ret_found)
{
	struct found found;

	if (!read_header(file, offset, &found))
		return false;
	if (!found.size) {
		if (found.id != DAT_BUFFER)
			return false;
		/* A buffer without data also has the size 0: then another section follows. */
		if (!is_section(file, found.end)) {
			found.cut = true;
			found.end = file->size;
		}
	}
	*ret_found = found;
	return true;
}

static struct dat_stream *add_stream(struct dat_buffer *buffer, uint64_t offset)
{
	struct dat_stream *streams = dat_grow(buffer->streams, buffer->nr_streams, sizeof(*streams));

	if (!streams)
		return NULL;
	buffer->streams = streams;
	streams[buffer->nr_streams] = (struct dat_stream){ .cpu = buffer->nr_streams, .offset = offset };
	buffer->nr_streams++;
	buffer->cpus = buffer->nr_streams;
	return &streams[buffer->nr_streams - 1];
}

/* The time of the last record of a page; `time` if it has none that can be read. */
static uint64_t last_time(const struct dat_file *file, const struct dat_page *page, uint64_t time)
{
	struct dat_record record;
	struct dat_error error;
	struct dat_walk walk;

	if (dat_walk_open(file, page, &walk, &error))
		return time;
	while (dat_walk_event(&walk, &record, &error) > 0)
		time = record.ts;
	return time;
}

static int find_pages_in(const struct dat_file *file, struct dat_buffer *buffer, struct bytes *b, unsigned char *page)
{
	struct dat_stream *stream = NULL;
	uint64_t last = 0;

	while (bytes_left(b) >= 8) {
		const uint64_t left = bytes_left(b);
		const struct dat_page whole = {
			.data = page, .size = left < buffer->page_size ? (uint32_t)left : buffer->page_size, .cut = true
		};
		const uint64_t offset = b->pos;
		uint64_t time;

		bytes_copy(b, page, whole.size);
		if (b->error)
			break;
		time = bytes_get64((const char *)page, file->big);
		/* A page that was never used has no time. */
		if (!stream || (time && time < last && buffer->nr_streams < CPUS_MAX)) {
			stream = add_stream(buffer, offset);
			if (!stream)
				return -ENOMEM;
			last = 0;
		}
		if (time)
			last = last_time(file, &whole, time);
		stream->size = b->pos - stream->offset;
	}
	return b->error == -EBADMSG ? 0 : b->error;
}

static int find_pages(const struct dat_file *file, struct dat_buffer *buffer, const struct found *found)
{
	const uint64_t mask = buffer->page_size - 1u;
	unsigned char *page = malloc(buffer->page_size);
	struct bytes b;
	int err;

	if (!page)
		return -ENOMEM;
	bytes_from_file(&b, file->fd, (found->offset + DAT_SECTION_HEADER + mask) & ~mask, found->end, file->big);
	err = find_pages_in(file, buffer, &b, page);
	free(page);
	return err;
}

/* ----------------------------------------------------------------------------------------------- compressed data */

/* Reads the sizes of a chunk. False: these are not its sizes, or the range ends. */
static bool read_chunk(struct bytes *b, uint32_t *ret_packed, uint32_t *ret_plain)
{
	*ret_packed = bytes_u32(b);
	*ret_plain = bytes_u32(b);
	return !b->error && *ret_plain && *ret_plain <= DAT_CHUNK_MAX && dat_packed_fits(*ret_packed, *ret_plain);
}

/* Whether the sizes at an offset are possible where the data of a CPU begin. */
static bool is_possible(const struct dat_file *file, const struct found *found, uint64_t offset)
{
	uint32_t count, packed_size, plain_size;
	struct bytes b;

	bytes_from_file(&b, file->fd, offset, found->end, file->big);
	count = bytes_u32(&b);
	if ((!count && found->size) || (count > bytes_left(&b) / 8 && !found->cut))
		return false;
	return read_chunk(&b, &packed_size, &plain_size) && (packed_size <= bytes_left(&b) || found->cut);
}

/* Whether the first chunk of the data at an offset unpacks. */
static bool unpacks(struct dat_file *file, const struct found *found, uint64_t offset)
{
	uint32_t packed_size, plain_size;
	char *packed, *plain;
	struct bytes b;
	bool does;

	bytes_from_file(&b, file->fd, offset + sizeof(uint32_t), found->end, file->big);
	if (!file->codec || !read_chunk(&b, &packed_size, &plain_size) || plain_size > TRIES_MAX - file->tried)
		return false;
	file->tried += plain_size;
	packed = bytes_blob(&b, packed_size);
	plain = packed ? malloc(plain_size) : NULL;
	does = plain && !file->codec->decompress(plain, plain_size, packed, packed_size);
	free(packed);
	free(plain);
	return does;
}

/*
 * The offset of the first byte that is not 0, or the end of the section. Padding is always shorter than a page, so no
 * more is read. 0, or the -errno of pread.
 */
static int skip_zeros(const struct dat_file *file, const struct found *found, uint64_t offset, uint64_t *ret_offset)
{
	unsigned char block[4096];
	struct bytes b;

	bytes_from_file(&b, file->fd, offset, found->end, file->big);
	while (bytes_left(&b) && b.pos - offset < PAGE_MOST) {
		const uint64_t at = b.pos;
		const size_t size = bytes_left(&b) < sizeof(block) ? (size_t)bytes_left(&b) : sizeof(block);

		bytes_copy(&b, block, size);
		for (size_t i = 0; i < size && !b.error; i++) {
			if (block[i]) {
				*ret_offset = at + i;
				return 0;
			}
		}
	}
	*ret_offset = found->end;
	return b.error == -EBADMSG ? 0 : b.error;
}

/*
 * Finds where the next CPU's data begin: at an offset, or at the first page after it that is not padding. The count and
 * the first size may have zero bytes at their front, so up to seven zeros may belong to the data. 1: found; 0: no more
 * data; -errno.
 */
static int find_start(struct dat_file *file, const struct found *found, uint64_t offset, uint64_t *ret_start)
{
	uint64_t data, page;
	bool is_here, is_at_page;
	int err = skip_zeros(file, found, offset, &data);

	if (err)
		return err;
	page = data & ~(uint64_t)(PAGE_LEAST - 1);
	is_here = data - offset < 2 * sizeof(uint32_t) && is_possible(file, found, offset);
	is_at_page = page > offset && data - page < 2 * sizeof(uint32_t) && is_possible(file, found, page);
	if (is_here && is_at_page)
		is_here = unpacks(file, found, offset) || !unpacks(file, found, page);
	*ret_start = is_here ? offset : page;
	return is_here || is_at_page;
}

/* Sets the size of a stream by its chunks. Returns where the next one may begin. */
static uint64_t measure(const struct dat_file *file, const struct found *found, struct dat_stream *stream)
{
	uint32_t count, nr, packed_size, plain_size;
	uint64_t end = found->end;
	struct bytes b;

	bytes_from_file(&b, file->fd, stream->offset, found->end, file->big);
	count = bytes_u32(&b);
	for (nr = 0; !count || nr < count; nr++) {
		if (!read_chunk(&b, &packed_size, &plain_size) || packed_size > bytes_left(&b))
			break;
		bytes_skip(&b, packed_size);
	}
	if (!count)
		stream->chunks = nr; /* nothing was written after this stream */
	else if (nr == count)
		end = b.pos;
	stream->size = end - stream->offset;
	return end;
}

static int find_chunks(struct dat_file *file, struct dat_buffer *buffer, const struct found *found)
{
	uint64_t offset = found->offset + DAT_SECTION_HEADER, start = 0;
	int ret = 0;

	while (buffer->nr_streams < CPUS_MAX && (ret = find_start(file, found, offset, &start)) > 0) {
		struct dat_stream *stream = add_stream(buffer, start);

		if (!stream)
			return -ENOMEM;
		offset = measure(file, found, stream);
	}
	return ret < 0 ? ret : 0;
}

/* ------------------------------------------------------------------------------------------------------- buffers */

/* Find the streams in the section of a buffer. */
static int find_streams(struct dat_file *file, struct dat_buffer *buffer, const struct found *found)
{
	const int err = found->flags & DAT_COMPRESSED ? find_chunks(file, buffer, found) :
							find_pages(file, buffer, found);

	if (buffer->nr_streams)
		buffer->streams[buffer->nr_streams - 1].cut = found->cut;
	return err;
}

static int add_buffer(struct dat_file *file, const struct found *found)
{
	struct dat_buffer *buffer;
	bool has_top = false;

	if (number_map_get(&file->known, found->offset))
		return 0;
	for (size_t i = 0; i < file->nr_buffers && !has_top; i++)
		has_top = !file->buffers[i].name[0];
	buffer = dat_add_buffer(file);
	if (!buffer)
		return -ENOMEM;
	buffer->name = strdup(has_top ? "unknown" : "");
	if (!buffer->name) {
		file->nr_buffers--;
		return -ENOMEM;
	}
	buffer->offset = found->offset;
	return find_streams(file, buffer, found);
}

int dat_find_sections(struct dat_file *file, uint64_t start, struct dat_error *error)
{
	struct found found;
	int err = 0;

	/* Options are read first, because they describe buffers that precede them in the file. */
	for (uint64_t at = start; !err && find_section(file, at, &found); at = found.end) {
		if (found.id == DAT_DONE)
			err = dat_missing(file, dat_parse_options_at(file, found.offset, error), error);
		else if (found.id >= DAT_HEADER_INFO && found.id <= DAT_CMDLINES && !file->where[found.id])
			file->where[found.id] = found.offset;
	}
	return err;
}

int dat_find_buffers(struct dat_file *file, uint64_t start, struct dat_error *error)
{
	struct found found;
	int err = 0;

	for (uint64_t at = start; !err && find_section(file, at, &found); at = found.end) {
		if (found.id == DAT_BUFFER)
			err = dat_fail(error, add_buffer(file, &found), found.offset,
				       "cannot read what is left of the file");
	}
	return err;
}
