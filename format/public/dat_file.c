/* SPDX-License-Identifier: MIT */
/* Files, buffers, records and tasks of <librecorder/dat.h>. */
#include "format/public/dat_private.h"

#include "format/dat/dat_compress.h"
#include "format/dat/dat_notes.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char no_print[] = "\nprint fmt: \"\"\n";

_Static_assert((uint64_t)DAT_PAGE_LOST_UNKNOWN == REC_DAT_LOST_UNKNOWN, "an unknown number of losses");

/* Copy the description without its print format, whose parsing would take longer than everything else. 0; -ENOMEM. */
static int strip(const struct dat_format *format, struct dat_format *ret_format)
{
	const char *text = format->text.text;
	const char *print = text ? strstr(text, "\nprint fmt:") : NULL;
	size_t size;

	*ret_format = *format;
	ret_format->text.text = NULL;
	if (!text)
		return 0;
	size = print ? (size_t)(print - text) : format->text.size;
	ret_format->text.text = malloc(size + sizeof(no_print));
	if (!ret_format->text.text)
		return -ENOMEM;
	memcpy(ret_format->text.text, text, size);
	ret_format->text.text[size] = '\0';
	if (print)
		memcpy(ret_format->text.text + size, no_print, sizeof(no_print));
	ret_format->text.size = size + (print ? sizeof(no_print) - 1 : 0);
	return 0;
}

static int open_table(struct rec_dat *d)
{
	struct dat_file plain = *d->file;
	int err = 0;

	/* Names of functions and texts of printk are not needed. */
	plain.kallsyms.text = plain.boot_symbols.text = plain.printk.text = NULL;
	plain.formats = calloc(plain.nr_formats ? plain.nr_formats : 1, sizeof(*plain.formats));
	if (!plain.formats)
		return -ENOMEM;
	for (size_t i = 0; !err && i < plain.nr_formats; i++)
		err = strip(&d->file->formats[i], &plain.formats[i]);
	if (!err)
		err = event_table_open(&plain, EVENT_NO_PLUGINS, &d->table);
	/* EVENT_NAMES would read the copy of the file, which does not exist any more when a name is needed. */
	if (!err)
		err = event_names_open(d->table, d->file);
	for (size_t i = 0; i < plain.nr_formats; i++)
		free(plain.formats[i].text.text);
	free(plain.formats);
	return err;
}

static int open_parts(struct rec_dat *d, const char *path, struct dat_error *error)
{
	int err = dat_open_rest(path, dat_compress_zstd(), &d->file, error);

	if (!err)
		err = dat_time_open(d->file, 0, &d->time, error);
	if (!err)
		err = open_table(d);
	if (!err)
		err = rec_dat_events_open(d);
	if (!err)
		d->has_clock = dat_clock_name(d->file, d->clock, sizeof(d->clock));
	return err;
}

static void give_error(struct rec_dat_error *ret_error, const struct dat_error *error)
{
	ret_error->offset = error->offset;
	snprintf(ret_error->text, sizeof(ret_error->text), "%s", error->text);
}

int rec_dat_open(const char *path, struct rec_dat **ret_dat, struct rec_dat_error *ret_error)
{
	struct rec_dat *d = calloc(1, sizeof(*d));
	struct dat_error error = { 0 };
	int err = d ? open_parts(d, path, &error) : -ENOMEM;

	if (err) {
		if (!error.text[0])
			snprintf(error.text, sizeof(error.text), "%s", strerror(-err));
		give_error(ret_error, &error);
		rec_dat_close(d);
		return err;
	}
	*ret_dat = d;
	return 0;
}

struct rec_dat *rec_dat_close(struct rec_dat *dat)
{
	if (!dat)
		return NULL;
	rec_dat_events_close(dat);
	event_table_close(dat->table);
	dat_time_close(&dat->time);
	dat_close(dat->file);
	free(dat);
	return NULL;
}

int rec_dat_missing(const struct rec_dat *dat, struct rec_dat_error *ret_error)
{
	if (!dat->file->missing.text[0])
		return 0;
	if (ret_error)
		give_error(ret_error, &dat->file->missing);
	return 1;
}

uint32_t rec_dat_left_out(const struct rec_dat *dat, const char **ret_first)
{
	const struct event_left_out *out = &dat->table->failed;

	if (out->nr && ret_first)
		*ret_first = out->first;
	return out->nr;
}

const char *rec_dat_clock(const struct rec_dat *dat)
{
	return dat->has_clock ? dat->clock : NULL;
}

uint64_t rec_dat_clock_error(const struct rec_dat *dat)
{
	struct dat_notes notes;

	if (!dat_notes_of(dat->file, &notes) || notes.time_error == DAT_TIME_ERROR_UNKNOWN)
		return REC_DAT_ERROR_UNKNOWN;
	return notes.time_error;
}

int rec_dat_is_big_endian(const struct rec_dat *dat)
{
	return dat->file->big;
}

uint32_t rec_dat_nr_buffers(const struct rec_dat *dat)
{
	return (uint32_t)dat->file->nr_buffers;
}

int rec_dat_buffer_at(const struct rec_dat *dat, uint32_t buffer, struct rec_dat_buffer *ret_buffer)
{
	const struct dat_buffer *from;

	if (buffer >= dat->file->nr_buffers)
		return -ENOENT;
	from = &dat->file->buffers[buffer];
	*ret_buffer = (struct rec_dat_buffer){
		.name = from->name, .clock = from->clock, .page_size = from->page_size, .nr_streams = from->nr_streams
	};
	return 0;
}

int rec_dat_stream_at(const struct rec_dat *dat, uint32_t buffer, uint32_t stream, struct rec_dat_stream *ret_stream)
{
	const struct dat_stream *from;

	if (buffer >= dat->file->nr_buffers || stream >= dat->file->buffers[buffer].nr_streams)
		return -ENOENT;
	from = &dat->file->buffers[buffer].streams[stream];
	*ret_stream = (struct rec_dat_stream){ .cpu = from->cpu, .offset = from->offset, .size = from->size };
	return 0;
}

struct one_stream {
	const struct dat_buffer *buffer;
	uint32_t cpu;
};

static bool is_the_stream(const void *arg, const struct dat_buffer *buffer, uint32_t cpu)
{
	const struct one_stream *one = arg;

	return buffer == one->buffer && cpu == one->cpu;
}

static void look_at_common(struct rec_dat_iter *iter, const struct event_table *table)
{
	const uint32_t type_end = table->type_offset + 2, pid_end = table->pid_offset + 4;

	iter->is_usual = table->type_size == 2 && table->pid_size == 4 &&
			 table->big == (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	iter->type_offset = table->type_offset;
	iter->pid_offset = table->pid_offset;
	iter->least = type_end > pid_end ? type_end : pid_end;
}

static int open_iter(struct rec_dat *dat, const struct one_stream *one, uint64_t since, struct rec_dat_iter **ret_iter)
{
	struct rec_dat_iter *iter = calloc(1, sizeof(*iter));

	if (!iter)
		return -ENOMEM;
	iter->dat = dat;
	iter->since = since;
	look_at_common(iter, dat->table);
	if (dat_merge_open_at(dat->file, &dat->time, one ? is_the_stream : NULL, one, since, &iter->merge)) {
		free(iter);
		return -ENOMEM;
	}
	*ret_iter = iter;
	return 0;
}

int rec_dat_iter_open(struct rec_dat *dat, struct rec_dat_iter **ret_iter)
{
	return open_iter(dat, NULL, 0, ret_iter);
}

int rec_dat_iter_open_at(struct rec_dat *dat, uint64_t since, struct rec_dat_iter **ret_iter)
{
	return open_iter(dat, NULL, since, ret_iter);
}

int rec_dat_iter_open_stream(struct rec_dat *dat, uint32_t buffer, uint32_t stream, uint64_t since,
			     struct rec_dat_iter **ret_iter)
{
	struct one_stream one;

	if (buffer >= dat->file->nr_buffers || stream >= dat->file->buffers[buffer].nr_streams)
		return -ENOENT;
	one = (struct one_stream){ &dat->file->buffers[buffer], dat->file->buffers[buffer].streams[stream].cpu };
	return open_iter(dat, &one, since, ret_iter);
}

struct rec_dat_iter *rec_dat_iter_close(struct rec_dat_iter *iter)
{
	if (iter)
		dat_merge_close(iter->merge);
	free(iter);
	return NULL;
}

int rec_dat_iter_next(struct rec_dat_iter *iter, struct rec_dat_record *ret_record)
{
	const struct dat_event *event;

	do {
		event = dat_merge_take(iter->merge);
		if (!event)
			return 0;
	} while (event->ts < iter->since);
	ret_record->ts = event->ts;
	/* DAT_PAGE_LOST_UNKNOWN becomes REC_DAT_LOST_UNKNOWN. */
	ret_record->lost = (uint64_t)event->lost;
	ret_record->data = event->data;
	ret_record->size = event->size;
	ret_record->cpu = event->cpu;
	ret_record->buffer = (uint32_t)(event->buffer - iter->dat->file->buffers);
	if (iter->is_usual && event->size >= iter->least) {
		uint16_t type;

		memcpy(&type, event->data + iter->type_offset, sizeof(type));
		memcpy(&ret_record->tid, event->data + iter->pid_offset, sizeof(ret_record->tid));
		ret_record->id = type;
	} else {
		const struct event_table *table = iter->dat->table;

		ret_record->id = event_id(table, event->data, event->size);
		ret_record->tid = event_pid(table, event->data, event->size);
	}
	return 1;
}

uint64_t rec_dat_iter_damaged(const struct rec_dat_iter *iter, struct rec_dat_error *ret_error)
{
	struct dat_error error = { 0 };
	uint32_t cpu;
	const uint64_t nr = dat_merge_damaged(iter->merge, &error, &cpu);

	if (nr && ret_error)
		give_error(ret_error, &error);
	return nr;
}

const char *rec_dat_comm(const struct rec_dat *dat, int32_t tid)
{
	const char *comm = event_comm(dat->table, tid);

	return comm[0] ? comm : NULL;
}

int32_t rec_dat_process(const struct rec_dat *dat, int32_t tid)
{
	return event_process(dat->table, tid);
}
