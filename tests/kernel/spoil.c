/* SPDX-License-Identifier: MIT */
/*
 * spoil FILE pid|time|woken|count|back|switch
 *
 * Damages one thing in a version 6 recording of programs and the kernel, in place, for verify to find:
 *
 * pid	  an event of a program becomes another thread's
 * time	  an event of a program and the switch before it, to the program's thread, change places
 * woken  wake-ups become those of a thread that does not exist
 * count  a CPU's statistics report one event more
 * back	  a page in the middle begins a second earlier
 * switch  a switch becomes one from another thread than the one to which the CPU switched before
 *
 * All changes are made in the middle of the time in which programs wrote. Standard output: what was changed. Status 1:
 * there was nothing to change.
 */
#include "format/io/bytes.h"
#include "format/dat/dat_page.h"
#include "format/text/event_parse.h"

#include <fcntl.h>
#include <inttypes.h>
#include <librecorder/detail/abi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct spoil {
	struct dat_file *file;
	struct event_table *table;
	int fd;
	uint64_t first, end; /* times of its programs' records */
	uint64_t woken;
	int32_t runs; /* the thread to which the CPU switched last; 0: not known */

	/* the record before, on the same page */
	struct dat_record last;
	bool has_last;
};

struct place {
	const unsigned char *page;
	uint64_t offset; /* of the page in the file */
};

static bool put(const struct spoil *s, uint64_t offset, const void *bytes, size_t size)
{
	return pwrite(s->fd, bytes, size, (off_t)offset) == (ssize_t)size;
}

static int32_t field(const struct spoil *s, const struct dat_record *record, const char *event, const char *name,
		     uint32_t *ret_offset)
{
	struct tep_event *found = tep_find_event_by_name(s->table->tep, "sched", event);
	const struct tep_format_field *field = found ? tep_find_field(found, name) : NULL;

	if (!field || bytes_get16(record->data, false) != found->id)
		return -1;
	*ret_offset = (uint32_t)field->offset;
	return (int32_t)bytes_get32(record->data + field->offset, false);
}

static bool is_user(const struct dat_record *record)
{
	return record->size >= 8 && bytes_get16(record->data, false) >= REC_EVENT_ID_FIRST;
}

/* Each function returns whether it has made its change. */

static bool spoil_pid(struct spoil *s, const struct place *place, const struct dat_record *record)
{
	const int32_t pid = (int32_t)bytes_get32(record->data + 4, false);
	const int32_t other = pid + 1000000;

	if (!is_user(record))
		return false;
	printf("thread %" PRId32 "\n", pid);
	return put(s, place->offset + (uint64_t)(record->data - place->page) + 4, &other, 4);
}

/* The two records are adjacent, so they fit in either order. The times stay where they are. */
static bool spoil_time(struct spoil *s, const struct place *place, const struct dat_record *record)
{
	const struct dat_record *last = &s->last;
	unsigned char both[1024];
	uint32_t words[2], offset;

	if (!s->has_last || !is_user(record) || last->length + record->length > sizeof(both) || record->delta < 100 ||
	    field(s, last, "sched_switch", "next_pid", &offset) != (int32_t)bytes_get32(record->data + 4, false))
		return false;
	memcpy(both, place->page + record->pos, record->length);
	memcpy(both + record->length, place->page + last->pos, last->length);
	words[0] = bytes_get32(both, false);
	words[1] = bytes_get32(both + record->length, false);
	words[0] = (words[0] & 31) | last->delta << 5;
	words[1] = (words[1] & 31) | record->delta << 5;
	memcpy(both, &words[0], 4);
	memcpy(both + record->length, &words[1], 4);
	printf("thread %" PRId32 ", %" PRIu32 " ns\n", (int32_t)bytes_get32(record->data + 4, false), record->delta);
	return put(s, place->offset + last->pos, both, last->length + record->length);
}

/* All wake-ups are changed, so it never returns true, and the walk continues to the end of the file. */
static bool spoil_woken(struct spoil *s, const struct place *place, const struct dat_record *record)
{
	const int32_t other = 1000000;
	uint32_t offset = 0;
	int32_t pid = field(s, record, "sched_waking", "pid", &offset);

	if (pid < 0)
		pid = field(s, record, "sched_wakeup", "pid", &offset);
	if (pid > 0)
		s->woken += put(s, place->offset + (uint64_t)(record->data - place->page) + offset, &other, 4);
	return false;
}

static bool spoil_back(struct spoil *s, const struct place *place, const struct dat_record *record)
{
	const uint64_t earlier = bytes_get64(place->page, false) - 1000000000;

	(void)record;
	if (s->has_last)
		return false;
	printf("page at %" PRIu64 "\n", place->offset);
	return put(s, place->offset, &earlier, 8);
}

static bool spoil_switch(struct spoil *s, const struct place *place, const struct dat_record *record)
{
	const int32_t other = 1000000, runs = s->runs;
	uint32_t offset = 0;
	const int32_t next = field(s, record, "sched_switch", "next_pid", &offset);
	const int32_t prev = field(s, record, "sched_switch", "prev_pid", &offset);

	s->runs = !s->has_last ? 0 : next >= 0 ? next : runs;
	if (!s->has_last || prev <= 0 || prev != runs)
		return false;
	printf("thread %" PRId32 "\n", prev);
	return put(s, place->offset + (uint64_t)(record->data - place->page) + offset, &other, 4);
}

static bool spoil_count(struct spoil *s, const struct place *place, const struct dat_record *record)
{
	const struct dat_option *option = dat_option(s->file, DAT_CPUSTAT);
	const char *text = option ? strstr(option->data, "read events: ") : NULL;
	char digit;

	(void)place, (void)record;
	if (!text || !option->offset)
		return false;
	text += strcspn(text, "0123456789");
	text += strspn(text, "0123456789") - 1;
	digit = *text == '9' ? '8' : (char)(*text + 1);
	printf("%.40s\n", option->data);
	return put(s, option->offset + (uint64_t)(text - option->data), &digit, 1);
}

static const struct {
	const char *name;
	bool (*spoil)(struct spoil *s, const struct place *place, const struct dat_record *record);
} ways[] = {
	{ "pid", spoil_pid },	  { "time", spoil_time }, { "woken", spoil_woken },
	{ "count", spoil_count }, { "back", spoil_back }, { "switch", spoil_switch },
};

/* Go through the stream; a `way` below 0 only looks at its times. Returns whether the change was made. */
static bool walk(struct spoil *s, const struct dat_buffer *buffer, const struct dat_stream *stream, int way)
{
	struct dat_error error;
	struct dat_cursor cursor;
	struct dat_page page;
	struct dat_walk walk;
	struct dat_record record;
	bool done = false;

	if (dat_cursor_open(s->file, buffer, stream, &cursor))
		return false;
	while (!done && dat_cursor_next(&cursor, &page, &error) > 0) {
		const struct place place = { page.data, page.offset };

		s->has_last = false;
		if (dat_walk_open(s->file, &page, &walk, &error))
			break;
		while (!done && dat_walk_next(&walk, &record, &error) > 0) {
			if (way < 0 && record.kind == DAT_RECORD_DATA && is_user(&record)) {
				s->first = record.ts < s->first ? record.ts : s->first;
				s->end = record.ts > s->end ? record.ts : s->end;
			} else if (way >= 0 && record.kind == DAT_RECORD_DATA &&
				   record.ts >= s->first + (s->end - s->first) / 2) {
				done = ways[way].spoil(s, &place, &record);
			}
			s->has_last = record.kind == DAT_RECORD_DATA;
			s->last = record;
		}
	}
	dat_cursor_close(&cursor);
	return done;
}

static bool walk_all(struct spoil *s, int way)
{
	const struct dat_buffer *buffer = &s->file->buffers[0];

	for (uint32_t i = 0; i < buffer->nr_streams; i++)
		if (buffer->streams[i].size && walk(s, buffer, &buffer->streams[i], way))
			return true;
	if (s->woken)
		printf("%" PRIu64 " wake-ups\n", s->woken);
	return s->woken;
}

int main(int argc, char **argv)
{
	struct spoil s = { .first = UINT64_MAX };
	struct dat_error error;
	bool done;
	int way = -1;

	for (size_t i = 0; argc == 3 && i < sizeof(ways) / sizeof(ways[0]); i++)
		if (!strcmp(argv[2], ways[i].name))
			way = (int)i;
	if (way < 0)
		return 2;
	s.fd = open(argv[1], O_RDWR | O_CLOEXEC);
	if (s.fd < 0 || dat_open(argv[1], NULL, &s.file, &error) ||
	    event_table_open(s.file, EVENT_NO_PLUGINS, &s.table))
		return 1;
	walk_all(&s, -1);
	done = walk_all(&s, way);
	event_table_close(s.table);
	dat_close(s.file);
	close(s.fd);
	return !done;
}
