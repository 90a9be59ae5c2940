/* SPDX-License-Identifier: MIT */
/* Version 6 after the prologue: a fixed sequence, then tables of CPUs (trace-dat.md 3). */
#include "format/dat/dat_internal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static int parse_cpu_table(struct dat_file *file, struct bytes *b, struct dat_buffer *buffer, struct dat_error *error)
{
	buffer->offset = b->pos;
	/* The tables of all buffers do not overlap: together they are no longer than the file. */
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

	/*
	 * Only files with the option have the text of the clock here; even then it may be unreadable (trace-dat.md
	 * 4.5).
	 */
	if (dat_option(file, DAT_TRACECLOCK)) {
		uint64_t size = bytes_u64(b);

		if (!b->error && size <= bytes_left(b) && size <= DAT_NAME_MAX)
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
		name = bytes_string(&b, DAT_NAME_MAX);
		if (!name)
			return dat_fail(error, b.error, option->offset,
					"damaged: a buffer option without offset or name");
		buffer = dat_add_buffer(file);
		if (!buffer) {
			free(name);
			return dat_fail(error, -ENOMEM, option->offset, "not enough memory for buffers");
		}
		buffer->name = name;
		bytes_from_file(&b, file->fd, offset, file->size, file->big);
		if (bytes_match(&b, "flyrecord", 10))
			err = parse_cpu_table(file, &b, buffer, error);
		else
			err = dat_fail(error, -EBADMSG, offset, "%s: no data of buffer \"%.32s\" at %" PRIu64,
				       bytes_left(&b) < 10 ? "truncated" : "damaged", name, offset);
		if (err) {
			buffer->nr_streams = 0;
			err = dat_missing(file, err, error);
		}
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
		top->text.offset = b->pos; /* dat_check_buffers() adds the size later */
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

	bytes_from_file(&b, file->fd, DAT_PROLOGUE, file->size, file->big);
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
