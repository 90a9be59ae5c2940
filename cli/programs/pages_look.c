/* SPDX-License-Identifier: MIT */
/*
 * A lane is copied as an iterator copies it. The kernel's mapping has all sub-buffers of a ring, in the order of their
 * numbers: those with events are sorted by the times in their headers. A sub-buffer that the kernel fills again while
 * it is copied has another time afterwards, and is left out.
 */
#include "cli/programs/pages_look.h"

#include <errno.h>
#include <librecorder/page.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* The number of attempts to copy a page whose writer keeps overtaking the copy; after that the lane is left out. */
#define TRIES 1000u

/* ---------------------------------------------------------------------------------------------------------- a lane */

int pages_look_meta(const struct rec_view *view, unsigned int lane, struct rec_meta *ret_meta)
{
	struct rec_lane_stats stats;
	const int err = rec_view_stats(view, lane, &stats);

	/* The program has given the lane up. */
	if (!err && !stats.subbuf_size)
		return -EAGAIN;
	if (err)
		return err;
	*ret_meta = (struct rec_meta){ .meta_page_size = stats.subbuf_size,
				       .meta_struct_len = sizeof(*ret_meta),
				       .subbuf_size = stats.subbuf_size,
				       .nr_subbufs = stats.nr_pages + 1,
				       .entries = stats.entries + stats.overrun + stats.read_events,
				       .overrun = stats.overrun,
				       .read = stats.read_events };
	return 0;
}

int pages_look_lane(struct rec_view *view, unsigned int lane, pages_look_fn look, void *arg)
{
	unsigned int tries = 0;
	struct rec_meta meta;
	struct rec_iter *iter;
	struct rec_page page;
	int r = pages_look_meta(view, lane, &meta);

	if (!r)
		r = rec_iter_open(view, lane, &iter);
	if (r)
		return r;
	do {
		r = rec_iter_page(iter, &page);
		if (r != 1)
			continue;
		meta.reader_id++;
		look(arg, &meta, &page);
	} while (r == 1 || (r == -EAGAIN && ++tries < TRIES));
	rec_iter_close(iter);
	return r == -EAGAIN ? 0 : r;
}

/* ------------------------------------------------------------------------------------------------------ the kernel */

struct subbuf {
	uint64_t time;
	uint32_t id;
};

static int by_time(const void *a, const void *b)
{
	const struct subbuf *one = a, *other = b;

	return one->time < other->time ? -1 : one->time > other->time;
}

static uint64_t time_of(const void *data)
{
	/* The kernel may write the header at any moment. */
	return __atomic_load_n((const uint64_t *)data, __ATOMIC_ACQUIRE);
}

/* The number of events from `page->from` on. */
static uint32_t count_events(const struct rec_page *page)
{
	struct rec_page_iter iter;
	struct rec_record record;
	uint32_t nr = 0;

	rec_page_iter_init(&iter, page->data, page->size);
	while (rec_page_next(&iter, &record) == 1)
		nr += record.offset >= page->from;
	return nr;
}

/* Copy a sub-buffer. False: it has no events that are not read yet, or it was filled again meanwhile. */
static bool copy_subbuf(const struct rec_map *map, const struct subbuf *subbuf, unsigned char *copy,
			struct rec_page *ret_page)
{
	const struct rec_meta *meta = rec_map_meta(map);
	const unsigned char *data = rec_map_page(map, subbuf->id);
	const uint32_t room = meta->subbuf_size - REC_SUBBUF_HEADER_SIZE;
	struct rec_page page = { .data = copy };

	memcpy(copy, data, meta->subbuf_size);
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	if (time_of(data) != subbuf->time)
		return false;
	page.size = rec_page_size(copy);
	if (page.size > room)
		return false;
	if (subbuf->id == meta->reader_id)
		page.from = meta->reader_read;
	page.lost = page.from ? 0 : rec_page_lost(copy, room);
	page.entries = count_events(&page);
	*ret_page = page;
	return page.entries > 0;
}

int pages_look_kernel(const struct rec_map *map, pages_look_fn look, void *arg)
{
	struct rec_meta meta = *rec_map_meta(map);
	struct subbuf *subbufs = calloc(meta.nr_subbufs ? meta.nr_subbufs : 1, sizeof(*subbufs));
	unsigned char *copy = malloc(meta.subbuf_size);
	struct rec_page page;
	uint32_t nr = 0;
	int err = 0;

	if (!subbufs || !copy)
		err = -ENOMEM;
	else if (rec_map_is_copy(map))
		err = -EOPNOTSUPP;
	for (uint32_t id = 0; !err && id < meta.nr_subbufs; id++)
		if (rec_page_size(rec_map_page(map, id)))
			subbufs[nr++] = (struct subbuf){ time_of(rec_map_page(map, id)), id };
	if (nr)
		qsort(subbufs, nr, sizeof(*subbufs), by_time);
	for (uint32_t i = 0; i < nr; i++) {
		meta.reader_id = subbufs[i].id;
		if (copy_subbuf(map, &subbufs[i], copy, &page))
			look(arg, &meta, &page);
	}
	free(subbufs);
	free(copy);
	return err;
}
