/* SPDX-License-Identifier: MIT */
/*
 * Times in the result are those that are shown, so options that convert them are left out; the other options are those
 * of the first file. Command lines follow one another: readers take the first name of a thread.
 */
#include "cli/files/merge_files.h"

#include <errno.h>
#include <inttypes.h>
#include <librecorder/page.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static void clock_of(const struct merge_file *file, char *name, size_t size)
{
	if (!dat_clock_name(file->file, name, size))
		snprintf(name, size, "local"); /* a file without a clock: nanoseconds */
}

#define BOOTS_APART INT64_C(60000000000) /* ns; a boot takes some seconds, a clock that is set right jumps less */

/* Whether the times of one file were moved to those of the other (TIME_SHIFT names its id). */
static bool is_peer(const struct dat_file *file, const struct dat_file *other)
{
	const struct dat_option *shift = dat_option(file, DAT_TIME_SHIFT), *id = dat_option(other, DAT_TRACEID);

	return shift && id && shift->size >= 8 && id->size == 8 && !memcmp(shift->data, id->data, 8);
}

static bool are_peers(const struct dat_file *one, const struct dat_file *other)
{
	return is_peer(one, other) || is_peer(other, one);
}

static bool is_converted(const struct dat_file *file)
{
	return dat_option(file, DAT_TSC2NSEC) != NULL;
}

/* Options that move a file's times to those of other clocks: files with and without have no common time. */
static int check_shifts(const struct merge *merge, unsigned int number, unsigned int *ret_file, struct dat_error *error)
{
	static const struct {
		enum dat_id id;
		const char *reason;
	} all[] = {
		{ DAT_DATE, "only one of it and the first file has times of the day (option date)" },
		{ DAT_OFFSET, "only one of it and the first file has an offset added to its times (option offset)" },
		{ DAT_TIME_SHIFT,
		 "only one of it and the first file has times of another machine (option time_shift)" },
	};
	const struct dat_file *file = merge->files[number].file, *first = merge->files[0].file;

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		if (!dat_option(file, all[i].id) == !dat_option(first, all[i].id))
			continue;
		if (all[i].id != DAT_TIME_SHIFT || !are_peers(file, first))
			return refuse(error, ret_file, number, all[i].reason);
	}
	return 0;
}

/*
 * The time of day minus CLOCK_BOOTTIME is the moment of the boot. It changes if the time of day is set, but seldom by
 * minutes. Peers are different machines, whose times were made comparable.
 */
static int check_boot(const struct merge *merge, unsigned int number, unsigned int *ret_file, struct dat_error *error)
{
	struct clock_reading readings[CLOCK_READINGS], first[CLOCK_READINGS];
	int64_t distance;

	if (are_peers(merge->files[number].file, merge->files[0].file) ||
	    !dat_time_readings(merge->files[number].file, readings) ||
	    !dat_time_readings(merge->files[0].file, first))
		return 0;
	distance = (int64_t)((readings[0].realtime - readings[0].boottime) - (first[0].realtime - first[0].boottime));
	if (distance > -BOOTS_APART && distance < BOOTS_APART)
		return 0;
	refuse(error, ret_file, number, "");
	snprintf(error->text, sizeof(error->text),
		 "its machine was booted %" PRId64 " s %s that of the first file: their times have nothing in common",
		 (distance < 0 ? -distance : distance) / INT64_C(1000000000), distance < 0 ? "before" : "after");
	return -EOPNOTSUPP;
}

static int check_file(const struct merge *merge, unsigned int number, unsigned int *ret_file, struct dat_error *error)
{
	const struct merge_file *file = &merge->files[number], *first = &merge->files[0];
	char clock[64], first_clock[64];
	int err;

	for (size_t i = 0; i < file->file->nr_buffers; i++) {
		if (file->file->buffers[i].latency)
			return refuse(error, ret_file, number, "it has the text of a latency tracer, not events");
	}
	if (file->file->page_size < REC_SUBBUF_MIN || file->file->page_size > REC_SUBBUF_MAX)
		return refuse(error, ret_file, number, "pages of its size are not written");
	if (file->file->big != first->file->big || file->file->commit_size != first->file->commit_size)
		return refuse(error, ret_file, number, "byte order or size of long are not those of the first file");
	clock_of(file, clock, sizeof(clock));
	clock_of(first, first_clock, sizeof(first_clock));
	if (strcmp(clock, first_clock) != 0 || is_converted(file->file) != is_converted(first->file))
		return refuse(error, ret_file, number, "its clock is not that of the first file");
	err = check_shifts(merge, number, ret_file, error);
	return err ? err : check_boot(merge, number, ret_file, error);
}

/* ------------------------------------------------------------------------------------------------------- buffers */

static const char *base_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* The name in the result: "", "NAME"; or if each file has buffers of its own, "FILE", "FILE:NAME". NULL: no memory. */
static char *name_buffer(const struct merge *merge, const struct merge_file *file, const char *name)
{
	char *text = NULL;

	if (!merge->split)
		return strdup(name);
	return asprintf(&text, "%s%s%s", base_of(file->path), *name ? ":" : "", name) < 0 ? NULL : text;
}

/* Takes the name. */
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
		*ret_buffer = 0; /* the top one, which is there */
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

		file->buffers = calloc(file->file->nr_buffers + 1, sizeof(*file->buffers));
		if (!file->buffers)
			return -ENOMEM;
		for (size_t b = 0; b < file->file->nr_buffers && !err; b++) {
			char *name = name_buffer(merge, file, file->file->buffers[b].name);

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

/* --------------------------------------------------------------------------------------------------------- texts */

static const struct dat_text *text_of(const struct dat_file *file, enum dat_id id)
{
	return id == DAT_KALLSYMS ? dat_symbols(file) : id == DAT_PRINTK ? &file->printk : &file->cmdlines;
}

/* The texts of all files, one after the other; equal ones once. */
static int put_text(const struct merge *merge, enum dat_id id)
{
	struct blob all = BLOB_INIT;
	int err;

	for (unsigned int i = 0; i < merge->nr; i++) {
		const struct dat_text *text = text_of(merge->files[i].file, id);
		bool is_new = text->size > 0;

		for (unsigned int j = 0; j < i && is_new; j++) {
			const struct dat_text *other = text_of(merge->files[j].file, id);

			is_new = other->size != text->size || memcmp(other->text, text->text, text->size) != 0;
		}
		if (!is_new)
			continue;
		if (all.size && all.data[all.size - 1] != '\n')
			blob_put(&all, "\n", 1);
		blob_put(&all, text->text, text->size);
	}
	err = all.error;
	if (!err && all.size)
		err = dat_write_text(merge->writer, id, all.data, all.size);
	blob_free(&all);
	return err;
}

/* Those of the first file that still hold. */
static int put_options(const struct merge *merge)
{
	const struct dat_file *file = merge->files[0].file;
	int err = 0;

	for (size_t i = 0; i < file->nr_options && !err; i++) {
		const struct dat_option *option = &file->options[i];

		if (option->id == DAT_UNAME || option->id == DAT_VERSION || option->id == DAT_HOOK ||
		    option->id == DAT_PROCMAPS)
			err = dat_write_option(merge->writer, option->id, option->data, option->size);
	}
	return err;
}

/* The size of the largest pages of all buffers, which hold every event. */
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

/* Whether the writer describes the pages by itself as those of the file. */
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

	/* An instance has larger pages than any file: then no header describes them. */
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
		err = put_text(merge, DAT_KALLSYMS);
	if (!err)
		err = put_text(merge, DAT_PRINTK);
	if (!err)
		err = put_text(merge, DAT_CMDLINES);
	return err ? err : put_options(merge);
}

/* -------------------------------------------------------------------------------------------------------- events */

/* The event with the id that it has in the result. NULL: no memory. */
static const void *rename_event(struct merge *merge, const struct merge_file *file)
{
	const struct dat_event *event = &file->event;
	unsigned char *record;
	uint16_t id;

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
	id = file->ids->to[bytes_get16(event->data + file->ids->offset, file->file->big)];
	merge->record[file->ids->offset + (file->file->big ? 0 : 1)] = (unsigned char)(id >> 8);
	merge->record[file->ids->offset + (file->file->big ? 1 : 0)] = (unsigned char)id;
	return merge->record;
}

/* The file with the next event; at equal times the first of them. NULL: there is none. */
static struct merge_file *next_file(struct merge *merge)
{
	struct merge_file *next = NULL;

	for (unsigned int i = 0; i < merge->nr; i++) {
		struct merge_file *file = &merge->files[i];

		if (!file->has_event)
			file->has_event = dat_merge_next(file->merge, &file->event) > 0;
		if (file->has_event && (!next || file->event.ts < next->event.ts))
			next = file;
	}
	return next;
}

static int put_events(struct merge *merge, const struct dat_file *form)
{
	struct dat_repage *repage;
	struct merge_file *file;
	int err = dat_repage_open(merge->writer, form, merge->page_sizes, merge->nr_buffers, &repage);

	if (err)
		return err;
	while (!err && (file = next_file(merge))) {
		const struct dat_event *event = &file->event;
		const struct dat_repage_event out = {
			.buffer = file->buffers[event->buffer - file->file->buffers],
			.cpu = event->cpu,
			.time = event->ts,
			.lost = event->lost,
			.data = rename_event(merge, file),
			.size = event->size,
		};

		err = out.data ? dat_repage_put(repage, &out) : -ENOMEM;
		file->has_event = false;
		merge->events++;
	}
	if (!err)
		err = dat_repage_flush(repage);
	dat_repage_close(repage);
	return err;
}

int merge_files(struct merge *merge, unsigned int *ret_file, struct dat_error *ret_error)
{
	const struct dat_file *form = largest(merge);
	char clock[64];
	unsigned int cpus = 0;
	int err = dat_ids_open(&merge->ids);

	ret_error->text[0] = '\0';
	for (unsigned int i = 0; i < merge->nr && !err; i++) {
		struct merge_file *file = &merge->files[i];

		err = check_file(merge, i, ret_file, ret_error);
		if (err)
			return err;
		file->ids = malloc(sizeof(*file->ids));
		err = file->ids ? dat_ids_add(merge->ids, file->file, file->ids) : -ENOMEM;
		if (err == -EBADMSG || err == -ENOSPC)
			return refuse(ret_error, ret_file, i, err == -ENOSPC ? "there are no ids left for its events" :
						      "an event format has no valid id");
		if (!err)
			err = dat_merge_open(file->file, &file->time, NULL, NULL, &file->merge);
		for (size_t b = 0; b < file->file->nr_buffers; b++)
			cpus = file->file->buffers[b].cpus > cpus ? file->file->buffers[b].cpus : cpus;
	}
	if (!err)
		err = open_writer(merge, form);
	if (!err)
		err = put_events(merge, form);
	/* What TSC2NSEC has converted is in nanoseconds, of no clock that viewers know otherwise. */
	clock_of(&merge->files[0], clock, sizeof(clock));
	return err ? err : dat_write_finish(merge->writer, is_converted(form) ? "tsc2nsec" : clock, cpus, NULL);
}

void merge_close(struct merge *merge)
{
	for (unsigned int i = 0; i < merge->nr; i++) {
		struct merge_file *file = &merge->files[i];

		dat_merge_close(file->merge);
		dat_time_close(&file->time);
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
}
