/* SPDX-License-Identifier: MIT */
/*
 * See dat_merge.h. A binary heap of streams, ordered by the time of their next event, then by their position in the
 * file.
 */
#include "format/dat/dat_merge.h"

#include <errno.h>
#include <stdlib.h>

#include "format/dat/dat_seek.h"

struct stream {
	struct dat_cursor cursor;
	struct dat_walk walk;
	struct dat_event next;
	uint32_t page_size; /* of the current page */
	bool walking;
	bool fresh; /* no event of the page has been found yet */
	bool skipped; /* data were damaged since the last event */
};

struct dat_merge {
	const struct dat_time *time;
	const bool *types; /* dat_merge_only(); NULL: events of all types are needed */
	struct stream *streams;
	uint32_t nr_streams;
	struct stream **heap; /* heap[0] has the next event */
	uint32_t nr_heap;
	bool taken; /* the caller has the event of heap[0] */
	struct stream *turned; /* the last call has left a page of this stream; the caller may still have its event */
	uint64_t damaged;
	struct dat_error first_error;
	uint32_t first_cpu;
};

static void note_damage(struct dat_merge *m, struct stream *s, uint32_t pages, const struct dat_error *error)
{
	if (!m->damaged) {
		m->first_error = *error;
		m->first_cpu = s->next.cpu;
	}
	m->damaged += pages;
	s->skipped = true;
}

/*
 * Begins the next page of the stream. If the start of this page is damaged, s->walking is false. False: the stream has
 * no more pages, or its rest cannot be read.
 */
static bool next_page(struct dat_merge *m, struct stream *s)
{
	struct dat_error error;
	struct dat_page page;
	int ret;

	do {
		ret = dat_cursor_next(&s->cursor, &page, &error);
		if (ret < 0)
			note_damage(m, s, s->cursor.skipped ? s->cursor.skipped : 1, &error);
	} while (s->cursor.skipped);
	if (ret <= 0)
		return false;
	s->next.page = page.data;
	s->next.offset = page.offset;
	s->next.in_chunk = page.in_chunk;
	s->page_size = page.size;
	ret = dat_walk_open(s->cursor.file, &page, &s->walk, &error);
	if (ret)
		note_damage(m, s, 1, &error);
	s->walking = !ret;
	s->fresh = true;
	if (s->walking && s->walk.used <= s->walk.header)
		dat_cursor_skip_hole(&s->cursor);
	return true;
}

/*
 * Finds the next record with data in the cases that are rare: on the next page, after padding or after damage. False
 * at the end of the stream.
 */
static bool find_record(struct dat_merge *m, struct stream *s, int ret, struct dat_record *record,
			struct dat_error *error)
{
	/* The data of the event that the caller has must remain valid during this read. */
	dat_cursor_keep(&s->cursor);
	m->turned = s;
	for (;;) {
		if (ret > 0 && record->kind == DAT_RECORD_DATA)
			return true;
		if (ret > 0 && record->kind == DAT_RECORD_PADDING)
			s->next.marked = dat_walk_marker(&s->walk, record, s->next.marked);
		if (ret < 0) {
			error->offset = s->next.offset;
			note_damage(m, s, 1, error);
		}
		if (ret <= 0) {
			s->walking = false;
			if (!next_page(m, s))
				return false;
		}
		ret = s->walking ? dat_walk_event(&s->walk, record, error) : 0;
	}
}

/*
 * Skips from an event with these data to the next one of a type that is needed. The last event before a time stamp or a
 * new page is not skipped: the event after it may be earlier, and the order of the streams depends on when that one is
 * found.
 */
static const unsigned char *pass_over(const struct dat_merge *m, struct stream *s, const unsigned char *data)
{
	const unsigned char *next;
	uint32_t size;

	while (!m->types[page_get32(data, 0) & 0xffff]) {
		next = dat_walk_short(&s->walk, &size);
		if (!next)
			break;
		data = next;
		s->next.size = size;
		s->fresh = false;
	}
	return data;
}

/*
 * Puts the stream's next event into s->next. False at the end of the stream. This runs for each event of a file, so
 * variables that only a failure needs are not initialised.
 */
static bool advance(struct dat_merge *m, struct stream *s)
{
	const unsigned char *data = s->walking && !s->skipped ? dat_walk_short(&s->walk, &s->next.size) : NULL;
	struct dat_record record;
	struct dat_error error;
	int ret;

	if (data) {
		if (m->types)
			data = pass_over(m, s, data);
		s->next.ts = dat_time(m->time, s->next.cpu, s->walk.ts);
		s->next.raw = s->walk.ts;
		s->next.data = data;
		s->next.bytes_after = s->page_size - s->walk.pos;
		s->next.lost = 0;
		s->next.begins = s->fresh;
		s->fresh = false;
		return true;
	}
	ret = s->walking ? dat_walk_event(&s->walk, &record, &error) : 0;
	if ((ret <= 0 || record.kind != DAT_RECORD_DATA) && !find_record(m, s, ret, &record, &error))
		return false;
	s->next.ts = dat_time(m->time, s->next.cpu, record.ts);
	s->next.raw = record.ts;
	s->next.size = record.size;
	s->next.data = record.data;
	s->next.bytes_after = s->page_size - record.pos - record.length;
	s->next.lost = record.lost ? record.lost : s->skipped ? DAT_PAGE_LOST_UNKNOWN : 0;
	s->skipped = false;
	s->next.begins = s->fresh;
	s->fresh = false;
	return true;
}

static bool before(const struct stream *a, const struct stream *b)
{
	if (a->next.ts != b->next.ts)
		return a->next.ts < b->next.ts;
	return a < b; /* both point into m->streams */
}

static void sift_down(struct dat_merge *m, uint32_t i)
{
	for (;;) {
		uint32_t least = i, child = 2 * i + 1;
		struct stream *swap;

		for (uint32_t c = child; c < child + 2 && c < m->nr_heap; c++) {
			if (before(m->heap[c], m->heap[least]))
				least = c;
		}
		if (least == i)
			return;
		swap = m->heap[i];
		m->heap[i] = m->heap[least];
		m->heap[least] = swap;
		i = least;
	}
}

static uint32_t count_streams(const struct dat_file *file)
{
	uint32_t count = 0;

	for (size_t i = 0; i < file->nr_buffers; i++)
		count += file->buffers[i].nr_streams;
	return count;
}

static int open_stream(struct dat_merge *m, const struct dat_file *file, const struct dat_buffer *buffer,
		       const struct dat_stream *stream, uint64_t from)
{
	struct stream *s = &m->streams[m->nr_streams];

	if (dat_cursor_open(file, buffer, stream, &s->cursor))
		return -ENOMEM;
	s->next.cpu = stream->cpu;
	s->next.buffer = buffer;
	s->next.marked = DAT_NO_MARKER;
	m->nr_streams++;
	return from ? dat_cursor_seek(&s->cursor, m->time, from) : 0;
}

/*
 * Open the streams of the top buffer (`top`), or those of the others. The top buffer's come first, wherever they are in
 * the file; the others follow in the order of the file.
 */
static int open_streams(struct dat_merge *m, const struct dat_file *file, bool top, dat_merge_wanted wanted,
			const void *arg, uint64_t from)
{
	for (size_t i = 0; i < file->nr_buffers; i++) {
		const struct dat_buffer *buffer = &file->buffers[i];

		if (!buffer->name[0] != top)
			continue;
		for (uint32_t c = 0; c < buffer->nr_streams; c++) {
			const struct dat_stream *stream = &buffer->streams[c];

			if (!stream->size || (wanted && !wanted(arg, buffer, stream->cpu)))
				continue;
			if (open_stream(m, file, buffer, stream, from))
				return -ENOMEM;
		}
	}
	return 0;
}

int dat_merge_open(const struct dat_file *file, const struct dat_time *time, dat_merge_wanted wanted, const void *arg,
		   struct dat_merge **ret_merge)
{
	return dat_merge_open_at(file, time, wanted, arg, 0, ret_merge);
}

/* Allocates a merge with room for `count` streams. NULL: out of memory. */
static struct dat_merge *make_merge(const struct dat_time *time, uint32_t count)
{
	struct dat_merge *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	m->time = time;
	m->streams = calloc(count ? count : 1, sizeof(*m->streams));
	m->heap = calloc(count ? count : 1, sizeof(struct stream *));
	return m->streams && m->heap ? m : dat_merge_close(m);
}

/* Reads the first event of each stream; if `err` is set, closes the merge instead. */
static int start_merge(struct dat_merge *m, int err, struct dat_merge **ret_merge)
{
	if (err) {
		dat_merge_close(m);
		return err;
	}
	for (uint32_t i = 0; i < m->nr_streams; i++) {
		if (advance(m, &m->streams[i]))
			m->heap[m->nr_heap++] = &m->streams[i];
	}
	for (uint32_t i = m->nr_heap / 2; i-- > 0;)
		sift_down(m, i);
	*ret_merge = m;
	return 0;
}

int dat_merge_open_at(const struct dat_file *file, const struct dat_time *time, dat_merge_wanted wanted,
		      const void *arg, uint64_t from, struct dat_merge **ret_merge)
{
	struct dat_merge *m = make_merge(time, count_streams(file));
	int err;

	if (!m)
		return -ENOMEM;
	err = open_streams(m, file, true, wanted, arg, from);
	if (!err)
		err = open_streams(m, file, false, wanted, arg, from);
	return start_merge(m, err, ret_merge);
}

int dat_merge_open_stream(const struct dat_file *file, const struct dat_time *time, const struct dat_buffer *buffer,
			  const struct dat_stream *stream, uint64_t from, struct dat_merge **ret_merge)
{
	struct dat_merge *m = make_merge(time, 1);

	if (!m)
		return -ENOMEM;
	return start_merge(m, stream->size ? open_stream(m, file, buffer, stream, from) : 0, ret_merge);
}

struct dat_merge *dat_merge_close(struct dat_merge *merge)
{
	if (!merge)
		return NULL;
	for (uint32_t i = 0; merge->streams && i < merge->nr_streams; i++)
		dat_cursor_close(&merge->streams[i].cursor);
	free(merge->streams);
	free(merge->heap);
	free(merge);
	return NULL;
}

void dat_merge_only(struct dat_merge *merge, const bool *types)
{
	/*
	 * With TIME_SHIFT, times that rise within a page may go back when shown: then the order depends on each event.
	 */
	merge->types = merge->time->nr_cpus ? NULL : types;
}

const struct dat_event *dat_merge_take(struct dat_merge *merge)
{
	struct dat_merge *m = merge;

	if (m->turned) {
		dat_cursor_release(&m->turned->cursor);
		m->turned = NULL;
	}
	if (m->taken) {
		m->taken = false;
		if (!advance(m, m->heap[0]))
			m->heap[0] = m->heap[--m->nr_heap];
		sift_down(m, 0);
	}
	if (!m->nr_heap)
		return NULL;
	m->taken = true;
	return &m->heap[0]->next;
}

int dat_merge_next(struct dat_merge *merge, struct dat_event *ret_event)
{
	const struct dat_event *event = dat_merge_take(merge);

	if (!event)
		return 0;
	*ret_event = *event;
	return 1;
}

uint64_t dat_merge_damaged(const struct dat_merge *merge, struct dat_error *ret_error, uint32_t *ret_cpu)
{
	*ret_error = merge->first_error;
	*ret_cpu = merge->first_cpu;
	return merge->damaged;
}
