/* SPDX-License-Identifier: MIT */
/*
 * Comparing descriptions: whether two describe the same event. The texts are not parsed, so malformed ones can be
 * compared, too.
 */
#include <librecorder/event_text.h>

#include "librecorder/core/event_text_private.h"

#include <string.h>

struct cursor {
	const char *at;
	const char *end;
	char quote; /* the kind of quote that is open */
	bool escaped;
};

/* Find numbers and text of a description. False: its outer form is invalid. */
static bool description(const struct rec_log_event *event, const void **ret_numbers, size_t *ret_numbers_size,
			struct cursor *ret_text)
{
	const size_t size = event->record.size;

	if (size < sizeof(*event) || event->nr_numbers > (size - sizeof(*event)) / sizeof(int64_t) ||
	    event->text_size > size - sizeof(*event) - event->nr_numbers * sizeof(int64_t))
		return false;
	*ret_numbers = event + 1;
	*ret_numbers_size = event->nr_numbers * sizeof(int64_t);
	ret_text->at = (const char *)(event + 1) + *ret_numbers_size;
	ret_text->end = ret_text->at + event->text_size;
	ret_text->quote = '\0';
	ret_text->escaped = false;
	return true;
}

/*
 * The next significant character, '\0' at the end of a string, -1 after the last. Blanks outside of quotes are not
 * significant.
 */
static int next_char(struct cursor *cursor)
{
	char c;

	while (cursor->at < cursor->end) {
		c = *cursor->at++;
		if (cursor->escaped)
			cursor->escaped = false;
		else if (cursor->quote && c == '\\')
			cursor->escaped = true;
		else if (cursor->quote && c == cursor->quote)
			cursor->quote = '\0';
		else if (!cursor->quote && is_blank(c))
			continue;
		else if (!cursor->quote && (c == '"' || c == '\''))
			cursor->quote = c;
		return (unsigned char)c;
	}
	return -1;
}

bool rec_event_same(const struct rec_log_event *a, const struct rec_log_event *b)
{
	const void *numbers_a, *numbers_b;
	struct cursor cursor_a, cursor_b;
	size_t size_a, size_b;
	int c;

	if (!description(a, &numbers_a, &size_a, &cursor_a) || !description(b, &numbers_b, &size_b, &cursor_b))
		return a->record.size == b->record.size && a->record.size >= sizeof(a->record) &&
		       memcmp(&a->record + 1, &b->record + 1, a->record.size - sizeof(a->record)) == 0;
	if (size_a != size_b || memcmp(numbers_a, numbers_b, size_a) != 0)
		return false;
	do {
		c = next_char(&cursor_a);
		if (c != next_char(&cursor_b))
			return false;
	} while (c >= 0);
	return true;
}

uint32_t rec_event_hash(const struct rec_log_event *event)
{
	uint32_t hash = 2166136261u; /* FNV-1a */
	struct cursor cursor;
	const void *numbers;
	size_t size;
	int c;

	if (!description(event, &numbers, &size, &cursor))
		return 0;
	while ((c = next_char(&cursor)) >= 0)
		hash = (hash ^ (uint32_t)c) * 16777619u;
	return hash;
}
