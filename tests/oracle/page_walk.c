/* SPDX-License-Identifier: MIT */
#include "page_walk.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <traceevent/kbuffer.h>

void page_walk_init(struct page_walk *walk)
{
	memset(walk, 0, sizeof(*walk));
	walk->kbuffer = kbuffer_alloc(KBUFFER_LSIZE_8, KBUFFER_ENDIAN_SAME_AS_HOST);
	if (!walk->kbuffer)
		abort();
}

void page_walk_free(struct page_walk *walk)
{
	kbuffer_free(walk->kbuffer);
}

/* The third reading: record by record, to find padding with a delta of 1, and to count the kinds of records. */
struct raw {
	const unsigned char *data;
	uint32_t offset;
	uint64_t padding; /* number of padding records with a delta of 1 */
};

static void raw_advance(struct page_walk *walk, struct raw *raw, uint32_t to)
{
	while (raw->offset + 8 <= to) {
		uint32_t word, length;

		memcpy(&word, raw->data + raw->offset, sizeof(word));
		memcpy(&length, raw->data + raw->offset + 4, sizeof(length));
		switch (word & 31u) {
		case REC_TYPE_PADDING:
			if (word >> REC_TYPE_BITS == 0)
				return;
			raw->padding += word >> REC_TYPE_BITS == 1;
			raw->offset += 4 + length;
			walk->paddings++;
			break;
		case REC_TYPE_TIME_STAMP:
			raw->padding = 0;
			raw->offset += REC_TIME_EXTEND_SIZE;
			walk->stamps++;
			break;
		case REC_TYPE_TIME_EXTEND:
			raw->offset += REC_TIME_EXTEND_SIZE;
			walk->extends++;
			break;
		case 0:
			raw->offset += 4 + length;
			walk->long_events++;
			break;
		default:
			raw->offset += 4 + 4 * (word & 31u);
		}
	}
}

static bool compare_losses(struct page_walk *walk, const void *page, uint32_t capacity)
{
	uint64_t lost = rec_page_lost(page, capacity);
	const int missed = kbuffer_missed_events(walk->kbuffer);
	uint32_t word;

	walk->uncounted_losses += lost == UINT64_MAX;
	walk->counted_losses += lost && lost != UINT64_MAX;
	memcpy(&word, (const unsigned char *)page + REC_SUBBUF_HEADER_SIZE, sizeof(word));
	if (lost && rec_page_size(page) && (word & 31u) > REC_TYPE_DATA_MAX) {
		walk->hidden_losses++;
		lost = 0;
	}
	if ((int64_t)lost == missed)
		return true;
	snprintf(walk->why, sizeof(walk->why), "kbuffer misses %d events, we %" PRId64, missed, (int64_t)lost);
	return false;
}

/*
 * Whether kbuffer's time is equal to `ours`, on a page that begins at `begin`. The kernel carries into the five bits
 * that an absolute stamp does not hold (facts A2.7), but kbuffer of libtraceevent 1.7.1 does not.
 */
static bool is_time(uint64_t time, uint64_t ours, uint64_t begin)
{
	return time == ours || (time + REC_TIME_STAMP_MASK + 1 == ours && (begin ^ ours) > REC_TIME_STAMP_MASK);
}

static bool compare_event(struct page_walk *walk, const struct rec_record *record, const void *payload, uint64_t time,
			  uint64_t padding)
{
	const int size = kbuffer_event_size(walk->kbuffer);

	if (payload == record->payload && size == (int)record->size &&
	    is_time(time, record->time + padding, walk->begin))
		return true;
	snprintf(walk->why, sizeof(walk->why),
		 "at %u: kbuffer's payload is %td bytes after ours, %d bytes long, time %" PRIu64
		 "; ours %u bytes long, time %" PRIu64 ", paddings with a delta of 1 %" PRIu64,
		 record->offset, (const char *)payload - (const char *)record->payload, size, time, record->size,
		 record->time, padding);
	return false;
}

bool page_walk_compare(struct page_walk *walk, const void *page, uint32_t subbuf_size, page_walk_each *each,
		       void *data)
{
	const uint32_t size = rec_page_size(page);
	struct raw raw = { .data = (const unsigned char *)page + REC_SUBBUF_HEADER_SIZE };
	struct rec_page_iter iter;
	struct rec_record record;
	unsigned long long time = 0;
	const void *payload;
	int r;

	if (kbuffer_load_subbuffer(walk->kbuffer, (void *)(uintptr_t)page) < 0 ||
	    kbuffer_subbuffer_size(walk->kbuffer) != (int)size) {
		snprintf(walk->why, sizeof(walk->why), "kbuffer sees another size than %u", size);
		return false;
	}
	if (!compare_losses(walk, page, subbuf_size - REC_SUBBUF_HEADER_SIZE))
		return false;
	walk->pages++;
	memcpy(&walk->begin, page, sizeof(walk->begin));
	rec_page_iter_init(&iter, page, size);
	payload = kbuffer_read_event(walk->kbuffer, &time);
	while ((r = rec_page_next(&iter, &record)) > 0 && payload) {
		raw_advance(walk, &raw, record.offset);
		if (!compare_event(walk, &record, payload, time, raw.padding) || (each && !each(data, walk, &record)))
			return false;
		walk->events++;
		walk->padded_times += raw.padding != 0;
		payload = kbuffer_next_event(walk->kbuffer, &time);
	}
	if (r == 0 && !payload) {
		raw_advance(walk, &raw, size);
		return true;
	}
	snprintf(walk->why, sizeof(walk->why), "at %u of %u: kbuffer sees %s, we %s", iter.offset, size,
		 payload ? "an event" : "none",
		 r < 0	 ? "damage"
		 : r > 0 ? "an event"
			 : "none");
	return false;
}
