/* SPDX-License-Identifier: MIT */
#include "kills_account.h"

#include "format/dat/dat_read.h"
#include "format/weave/trace_info.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void kills_account_init(struct kills_account *account, struct kills_notes *notes, uint32_t reader)
{
	memset(account, 0, sizeof(*account));
	account->notes = notes;
	account->reader = reader;
	page_walk_init(&account->walk);
}

void kills_account_free(struct kills_account *account)
{
	page_walk_free(&account->walk);
}

/*
 * The index of an event among the ticks. KILLS_EVENTS: its writer never wrote such an event, or the contents are wrong.
 */
static uint32_t place(const struct kills_notes *notes, const struct rec_record *record)
{
	struct kills_event event;
	const unsigned char *fill;
	uint32_t i, size;

	if (record->size < sizeof(event))
		return KILLS_EVENTS;
	memcpy(&event, record->payload, sizeof(event));
	if (event.source >= KILLS_SOURCES ||
	    event.number >= __atomic_load_n(&notes->source[event.source].asked, __ATOMIC_RELAXED))
		return KILLS_EVENTS;
	size = kills_fill_size(event.number, event.source, notes->longest);
	if (event.fill_size != size || event.fill_offset + size > record->size)
		return KILLS_EVENTS;
	fill = (const unsigned char *)record->payload + event.fill_offset;
	for (i = 0; i < size; i++)
		if (fill[i] != kills_fill_byte(event.number, event.source, i))
			return KILLS_EVENTS;
	return event.source * notes->each + (uint32_t)event.number;
}

static bool tick(void *data, struct page_walk *walk, const struct rec_record *record)
{
	struct kills_account *account = data;
	uint16_t id = 0;
	uint32_t at;

	memcpy(&id, record->payload, sizeof(id));
	if (record->offset < account->from || id == TRACE_INFO_END_ID)
		return true;
	at = place(account->notes, record);
	if (at >= KILLS_EVENTS) {
		snprintf(walk->why, sizeof(walk->why), "the event at %u was never written so", record->offset);
		return false;
	}
	account->repeated += (account->notes->seen[at / 8] >> at % 8) & 1u;
	account->notes->seen[at / 8] |= (unsigned char)(1u << at % 8);
	return true;
}

static bool walk(struct kills_account *account, const void *page, uint32_t subbuf_size)
{
	if (page_walk_compare(&account->walk, page, subbuf_size, tick, account))
		return true;
	account->corrupt++;
	return false;
}

int kills_take_page(struct kills_account *account, struct rec_view *view, uint32_t lane, unsigned int flags)
{
	struct kills_notes *notes = account->notes;
	static uint64_t copy[REC_SUBBUF_MIN / 8];
	struct rec_page page;
	const int r = rec_view_read(view, lane, flags, &page);

	if (r <= 0)
		return r;
	if (page.size > sizeof(copy) - REC_SUBBUF_HEADER_SIZE || notes->taken_count == KILLS_TAKEN)
		return -EOVERFLOW;
	/* The size is in the header, as in a page that leaves a ring. */
	memcpy(copy, page.data, REC_SUBBUF_HEADER_SIZE + page.size);
	copy[1] = page.size;
	account->from = page.from;
	if (!walk(account, copy, sizeof(copy)))
		return -EBADMSG;
	/* The page is noted before the lane's next call, which finishes it. */
	notes->taken[notes->taken_count] = (struct kills_taken){ account->reader, lane, page.first, page.lost };
	__atomic_store_n(&notes->taken_count, notes->taken_count + 1, __ATOMIC_RELEASE);
	return 1;
}

static bool take_stream(struct kills_account *account, const struct dat_file *file, const struct dat_stream *stream)
{
	const uint32_t size = file->page_size;
	unsigned char *page = malloc(size);
	bool good = page != NULL;
	uint64_t at, lost;

	for (at = 0; good && at < stream->size; at += size) {
		good = pread(file->fd, page, size, (off_t)(stream->offset + at)) == (ssize_t)size &&
		       walk(account, page, size);
		lost = good ? rec_page_lost(page, size - REC_SUBBUF_HEADER_SIZE) : 0;
		if (lost == UINT64_MAX) {
			snprintf(account->walk.why, sizeof(account->walk.why), "a loss of unknown size");
			good = false;
		}
		account->lost += lost;
	}
	free(page);
	return good;
}

bool kills_take_file(struct kills_account *account, const char *path)
{
	struct dat_error error = { 0, "" };
	struct dat_file *file;
	bool good = true;
	uint32_t i;

	if (dat_open(path, NULL, &file, &error)) {
		snprintf(account->walk.why, sizeof(account->walk.why), "%s", error.text);
		return false;
	}
	account->from = 0;
	for (i = 0; good && i < file->buffers[0].nr_streams; i++)
		good = take_stream(account, file, &file->buffers[0].streams[i]);
	dat_close(file);
	return good;
}

/*
 * The losses that a page reports are reported again to the reader that takes over from a dead one; the first report
 * counts.
 */
static uint64_t sum_taken(const struct kills_notes *notes)
{
	uint64_t lost = 0;
	uint32_t i, k;

	for (i = 0; i < notes->taken_count; i++) {
		const struct kills_taken *one = &notes->taken[i];

		for (k = i; k > 0 && notes->taken[k - 1].lane != one->lane; k--)
			;
		if (k == 0 || notes->taken[k - 1].first != one->first || notes->taken[k - 1].reader == one->reader)
			lost += one->lost;
	}
	return lost;
}

void kills_sum(const struct kills_notes *notes, struct kills_sums *ret_sums)
{
	struct kills_sums sums = { .lost = sum_taken(notes) };
	uint32_t source;
	uint64_t n;

	for (source = 0; source < KILLS_SOURCES; source++) {
		const struct kills_source *said = &notes->source[source], *thread = &notes->source[source & ~1u];
		const uint64_t sure = said != thread && thread->asked != thread->done ? thread->sure : said->done;

		sums.committed += sure;
		for (n = 0; n < said->asked; n++) {
			const uint64_t at = (uint64_t)source * notes->each + n;
			const bool seen = (notes->seen[at / 8] >> at % 8) & 1;

			sums.read += seen;
			sums.gone += !seen && n < sure;
			sums.in_doubt += !seen && n >= sure;
		}
	}
	*ret_sums = sums;
}
