/* SPDX-License-Identifier: MIT */
/*
 * Sub-buffers, read and built. The rules are the kernel's (facts A1 to A4). One rule differs between readers: whether
 * a padding record's delta is added to the time. As in the kernel's readers, it is not.
 */
#include <librecorder/page.h>

#include <errno.h>
#include <string.h>

#define LOST_COUNT_SIZE 8u

static uint32_t get_u32(const unsigned char *at)
{
	uint32_t value;

	memcpy(&value, at, sizeof(value));
	/*
	 * The page's writer may change it meanwhile: so each value is read once, and the value that is checked is the
	 * value that is used.
	 */
	__asm__("" : "+r"(value));
	return value;
}

static void put_u32(unsigned char *at, uint32_t value)
{
	memcpy(at, &value, sizeof(value));
}

uint32_t rec_page_size(const void *page)
{
	struct rec_subbuf_header header;

	memcpy(&header, page, sizeof(header));
	return (uint32_t)header.commit & REC_COMMIT_SIZE_MASK;
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

/* The absolute time that 59 stored bits mean after `before` (facts A2.7). */
static uint64_t complete_stamp(uint64_t stamp, uint64_t before)
{
	const uint64_t top = before & ~REC_TIME_STAMP_MASK;

	/*
	 * Without top bits the kernel uses the stamp as it is; but a step back of half the range is the first carry
	 * into the top bits.
	 */
	if (!top && stamp <= before && before - stamp <= REC_TIME_STAMP_MASK / 2)
		return stamp;
	stamp |= top;
	return stamp < before ? stamp + (REC_TIME_STAMP_MASK + 1) : stamp;
}

/* A padding record with `body` bytes after its length word. */
static void see_padding(struct rec_page_iter *iter, const unsigned char *body, uint32_t size)
{
	if (size == REC_MARKER_SIZE - 8u && get_u32(body) == REC_MARKER_MAGIC)
		iter->cpu = get_u32(body + 4);
}

int rec_page_next(struct rec_page_iter *iter, struct rec_record *ret_record)
{
	/* The size may have been set to less than the part already read. */
	while ((uint64_t)iter->offset + 8 <= iter->size) {
		const unsigned char *at = iter->data + iter->offset;
		const uint32_t left = iter->size - iter->offset;
		const uint32_t word = get_u32(at);
		const uint32_t type = word & ((1u << REC_TYPE_BITS) - 1u);
		const uint32_t delta = word >> REC_TYPE_BITS;
		uint32_t length = get_u32(at + 4);
		uint32_t head = 4;

		switch (type) {
		case REC_TYPE_PADDING:
			if (delta == 0)
				return 0;
			if (length < 4 || length > left - 4)
				return -EBADMSG;
			see_padding(iter, at + 8, length - 4);
			iter->offset += 4 + length;
			continue;
		case REC_TYPE_TIME_EXTEND:
			iter->time += ((uint64_t)length << REC_DELTA_BITS) + delta;
			iter->offset += REC_TIME_EXTEND_SIZE;
			continue;
		case REC_TYPE_TIME_STAMP:
			iter->time = complete_stamp(((uint64_t)length << REC_DELTA_BITS) + delta, iter->time);
			iter->offset += REC_TIME_EXTEND_SIZE;
			continue;
		case 0:
			/* The stored length includes its own word. */
			if (length < 4 || length > left - 4)
				return -EBADMSG;
			length -= 4;
			head = 8;
			break;
		default:
			length = type * 4;
			if (length > left - 4)
				return -EBADMSG;
			break;
		}
		iter->time += delta;
		ret_record->time = iter->time;
		ret_record->payload = at + head;
		ret_record->size = length;
		ret_record->offset = iter->offset;
		ret_record->cpu = iter->cpu;
		iter->offset += head + ((length + 3u) & ~UINT32_C(3));
		if (iter->offset > iter->size)
			iter->offset = iter->size;
		return 1;
	}
	/* Fewer than eight bytes hold no record; the kernel leaves four bytes of dead padding there. */
	return 0;
}

uint64_t rec_page_lost(const void *page, uint32_t capacity)
{
	struct rec_subbuf_header header;
	uint32_t size;
	uint64_t lost;

	memcpy(&header, page, sizeof(header));
	if (!(header.commit & REC_COMMIT_LOST))
		return 0;
	size = (uint32_t)header.commit & REC_COMMIT_SIZE_MASK;
	if (!(header.commit & REC_COMMIT_LOST_STORED) || size > capacity || capacity - size < LOST_COUNT_SIZE)
		return UINT64_MAX;
	memcpy(&lost, (const unsigned char *)page + REC_SUBBUF_HEADER_SIZE + size, sizeof(lost));
	return lost;
}

void rec_page_begin(struct rec_page_writer *writer, void *page, uint32_t subbuf_size, uint64_t lost)
{
	writer->page = page;
	writer->capacity = subbuf_size - REC_SUBBUF_HEADER_SIZE;
	if (lost && lost != UINT64_MAX)
		writer->capacity -= LOST_COUNT_SIZE;
	writer->used = 0;
	writer->entries = 0;
	writer->time = 0;
	writer->lost = lost;
}

static void put_extend(unsigned char *at, uint64_t delta)
{
	put_u32(at, (uint32_t)(delta & REC_DELTA_MAX) << REC_TYPE_BITS | REC_TYPE_TIME_EXTEND);
	put_u32(at + 4, (uint32_t)(delta >> REC_DELTA_BITS));
}

static void *put_event_word(unsigned char *at, uint32_t delta, uint32_t size, uint32_t total)
{
	unsigned char *payload = at + 4;

	if (size <= REC_EVENT_SMALL_MAX) {
		put_u32(at, delta << REC_TYPE_BITS | (total - 4) / 4);
	} else {
		put_u32(at, delta << REC_TYPE_BITS);
		put_u32(at + 4, total - 4);
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
		put_extend(at, delta);
		at += lead;
	}
	writer->time += delta;
	writer->used += lead + total;
	writer->entries++;
	return put_event_word(at, lead ? 0 : (uint32_t)delta, size, total);
}

void rec_page_end(struct rec_page_writer *writer)
{
	unsigned char *data = writer->page + REC_SUBBUF_HEADER_SIZE;
	uint32_t end = writer->used;
	uint64_t commit = writer->used;

	if (!writer->used)
		memset(writer->page, 0, sizeof(uint64_t));
	if (writer->lost) {
		commit |= REC_COMMIT_LOST;
		if (writer->lost != UINT64_MAX) {
			commit |= REC_COMMIT_LOST_STORED;
			memcpy(data + end, &writer->lost, LOST_COUNT_SIZE);
			writer->capacity += LOST_COUNT_SIZE;
			end += LOST_COUNT_SIZE;
		}
	}
	memcpy(writer->page + sizeof(uint64_t), &commit, sizeof(commit));
	memset(data + end, 0, writer->capacity - end);
}

uint32_t rec_page_payload_max(uint32_t subbuf_size)
{
	return subbuf_size - REC_SUBBUF_HEADER_SIZE - 8u;
}
