/* SPDX-License-Identifier: MIT */
/*
 * The file is one piece of metadata, made in memory (dat_layout.c), then the pages of each buffer, CPU by CPU, aligned.
 */
#include "format/dat/dat_write.h"
#include "format/dat/dat_grow.h"
#include "format/dat/dat_write_private.h"
#include "format/io/hash.h"

#include <errno.h>
#include <librecorder/page.h>
#include <stdlib.h>
#include <string.h>

#define RANGE_BLOCK (UINT32_C(64) << 10) /* bytes of pages that are read with one call: no more than a chunk */

int dat_write_open(const char *path, unsigned int version, uint32_t page_size, unsigned int cpus,
		   struct dat_writer **ret_writer)
{
	struct dat_writer *writer;
	unsigned int top;
	int err;

	if (version != 6 && version != 7)
		return -EINVAL;
	if (page_size < REC_SUBBUF_MIN || page_size > REC_SUBBUF_MAX || (page_size & (page_size - 1)))
		return -EINVAL;
	writer = calloc(1, sizeof(*writer));
	if (!writer)
		return -ENOMEM;
	writer->version = version;
	writer->unit = page_size;
	writer->file.fd = -1;
	err = out_file_open(path, &writer->file);
	if (!err)
		err = page_store_open(writer->file.target, page_size, cpus, &writer->store);
	if (!err)
		err = dat_write_buffer(writer, "", &top);
	if (err) {
		dat_write_close(writer);
		return err;
	}
	*ret_writer = writer;
	return 0;
}

struct dat_writer *dat_write_close(struct dat_writer *writer)
{
	size_t i;

	if (!writer)
		return NULL;
	for (i = 0; i < writer->nr_systems; i++) {
		free(writer->systems[i].name);
		blob_free(&writer->systems[i].events);
	}
	free(writer->systems);
	number_map_free(&writer->system_numbers);
	for (i = 0; i < writer->nr_buffers; i++) {
		free(writer->buffers[i].name);
		free(writer->buffers[i].tracks);
	}
	free(writer->buffers);
	blob_free(&writer->options);
	blob_free(&writer->kallsyms);
	blob_free(&writer->printk);
	blob_free(&writer->cmdlines);
	if (writer->packer)
		writer->packer->ops->close(writer->packer);
	page_store_close(writer->store);
	out_file_abandon(&writer->file);
	free(writer);
	return NULL;
}

int dat_write_buffer(struct dat_writer *writer, const char *name, unsigned int *ret_buffer)
{
	struct write_buffer *buffers = dat_grow(writer->buffers, writer->nr_buffers, sizeof(*buffers));

	if (!buffers)
		return -ENOMEM;
	writer->buffers = buffers;
	memset(&buffers[writer->nr_buffers], 0, sizeof(*buffers));
	buffers[writer->nr_buffers].name = strdup(name);
	if (!buffers[writer->nr_buffers].name)
		return -ENOMEM;
	buffers[writer->nr_buffers].page_size = writer->unit;
	*ret_buffer = writer->nr_buffers++;
	return 0;
}

void dat_write_shape(struct dat_writer *writer, const struct dat_shape *shape)
{
	writer->shape = *shape;
	writer->swapped = shape->big != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	writer->options.swapped = writer->swapped;
}

int dat_write_pack(struct dat_writer *writer, const struct dat_packing *packing, unsigned int cpus)
{
	if (writer->version != 7)
		return -EINVAL;
	return packing->open(packing, writer->file.target, cpus, writer->swapped, &writer->packer);
}

void dat_write_page_size(struct dat_writer *writer, unsigned int buffer, uint32_t page_size)
{
	writer->buffers[buffer].page_size = page_size;
}

void dat_write_clock(struct dat_writer *writer, unsigned int buffer, const char *clock)
{
	writer->buffers[buffer].clock = clock;
}

/* Find the track of a CPU's pages, or make it. */
static int get_track(struct dat_writer *writer, unsigned int number, unsigned int cpu, unsigned int *ret_track)
{
	struct write_buffer *buffer = &writer->buffers[number];
	unsigned int *tracks;
	unsigned int track;
	int err;

	if (cpu >= buffer->nr_cpus) {
		tracks = realloc(buffer->tracks, (cpu + 1u) * sizeof(*tracks));
		if (!tracks)
			return -ENOMEM;
		buffer->tracks = tracks;
		while (buffer->nr_cpus <= cpu)
			tracks[buffer->nr_cpus++] = NO_TRACK;
	}
	if (buffer->tracks[cpu] == NO_TRACK) {
		err = writer->packer ? writer->packer->ops->add(writer->packer, &track) :
				       page_store_add(writer->store, &track);
		if (err)
			return err;
		buffer->tracks[cpu] = track;
	}
	*ret_track = buffer->tracks[cpu];
	return 0;
}

int dat_write_page(struct dat_writer *writer, unsigned int buffer, unsigned int cpu, const void *page)
{
	const uint32_t size = writer->buffers[buffer].page_size;
	const unsigned char *at = page;
	unsigned int track;
	uint32_t done;
	int err = get_track(writer, buffer, cpu, &track);

	if (!err && writer->packer)
		return writer->packer->ops->put(writer->packer, track, page, size);
	for (done = 0; done < size && !err; done += writer->unit)
		err = page_store_put(writer->store, track, at + done);
	return err;
}

/* Reads pages of a file and passes them to the packer. */
static int pack_range(struct dat_writer *writer, unsigned int track, uint32_t page_size, int fd, uint64_t offset,
		      uint64_t size)
{
	const uint32_t block = page_size > RANGE_BLOCK ? page_size : RANGE_BLOCK;
	unsigned char *pages = malloc(block);
	int err = pages ? 0 : -ENOMEM;

	while (size && !err) {
		const uint32_t part = size < block ? (uint32_t)size : block;

		err = out_read_at(fd, pages, part, offset);
		if (!err)
			err = writer->packer->ops->put(writer->packer, track, pages, part);
		offset += part;
		size -= part;
	}
	free(pages);
	return err;
}

int dat_write_range(struct dat_writer *writer, unsigned int buffer, unsigned int cpu, int fd, uint64_t offset,
		    uint64_t size)
{
	unsigned int track;
	const int err = get_track(writer, buffer, cpu, &track);

	if (err)
		return err;
	if (writer->packer)
		return pack_range(writer, track, writer->buffers[buffer].page_size, fd, offset, size);
	return page_store_put_range(writer->store, track, fd, offset, size);
}

const char *dat_write_target(const struct dat_writer *writer)
{
	return writer->file.target;
}

int dat_write_straight(struct dat_writer *writer, unsigned int nr_cpus, uint64_t room)
{
	const uint64_t page = writer->buffers[0].page_size;
	struct blob meta = BLOB_SWAPPED(writer->swapped);
	int err;

	/* Compressed pages cannot go straight to the file, because their size is known only at the end. */
	if (writer->packer)
		return 0;
	dat_layout(&meta, writer, "x86-tsc", nr_cpus);
	err = meta.error;
	if (!err) {
		writer->straight = (meta.size + room + page - 1) & ~(page - 1);
		page_store_straight(writer->store, writer->file.fd, writer->straight);
	}
	blob_free(&meta);
	return err;
}

int dat_write_scratch(struct dat_writer *writer)
{
	return page_store_scratch(writer->store);
}

uint64_t dat_write_size(const struct dat_writer *writer, unsigned int number, unsigned int cpu)
{
	const struct write_buffer *buffer = &writer->buffers[number];

	if (cpu >= buffer->nr_cpus || buffer->tracks[cpu] == NO_TRACK)
		return 0;
	if (writer->packer)
		return writer->packer->ops->plain(writer->packer, buffer->tracks[cpu]);
	return page_store_size(writer->store, buffer->tracks[cpu]);
}

uint64_t dat_stored_size(const struct dat_writer *writer, unsigned int number, unsigned int cpu)
{
	const struct write_buffer *buffer = &writer->buffers[number];

	if (cpu >= buffer->nr_cpus || buffer->tracks[cpu] == NO_TRACK)
		return 0;
	if (writer->packer)
		return writer->packer->ops->packed(writer->packer, buffer->tracks[cpu]);
	return page_store_size(writer->store, buffer->tracks[cpu]);
}

uint64_t dat_stored_buffer(const struct dat_writer *writer, unsigned int number)
{
	uint64_t size = 0;
	unsigned int cpu;

	for (cpu = 0; cpu < writer->buffers[number].nr_cpus; cpu++)
		size += dat_stored_size(writer, number, cpu);
	return size;
}

unsigned int dat_write_cpus(const struct dat_writer *writer)
{
	unsigned int cpus = 0;
	unsigned int i;

	for (i = 0; i < writer->nr_buffers; i++)
		if (writer->buffers[i].nr_cpus > cpus)
			cpus = writer->buffers[i].nr_cpus;
	return cpus;
}

/* Add a system. `key`: the key of its number. NULL: out of memory. */
static struct write_system *add_system(struct dat_writer *writer, const char *name, uint64_t key)
{
	const size_t i = writer->nr_systems;
	struct write_system *systems = dat_grow(writer->systems, i, sizeof(*systems));

	if (!systems)
		return NULL;
	writer->systems = systems;
	memset(&systems[i], 0, sizeof(*systems));
	systems[i].events.swapped = writer->swapped;
	systems[i].name = strdup(name);
	if (!systems[i].name)
		return NULL;
	writer->nr_systems++;
	return number_map_set(&writer->system_numbers, key, i + 1) ? NULL : &systems[i];
}

static struct write_system *find_system(struct dat_writer *writer, const char *name)
{
	uint64_t key = hash_bytes(name, strlen(name)), number;

	/* Other names may have the same hash. */
	while ((number = number_map_get(&writer->system_numbers, key)) &&
	       strcmp(writer->systems[number - 1].name, name) != 0)
		key = hash_step(key, 1);
	return number ? &writer->systems[number - 1] : add_system(writer, name, key);
}

int dat_write_format(struct dat_writer *writer, const char *system_name, const char *text, size_t size)
{
	struct write_system *system = find_system(writer, system_name);

	if (!system)
		return -ENOMEM;
	blob_u64(&system->events, size);
	blob_put(&system->events, text, size);
	system->nr_events++;
	return system->events.error;
}

int dat_write_text(struct dat_writer *writer, enum dat_id id, const void *text, size_t size)
{
	struct blob *blob;

	if (id == DAT_KALLSYMS)
		blob = &writer->kallsyms;
	else if (id == DAT_PRINTK)
		blob = &writer->printk;
	else if (id == DAT_CMDLINES)
		blob = &writer->cmdlines;
	else
		return -EINVAL;
	if (id != DAT_CMDLINES && size > UINT32_MAX)
		return -EINVAL;
	blob_put(blob, text, size);
	return blob->error;
}

int dat_write_option(struct dat_writer *writer, enum dat_id id, const void *data, size_t size)
{
	dat_put_option(&writer->options, id, data, size);
	return writer->options.error;
}

/* Copy the pages to the places that the layout has kept for them. */
static int copy_pages(struct dat_writer *writer, uint64_t *ret_end)
{
	unsigned int i, cpu;
	int err = 0;

	for (i = 0; i < writer->nr_buffers; i++) {
		const struct write_buffer *buffer = &writer->buffers[i];
		uint64_t offset = buffer->data;

		for (cpu = 0; cpu < buffer->nr_cpus && !err; cpu++) {
			if (buffer->tracks[cpu] == NO_TRACK)
				continue;
			err = writer->packer
				      ? writer->packer->ops->copy(writer->packer, buffer->tracks[cpu], writer->file.fd,
								  offset)
				      : page_store_copy(writer->store, buffer->tracks[cpu], writer->file.fd, offset);
			offset += dat_stored_size(writer, i, cpu);
		}
		if (offset > *ret_end)
			*ret_end = offset;
	}
	return err;
}

int dat_write_finish(struct dat_writer *writer, const char *clock, unsigned int nr_cpus, uint64_t *ret_size)
{
	const unsigned int cpus = dat_write_cpus(writer);
	struct blob meta = BLOB_SWAPPED(writer->swapped);
	uint64_t size;
	int err = writer->packer ? writer->packer->ops->complete(writer->packer) : 0;

	if (err) {
		out_file_abandon(&writer->file);
		return err;
	}
	/* The number of CPUs is not part of version 7's structure, so a copy takes it from the original. */
	if (nr_cpus < cpus && (writer->version == 6 || !writer->shape.header_page))
		nr_cpus = cpus;
	dat_layout(&meta, writer, clock, nr_cpus);
	size = meta.size;
	err = meta.error;
	if (!err && writer->straight && writer->buffers[0].data != writer->straight)
		err = page_store_move(writer->store, writer->file.fd, writer->buffers[0].data);
	if (!err)
		err = out_write_at(writer->file.fd, meta.data, meta.size, 0);
	blob_free(&meta);
	if (!err)
		err = dat_layout_sections(writer);
	if (!err)
		err = copy_pages(writer, &size);
	if (err)
		out_file_abandon(&writer->file);
	else
		err = out_file_commit(&writer->file);
	if (!err && ret_size)
		*ret_size = size;
	return err;
}
