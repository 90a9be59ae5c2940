/* SPDX-License-Identifier: MIT */
/* Events of types that are not needed are left out of a merge, and the others do not change. */
#include "format/dat/dat_merge.h"
#include "format/io/bytes.h"
#include "tests/golden/dat_make.h"
#include "tests/unit/stored_frames.h"

#include <criterion/criterion.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define IDS 65536u

struct seen {
	uint64_t ts, raw, sum;
	const struct dat_buffer *buffer;
	int64_t lost;
	uint32_t cpu, size, bytes_after;
	uint16_t id;
	bool begins;
};

struct list {
	struct seen *all;
	size_t nr;
};

static struct dat_file *open_make(const struct dat_make *what)
{
	struct dat_file *file = NULL;
	struct dat_error error = { 0 };
	size_t size;
	unsigned char *data = dat_make(what, &size, NULL);
	const int fd = memfd_create("trace.dat", MFD_CLOEXEC);
	char path[64];

	cr_assert(fd >= 0);
	cr_assert_eq(pwrite(fd, data, size, 0), (ssize_t)size);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	cr_assert_eq(dat_open(path, &stored_frames, &file, &error), 0, "%s: %s", what->name, error.text);
	close(fd);
	free(data);
	return file;
}

static struct seen look_at(const struct dat_file *file, const struct dat_event *event)
{
	struct seen seen;

	memset(&seen, 0, sizeof(seen));
	seen.ts = event->ts;
	seen.raw = event->raw;
	seen.buffer = event->buffer;
	seen.lost = event->lost;
	seen.cpu = event->cpu;
	seen.size = event->size;
	seen.bytes_after = event->bytes_after;
	seen.begins = event->begins;
	seen.id = bytes_get16(event->data, file->big);
	for (uint32_t i = 0; i < event->size; i++)
		seen.sum = seen.sum * 31 + event->data[i];
	return seen;
}

/* The events that a merge of these types gives; NULL: a merge of all. */
static struct list read_types(const struct dat_file *file, const struct dat_time *time, const bool *types)
{
	struct list list = { 0 };
	struct dat_merge *merge;
	struct dat_event event;

	cr_assert_eq(dat_merge_open(file, time, NULL, NULL, &merge), 0);
	if (types)
		dat_merge_only(merge, types);
	while (dat_merge_next(merge, &event)) {
		/* The room is doubled each time, because realloc() always copies under the address sanitizer. */
		if (!(list.nr & (list.nr - 1)))
			list.all = realloc(list.all, (list.nr ? 2 * list.nr : 1) * sizeof(*list.all));
		cr_assert_not_null(list.all);
		list.all[list.nr++] = look_at(file, &event);
	}
	dat_merge_close(merge);
	return list;
}

static size_t keep(struct list *list, uint16_t id)
{
	size_t nr = 0;

	for (size_t i = 0; i < list->nr; i++)
		if (list->all[i].id == id)
			list->all[nr++] = list->all[i];
	list->nr = nr;
	return nr;
}

/* Merges with only `id` needed, and checks those events. Returns the number of events. */
static size_t check_type(const struct dat_make *what, const struct dat_file *file, const struct dat_time *time,
			 uint16_t id)
{
	static bool types[IDS];
	struct list wanted = read_types(file, time, NULL), found;
	size_t given;

	types[id] = true;
	found = read_types(file, time, types);
	types[id] = false;
	given = found.nr;
	cr_assert_eq(keep(&found, id), keep(&wanted, id), "%s: events of type %u", what->name, id);
	cr_expect(!wanted.nr || !memcmp(found.all, wanted.all, wanted.nr * sizeof(*wanted.all)), "%s: type %u",
		  what->name, id);
	free(found.all);
	free(wanted.all);
	return given;
}

Test(dat_merge, types_that_are_not_needed)
{
	for (const struct dat_make *what = dat_makes; what->name; what++) {
		struct dat_file *file = open_make(what);
		struct dat_error error = { 0 };
		struct dat_time time;
		struct list all;

		cr_assert_eq(dat_time_open(file, 0, &time, &error), 0, "%s: %s", what->name, error.text);
		all = read_types(file, &time, NULL);
		for (size_t i = 0; i < all.nr && i < 40; i++)
			check_type(what, file, &time, all.all[i].id);
		free(all.all);
		dat_time_close(&time);
		dat_close(file);
	}
}

/* If no event has the needed type, long events still remain, and short ones before them and at the end of a page. */
Test(dat_merge, most_of_them_are_left_out)
{
	const struct dat_make *what = dat_make_find("v6-plain");
	struct dat_file *file = open_make(what);
	struct dat_error error = { 0 };
	struct dat_time time;
	size_t given;

	cr_assert_eq(dat_time_open(file, 0, &time, &error), 0);
	given = check_type(what, file, &time, 65535);
	cr_expect(given < (size_t)what->cpus * what->events / 2, "%zu events", given);
	dat_time_close(&time);
	dat_close(file);
}

/* With thousands of streams, each has one page in memory, except those that the last events have left. */
Test(dat_merge, thousands_of_streams)
{
	enum { STREAMS = 5000 };
	struct dat_file *file = open_make(dat_make_find("v6-plain"));
	struct dat_stream *streams = calloc(STREAMS, sizeof(*streams));
	struct dat_buffer buffer = file->buffers[0];
	struct dat_file many = *file;
	const struct dat_time time = { .raw = true };
	const size_t before = mallinfo2().uordblks;
	struct dat_merge *merge;
	struct dat_event event;
	size_t most = 0, nr = 0;

	cr_assert_gt(buffer.streams[0].size, buffer.page_size, "one page is not enough");
	for (uint32_t i = 0; i < STREAMS; i++) {
		streams[i] = buffer.streams[0];
		streams[i].cpu = i;
	}
	buffer.streams = streams;
	buffer.nr_streams = STREAMS;
	many.buffers = &buffer;
	many.nr_buffers = 1;
	many.nr_streams = STREAMS;
	cr_assert_eq(dat_merge_open(&many, &time, NULL, NULL, &merge), 0);
	while (dat_merge_next(merge, &event)) {
		/* The streams have the same events. */
		cr_assert_eq(event.cpu, nr % STREAMS);
		if (!(nr++ % 997) && mallinfo2().uordblks - before > most)
			most = mallinfo2().uordblks - before;
	}
	cr_expect_gt(nr, STREAMS);
	cr_expect_lt(most, STREAMS * (buffer.page_size + 700u), "%zu bytes", most);
	dat_merge_close(merge);
	free(streams);
	dat_close(file);
}
