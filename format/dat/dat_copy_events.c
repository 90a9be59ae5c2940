/* SPDX-License-Identifier: MIT */
/* See dat_copy.h. Pages are made anew, so that each is whole. */
#include "format/dat/dat_copy.h"
#include "format/dat/dat_merge.h"
#include "format/dat/dat_repage.h"

#include <errno.h>
#include <stdlib.h>

/* Find the sizes of pages by the writer's buffers. NULL: no memory. */
static uint32_t *find_page_sizes(const struct dat_copy *copy, unsigned int *ret_nr)
{
	const struct dat_file *file = copy->file;
	uint32_t *sizes = calloc(file->nr_buffers + 1, sizeof(*sizes));
	unsigned int nr = 1;

	if (!sizes)
		return NULL;
	sizes[0] = file->page_size;
	for (size_t i = 0; i < file->nr_buffers; i++) {
		sizes[copy->buffers[i]] = file->buffers[i].page_size;
		if (copy->buffers[i] >= nr)
			nr = copy->buffers[i] + 1;
	}
	*ret_nr = nr;
	return sizes;
}

static int put_events(struct dat_copy *copy, struct dat_merge *merge)
{
	struct dat_repage *repage = NULL;
	struct dat_event event;
	unsigned int nr;
	uint32_t *sizes = find_page_sizes(copy, &nr);
	int err = sizes ? dat_repage_open(copy->writer, copy->file, sizes, nr, &repage) : -ENOMEM;

	while (!err && dat_merge_next(merge, &event)) {
		const unsigned int buffer = copy->buffers[event.buffer - copy->file->buffers];
		const struct dat_repage_event out = dat_repage_event(&event, buffer, event.cpu);

		err = dat_repage_put(repage, &out);
	}
	if (!err)
		err = dat_repage_flush(repage);
	dat_repage_close(repage);
	free(sizes);
	return err;
}

int dat_copy_events(struct dat_copy *copy, uint64_t *ret_damaged, struct dat_error *ret_error)
{
	const struct dat_time time = { .raw = true };
	struct dat_merge *merge;
	uint32_t cpu;
	int err = dat_merge_open(copy->file, &time, NULL, NULL, &merge);

	ret_error->text[0] = '\0';
	if (err)
		return err;
	err = put_events(copy, merge);
	*ret_damaged = dat_merge_damaged(merge, ret_error, &cpu);
	dat_merge_close(merge);
	return err;
}
