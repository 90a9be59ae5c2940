/* SPDX-License-Identifier: MIT */
#include "weave_fixture.h"

#include "format/dat/dat_merge.h"
#include "format/dat/dat_notes.h"
#include "format/dat/dat_read.h"
#include "format/dat/dat_time.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <ftw.h>
#include <librecorder/page.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ------------------------------------------------------------------------------------------------- the source */

static int fake_next(struct rec_source *source, unsigned int number, struct rec_page *ret_page)
{
	struct fake *fake = (struct fake *)source;
	struct fake_stream *stream = &fake->streams[number];

	/* The page before is gone, as with a lane: code that still reads it finds nonsense. */
	if (stream->next)
		memset(stream->pages[stream->next - 1].bytes, 0xa5, fake->subbuf_size);
	if (stream->next == stream->nr_pages)
		return stream->error;
	*ret_page = stream->pages[stream->next++].page;
	if (stream->kernel)
		ret_page->entries = 0;
	return 1;
}

struct fake *fake_new(unsigned int nr_streams, uint32_t subbuf_size)
{
	struct fake *fake = calloc(1, sizeof(*fake));

	fake->source.next = fake_next;
	fake->source.nr_streams = nr_streams;
	fake->streams = calloc(nr_streams + 1u, sizeof(*fake->streams));
	fake->described = calloc(nr_streams + 1u, sizeof(*fake->described));
	fake->subbuf_size = subbuf_size;
	return fake;
}

void fake_free(struct fake *fake)
{
	unsigned int i, j;

	for (i = 0; i < fake->source.nr_streams; i++) {
		for (j = 0; j < fake->streams[i].nr_pages; j++)
			free(fake->streams[i].pages[j].bytes);
		free(fake->streams[i].pages);
	}
	free(fake->streams);
	free(fake->described);
	free(fake);
}

struct rec_page *fake_last_page(struct fake *fake, unsigned int number)
{
	struct fake_stream *stream = &fake->streams[number];

	return &stream->pages[stream->nr_pages - 1].page;
}

static unsigned char *end_of(struct fake *fake, unsigned int number)
{
	struct fake_stream *stream = &fake->streams[number];
	struct fake_page *page = &stream->pages[stream->nr_pages - 1];

	return page->bytes + REC_SUBBUF_HEADER_SIZE + page->page.size;
}

static void put_words(struct fake *fake, unsigned int number, uint32_t first, uint32_t second)
{
	unsigned char *at = end_of(fake, number);

	memcpy(at, &first, 4);
	memcpy(at + 4, &second, 4);
	fake_last_page(fake, number)->size += 8;
}

static void put_stamp(struct fake *fake, unsigned int number, uint32_t type, uint64_t time)
{
	time &= REC_TIME_STAMP_MASK;
	put_words(fake, number, (uint32_t)(time & REC_DELTA_MAX) << 5 | type, (uint32_t)(time >> 27));
}

static void put_marker(struct fake *fake, unsigned int number, uint32_t cpu, uint64_t time)
{
	put_words(fake, number, 1u << 5 | 29u, 12);
	put_words(fake, number, REC_MARKER_MAGIC, cpu);
	put_stamp(fake, number, REC_TYPE_TIME_STAMP, time);
	fake->streams[number].cpu = cpu;
	fake->streams[number].time = time;
}

void fake_end_page(struct fake *fake, unsigned int number)
{
	fake->streams[number].open = false;
}

void fake_lose(struct fake *fake, unsigned int number, uint64_t lost)
{
	fake_end_page(fake, number);
	fake->streams[number].lost = lost;
}

static void begin_page(struct fake *fake, unsigned int number, uint32_t cpu, uint64_t time)
{
	struct fake_stream *stream = &fake->streams[number];
	struct fake_page *page;

	stream->pages = realloc(stream->pages, (stream->nr_pages + 1) * sizeof(*stream->pages));
	page = &stream->pages[stream->nr_pages++];
	memset(page, 0, sizeof(*page));
	page->bytes = aligned_alloc(64, fake->subbuf_size);
	memset(page->bytes, 0, fake->subbuf_size);
	memcpy(page->bytes, &time, sizeof(time));
	page->page.data = page->bytes;
	page->page.lost = stream->lost;
	stream->lost = 0;
	stream->open = true;
	stream->time = time;
	stream->cpu = cpu;
	if (!fake->bare && !stream->kernel)
		put_marker(fake, number, cpu, time);
}

static uint32_t room(struct fake *fake, unsigned int number)
{
	return fake->subbuf_size - REC_SUBBUF_HEADER_SIZE - fake_last_page(fake, number)->size;
}

static void put_event(struct fake *fake, unsigned int number, uint64_t time, const void *payload, uint32_t size)
{
	struct fake_stream *stream = &fake->streams[number];
	struct rec_page *page = fake_last_page(fake, number);
	uint64_t delta = time - stream->time;
	uint32_t head = 4;
	uint32_t word;

	if (delta > REC_DELTA_MAX) {
		put_stamp(fake, number, REC_TYPE_TIME_EXTEND, delta);
		delta = 0;
	}
	if (size > REC_EVENT_SMALL_MAX || size <= 8) {
		/* The long form fits every size. */
		const uint32_t length = size + 4;

		word = (uint32_t)delta << 5;
		memcpy(end_of(fake, number) + 4, &length, 4);
		head = 8;
	} else {
		word = (uint32_t)delta << 5 | size / 4;
	}
	memcpy(end_of(fake, number), &word, 4);
	memcpy(end_of(fake, number) + head, payload, size);
	page->size += head + size;
	page->entries++;
	stream->time = time;
}

void fake_put_bytes(struct fake *fake, unsigned int number, uint32_t cpu, uint64_t time, const void *payload,
		    uint32_t size)
{
	struct fake_stream *stream = &fake->streams[number];

	cr_assert_eq(size % 4, 0);
	if (stream->open && (room(fake, number) < size + 8 + 24 + 8))
		stream->open = false;
	if (!stream->open)
		begin_page(fake, number, cpu, time);
	else if (stream->cpu != cpu && !fake->bare && !stream->kernel)
		put_marker(fake, number, cpu, time);
	cr_assert_leq(size + 8, room(fake, number));
	put_event(fake, number, time, payload, size);
	memcpy((void *)(uintptr_t)((const unsigned char *)fake_last_page(fake, number)->data + 8),
	       &(uint64_t){ fake_last_page(fake, number)->size }, 8);
}

void fake_put(struct fake *fake, unsigned int number, uint32_t cpu, uint64_t time, uint16_t id, int32_t pid,
	      uint64_t event, uint32_t size)
{
	unsigned char payload[REC_SUBBUF_MAX];
	const struct fake_event head = { { id, 0, 0, pid }, event };

	memset(payload, (int)(event & 0xff), size);
	memcpy(payload, &head, sizeof(head));
	fake_put_bytes(fake, number, cpu, time, payload, size);
}

void fake_discard(struct fake *fake, unsigned int number, uint64_t time, uint32_t size)
{
	struct fake_stream *stream = &fake->streams[number];
	unsigned char *at;

	if (!stream->open || room(fake, number) < size + 8)
		begin_page(fake, number, stream->cpu, time);
	at = end_of(fake, number);
	put_words(fake, number, 1u << 5 | 29u, size + 4);
	memset(at + 8, 0, size);
	fake_last_page(fake, number)->size += size;
	/* Readers differ on a padding record's delta; the ring restates the time. */
	put_stamp(fake, number, REC_TYPE_TIME_STAMP, stream->time);
}

uint32_t fake_offset(const struct rec_page *page, unsigned int index)
{
	struct rec_page_iter iter;
	struct rec_record record = { 0 };

	rec_page_iter_init(&iter, page->data, page->size);
	do
		cr_assert_eq(rec_page_next(&iter, &record), 1);
	while (index--);
	return record.offset;
}

/* ---------------------------------------------------------------------------------------------------- the log */

static void end_record(struct blob *log, size_t start)
{
	blob_zeros(log, (log->size + 7) & ~(size_t)7);
	blob_set_u32(log, start, (uint32_t)(log->size - start));
}

void fake_log_event(struct blob *log, uint16_t id, const char *system, const char *name, const char *fields,
		    uint32_t fixed)
{
	const size_t start = log->size;
	size_t text;

	blob_u32(log, 0);
	blob_u16(log, REC_LOG_EVENT);
	blob_u16(log, id);
	blob_u32(log, 1);
	blob_u32(log, 0);
	blob_u64(log, fixed);
	text = log->size;
	blob_string(log, system);
	blob_printf(log, "%s, %s", name, fields);
	blob_put(log, "", 1);
	blob_set_u32(log, start + 12, (uint32_t)(log->size - text));
	end_record(log, start);
}

void fake_log_thread(struct blob *log, int32_t tid, const char *name)
{
	const size_t start = log->size;

	blob_u32(log, 0);
	blob_u16(log, REC_LOG_THREAD);
	blob_u16(log, 0);
	blob_u32(log, (uint32_t)tid);
	blob_u32(log, (uint32_t)strlen(name) + 1);
	blob_string(log, name);
	end_record(log, start);
}

void fake_log_printf(struct blob *log, uint64_t site, const char *function, const char *format)
{
	const size_t start = log->size;

	blob_u32(log, 0);
	blob_u16(log, REC_LOG_PRINTF);
	blob_u16(log, 0);
	blob_u64(log, site);
	blob_u32(log, 1);
	blob_u32(log, (uint32_t)(strlen(function) + strlen(format)) + 2);
	blob_string(log, function);
	blob_string(log, format);
	end_record(log, start);
}

/* --------------------------------------------------------------------------------------------------- the file */

static void name_event(const struct dat_file *file, struct seen_event *event)
{
	char id_line[32];
	size_t i;

	snprintf(id_line, sizeof(id_line), "\nID: %u\n", event->common.type);
	snprintf(event->name, sizeof(event->name), "?");
	for (i = 0; i < file->nr_formats; i++) {
		char name[32];

		if (!strstr(file->formats[i].text.text, id_line))
			continue;
		/* Two formats with one id would be an error. */
		cr_assert_str_eq(event->name, "?");
		cr_assert_eq(sscanf(file->formats[i].text.text, "name: %31s", name), 1);
		snprintf(event->name, sizeof(event->name), "%s:%s", file->formats[i].system, name);
	}
}

static char *copy_text(const struct dat_text *text)
{
	return strdup(text->text ? text->text : "");
}

/* The value of a note, up to the next one. */
static char *copy_note(const char *note)
{
	return note ? strndup(note, strcspn(note, ";")) : strdup("");
}

struct seen *seen_read(const char *path)
{
	struct seen *seen = calloc(1, sizeof(*seen));
	uint64_t last[256] = { 0 };
	struct dat_error error = { 0, "" };
	struct dat_file *file;
	struct dat_merge *merge;
	struct dat_event event;
	struct dat_notes notes;
	struct dat_time time;
	uint32_t cpu;
	int err;

	err = dat_open(path, NULL, &file, &error);
	cr_assert_eq(err, 0, "%s: %s", path, error.text);
	cr_assert_eq(dat_time_open(file, 0, &time, &error), 0, "%s", error.text);
	cr_assert_eq(dat_merge_open(file, &time, NULL, NULL, &merge), 0);
	while (dat_merge_next(merge, &event) > 0) {
		struct seen_event *to;

		if (!(seen->nr & (seen->nr - 1)))
			seen->events = realloc(seen->events, (seen->nr ? seen->nr * 2 : 1) * sizeof(*seen->events));
		to = &seen->events[seen->nr++];
		memset(to, 0, sizeof(*to));
		to->time = event.ts;
		to->cpu = event.cpu;
		to->size = event.size;
		to->lost = event.lost;
		memcpy(&to->common, event.data, sizeof(to->common));
		memcpy(&to->number, event.data + 8, event.size >= 16 ? 8 : 0);
		memcpy(&to->number2, event.data + 16, event.size >= 24 ? 8 : 0);
		name_event(file, to);
		snprintf(to->buffer, sizeof(to->buffer), "%s", event.buffer->name);
		seen->lost += event.lost > 0 ? (uint64_t)event.lost : 0;
		seen->lost_unknown += event.lost < 0;
		cr_assert_geq(event.ts, last[event.cpu % 256]); /* of all buffers: the merge is by time */
		last[event.cpu % 256] = event.ts;
	}
	cr_assert_eq(dat_merge_damaged(merge, &error, &cpu), 0, "%s", error.text);
	dat_merge_close(merge);
	dat_time_close(&time);
	seen->cpus = file->buffers[0].cpus;
	seen->clock = strdup(file->buffers[0].clock ? file->buffers[0].clock : "");
	seen->cmdlines = copy_text(&file->cmdlines);
	seen->kallsyms = copy_text(&file->kallsyms);
	seen->printk = copy_text(&file->printk);
	dat_notes_of(file, &notes);
	seen->kernel_losses = copy_note(notes.kernel_losses);
	seen->program_losses = copy_note(notes.program_losses);
	seen->version = file->version;
	seen->page_size = file->page_size;
	dat_close(file);
	return seen;
}

void seen_free(struct seen *seen)
{
	free(seen->events);
	free(seen->clock);
	free(seen->kernel_losses);
	free(seen->program_losses);
	free(seen->cmdlines);
	free(seen->kallsyms);
	free(seen->printk);
	free(seen);
}

/* ----------------------------------------------------------------------------------------------- a directory */

static char directory[] = "/tmp/recorder-unit-XXXXXX";
static pid_t directory_owner;

static int remove_one(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
	(void)st;
	(void)flag;
	(void)ftw;
	return remove(path);
}

static void remove_directory(void)
{
	if (directory_owner == getpid())
		nftw(directory, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

const char *fixture_path(const char *name)
{
	static char path[256];

	if (!directory_owner) {
		cr_assert_not_null(mkdtemp(directory));
		directory_owner = getpid();
		atexit(remove_directory);
	}
	snprintf(path, sizeof(path), "%s/%s", directory, name);
	return path;
}

void weaving_begin(struct weaving *s, unsigned int nr_streams)
{
	memset(s, 0, sizeof(*s));
	s->fake = fake_new(nr_streams, 4096);
	fake_log_event(&s->log, ID_A, "t", "a", "u64(number)", 16);
	fake_log_event(&s->log, ID_B, "t", "b", "u64(number)", 16);
	s->process = (struct weave_process){
		.pid = PID,
		.clock = REC_CLOCK_MONO,
		.subbuf_size = 4096,
		.comm = "prog",
		.log = s->log.data,
		.log_size = s->log.size,
	};
	s->params = (struct weave_params){
		.source = &s->fake->source,
		.streams = s->fake->described,
		.processes = &s->process,
		.nr_processes = 1,
		.output = fixture_path("weave.dat"),
		.nr_cpus = 2,
	};
}

bool fake_wants(void *name, const struct rec_words *system, const struct rec_words *event)
{
	cr_assert_eq(system->size, event->size == 6 ? 6 : 1);
	return strlen(name) == event->size && !memcmp(name, event->text, event->size);
}

struct seen *weave(struct weaving *s)
{
	struct seen *seen;
	const int err = weave_to_dat(&s->params, &s->stats);

	cr_assert_eq(err, 0, "%s", strerror(-err));
	seen = seen_read(s->params.output);
	cr_assert_eq(seen->nr, s->stats.events + s->stats.synthetic);
	cr_assert_eq(seen->lost, s->stats.lost);
	cr_assert_eq(seen->lost_unknown, s->stats.lost_unknown);
	return seen;
}

void weaving_end(struct weaving *s, struct seen *seen)
{
	seen_free(seen);
	fake_free(s->fake);
	blob_free(&s->log);
}
