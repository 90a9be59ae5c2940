/* SPDX-License-Identifier: MIT */
/*
 * Times in the result are as shown, minus the first file's DATE. So options that convert times are left out, except
 * DATE. The other options are those of the first file. merge_notes.c writes the notes of all files, merge_texts.c their
 * texts.
 */
#include "cli/files/merge_files.h"

#include "cli/base/base_name.h"
#include "cli/common/heap.h"
#include "cli/files/merge_clocks.h"
#include "cli/files/merge_cover.h"
#include "cli/files/merge_lanes.h"
#include "cli/files/merge_notes.h"
#include "cli/files/merge_sites.h"
#include "cli/files/merge_texts.h"

#include <errno.h>
#include <inttypes.h>
#include <librecorder/page.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/dat/dat_notes.h"
#include "format/dat/dat_repage.h"
#include "format/io/blob.h"
#include "format/io/bytes.h"

static int refuse(struct dat_error *error, unsigned int *ret_file, unsigned int file, const char *reason)
{
	*ret_file = file;
	snprintf(error->text, sizeof(error->text), "%s", reason);
	return -EOPNOTSUPP;
}

/* ------------------------------------------------------------------------------------------ what must be the same */

static int check_file(const struct merge *merge, unsigned int number, unsigned int *ret_file, struct dat_error *error)
{
	const struct merge_file *file = &merge->files[number], *first = &merge->files[0];

	if (dat_latency(file->file))
		return refuse(error, ret_file, number, "it has the text of a latency tracer, not events");
	if (file->file->page_size < REC_SUBBUF_MIN || file->file->page_size > REC_SUBBUF_MAX)
		return refuse(error, ret_file, number, "pages of its size cannot be written");
	if (file->file->big != first->file->big || file->file->commit_size != first->file->commit_size)
		return refuse(error, ret_file, number, "its byte order or size of long is not that of the first file");
	return 0;
}

/* Whether a file before this one is of another machine. */
static bool is_of_other_machine(const struct merge *merge, unsigned int number)
{
	for (unsigned int i = 0; i < number; i++) {
		if (merge_machine_is_other(&merge->files[number].machine, &merge->files[i].machine))
			return true;
	}
	return false;
}

static int join_clock(struct merge *merge, unsigned int number, unsigned int *ret_file, struct dat_error *error)
{
	struct merge_file *file = &merge->files[number];
	const struct merge_clock *clock = &file->clock;
	int err = merge_clock_find(file->file, merge->files[0].file, &file->clock, error);

	*ret_file = number;
	file->machine = merge_machine_of(file->file);
	if (err)
		return err;
	file->has_event = dat_merge_next(file->merge, &file->event) > 0;
	merge->is_moved = merge->is_moved || clock->by_readings;
	/* The first file may not state its machine, while two others do. */
	merge->has_machines = merge->has_machines || is_of_other_machine(merge, number);
	merge->split = merge->split || (merge->buffers == MERGE_BY_MACHINE && merge->has_machines);
	return 0;
}

/*
 * Whether a file begins before time 0 of the result's pages, which is impossible, because readers take times for
 * unsigned numbers.
 */
static bool begins_too_early(const struct merge *merge, const struct merge_file *file)
{
	return file->has_event && (__int128)file->event.ts + file->clock.move < (__int128)merge->date;
}

/*
 * Check that times are not too early for the first file's DATE. If they are, the pages get times of day instead. If the
 * first file has readings, this is impossible, because the pages' times would no longer be in the readings' clock.
 */
static int check_times(struct merge *merge, unsigned int *ret_file, struct dat_error *error)
{
	struct dat_notes first;

	dat_notes_of(merge->files[0].file, &first);
	for (unsigned int i = 0; i < merge->nr; i++) {
		const struct merge_file *file = &merge->files[i];

		if (!begins_too_early(merge, file))
			continue;
		if (!first.nr_readings && !file->clock.by_readings)
			merge->date = 0;
		if (begins_too_early(merge, file))
			return refuse(error, ret_file, i,
				      "its events are before time 0 of the first file's clock: give this file first");
	}
	return 0;
}

/*
 * The maximum error between times of two files: the sum of the two largest errors of all files. The error of a file
 * that was itself merged is included.
 */
static void add_errors(struct merge *merge)
{
	uint64_t largest = 0, second = 0;

	for (unsigned int i = 0; i < merge->nr; i++) {
		const struct merge_file *file = &merge->files[i];
		struct dat_notes notes;
		uint64_t error;

		dat_notes_of(file->file, &notes);
		error = notes.merge_error > UINT64_MAX / 4 ? UINT64_MAX / 4 : notes.merge_error;
		error += file->clock.error > UINT64_MAX / 4 ? UINT64_MAX / 4 : file->clock.error;
		merge->is_moved = merge->is_moved || notes.is_merged;
		merge->is_open = merge->is_open || file->clock.is_open || notes.merge_is_open;
		second = error > largest ? largest : error > second ? error : second;
		largest = error > largest ? error : largest;
	}
	merge->error = largest + second;
}

/* ------------------------------------------------------------------------------------------------------- buffers */

/*
 * The name in the result: "", "NAME"; or if each file has buffers of its own, "FILE", "FILE:NAME"; or "FILE#N",
 * "FILE#N:NAME" if position is not 0. NULL: no memory.
 */
static char *name_buffer(const struct merge *merge, unsigned int number, unsigned int position, const char *name)
{
	char *text = NULL, suffix[16] = "";

	if (!merge->split)
		return strdup(name);
	if (position)
		snprintf(suffix, sizeof(suffix), "#%u", position);
	return asprintf(&text, "%s%s%s%s", base_name(merge->files[number].path), suffix, *name ? ":" : "", name) < 0
		       ? NULL
		       : text;
}

/* 1: a file before this one has a buffer with a name that one of this file would have. 0; -ENOMEM. */
static int has_name(const struct merge *merge, unsigned int number, unsigned int position)
{
	const struct dat_file *file = merge->files[number].file;
	bool is_found = false;

	for (size_t b = 0; b < file->nr_buffers && !is_found; b++) {
		char *name = name_buffer(merge, number, position, file->buffers[b].name);

		if (!name)
			return -ENOMEM;
		for (unsigned int i = 0; i < merge->nr_buffers && !is_found; i++)
			is_found = !strcmp(merge->names[i], name);
		free(name);
	}
	return is_found;
}

/*
 * The number that makes the names of a file's buffers unique; 0: they are unique without one. The second of two files
 * with the same name is "FILE#2", if it is the second on the command line and no file has that name. -ENOMEM.
 */
static int find_position(const struct merge *merge, unsigned int number)
{
	unsigned int position = 0;
	int ret = merge->split ? has_name(merge, number, position) : 0;

	for (position = number + 1; ret > 0; position++) {
		ret = has_name(merge, number, position);
		if (!ret)
			return (int)position;
	}
	return ret;
}

/* Find or make the result's buffer of this name. Takes ownership of the name. */
static int find_buffer(struct merge *merge, char *name, uint32_t page_size, unsigned int *ret_buffer)
{
	char **names;
	int err = 0;

	for (unsigned int i = 0; i < merge->nr_buffers; i++) {
		if (!strcmp(merge->names[i], name)) {
			free(name);
			*ret_buffer = i;
			return 0;
		}
	}
	names = realloc(merge->names, (merge->nr_buffers + 1) * sizeof(*names));
	if (names)
		merge->names = names;
	if (names && merge->nr_buffers)
		err = dat_write_buffer(merge->writer, name, ret_buffer);
	else
		*ret_buffer = 0; /* the top buffer, which always exists */
	if (!names || err) {
		free(name);
		return -ENOMEM;
	}
	dat_write_page_size(merge->writer, *ret_buffer, page_size);
	names[merge->nr_buffers++] = name;
	return 0;
}

static int add_buffers(struct merge *merge, uint32_t page_size)
{
	char *top = strdup("");
	unsigned int number;
	int err = top ? find_buffer(merge, top, page_size, &number) : -ENOMEM;

	for (unsigned int i = 0; i < merge->nr && !err; i++) {
		struct merge_file *file = &merge->files[i];

		const int position = find_position(merge, i);

		file->buffers = calloc(file->file->nr_buffers + 1, sizeof(*file->buffers));
		if (!file->buffers || position < 0)
			return -ENOMEM;
		for (size_t b = 0; b < file->file->nr_buffers && !err; b++) {
			char *name = name_buffer(merge, i, (unsigned int)position, file->file->buffers[b].name);

			err = name ? find_buffer(merge, name, page_size, &file->buffers[b]) : -ENOMEM;
		}
	}
	if (err)
		return err;
	merge->page_sizes = calloc(merge->nr_buffers, sizeof(*merge->page_sizes));
	for (unsigned int i = 0; i < merge->nr_buffers && merge->page_sizes; i++)
		merge->page_sizes[i] = page_size;
	return merge->page_sizes ? 0 : -ENOMEM;
}

/* ------------------------------------------------------------------------------------------------------- options */

/* Put the options of the first file that are still valid. */
static int put_options(const struct merge *merge)
{
	const struct dat_file *file = merge->files[0].file;
	int err = merge_put_notes(merge);

	for (size_t i = 0; i < file->nr_options && !err; i++) {
		const struct dat_option *option = &file->options[i];

		if ((option->id == DAT_DATE && merge->date) || option->id == DAT_UNAME || option->id == DAT_HOOK ||
		    option->id == DAT_PROCMAPS)
			err = dat_write_option(merge->writer, option->id, option->data, option->size);
	}
	return err;
}

/* The size of the largest pages of all buffers; such a page can hold every event. */
static uint32_t largest_page(const struct merge *merge)
{
	uint32_t size = 0;

	for (unsigned int i = 0; i < merge->nr; i++) {
		const struct dat_file *file = merge->files[i].file;

		size = file->page_size > size ? file->page_size : size;
		for (size_t b = 0; b < file->nr_buffers; b++)
			size = file->buffers[b].page_size > size ? file->buffers[b].page_size : size;
	}
	return size;
}

/* Whether the writer's own description of pages is that of the file. */
static bool is_native(const struct dat_file *file)
{
	return file->big == (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__) && file->commit_size == 8;
}

/* The file with the largest pages, whose header describes those of the result. */
static const struct dat_file *largest(const struct merge *merge)
{
	const struct dat_file *file = merge->files[0].file;

	for (unsigned int i = 1; i < merge->nr; i++) {
		if (merge->files[i].file->page_size > file->page_size)
			file = merge->files[i].file;
	}
	return file;
}

static int open_writer(struct merge *merge, const struct dat_file *form)
{
	const struct dat_shape shape = {
		.big = form->big,
		.long_size = form->long_size,
		.header_page = form->header_page.text,
		.header_page_size = form->header_page.size,
		.header_event = form->header_event.text,
		.header_event_size = form->header_event.size,
	};
	uint32_t page_size = form->page_size;
	unsigned int streams = 0;
	int err;

	/*
	 * If an instance has larger pages than every file, no file's header describes them. The writer makes one for
	 * this machine's form.
	 */
	if (largest_page(merge) > page_size && is_native(form))
		page_size = largest_page(merge);

	for (unsigned int i = 0; i < merge->nr; i++)
		for (size_t b = 0; b < merge->files[i].file->nr_buffers; b++)
			streams += merge->files[i].file->buffers[b].nr_streams;
	err = dat_write_open(merge->output, merge->version, page_size, streams, &merge->writer);
	if (err)
		return err;
	if (page_size == form->page_size)
		dat_write_shape(merge->writer, &shape);
	if (merge->packing)
		err = dat_write_pack(merge->writer, merge->packing, streams);
	if (!err)
		err = add_buffers(merge, page_size);
	if (!err)
		err = dat_ids_write(merge->ids, merge->writer);
	if (!err)
		err = merge_put_texts(merge);
	return err;
}

/* -------------------------------------------------------------------------------------------------------- events */

/* The event, with the id and the call site's address that it has in the result. NULL: no memory. */
static const void *rename_event(struct merge *merge, const struct merge_file *file)
{
	const struct dat_event *event = &file->event;
	unsigned char *record;
	uint16_t type, id;

	if (event->size < file->ids->offset + sizeof(id))
		return event->data;
	if (event->size > merge->record_size) {
		record = realloc(merge->record, event->size);
		if (!record)
			return NULL;
		merge->record = record;
		merge->record_size = event->size;
	}
	memcpy(merge->record, event->data, event->size);
	type = bytes_get16(event->data + file->ids->offset, file->file->big);
	id = (uint16_t)(type + file->ids->add[type]);
	merge->record[file->ids->offset + (file->file->big ? 0 : 1)] = (unsigned char)(id >> 8);
	merge->record[file->ids->offset + (file->file->big ? 1 : 0)] = (unsigned char)id;
	merge_sites_rename(file, type, merge->record, event->size);
	return merge->record;
}

/* Whether the next event of a file comes before that of another one; at equal times the first file's does. */
static bool is_before(const void *arg, const void *one, const void *other)
{
	const struct merge_file *a = one, *b = other;
	const uint64_t a_time = merge_time(arg, a, a->event.ts), b_time = merge_time(arg, b, b->event.ts);

	return a_time != b_time ? a_time < b_time : a < b; /* both point into merge->files */
}

static int put_event(struct merge *merge, struct dat_repage *repage, struct merge_file *file)
{
	const struct dat_event *event = &file->event;
	const uint32_t ids = file->ids->offset;
	const struct dat_repage_event out = {
		.buffer = file->buffers[event->buffer - file->file->buffers],
		.cpu = event->cpu,
		.time = merge_time(merge, file, event->ts),
		.lost = event->lost,
		.marked = merge_lanes_marker(merge, file),
		.data = rename_event(merge, file),
		.size = event->size,
	};
	const int err = out.data ? dat_repage_put(repage, &out) : -ENOMEM;

	if (event->size >= ids + sizeof(uint16_t))
		merge_cover_event(file, bytes_get16(event->data + ids, file->file->big), out.time);
	merge->events++;
	return err;
}

static int put_events(struct merge *merge, const struct dat_file *form)
{
	struct heap heap = { .is_before = is_before, .arg = merge };
	struct dat_repage *repage = NULL;
	int err = dat_repage_open(merge->writer, form, merge->page_sizes, merge->nr_buffers, &repage);

	heap.items = calloc(merge->nr, sizeof(*heap.items));
	if (!err && !heap.items)
		err = -ENOMEM;
	for (unsigned int i = 0; i < merge->nr && !err; i++) {
		if (merge->files[i].has_event)
			heap.items[heap.nr++] = &merge->files[i];
	}
	heap_order(&heap);
	while (!err && heap.nr) {
		struct merge_file *file = heap.items[0];

		err = put_event(merge, repage, file);
		file->has_event = dat_merge_next(file->merge, &file->event) > 0;
		heap_advance(&heap, !file->has_event);
	}
	if (!err)
		err = dat_repage_flush(repage);
	dat_repage_close(repage);
	free(heap.items);
	return err;
}

int merge_files(struct merge *merge, unsigned int *ret_file, struct dat_error *ret_error)
{
	const struct dat_file *form = largest(merge), *first = merge->files[0].file;
	char clock[64];
	unsigned int cpus = 0;
	int err = dat_ids_open(&merge->ids);

	merge->split = merge->buffers == MERGE_SPLIT;
	dat_time_date(first, &merge->date);
	ret_error->text[0] = '\0';
	for (unsigned int i = 0; i < merge->nr && !err; i++) {
		struct merge_file *file = &merge->files[i];

		err = check_file(merge, i, ret_file, ret_error);
		if (err)
			return err;
		merge_cover_open(file);
		file->ids = calloc(1, sizeof(*file->ids));
		err = file->ids ? dat_ids_add(merge->ids, file->file, file->ids) : -ENOMEM;
		if (err == -EBADMSG || err == -ENOSPC)
			return refuse(ret_error, ret_file, i,
				      err == -ENOSPC ? "there are no ids left for its events"
						     : "an event format has no valid id");
		if (!err)
			err = dat_merge_open(file->file, &file->time, NULL, NULL, &file->merge);
		if (!err)
			err = join_clock(merge, i, ret_file, ret_error);
		for (size_t b = 0; b < file->file->nr_buffers; b++)
			cpus = file->file->buffers[b].cpus > cpus ? file->file->buffers[b].cpus : cpus;
	}
	add_errors(merge);
	if (!err)
		err = check_times(merge, ret_file, ret_error);
	if (!err)
		err = merge_check_texts(merge);
	if (!err)
		err = open_writer(merge, form);
	if (!err)
		err = merge_lanes_open(merge);
	if (!err)
		err = put_events(merge, form);
	if (!err)
		err = put_options(merge);
	merge_clock_name(first, clock, sizeof(clock));
	return err ? err : dat_write_finish(merge->writer, clock, cpus, NULL);
}

void merge_close(struct merge *merge)
{
	merge_lanes_close(merge);
	for (unsigned int i = 0; i < merge->nr; i++) {
		struct merge_file *file = &merge->files[i];

		dat_merge_close(file->merge);
		dat_time_close(&file->time);
		dat_absent_free(&file->cover.absent);
		dat_close(file->file);
		free(file->ids);
		free(file->buffers);
	}
	for (unsigned int i = 0; i < merge->nr_buffers; i++)
		free(merge->names[i]);
	free(merge->names);
	free(merge->page_sizes);
	free(merge->record);
	dat_write_close(merge->writer);
	dat_ids_close(merge->ids);
	number_map_free(&merge->ambiguous);
	merge_sites_free(merge);
}
