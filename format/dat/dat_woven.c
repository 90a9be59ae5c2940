/* SPDX-License-Identifier: MIT */
/* See dat_woven.h. */
#include "format/dat/dat_woven.h"
#include "format/dat/dat_merge.h"
#include "format/dat/dat_repage.h"

#include <errno.h>
#include <stdlib.h>

/* The first marker of each stream, for the events before it. */
struct lanes {
	const struct dat_file *file;
	uint32_t **first; /* by buffer and stream; DAT_NO_MARKER: it has none */
	bool any;
};

/* The first marker of a page, and the number of events that are not after it, or all if it has none. */
static uint32_t marker_of(const struct dat_file *file, const struct dat_page *page, uint32_t *ret_events)
{
	struct dat_error error;
	struct dat_record record;
	struct dat_walk walk;
	uint32_t cpu = DAT_NO_MARKER;

	if (dat_walk_open(file, page, &walk, &error))
		return cpu;
	while (cpu == DAT_NO_MARKER && dat_walk_next(&walk, &record, &error) > 0) {
		*ret_events += record.kind == DAT_RECORD_DATA;
		if (record.kind == DAT_RECORD_PADDING)
			cpu = dat_walk_marker(&walk, &record, DAT_NO_MARKER);
	}
	return cpu;
}

int dat_woven_marker(const struct dat_file *file, const struct dat_buffer *buffer, const struct dat_stream *stream,
		     uint32_t *ret_cpu)
{
	struct dat_error error;
	struct dat_cursor cursor;
	struct dat_page page;
	uint32_t events;
	int ret;

	*ret_cpu = DAT_NO_MARKER;
	if (!stream->size)
		return 0;
	if (dat_cursor_open(file, buffer, stream, &cursor))
		return -ENOMEM;
	do {
		events = 0;
		ret = dat_cursor_next(&cursor, &page, &error);
		if (ret > 0)
			*ret_cpu = marker_of(file, &page, &events);
	} while (cursor.skipped || (*ret_cpu == DAT_NO_MARKER && events == 1));
	dat_cursor_close(&cursor);
	return 0;
}

static int find_markers(struct lanes *lanes)
{
	const struct dat_file *file = lanes->file;
	int err = 0;

	lanes->first = calloc(file->nr_buffers + 1, sizeof(*lanes->first));
	if (!lanes->first)
		return -ENOMEM;
	for (size_t b = 0; b < file->nr_buffers; b++) {
		const struct dat_buffer *buffer = &file->buffers[b];

		lanes->first[b] = malloc((buffer->cpus + 1u) * sizeof(**lanes->first));
		if (!lanes->first[b])
			return -ENOMEM;
		for (uint32_t s = 0; s < buffer->nr_streams && !err; s++) {
			uint32_t *first = &lanes->first[b][buffer->streams[s].cpu];

			err = dat_woven_marker(file, buffer, &buffer->streams[s], first);
			lanes->any = lanes->any || *first != DAT_NO_MARKER;
		}
	}
	return err;
}

static void free_markers(struct lanes *lanes)
{
	for (size_t b = 0; lanes->first && b < lanes->file->nr_buffers; b++)
		free(lanes->first[b]);
	free(lanes->first);
}

/* The CPU of an event. A number above those of any machine means that the thread's CPU was unknown. */
static uint32_t cpu_of(const struct lanes *lanes, const struct dat_event *event)
{
	const uint32_t first = lanes->first[event->buffer - lanes->file->buffers][event->cpu];
	const uint32_t cpu = event->marked != DAT_NO_MARKER ? event->marked : first;

	if (first == DAT_NO_MARKER && event->marked == DAT_NO_MARKER)
		return event->cpu;
	return cpu < 4096 ? cpu : 0;
}

static int put_events(struct dat_copy *copy, const struct lanes *lanes, struct dat_merge *merge)
{
	struct dat_repage *repage;
	struct dat_event event;
	int err = dat_repage_open(copy->writer, copy->file, &copy->file->page_size, 1, &repage);

	while (!err && dat_merge_next(merge, &event)) {
		struct dat_repage_event out = dat_repage_event(&event, 0, cpu_of(lanes, &event));

		out.marked = DAT_NO_MARKER;
		err = dat_repage_put(repage, &out);
	}
	if (!err)
		err = dat_repage_flush(repage);
	dat_repage_close(repage);
	return err;
}

int dat_woven(struct dat_copy *copy, const struct dat_time *time, uint64_t *ret_damaged, struct dat_error *ret_error)
{
	struct lanes lanes = { .file = copy->file };
	struct dat_merge *merge = NULL;
	char clock[64];
	bool has_clock;
	uint32_t cpu;
	int err = find_markers(&lanes);

	if (!err && !lanes.any)
		err = -ENODATA;
	if (!err)
		err = dat_merge_open(copy->file, time, NULL, NULL, &merge);
	if (!err)
		err = put_events(copy, &lanes, merge);
	if (!err) {
		*ret_damaged = dat_merge_damaged(merge, ret_error, &cpu);
		has_clock = dat_copy_clock(copy, clock, sizeof(clock));
		err = dat_write_finish(copy->writer, has_clock ? clock : NULL, 0, NULL);
	}
	dat_merge_close(merge);
	free_markers(&lanes);
	return err;
}
