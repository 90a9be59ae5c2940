/* SPDX-License-Identifier: MIT */
/*
 * A limit applies to a source: all events by time, or those of one CPU. In the next file a source continues where it
 * ended, so each file has one part of each source.
 */
#include "cli/files/split_pieces.h"

#include "format/dat/dat_pack.h"
#include "format/dat/dat_repage.h"
#include "format/text/event_parse.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct split_source {
	struct split *split;
	struct dat_merge *merge;
	struct dat_event event; /* the next event, if has_event */
	bool has_event;
	bool is_done;
	uint64_t since; /* time of the event before, left out or written, in the units of the pages; 0: no such event */
};

/* A file that is being written. */
struct piece {
	struct dat_copy copy;
	struct dat_repage *repage;
	uint64_t events;
};

/* The events that a source has put into the file. */
struct part {
	uint64_t first; /* time */
	uint64_t events;
	uint64_t pages;
	uint64_t size; /* bytes of the pages */
};

static bool has_stream(const void *arg, const struct dat_buffer *buffer, uint32_t cpu)
{
	const struct split *split = arg;

	return event_select_has_cpu(&split->select, buffer, cpu);
}

static struct split_source *add_source(struct split *split)
{
	struct split_source *source = &split->sources[split->nr_sources++];

	*source = (struct split_source){ .split = split };
	return source;
}

/* Open a source for each CPU of the buffer. */
static int open_cpus(struct split *split, const struct dat_buffer *buffer)
{
	int err = 0;

	for (uint32_t i = 0; i < buffer->nr_streams && !err; i++) {
		const struct dat_stream *stream = &buffer->streams[i];

		if (stream->size && has_stream(split, buffer, stream->cpu))
			err = dat_merge_open_stream(split->file, &split->time, buffer, stream, 0,
						    &add_source(split)->merge);
	}
	return err;
}

static int open_carried(struct split *split)
{
	const struct dat_file *file = split->file;

	split->carried = calloc(file->nr_buffers + 1, sizeof(*split->carried));
	split->page_sizes = calloc(file->nr_buffers + 1, sizeof(*split->page_sizes));
	if (!split->carried || !split->page_sizes)
		return -ENOMEM;
	for (size_t i = 0; i < file->nr_buffers; i++) {
		split->carried[i] = calloc(file->buffers[i].cpus + 1u, sizeof(**split->carried));
		if (!split->carried[i])
			return -ENOMEM;
	}
	return 0;
}

static uint32_t file_cpus(const struct dat_file *file)
{
	uint32_t nr = 0;

	for (size_t i = 0; i < file->nr_buffers; i++)
		nr = file->buffers[i].cpus > nr ? file->buffers[i].cpus : nr;
	return nr;
}

/* Find the CPUs of the file whose events are left out. */
static int find_no_cpus(struct split *split)
{
	const uint32_t nr = file_cpus(split->file);

	if (!split->select.cpus)
		return 0;
	split->no_cpus = calloc(nr + 1u, sizeof(*split->no_cpus));
	if (!split->no_cpus)
		return -ENOMEM;
	for (uint32_t cpu = 0; cpu < nr; cpu++)
		split->no_cpus[cpu] = !event_select_has_cpu(&split->select, NULL, cpu);
	return 0;
}

int split_open(struct split *split)
{
	const struct dat_file *file = split->file;
	size_t streams = 1;
	int err = open_carried(split);

	if (!err)
		err = find_no_cpus(split);

	for (size_t i = 0; i < file->nr_buffers; i++)
		streams += file->buffers[i].nr_streams;
	split->sources = calloc(streams, sizeof(*split->sources));
	if (!split->sources)
		return -ENOMEM;
	if (!err && !split->per_cpu)
		return dat_merge_open(file, &split->time, has_stream, split, &add_source(split)->merge);
	for (size_t i = 0; i < file->nr_buffers && !err; i++)
		err = open_cpus(split, &file->buffers[i]);
	return err;
}

void split_close(struct split *split)
{
	for (unsigned int i = 0; i < split->nr_sources; i++)
		dat_merge_close(split->sources[i].merge);
	for (size_t i = 0; split->carried && i < split->file->nr_buffers; i++)
		free(split->carried[i]);
	free(split->sources);
	free(split->carried);
	free(split->page_sizes);
	free(split->no_cpus);
}

uint64_t split_damaged(const struct split *split, struct dat_error *ret_error, uint32_t *ret_cpu)
{
	uint64_t sum = 0, damaged;
	struct dat_error error;
	uint32_t cpu;

	for (unsigned int i = 0; i < split->nr_sources; i++) {
		damaged = dat_merge_damaged(split->sources[i].merge, &error, &cpu);
		if (damaged && !sum) {
			*ret_error = error;
			*ret_cpu = cpu;
		}
		sum += damaged;
	}
	return sum;
}

/* -------------------------------------------------------------------------------------------------------- events */

/* Whether a loss of known number before this event is of programs: the same rule as model_loss_is_programs(). */
static bool is_programs(const struct split *split, const struct dat_event *event)
{
	const struct event_table *table = split->select.table;

	return event_is_programs(event_id(table, event->data, event->size)) &&
	       event_pid(table, event->data, event->size) > 0;
}

/*
 * Losses before a left-out event are reported with a later event of the CPU: losses of programs with a program's event,
 * those of the kernel with the kernel's, so that readers still see which of them lost events. A loss of unknown number
 * may be damage and concern both, so it is reported with the next event of either.
 */
static bool carry(const struct split *split, struct split_carried *carried, struct dat_event *event)
{
	int64_t *lost;

	/* All events are selected. */
	if (!split->select.table)
		return true;
	lost = is_programs(split, event) ? &carried->programs : &carried->kernel;
	if (event->lost < 0 || event->lost > INT64_MAX - *lost)
		carried->is_unknown = true;
	else
		*lost += event->lost;
	if (!event_select_has(&split->select, event))
		return false;
	event->lost = carried->is_unknown ? DAT_PAGE_LOST_UNKNOWN : *lost;
	carried->is_unknown = false;
	*lost = 0;
	return true;
}

/* Put the next selected event into source->event. False at the end of the source. */
static bool find_event(struct split_source *source)
{
	struct split *split = source->split;
	struct dat_event *event = &source->event;

	while (!source->has_event && !source->is_done) {
		if (!dat_merge_next(source->merge, event) || event->ts > split->end) {
			source->is_done = true;
			break;
		}
		if (event->ts < split->start) {
			source->since = event->raw;
			continue;
		}
		source->has_event = carry(
			split, &split->carried[event->buffer - split->file->buffers][event->cpu], event);
	}
	return source->has_event;
}

static bool is_full(const struct split *split, const struct piece *piece, const struct part *part,
		    const struct dat_event *event, const struct dat_repage_event *out)
{
	if (!part->events)
		return false;
	if (split->events && part->events == split->events)
		return true;
	if (split->duration && event->ts > part->first && event->ts - part->first > split->duration)
		return true;
	if (!(split->pages || split->size) || !dat_repage_begins(piece->repage, out))
		return false;
	if (split->pages && part->pages == split->pages)
		return true;
	return split->size && part->size + split->page_sizes[out->buffer] > split->size * 1024;
}

/* Writes a source's events up to its limit. 0, -errno. */
static int put_part(struct split *split, struct split_source *source, struct piece *piece)
{
	struct part part = { 0 };
	int err = 0;

	while (!err && find_event(source)) {
		const struct dat_event *event = &source->event;
		const unsigned int buffer = piece->copy.buffers[event->buffer - split->file->buffers];
		const struct dat_repage_event out = dat_repage_event(event, buffer, event->cpu);

		if (is_full(split, piece, &part, event, &out))
			break;
		if (!part.events)
			part.first = event->ts;
		if (dat_repage_begins(piece->repage, &out)) {
			part.pages++;
			part.size += split->page_sizes[buffer];
		}
		err = dat_repage_put(piece->repage, &out);
		part.events++;
		source->since = event->raw;
		source->has_event = false;
	}
	piece->events += part.events;
	return err;
}

static int put_parts(struct split *split, struct piece *piece)
{
	int err = 0;

	for (unsigned int i = 0; i < split->nr_sources && !err; i++)
		err = put_part(split, &split->sources[i], piece);
	return err ? err : dat_repage_flush(piece->repage);
}

/* Whether there is a next event; *absent gets its time, and since when there was no other one. */
static bool find_first(struct split *split, struct dat_copy_absent *absent)
{
	const struct split_source *first = NULL;
	uint64_t since = 0;

	for (unsigned int i = 0; i < split->nr_sources; i++) {
		struct split_source *source = &split->sources[i];

		if (find_event(source) && (!first || source->event.ts < first->event.ts))
			first = source;
		since = source->since > since ? source->since : since;
	}
	if (!first)
		return false;
	absent->first = first->event.raw;
	absent->since = since ? since : first->event.raw;
	/* With limits for each CPU, a file before this one may have later events of another CPU. */
	absent->is_whole = !split->select.table && (!split->per_cpu || absent->since <= absent->first);
	return true;
}

int split_piece(struct split *split, const char *path, uint64_t *ret_events, struct dat_error *ret_error)
{
	const struct dat_file *file = split->file;
	const struct dat_packing packing = dat_pack_zstd(DAT_PACK_LEVEL);
	const bool is_packed = file->compression && strcmp(file->compression, "none") != 0;
	struct piece piece = { .events = 0 };
	struct dat_copy_absent absent = {
		.some_threads = event_select_has_threads(&split->select),
		.threads = split->select.tasks.tids,
		.nr_threads = split->select.tasks.nr,
		.no_cpus = split->no_cpus,
		.nr_no_cpus = split->no_cpus ? file_cpus(file) : 0,
	};
	bool has_notes;
	unsigned int nr = 1;
	int err;

	ret_error->text[0] = '\0';
	if (!find_first(split, &absent))
		return 0;
	/* A file without notes, of which events are selected, gets none. */
	has_notes = absent.some_threads || absent.no_cpus || absent.is_whole || dat_option(file, DAT_VERSION);
	err = dat_copy_open(file, path, file->version, DAT_COPY_EVENTS, is_packed ? &packing : NULL,
			    has_notes ? &absent : NULL, &piece.copy, ret_error);
	if (err)
		return err;
	split->page_sizes[0] = file->page_size;
	for (size_t i = 0; i < file->nr_buffers; i++) {
		split->page_sizes[piece.copy.buffers[i]] = file->buffers[i].page_size;
		if (piece.copy.buffers[i] >= nr)
			nr = piece.copy.buffers[i] + 1;
	}
	err = dat_repage_open(piece.copy.writer, file, split->page_sizes, nr, &piece.repage);
	if (!err)
		err = put_parts(split, &piece);
	if (!err)
		err = dat_copy_finish(&piece.copy, NULL);
	dat_repage_close(piece.repage);
	dat_copy_close(&piece.copy);
	*ret_events = piece.events;
	return err ? err : 1;
}
