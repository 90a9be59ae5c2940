/* SPDX-License-Identifier: MIT */
/* The public functions that read and build sub-buffers. Only page_bytes.h knows the layout of a page. */
#include "librecorder/core/page_bytes.h"

uint32_t rec_page_size(const void *page)
{
	const unsigned char *bytes = page;

	return page_commit_size((uint32_t)page_get64(bytes + sizeof(uint64_t), 0), 0);
}

void rec_page_iter_init(struct rec_page_iter *iter, const void *page, uint32_t size)
{
	/* Only the time is read: a writer that leaves this sub-buffer may be about to write its size. */
	memcpy(&iter->time, page, sizeof(iter->time));
	iter->data = (const unsigned char *)page + REC_SUBBUF_HEADER_SIZE;
	iter->size = size;
	iter->offset = 0;
	iter->cpu = REC_CPU_UNKNOWN;
}

int rec_page_next(struct rec_page_iter *iter, struct rec_record *ret_record)
{
	return page_next(iter, ret_record);
}

uint64_t rec_page_lost(const void *page, uint32_t capacity)
{
	return page_header(page, capacity, 0).lost;
}

void rec_page_begin(struct rec_page_writer *writer, void *page, uint32_t subbuf_size, uint64_t lost)
{
	writer->page = page;
	writer->capacity = subbuf_size - REC_SUBBUF_HEADER_SIZE;
	if (lost && lost != UINT64_MAX)
		writer->capacity -= PAGE_LOST_SIZE;
	writer->used = 0;
	writer->entries = 0;
	writer->time = 0;
	writer->lost = lost;
}

static void *put_event_word(unsigned char *at, uint32_t delta, uint32_t size, uint32_t total)
{
	unsigned char *payload = at + 4;

	if (size <= REC_EVENT_SMALL_MAX) {
		page_put32(at, page_word((total - 4) / 4, delta));
	} else {
		page_put32(at, page_word(0, delta));
		page_put32(at + 4, total - 4);
		payload += 4;
	}
	memset(payload + size, 0, (size_t)(at + total - payload) - size);
	return payload;
}

void *rec_page_put(struct rec_page_writer *writer, uint64_t time, uint32_t size)
{
	unsigned char *at = writer->page + REC_SUBBUF_HEADER_SIZE + writer->used;
	const uint32_t total = rec_event_total(size);
	const uint32_t room = writer->capacity - writer->used;
	uint64_t delta = 0;
	uint32_t lead = 0;

	if (writer->used)
		delta = time > writer->time ? time - writer->time : 0;
	if (delta > REC_DELTA_MAX)
		lead = REC_TIME_EXTEND_SIZE;
	if (total > room || lead > room - total)
		return NULL;
	if (!writer->used) {
		memcpy(writer->page, &time, sizeof(time));
		writer->time = time;
	}
	if (lead) {
		page_put_time(at, REC_TYPE_TIME_EXTEND, delta);
		at += lead;
	}
	writer->time += delta;
	writer->used += lead + total;
	writer->entries++;
	return put_event_word(at, lead ? 0 : (uint32_t)delta, size, total);
}

void rec_page_end(struct rec_page_writer *writer)
{
	uint32_t end;

	if (!writer->used)
		memset(writer->page, 0, sizeof(uint64_t));
	/* The capacity was reduced to keep room for the number. */
	if (writer->lost && writer->lost != UINT64_MAX)
		writer->capacity += PAGE_LOST_SIZE;
	end = page_put_commit(writer->page, writer->used, writer->lost, writer->capacity);
	memset(writer->page + REC_SUBBUF_HEADER_SIZE + end, 0, writer->capacity - end);
}

uint32_t rec_page_payload_max(uint32_t subbuf_size)
{
	return subbuf_size - REC_SUBBUF_HEADER_SIZE - 8u;
}
