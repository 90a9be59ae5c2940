/* SPDX-License-Identifier: MIT */
/*
 * Files with many systems, buffers, streams or threads, for tests/host/names.sh, which counts the instructions:
 *
 *	names systems N		the formats of N events are written, each of a system of its own
 *	names buffers N		a copy of a file with N buffers is begun, which looks for buffers of the same name
 *	names streams N		N streams of a file are opened
 *	names threads N		a copy of N threads' events is begun, of a file that lists these threads
 *
 * Files are made in the current directory.
 */
#include "format/dat/dat_copy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What is counted. The linker must not rename them. */
__attribute__((noinline, used)) int write_systems(unsigned int nr);
__attribute__((noinline, used)) int copy_buffers(const struct dat_file *file, struct dat_copy *copy);
__attribute__((noinline, used)) int open_streams(const struct dat_file *file);
__attribute__((noinline, used)) int copy_threads(const struct dat_file *file, const struct dat_copy_absent *absent,
						 struct dat_copy *copy);

int write_systems(unsigned int nr)
{
	struct dat_writer *writer;
	int err = dat_write_open("systems.dat", 7, 4096, 1, &writer);

	if (err)
		return err;
	for (unsigned int i = 0; i < nr && !err; i++) {
		char name[24];

		snprintf(name, sizeof(name), "system_%u", i);
		err = dat_write_format(writer, name, "name: a\n", 8);
	}
	dat_write_close(writer);
	return err;
}

int copy_buffers(const struct dat_file *file, struct dat_copy *copy)
{
	struct dat_error error;

	return dat_copy_open(file, "buffers.dat", 7, DAT_COPY_EVENTS, NULL, NULL, copy, &error);
}

int open_streams(const struct dat_file *file)
{
	const struct dat_buffer *buffer = file->buffers;

	for (uint32_t i = 0; i < buffer->nr_streams; i++) {
		struct dat_cursor cursor;
		const int err = dat_cursor_open(file, buffer, &buffer->streams[i], &cursor);

		if (err)
			return err;
		dat_cursor_close(&cursor);
	}
	return 0;
}

int copy_threads(const struct dat_file *file, const struct dat_copy_absent *absent, struct dat_copy *copy)
{
	struct dat_error error;

	return dat_copy_open(file, "threads.dat", 7, DAT_COPY_EVENTS, NULL, absent, copy, &error);
}

static int run_buffers(unsigned int nr)
{
	struct dat_buffer *buffers = calloc(nr, sizeof(*buffers));
	char (*names)[24] = calloc(nr, sizeof(*names));
	const struct dat_file file = { .version = 7, .page_size = 4096, .long_size = 8, .commit_size = 8,
				       .nr_buffers = nr, .buffers = buffers };
	struct dat_copy copy;
	int err;

	for (unsigned int i = 0; i < nr; i++) {
		snprintf(names[i], sizeof(names[i]), "program:%u", i);
		buffers[i] = (struct dat_buffer){ .name = names[i], .page_size = 4096 };
	}
	err = copy_buffers(&file, &copy);
	for (unsigned int i = 0; i < nr && !err; i++)
		err = copy.buffers[i] != i + 1;
	if (!err)
		dat_copy_close(&copy);
	free(buffers);
	free(names);
	return err;
}

static int run_streams(unsigned int nr)
{
	struct dat_stream *streams = calloc(nr, sizeof(*streams));
	struct dat_buffer buffer = { .page_size = 4096, .nr_streams = nr, .streams = streams };
	const struct dat_file file = { .commit_size = 8, .nr_buffers = 1, .buffers = &buffer, .nr_streams = nr };
	int err;

	for (unsigned int i = 0; i < nr; i++)
		streams[i].size = UINT64_C(3) * 4096;
	err = open_streams(&file);
	free(streams);
	return err;
}

static int run_threads(unsigned int nr)
{
	static const char head[] = "recorder 1.0; switches of some threads alone:";
	int32_t *threads = calloc(nr, sizeof(*threads));
	char *text = malloc(sizeof(head) + (size_t)nr * sizeof(" 4294967295"));
	struct dat_option option = { .id = DAT_VERSION, .data = text };
	const struct dat_file file = { .version = 7, .page_size = 4096, .long_size = 8, .commit_size = 8,
				       .nr_options = 1, .options = &option };
	const struct dat_copy_absent absent = { .some_threads = true, .threads = threads, .nr_threads = nr };
	int err, size = sprintf(text, "%s", head);
	struct dat_copy copy;

	for (unsigned int i = 0; i < nr; i++) {
		threads[i] = (int32_t)i + 1;
		size += sprintf(text + size, " %u", i + 1);
	}
	option.size = (uint32_t)size + 1;
	err = copy_threads(&file, &absent, &copy);
	if (!err)
		dat_copy_close(&copy);
	free(threads);
	free(text);
	return err;
}

int main(int argc, char **argv)
{
	const unsigned int nr = argc == 3 ? (unsigned int)strtoul(argv[2], NULL, 10) : 0;

	if (!nr)
		return 2;
	if (!strcmp(argv[1], "systems"))
		return !!write_systems(nr);
	if (!strcmp(argv[1], "buffers"))
		return !!run_buffers(nr);
	if (!strcmp(argv[1], "streams"))
		return !!run_streams(nr);
	return strcmp(argv[1], "threads") ? 2 : !!run_threads(nr);
}
