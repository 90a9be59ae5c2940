/* SPDX-License-Identifier: MIT */
/*
 * Reading a log: pure functions over memory. Separate from log.c, so that a program that only reads logs does not link
 * the code that writes them.
 */
#include <librecorder/log.h>

#include <stdbool.h>
#include <string.h>

/* Whether `size` bytes at `text` hold at least `count` strings, each terminated by NUL. */
static bool has_strings(const void *text, size_t size, unsigned int count)
{
	const char *at = text;
	const char *end = at + size;

	while (count--) {
		at = memchr(at, '\0', (size_t)(end - at));
		if (!at)
			return false;
		at++;
	}
	return true;
}

static bool is_valid(const struct rec_log_record *record)
{
	const void *const at = record;
	const struct rec_log_event *event = at;
	const struct rec_log_thread *thread = at;
	const struct rec_log_printf *site = at;
	size_t room;

	switch (record->kind) {
	case REC_LOG_EVENT:
		if (record->size < sizeof(*event))
			return false;
		room = record->size - sizeof(*event);
		if (event->nr_numbers > room / sizeof(int64_t))
			return false;
		room -= event->nr_numbers * sizeof(int64_t);
		return event->text_size <= room &&
		       has_strings((const int64_t *)at + sizeof(*event) / sizeof(int64_t) + event->nr_numbers,
				   event->text_size, 2);
	case REC_LOG_THREAD:
		return record->size >= sizeof(*thread) && thread->name_size <= record->size - sizeof(*thread) &&
		       has_strings(thread + 1, thread->name_size, 1);
	case REC_LOG_PRINTF:
		return record->size >= sizeof(*site) && site->text_size <= record->size - sizeof(*site) &&
		       has_strings(site + 1, site->text_size, 2);
	default:
		return true;
	}
}

const struct rec_log_record *rec_log_next(const void *log, size_t size, size_t *offset)
{
	const struct rec_log_record *record;

	while (*offset < size && size - *offset >= sizeof(*record)) {
		record = (const void *)((const unsigned char *)log + *offset);
		/* Skip zeros: a linker pads with them between descriptions in a program file. */
		if (!record->size && !record->kind && !record->id) {
			*offset += sizeof(*record);
			continue;
		}
		if (record->size < sizeof(*record) || record->size % 8 || record->size > size - *offset)
			break;
		*offset += record->size;
		if (is_valid(record))
			return record;
	}
	return NULL;
}
