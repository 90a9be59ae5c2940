/* SPDX-License-Identifier: MIT */
/* See dat_copy.h. Pages of uncompressed files are copied by the kernel, from file to file. */
#include "format/dat/dat_copy.h"

#include "format/dat/dat_absent.h"
#include "format/dat/dat_internal.h"
#include "format/dat/dat_notes.h"
#include "format/dat/dat_time.h"
#include "format/io/blob.h"
#include "format/io/hash.h"
#include "format/io/number_map.h"

#include <errno.h>
#include <inttypes.h>
#include <librecorder/page.h>
#include <stdlib.h>
#include <string.h>

#define CPUS_MAX (1u << 20) /* the limit of the reader */

/* Find the smallest and the largest page size of all buffers. */
static void page_sizes(const struct dat_file *file, uint32_t *ret_least, uint32_t *ret_most)
{
	*ret_least = *ret_most = file->page_size;
	for (size_t i = 0; i < file->nr_buffers; i++) {
		const uint32_t size = file->buffers[i].page_size;

		if (size < *ret_least)
			*ret_least = size;
		if (size > *ret_most)
			*ret_most = size;
	}
}

/* Whether a copy of this version can hold the file's contents. */
static int check(const struct dat_file *file, unsigned int version, struct dat_error *error)
{
	const struct dat_buffer *latency;
	uint32_t least, most;

	page_sizes(file, &least, &most);
	if (least < REC_SUBBUF_MIN || most > REC_SUBBUF_MAX)
		return dat_fail(error, -EOPNOTSUPP, 0, "pages of %" PRIu32 " bytes are not written; %u to %u are",
				least < REC_SUBBUF_MIN ? least : most, REC_SUBBUF_MIN, REC_SUBBUF_MAX);
	if (version == 6 && least != most)
		return dat_fail(error, -EOPNOTSUPP, 0,
				"its buffers have pages of %" PRIu32 " and %" PRIu32 " bytes, version 6 has one size",
				least, most);
	latency = dat_latency(file);
	if (latency)
		return dat_fail(error, -EOPNOTSUPP, latency->offset, "it has the text of a latency tracer, not events");
	return 0;
}

static unsigned int count_cpus(const struct dat_file *file)
{
	unsigned int cpus = 0;

	for (size_t i = 0; i < file->nr_buffers; i++)
		cpus += file->buffers[i].nr_streams;
	return cpus;
}

/* Whether the writer makes the option with the clock. Only version 7 can hold one without a clock in brackets. */
static bool makes_clock(const struct dat_copy *copy)
{
	char clock[64];

	return copy->version == 6 || dat_clock_stated(copy->file, clock, sizeof(clock));
}

/*
 * Whether this option is not copied: the writer makes it by itself, or it is the place of a section, which differs in
 * the copy.
 */
static bool is_of_layout(const struct dat_copy *copy, const struct dat_option *option)
{
	const struct dat_file *file = copy->file;
	const unsigned int id = option->id;

	/* The copy has the symbols of the boot that wrote the events, so readers must not move them again. */
	if (file->boot_symbols.text && (id == DAT_LAST_BOOT_INFO || id == DAT_MODULES_FILE))
		return true;
	if (id == DAT_TRACECLOCK)
		return makes_clock(copy);
	return id == DAT_DONE || id == DAT_BUFFER || id == DAT_CPUCOUNT ||
	       (id >= DAT_STRINGS && id <= DAT_BUFFER_TEXT) ||
	       (id >= DAT_BTF_FILE && id <= DAT_MODULES_FILE && option->size == sizeof(uint64_t));
}

/*
 * Append those copied threads whose switches are certainly in the file: all of them, or if the file has only the
 * switches of some threads, those that it lists. Whether it has the switches of another thread is not known. 0,
 * -ENOMEM.
 */
static int put_threads(struct blob *list, const struct dat_absent *before, const struct dat_copy_absent *absent)
{
	struct number_map listed = { 0 };
	int err = 0;

	for (size_t i = 0; i < before->nr_listed && !err; i++)
		err = number_map_set(&listed, (uint64_t)before->listed[i], 1);
	for (size_t i = 0; i < absent->nr_threads; i++) {
		if (!before->some_threads || number_map_get(&listed, (uint64_t)absent->threads[i]))
			blob_printf(list, " %" PRId32, absent->threads[i]);
	}
	blob_put(list, "", 1);
	number_map_free(&listed);
	return err ? err : list->error;
}

static int put_cpus(struct blob *list, const struct dat_absent *before, const struct dat_copy_absent *absent)
{
	const uint32_t nr = absent->nr_no_cpus > before->nr_no_cpus ? absent->nr_no_cpus : before->nr_no_cpus;
	bool *all = calloc(nr + 1u, sizeof(*all));

	if (!all)
		return -ENOMEM;
	for (uint32_t cpu = 0; cpu < nr; cpu++)
		all[cpu] = dat_absent_has_cpu(before, cpu) || (cpu < absent->nr_no_cpus && absent->no_cpus[cpu]);
	dat_notes_put_cpus(list, all, nr);
	blob_put(list, "", 1);
	free(all);
	return list->error;
}

/* If the file is a piece itself, and the copy begins with the same event, the note of the file is copied. */
static void put_whole(struct blob *whole, const struct dat_notes *notes, const struct dat_copy_absent *absent)
{
	if (absent->is_whole && notes->whole && absent->since >= absent->first)
		blob_printf(whole, "%s", notes->whole);
	else if (absent->is_whole)
		blob_printf(whole, "%" PRIu64 " to %" PRIu64, absent->since, absent->first);
	blob_put(whole, "", 1);
}

/* The notes of a copy from which events are left out. */
static int put_notes(const struct dat_file *file, struct dat_writer *writer, const struct dat_copy_absent *absent)
{
	const struct dat_option *version = dat_option(file, DAT_VERSION);
	struct blob text = BLOB_INIT, threads = BLOB_INIT, cpus = BLOB_INIT, whole = BLOB_INIT;
	struct dat_absent before = { 0 };
	struct dat_notes notes;
	int err;

	dat_notes_of(file, &notes);
	err = dat_absent_read(&notes, &before);
	if (!err)
		err = put_cpus(&cpus, &before, absent);
	if (!err && absent->some_threads) {
		err = put_threads(&threads, &before, absent);
		notes.some_threads = notes.is_listed_only = true;
		notes.listed = (const char *)threads.data;
	}
	put_whole(&whole, &notes, absent);
	if (!err)
		err = whole.error;
	if (!err) {
		notes.program = version ? (const char *)version->data : "unknown";
		notes.no_cpus = (const char *)cpus.data;
		notes.whole = (const char *)whole.data;
		dat_notes_put(&text, &notes);
		blob_put(&text, "", 1);
		err = text.error;
	}
	if (!err)
		err = dat_write_option(writer, DAT_VERSION, text.data, text.size);
	dat_absent_free(&before);
	blob_free(&text);
	blob_free(&threads);
	blob_free(&cpus);
	blob_free(&whole);
	return err;
}

static int copy_texts(const struct dat_copy *copy, unsigned int flags, const struct dat_copy_absent *absent)
{
	const struct dat_file *file = copy->file;
	struct dat_writer *writer = copy->writer;
	static const enum dat_id ids[] = { DAT_KALLSYMS, DAT_PRINTK, DAT_CMDLINES };
	const struct dat_text *texts[] = { dat_symbols(file), &file->printk, &file->cmdlines };
	int err = 0;

	for (size_t i = 0; i < file->nr_formats && !err; i++) {
		const struct dat_format *format = &file->formats[i];

		err = dat_write_format(writer, format->system, format->text.text, format->text.size);
	}
	for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]) && !err; i++) {
		if (texts[i]->text)
			err = dat_write_text(writer, ids[i], texts[i]->text, texts[i]->size);
	}
	for (size_t i = 0; i < file->nr_options && !err; i++) {
		const struct dat_option *option = &file->options[i];

		if (!is_of_layout(copy, option) && !(flags & DAT_COPY_EVENTS && option->id == DAT_CPUSTAT) &&
		    !(absent && option->id == DAT_VERSION))
			err = dat_write_option(writer, option->id, option->data, option->size);
	}
	return err || !absent ? err : put_notes(file, writer, absent);
}

static bool are_twins(const struct dat_buffer *a, const struct dat_buffer *b)
{
	return a->page_size == b->page_size && !strcmp(a->name, b->name);
}

/*
 * *ret_twin is the first buffer with the name and page size of this one, which may be this one itself. Only what is
 * left of a cut file has two such buffers. Call it for each buffer in turn: `firsts` has the numbers of the first ones,
 * plus 1. 0, -ENOMEM.
 */
static int find_twin(const struct dat_file *file, size_t number, struct number_map *firsts, size_t *ret_twin)
{
	const struct dat_buffer *all = file->buffers;
	uint64_t key = hash_step(hash_bytes(all[number].name, strlen(all[number].name)), all[number].page_size), first;

	/* Other buffers may have the same hash. */
	while ((first = number_map_get(firsts, key)) && !are_twins(&all[first - 1], &all[number]))
		key = hash_step(key, 1);
	*ret_twin = first ? (size_t)first - 1 : number;
	return first ? 0 : number_map_set(firsts, key, number + 1);
}

/* Add a buffer to the copy; the writer has the top buffer already. 0, -ENOMEM. */
static int add_buffer(struct dat_copy *copy, size_t number, bool is_top)
{
	const struct dat_buffer *buffer = &copy->file->buffers[number];
	const int err = is_top ? 0 : dat_write_buffer(copy->writer, buffer->name, &copy->buffers[number]);

	if (err)
		return err;
	dat_write_page_size(copy->writer, copy->buffers[number], buffer->page_size);
	if (copy->file->version == 7 && buffer->clock)
		dat_write_clock(copy->writer, copy->buffers[number], buffer->clock);
	return 0;
}

static int add_buffers(struct dat_copy *copy, unsigned int flags)
{
	const struct dat_file *file = copy->file;
	struct number_map firsts = { 0 };
	bool has_top = false;
	int err = 0;

	copy->buffers = calloc(file->nr_buffers + 1, sizeof(*copy->buffers));
	if (!copy->buffers)
		return -ENOMEM;
	dat_write_page_size(copy->writer, 0, file->page_size);
	for (size_t i = 0; i < file->nr_buffers && !err; i++) {
		const bool is_top = !file->buffers[i].name[0] && !has_top;
		size_t twin = i;

		if (flags & DAT_COPY_EVENTS)
			err = find_twin(file, i, &firsts, &twin);
		has_top = has_top || is_top;
		if (twin < i)
			copy->buffers[i] = copy->buffers[twin];
		else if (!err)
			err = add_buffer(copy, i, is_top);
	}
	number_map_free(&firsts);
	return err;
}

int dat_copy_open(const struct dat_file *file, const char *path, unsigned int version, unsigned int flags,
		  const struct dat_packing *packing, const struct dat_copy_absent *absent, struct dat_copy *ret_copy,
		  struct dat_error *ret_error)
{
	const struct dat_shape shape = {
		.big = file->big,
		.long_size = file->long_size,
		.header_page = file->header_page.text,
		.header_page_size = file->header_page.size,
		.header_event = file->header_event.text,
		.header_event_size = file->header_event.size,
	};
	struct dat_copy copy = { .file = file, .version = version };
	uint32_t least, most;
	int err = check(file, version, ret_error);

	if (err)
		return err;
	ret_error->text[0] = '\0';
	page_sizes(file, &least, &most);
	err = dat_write_open(path, version, least, count_cpus(file), &copy.writer);
	if (err)
		return err;
	dat_write_shape(copy.writer, &shape);
	if (packing)
		err = dat_write_pack(copy.writer, packing, count_cpus(file));
	if (!err)
		err = add_buffers(&copy, flags);
	if (!err)
		err = copy_texts(&copy, flags, absent);
	if (err)
		dat_copy_close(&copy);
	else
		*ret_copy = copy;
	return err;
}

void dat_copy_close(struct dat_copy *copy)
{
	free(copy->buffers);
	copy->buffers = NULL;
	copy->writer = dat_write_close(copy->writer);
}

/* Copies page by page; the last page may be shorter than the others. */
static int copy_by_page(struct dat_copy *copy, size_t number, const struct dat_stream *stream, struct dat_error *error)
{
	const struct dat_buffer *buffer = &copy->file->buffers[number];
	unsigned char *whole = malloc(buffer->page_size);
	struct dat_error damage = { 0 };
	struct dat_cursor cursor;
	struct dat_page page;
	int ret;

	ret = whole ? dat_cursor_open(copy->file, buffer, stream, &cursor) : -ENOMEM;
	if (ret) {
		free(whole);
		return ret;
	}
	while ((ret = dat_cursor_next(&cursor, &page, &damage)) > 0) {
		memcpy(whole, page.data, page.size);
		memset(whole + page.size, 0, buffer->page_size - page.size);
		ret = dat_write_page(copy->writer, copy->buffers[number], stream->cpu, whole);
		if (ret)
			break;
	}
	if (ret < 0 && damage.text[0])
		*error = damage;
	dat_cursor_close(&cursor);
	free(whole);
	return ret;
}

static int copy_stream(struct dat_copy *copy, size_t number, const struct dat_stream *stream, struct dat_error *error)
{
	const struct dat_buffer *buffer = &copy->file->buffers[number];

	if (!stream->size)
		return 0;
	if (buffer->compressed || stream->size % buffer->page_size)
		return copy_by_page(copy, number, stream, error);
	return dat_write_range(copy->writer, copy->buffers[number], stream->cpu, copy->file->fd, stream->offset,
			       stream->size);
}

int dat_copy_pages(struct dat_copy *copy, struct dat_error *ret_error)
{
	int err = 0;

	ret_error->text[0] = '\0';
	for (size_t i = 0; i < copy->file->nr_buffers; i++) {
		const struct dat_buffer *buffer = &copy->file->buffers[i];

		for (uint32_t c = 0; c < buffer->nr_streams && !err; c++)
			err = copy_stream(copy, i, &buffer->streams[c], ret_error);
	}
	return err;
}

/* The CPUs that a report of the file counts (trace-dat.md 9.1). A number above those of any machine is ignored. */
static unsigned int nr_cpus(const struct dat_file *file)
{
	unsigned int cpus = file->cpus;

	for (size_t i = 0; i < file->nr_options && file->version == 7; i++) {
		const struct dat_option *option = &file->options[i];
		const uint32_t count = option->id == DAT_CPUCOUNT && option->size >= 4 ?
					       bytes_get32(option->data, file->big) : 0;

		if (count > cpus && count <= CPUS_MAX)
			cpus = count;
	}
	for (size_t i = 0; i < file->nr_buffers; i++) {
		if (!file->buffers[i].name[0] && file->buffers[i].cpus > cpus)
			cpus = file->buffers[i].cpus;
	}
	return cpus;
}

bool dat_copy_clock(const struct dat_copy *copy, char *ret_name, size_t size)
{
	return copy->version == 6 ? dat_clock_in_v6(copy->file, ret_name, size) :
				    dat_clock_stated(copy->file, ret_name, size);
}

int dat_copy_finish(struct dat_copy *copy, uint64_t *ret_size)
{
	char clock[64];
	const bool has_clock = dat_copy_clock(copy, clock, sizeof(clock));

	return dat_write_finish(copy->writer, has_clock ? clock : NULL, nr_cpus(copy->file), ret_size);
}
