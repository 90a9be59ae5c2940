/* SPDX-License-Identifier: MIT */
#include "points_notes.h"

#include <librecorder/page.h>

/* Whether a payload is whole, judged by its number, which must be one that was given out. */
static bool is_intact(const struct notes *notes, const unsigned char *payload, uint32_t stored, uint64_t *ret_number)
{
	uint64_t number;
	uint32_t i, size;

	memcpy(&number, payload, sizeof(number));
	if (stored < sizeof(number) || number >= NOTES_EVENTS)
		return false;
	size = notes->made[number].size;
	if (size > stored || size < sizeof(number))
		return false;
	for (i = sizeof(number); i < size; i++)
		if (payload[i] != note_byte(number, i))
			return false;
	*ret_number = number;
	return true;
}

/*
 * Begin the notes about the pages that a reader is handed. If the previous reader was killed before it finished its
 * last page, that page is handed out again. The losses before it may have become certain meanwhile, but cannot have
 * grown.
 */
static void begin(struct notes *notes, uint64_t first, uint64_t lost, uint32_t entries)
{
	if (notes->taking_over && first == notes->last_first && notes->reads + notes->last_lost > 0) {
		if ((!notes->by_event && entries < notes->reads - notes->last_page) || lost > notes->last_lost)
			notes->complaint = __LINE__;
		notes->reads = notes->last_page;
		notes->last_time = notes->time_before;
		notes->again++;
	} else {
		notes->lost += notes->last_lost;
		notes->last_lost = lost;
	}
	notes->taking_over = 0;
	notes->last_page = notes->reads;
	notes->last_first = first;
	notes->time_before = notes->last_time;
}

static void add(struct notes *notes, const struct rec_record *record, uint64_t index)
{
	struct note_read read = { .index = index };

	if (notes->reads == NOTES_READS)
		notes->complaint = __LINE__;
	else if (!is_intact(notes, record->payload, record->size, &read.number))
		notes->complaint = __LINE__;
	else if (record->time < notes->last_time)
		notes->complaint = __LINE__;
	if (notes->complaint)
		return;
	notes->last_time = record->time;
	notes->read[notes->reads++] = read;
}

void note_page(struct notes *notes, const struct rec_page *page)
{
	struct rec_page_iter iter;
	struct rec_record record;
	uint64_t index = page->first;
	int r;

	begin(notes, page->first, page->lost, page->entries);
	rec_page_iter_init(&iter, page->data, page->size);
	while ((r = rec_page_next(&iter, &record)) > 0 && !notes->complaint)
		if (record.offset >= page->from)
			add(notes, &record, index++);
	if (!notes->complaint && (r < 0 || index != page->first + page->entries))
		notes->complaint = __LINE__;
}

void note_event(struct notes *notes, const struct rec_view_event *event)
{
	begin(notes, event->number, event->lost, 1);
	add(notes, &event->record, event->number);
}
