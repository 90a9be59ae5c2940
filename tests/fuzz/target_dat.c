/* SPDX-License-Identifier: MIT */
/*
 * A target of libfuzzer.sh: a trace.dat file of any bytes, read without libtraceevent, which trusts its texts.
 * All data that the file's reader returns are read; the sanitizers check the rest.
 */
#include "format/dat/dat_compress.h"
#include "format/dat/dat_notes.h"
#include "format/dat/dat_page.h"
#include "format/dat/dat_process.h"
#include "format/dat/dat_read.h"
#include "format/dat/dat_seek.h"
#include "format/dat/dat_time.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile unsigned char sink;

static void look_at(const void *bytes, size_t size)
{
	const unsigned char *at = bytes;
	unsigned char sum = 0;

	for (size_t i = 0; i < size; i++)
		sum = (unsigned char)(sum + at[i]);
	sink = sum;
}

/* The records of a page, found in both ways. */
static void walk_page(const struct dat_file *file, const struct dat_page *page, bool all)
{
	struct dat_record record;
	struct dat_error error;
	struct dat_walk walk;

	look_at(page->data, page->size);
	if (dat_walk_open(file, page, &walk, &error) < 0)
		return;
	while ((all ? dat_walk_next : dat_walk_event)(&walk, &record, &error) > 0)
		look_at(record.data, record.size);
}

static void read_stream(const struct dat_file *file, const struct dat_buffer *buffer, const struct dat_stream *stream,
			const struct dat_time *time)
{
	struct dat_cursor cursor;
	struct dat_error error;
	struct dat_page page;
	uint64_t last;
	int ret;

	if (dat_cursor_open(file, buffer, stream, &cursor) < 0)
		return;
	while ((ret = dat_cursor_next(&cursor, &page, &error)) > 0 || cursor.skipped) {
		if (ret < 0)
			continue;
		walk_page(file, &page, true);
		walk_page(file, &page, false);
	}
	dat_cursor_close(&cursor);
	if (dat_last_time(file, buffer, stream, time, &last) <= 0)
		return;
	if (dat_cursor_open(file, buffer, stream, &cursor) < 0)
		return;
	if (dat_cursor_seek(&cursor, time, last / 2) == 0 && dat_cursor_next(&cursor, &page, &error) > 0)
		walk_page(file, &page, true);
	dat_cursor_close(&cursor);
}

/* The text of a latency tracer. */
static void read_text(const struct dat_file *file, const struct dat_buffer *buffer)
{
	struct dat_cursor cursor;
	struct dat_error error;
	struct dat_page page;

	if (dat_cursor_open(file, buffer, &buffer->text, &cursor) < 0)
		return;
	while (dat_cursor_next(&cursor, &page, &error) > 0)
		look_at(page.data, page.size);
	dat_cursor_close(&cursor);
}

static void read_notes(const struct dat_file *file)
{
	struct dat_processes processes;
	struct clock_offset offset;
	struct dat_notes notes;
	const char *at;

	if (dat_processes_open(file, &processes) == 0) {
		sink = (unsigned char)dat_process(&processes, 100);
		dat_processes_close(&processes);
	}
	if (!dat_notes_of(file, &notes))
		return;
	for (at = notes.offsets; at && clock_offsets_next(&at, &offset);)
		sink = (unsigned char)clock_offset_bound(&offset);
}

static void read_file(const struct dat_file *file)
{
	struct dat_error error;
	struct dat_time time;

	read_notes(file);
	for (size_t i = 0; i < file->nr_formats; i++)
		look_at(file->formats[i].text.text, file->formats[i].text.size);
	for (size_t i = 0; i < file->nr_options; i++)
		look_at(file->options[i].data, file->options[i].size);
	for (size_t i = 0; i < file->nr_parts; i++)
		look_at(file->parts[i].text.text, file->parts[i].text.size);
	if (dat_time_open(file, 0, &time, &error) < 0)
		return;
	for (size_t b = 0; b < file->nr_buffers; b++) {
		if (file->buffers[b].latency)
			read_text(file, &file->buffers[b]);
		for (uint32_t s = 0; s < file->buffers[b].nr_streams; s++)
			read_stream(file, &file->buffers[b], &file->buffers[b].streams[s], &time);
	}
	dat_time_close(&time);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static int fd = -1;
	struct dat_error error;
	struct dat_file *file;
	char path[32];

	if (fd < 0)
		fd = memfd_create("input", MFD_CLOEXEC);
	if (fd < 0 || ftruncate(fd, 0) < 0 || pwrite(fd, data, size, 0) != (ssize_t)size)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (dat_open(path, dat_compress_zstd(), &file, &error) == 0)
		file = dat_close(file);
	if (dat_open_rest(path, dat_compress_zstd(), &file, &error) == 0) {
		read_file(file);
		file = dat_close(file);
	}
	return 0;
}
