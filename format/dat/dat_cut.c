/* SPDX-License-Identifier: MIT */
/*
 * Reads what is left of a file of version 7 that was cut off or never finished. The options, which name the sections
 * and describe the buffers, may be missing, because trace-cmd writes them last. Sections follow one another, so they
 * are found by their headers. If the option of a buffer is missing, the buffer has no name and its CPUs have no
 * numbers: they are counted from 0. Every CPU's data begin at a page, and its pages are in order of time; so a page
 * that begins before the end of the previous page is the first one of the next CPU. Compressed data have a count of
 * chunks for each CPU.
 */
#include "format/dat/dat_internal.h"
#include "format/dat/dat_page.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define CPUS_MAX 4096u /* more CPUs than this are not guessed: no machine has more */

struct found {
	uint16_t id;
	uint16_t flags;
	uint64_t offset; /* offset of the section's header */
	uint64_t end;
	bool cut; /* the file ends before the end of the section */
};

/* Reads the header of the section at an offset. False: no section begins there. */
static bool find_section(const struct dat_file *file, uint64_t offset, struct found *ret_found)
{
	struct found found = { .offset = offset };
	struct bytes b;
	uint64_t size;

	bytes_from_file(&b, file->fd, offset, file->size, file->big);
	found.id = bytes_u16(&b);
	found.flags = bytes_u16(&b);
	bytes_skip(&b, 4);
	size = bytes_u64(&b);
	if (b.error || !size)
		return false;
	found.cut = size > bytes_left(&b);
	found.end = found.cut ? file->size : b.pos + size;
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

static int find_pages(const struct dat_file *file, struct dat_buffer *buffer, struct bytes *b, unsigned char *page)
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

static int find_chunks(struct dat_buffer *buffer, struct bytes *b)
{
	const uint64_t page = buffer->page_size;

	while (buffer->nr_streams < CPUS_MAX) {
		struct dat_stream *stream;
		const uint64_t offset = b->pos;
		uint32_t count = bytes_u32(b);

		if (b->error || !count || count > bytes_left(b) / 8)
			break;
		stream = add_stream(buffer, offset);
		if (!stream)
			return -ENOMEM;
		for (; count && !b->error; count--) {
			const uint32_t packed = bytes_u32(b);

			bytes_skip(b, 4);
			bytes_skip(b, packed);
		}
		stream->size = (b->error ? b->end : b->pos) - offset;
		bytes_skip(b, -b->pos & (page - 1));
	}
	return b->error == -EBADMSG ? 0 : b->error;
}

/* Find the streams in the section of a buffer. */
static int find_streams(const struct dat_file *file, struct dat_buffer *buffer, const struct found *found)
{
	const uint64_t mask = buffer->page_size - 1u;
	unsigned char *page = malloc(buffer->page_size);
	struct bytes b;
	int err;

	if (!page)
		return -ENOMEM;
	bytes_from_file(&b, file->fd, (found->offset + DAT_SECTION_HEADER + mask) & ~mask, found->end, file->big);
	if (found->flags & DAT_COMPRESSED)
		err = find_chunks(buffer, &b);
	else
		err = find_pages(file, buffer, &b, page);
	free(page);
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
