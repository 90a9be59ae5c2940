/* SPDX-License-Identifier: MIT */
/* See merge_lanes.h. */
#include "cli/files/merge_lanes.h"

#include <errno.h>
#include <stdlib.h>

#include "format/dat/dat_woven.h"

/* 1: a stream of the buffer is a lane; then all are, or the other ones have no events. 0; -ENOMEM. */
static int has_lanes(const struct dat_file *file, const struct dat_buffer *buffer)
{
	uint32_t cpu = DAT_NO_MARKER;
	int err = 0;

	for (uint32_t i = 0; i < buffer->nr_streams && !err && cpu == DAT_NO_MARKER; i++)
		err = dat_woven_marker(file, buffer, &buffer->streams[i], &cpu);
	return err ? err : cpu != DAT_NO_MARKER;
}

int merge_lanes_open(struct merge *merge)
{
	merge->lanes = calloc(merge->nr_buffers, sizeof(*merge->lanes));
	if (!merge->lanes)
		return -ENOMEM;
	for (unsigned int i = 0; i < merge->nr; i++) {
		struct merge_file *file = &merge->files[i];

		file->lanes = calloc(file->file->nr_buffers + 1, sizeof(*file->lanes));
		if (!file->lanes)
			return -ENOMEM;
		for (size_t b = 0; b < file->file->nr_buffers; b++) {
			const int ret = has_lanes(file->file, &file->file->buffers[b]);

			if (ret < 0)
				return ret;
			file->lanes[b] = ret > 0;
			merge->lanes[file->buffers[b]] |= file->lanes[b];
		}
	}
	return 0;
}

void merge_lanes_close(struct merge *merge)
{
	for (unsigned int i = 0; i < merge->nr; i++)
		free(merge->files[i].lanes);
	free(merge->lanes);
}

uint32_t merge_lanes_marker(const struct merge *merge, const struct merge_file *file)
{
	const struct dat_event *event = &file->event;
	const size_t buffer = (size_t)(event->buffer - file->file->buffers);

	if (event->marked != DAT_NO_MARKER || file->lanes[buffer])
		return event->marked;
	return merge->lanes[file->buffers[buffer]] ? event->cpu : DAT_NO_MARKER;
}
