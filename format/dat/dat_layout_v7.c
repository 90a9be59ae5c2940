/* SPDX-License-Identifier: MIT */
/*
 * The order of the parts in a file of version 7 (trace-dat.md, part 5): prologue, options, the sections that they point
 * to, and the buffers. There is no section of strings. If pages are compressed, so are the sections, except the
 * options, and those that would exceed the limit of the reader.
 */
#include "format/dat/dat_read.h"
#include "format/dat/dat_write_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NO_STRING UINT32_MAX

/* Returns the position of the size, for end_section(). */
static size_t begin_section(struct blob *out, enum dat_id id, uint16_t flags)
{
	blob_u16(out, (uint16_t)id);
	blob_u16(out, flags);
	blob_u32(out, NO_STRING);
	blob_u64(out, 0);
	return out->size - sizeof(uint64_t);
}

static void end_section(struct blob *out, size_t size_at)
{
	blob_set_u64(out, size_at, out->size - size_at - sizeof(uint64_t));
}

/* Make a section with these contents. `packer` NULL: not compressed. */
static void put_section(struct blob *out, struct dat_packer *packer, enum dat_id id, const struct blob *contents)
{
	const size_t size_at = begin_section(out, id, packer ? DAT_COMPRESSED : 0);
	const size_t frame_at = out->size;
	int err;

	if (contents->error || contents->size > UINT32_MAX) {
		out->error = contents->error ? contents->error : -EFBIG;
		return;
	}
	if (!packer) {
		blob_put(out, contents->data, contents->size);
	} else {
		blob_u32(out, 0);
		blob_u32(out, (uint32_t)contents->size);
		err = packer->ops->frame(packer, contents->data, (uint32_t)contents->size, out);
		if (err)
			out->error = err;
		blob_set_u32(out, frame_at, (uint32_t)(out->size - frame_at - 2 * sizeof(uint32_t)));
	}
	end_section(out, size_at);
}

static void put_offset_option(struct blob *out, enum dat_id id, uint64_t offset)
{
	struct blob payload = BLOB_SWAPPED(out->swapped);

	blob_u64(&payload, offset);
	dat_put_option_blob(out, id, &payload);
}

static void put_cpu_count(struct blob *out, unsigned int nr_cpus)
{
	struct blob payload = BLOB_SWAPPED(out->swapped);

	blob_u32(&payload, nr_cpus);
	dat_put_option_blob(out, DAT_CPUCOUNT, &payload);
}

/* Put the header of a buffer's section. The pages are the end of the section. */
static void put_buffer_section(struct blob *out, const struct dat_writer *writer, unsigned int number)
{
	const struct write_buffer *buffer = &writer->buffers[number];
	const size_t size_at = begin_section(out, DAT_BUFFER, writer->packer ? DAT_COMPRESSED : 0);

	blob_set_u64(out, size_at,
		     buffer->data - buffer->section - DAT_SECTION_HEADER + dat_stored_buffer(writer, number));
}

/* Put the option that describes a buffer. */
static void put_buffer_option(struct blob *out, const struct dat_writer *writer, unsigned int number, const char *clock)
{
	const struct write_buffer *buffer = &writer->buffers[number];
	struct blob payload = BLOB_SWAPPED(out->swapped);
	uint64_t data = buffer->data;
	uint32_t count = 0;
	size_t count_at;
	unsigned int cpu;

	blob_u64(&payload, buffer->section);
	blob_string(&payload, buffer->name);
	blob_string(&payload, buffer->clock ? buffer->clock : clock ? clock : "");
	blob_u32(&payload, buffer->page_size);
	count_at = payload.size;
	blob_u32(&payload, 0);
	for (cpu = 0; cpu < buffer->nr_cpus; cpu++) {
		const uint64_t size = dat_stored_size(writer, number, cpu);

		if (!size)
			continue;
		blob_u32(&payload, cpu);
		blob_u64(&payload, data);
		blob_u64(&payload, size);
		data += size;
		count++;
	}
	blob_set_u32(&payload, count_at, count);
	dat_put_option_blob(out, DAT_BUFFER, &payload);
}

/*
 * Make the options of all buffers, and store the places of their sections. The top buffer's section is at `section`;
 * the section of an instance is directly before its pages.
 */
static void put_buffer_options(struct blob *out, struct dat_writer *writer, const char *clock, uint64_t section)
{
	unsigned int i;

	for (i = 0; i < writer->nr_buffers; i++) {
		struct write_buffer *buffer = &writer->buffers[i];
		const uint64_t page = buffer->page_size;

		if (!dat_is_shown(writer, i))
			continue;
		buffer->section = section;
		section += DAT_SECTION_HEADER;
		buffer->data = i ? (section + page - 1) & ~(page - 1) : dat_pages_after(writer, section);
		put_buffer_option(out, writer, i, clock);
		section = buffer->data + dat_stored_buffer(writer, i);
	}
}

static void put_options(struct blob *out, struct dat_writer *writer, const char *clock, unsigned int nr_cpus,
			const uint64_t *places, uint64_t buffer)
{
	const size_t size_at = begin_section(out, DAT_DONE, 0);
	size_t i;

	for (i = 0; i < DAT_NR_BLOBS; i++)
		put_offset_option(out, dat_blobs[i].id, places[i]);
	blob_put(out, writer->options.data, writer->options.size);
	if (nr_cpus)
		put_cpu_count(out, nr_cpus);
	dat_put_clock(out, clock);
	put_buffer_options(out, writer, clock, buffer);
	put_offset_option(out, DAT_DONE, 0);
	end_section(out, size_at);
}

/* Put the sections that come after the options; they begin at `start`. */
static void put_sections(struct blob *out, const struct dat_writer *writer, uint64_t start, uint64_t *places)
{
	size_t i, packed = 0;

	for (i = 0; i < DAT_NR_BLOBS; i++) {
		struct blob contents = BLOB_SWAPPED(out->swapped);
		struct dat_packer *packer = NULL;

		places[i] = start + out->size;
		dat_blobs[i].put(&contents, writer);
		if (writer->packer && contents.size <= DAT_SECTIONS_MAX - packed) {
			packer = writer->packer;
			packed += contents.size;
		}
		put_section(out, packer, dat_blobs[i].id, &contents);
		blob_free(&contents);
	}
}

void dat_layout_v7(struct blob *out, struct dat_writer *writer, const char *clock, unsigned int nr_cpus)
{
	uint64_t places[DAT_NR_BLOBS] = { 0 };
	struct blob body = BLOB_SWAPPED(out->swapped);
	size_t start;

	dat_put_prologue(out, writer);
	blob_string(out, writer->packer ? writer->packer->name : "none");
	blob_string(out, writer->packer ? writer->packer->version : "");
	blob_u64(out, out->size + sizeof(uint64_t)); /* the options follow */

	/*
	 * The options are made twice, because the positions of the later sections are known only after the first time.
	 */
	start = out->size;
	put_options(out, writer, clock, nr_cpus, places, 0);
	put_sections(&body, writer, out->size, places);
	out->size = start;
	put_options(out, writer, clock, nr_cpus, places, places[0] + body.size);
	blob_put(out, body.data, body.size);
	if (body.error)
		out->error = body.error;
	blob_free(&body);
	put_buffer_section(out, writer, 0);
	blob_zeros(out, writer->buffers[0].data);
}

int dat_layout_sections(const struct dat_writer *writer)
{
	struct blob head = BLOB_SWAPPED(writer->swapped);
	unsigned int i;
	int err = 0;

	for (i = 1; i < writer->nr_buffers && writer->version == 7 && !err; i++) {
		if (!dat_is_shown(writer, i))
			continue;
		head.size = 0;
		put_buffer_section(&head, writer, i);
		err = head.error;
		if (!err)
			err = out_write_at(writer->file.fd, head.data, head.size, writer->buffers[i].section);
	}
	blob_free(&head);
	return err;
}
