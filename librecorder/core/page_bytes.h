/* SPDX-License-Identifier: MIT */
/*
 * Reads and writes the words of a page. Only this file knows the layout of records, size and loss in a page (facts A1
 * to A4). page.c makes the public functions with it. format/weave reads and makes pages with it, and format/dat reads
 * pages of any machine with it. The writer in librecorder/ring makes its own words.
 *
 * Readers differ in a few points. Each point is a bit of a *rule*. Where speed matters, the rule is a constant and
 * costs nothing.
 *
 * Guarantees. Nothing outside the given bytes is read, whatever they contain. Each word is read once: the page's writer
 * may change it meanwhile, so the value that is checked is the value that is used. Pure functions; safe from signal
 * handlers.
 */
#ifndef PAGE_BYTES_H
#define PAGE_BYTES_H

#include <errno.h>
#include <librecorder/page.h>
#include <string.h>

/* Rules. 0: pages of this machine, made by us or by its kernel. */
#define PAGE_SWAPPED  1u /* numbers are in the other byte order */
#define PAGE_BIG      2u /* the machine is big endian: an event word's type is in its upper bits */
#define PAGE_COMMIT32 4u /* the commit word, and the number of lost events, have four bytes */
#define PAGE_STRICT   8u /* an end too short for a record is damage, unless it is dead padding */
#define PAGE_KBUFFER  16u /* as libtraceevent's kbuffer, which viewers use, where it differs from the kernel */

#define PAGE_INLINE static inline __attribute__((always_inline))

#define PAGE_LOST_SIZE 8u /* size of the number of lost events, which follows the data */

/* ------------------------------------------------------------------------------------------------------- words */

PAGE_INLINE uint32_t page_get32(const unsigned char *at, unsigned int rule)
{
	uint32_t value;

	memcpy(&value, at, sizeof(value));
	/* Keeps the compiler from reading the word once more. */
	__asm__("" : "+r"(value));
	return rule & PAGE_SWAPPED ? __builtin_bswap32(value) : value;
}

PAGE_INLINE uint64_t page_get64(const unsigned char *at, unsigned int rule)
{
	uint64_t value;

	memcpy(&value, at, sizeof(value));
	__asm__("" : "+r"(value));
	return rule & PAGE_SWAPPED ? __builtin_bswap64(value) : value;
}

static inline void page_put32(unsigned char *at, uint32_t value)
{
	memcpy(at, &value, sizeof(value));
}

/* An event word and its two parts. */
static inline uint32_t page_word(uint32_t type, uint32_t delta)
{
	return delta << REC_TYPE_BITS | type;
}

PAGE_INLINE uint32_t page_word_type(uint32_t word, unsigned int rule)
{
	return rule & PAGE_BIG ? word >> REC_DELTA_BITS : word & ((1u << REC_TYPE_BITS) - 1u);
}

PAGE_INLINE uint32_t page_word_delta(uint32_t word, unsigned int rule)
{
	return rule & PAGE_BIG ? word & REC_DELTA_MAX : word >> REC_TYPE_BITS;
}

/*
 * The payload size of an event whose word contains it. `left` bytes of the page remain from the word on, at least 4. 0:
 * another kind of record, or it does not fit.
 */
PAGE_INLINE uint32_t page_plain_size(uint32_t word, uint32_t left)
{
	const uint32_t type = page_word_type(word, 0);

	return type - 1 < REC_TYPE_DATA_MAX && type * 4 <= left - 4 ? type * 4 : 0;
}

/* -------------------------------------------------------------------------------------------------- one record */

enum page_kind { PAGE_END, PAGE_DATA, PAGE_PADDING, PAGE_EXTEND, PAGE_STAMP };

struct page_record {
	uint32_t delta;
	uint32_t head;	 /* bytes in front of the payload */
	uint32_t size;	 /* size of the payload; for padding, of the part after its two words */
	uint32_t length; /* length of the whole record, up to the next one */
};

/* The absolute time that 59 stored bits mean after `before` (facts A2.7). */
static inline uint64_t page_stamp(uint64_t stamp, uint64_t before, unsigned int rule)
{
	const uint64_t top = before & ~REC_TIME_STAMP_MASK;

	/*
	 * If no time had top bits so far, the kernel uses the stamp as it is, except if the stamp is earlier by more
	 * than half the range: then the stamp is the first one with top bits. kbuffer ignores this exception.
	 */
	if (!top && (rule & PAGE_KBUFFER || (stamp <= before && before - stamp <= REC_TIME_STAMP_MASK / 2)))
		return stamp;
	stamp |= top;
	return stamp < before ? stamp + (REC_TIME_STAMP_MASK + 1) : stamp;
}

/* Whether this event word means that the rest of the page is not used. */
PAGE_INLINE bool page_is_dead(uint32_t word, unsigned int rule)
{
	return page_word_type(word, rule) == REC_TYPE_PADDING && !page_word_delta(word, rule);
}

/*
 * Whether a padding record's delta is added to the time. In the kernel, the delta of the event after a discarded one is
 * counted from the discarded one. But a padding record cannot have a delta of 0, so it has 1 instead (facts A5.1). Our
 * markers have this delta, too, and the kernel's validator ignores it. kbuffer adds it.
 */
PAGE_INLINE bool page_padding_counts(uint32_t delta, unsigned int rule)
{
	return delta != 1 || rule & PAGE_KBUFFER;
}

/* The page ends with fewer bytes than a record needs. */
PAGE_INLINE int page_short_end(const unsigned char *at, uint32_t left, unsigned int rule)
{
	if (!(rule & PAGE_STRICT) || !left || (left >= 4 && page_is_dead(page_get32(at, rule), rule)))
		return PAGE_END;
	return -EBADMSG;
}

/*
 * The record at `at`, where `left` bytes of the page remain. Its kind; *time, the running time, becomes that of the
 * record. PAGE_END: no record follows, *ret_record is not set. -EBADMSG: these bytes are not a record.
 */
PAGE_INLINE int page_record(const unsigned char *at, uint32_t left, unsigned int rule, uint64_t *time,
			    struct page_record *ret_record)
{
	uint32_t word, type, delta, second;

	/* Every record has at least eight bytes. If only four are left, the kernel fills them with dead padding. */
	if (left < 8)
		return page_short_end(at, left, rule);
	word = page_get32(at, rule);
	type = page_word_type(word, rule);
	delta = page_word_delta(word, rule);
	if (type - 1 < REC_TYPE_DATA_MAX) {
		if (type * 4 > left - 4)
			return -EBADMSG;
		*time += delta;
		*ret_record = (struct page_record){ delta, 4, type * 4, 4 + type * 4 };
		return PAGE_DATA;
	}
	if (page_is_dead(word, rule))
		return PAGE_END;
	second = page_get32(at + 4, rule);
	if (type == REC_TYPE_TIME_EXTEND || type == REC_TYPE_TIME_STAMP) {
		const uint64_t value = ((uint64_t)second << REC_DELTA_BITS) + delta;

		*time = type == REC_TYPE_TIME_EXTEND ? *time + value : page_stamp(value, *time, rule);
		*ret_record = (struct page_record){ delta, 8, 0, REC_TIME_EXTEND_SIZE };
		return type == REC_TYPE_TIME_EXTEND ? PAGE_EXTEND : PAGE_STAMP;
	}
	/* The stored length includes its own word. The next record begins at the next multiple of four. */
	if (second < 4 || second > left - 4)
		return -EBADMSG;
	if (type != REC_TYPE_PADDING || page_padding_counts(delta, rule))
		*time += delta;
	*ret_record = (struct page_record){ delta, 8, second - 4, 4 + ((second + 3u) & ~UINT32_C(3)) };
	if (ret_record->length > left)
		ret_record->length = left;
	return type == REC_TYPE_PADDING ? PAGE_PADDING : PAGE_DATA;
}

/* The CPU that a padding record at `at` names; `cpu` if it is not a marker. */
static inline uint32_t page_marker_cpu(const unsigned char *at, const struct page_record *padding, uint32_t cpu)
{
	if (padding->size != REC_MARKER_SIZE - 8u || page_get32(at + 8, 0) != REC_MARKER_MAGIC)
		return cpu;
	return page_get32(at + 12, 0);
}

/* rec_page_next(), inline. The whole record is between ret_record->offset and iter->offset. */
static inline int page_next(struct rec_page_iter *iter, struct rec_record *ret_record)
{
	for (;;) {
		const unsigned char *at = iter->data + iter->offset;
		/* The size may have been set to less than the part already read. */
		const uint32_t left = iter->size > iter->offset ? iter->size - iter->offset : 0;
		struct page_record record;
		const int kind = page_record(at, left, 0, &iter->time, &record);

		if (kind <= 0)
			return kind;
		if (kind == PAGE_PADDING)
			iter->cpu = page_marker_cpu(at, &record, iter->cpu);
		if (kind == PAGE_DATA)
			*ret_record = (struct rec_record){ iter->time, at + record.head, record.size, iter->offset,
							   iter->cpu };
		iter->offset += record.length;
		if (kind == PAGE_DATA)
			return 1;
	}
}

/* -------------------------------------------------------------------------------------------------- the header */

struct page_header {
	uint64_t time;
	uint32_t commit; /* the lower half of the commit word */
	uint32_t size;	 /* size of the data, as the header claims */
	uint64_t lost;	 /* events lost before it: 0; a number; UINT64_MAX: some */
};

PAGE_INLINE uint32_t page_header_size(unsigned int rule)
{
	return rule & PAGE_COMMIT32 ? 12u : REC_SUBBUF_HEADER_SIZE;
}

/* The size of the data in a commit word. */
PAGE_INLINE uint32_t page_commit_size(uint32_t commit, unsigned int rule)
{
	return commit & (rule & PAGE_KBUFFER ? REC_DELTA_MAX : REC_COMMIT_SIZE_MASK);
}

/* `capacity` bytes follow the header; the number of lost events must be within them. */
PAGE_INLINE struct page_header page_header(const unsigned char *page, uint32_t capacity, unsigned int rule)
{
	const bool is_short = rule & PAGE_COMMIT32;
	const uint32_t commit = is_short ? page_get32(page + 8, rule) : (uint32_t)page_get64(page + 8, rule);
	const uint32_t lost_size = is_short ? 4u : PAGE_LOST_SIZE;
	struct page_header header = {
		.time = page_get64(page, rule),
		.commit = commit,
		.size = page_commit_size(commit, rule),
	};
	const unsigned char *lost = page + page_header_size(rule) + header.size;

	if (!(commit & REC_COMMIT_LOST))
		return header;
	header.lost = UINT64_MAX;
	if (!(commit & REC_COMMIT_LOST_STORED) || header.size > capacity || capacity - header.size < lost_size)
		return header;
	/* A count of four bytes is signed, as one of eight bytes is, so -1 becomes UINT64_MAX. */
	header.lost = is_short ? (uint64_t)(int32_t)page_get32(lost, rule) : page_get64(lost, rule);
	return header;
}

/*
 * Write the commit word of a page with `size` bytes of data. If the number of lost events is known and there is room
 * for it, write it after the data. Returns the size of both.
 */
static inline uint32_t page_put_commit(unsigned char *page, uint32_t size, uint64_t lost, uint32_t capacity)
{
	uint64_t commit = size;

	if (lost)
		commit |= REC_COMMIT_LOST;
	if (lost && lost != UINT64_MAX && capacity - size >= PAGE_LOST_SIZE) {
		commit |= REC_COMMIT_LOST_STORED;
		memcpy(page + REC_SUBBUF_HEADER_SIZE + size, &lost, PAGE_LOST_SIZE);
		size += PAGE_LOST_SIZE;
	}
	memcpy(page + sizeof(uint64_t), &commit, sizeof(commit));
	return size;
}

/* ------------------------------------------------------------------------------------------- records, written */

/* A time extend or an absolute stamp: 8 bytes. */
static inline void page_put_time(unsigned char *at, uint32_t type, uint64_t time)
{
	page_put32(at, page_word(type, (uint32_t)(time & REC_DELTA_MAX)));
	page_put32(at + 4, (uint32_t)(time >> REC_DELTA_BITS));
}

/* Write a word according to a rule, for pages of any machine. */
PAGE_INLINE void page_put32_by(unsigned char *at, uint32_t value, unsigned int rule)
{
	page_put32(at, rule & PAGE_SWAPPED ? __builtin_bswap32(value) : value);
}

PAGE_INLINE void page_put64_by(unsigned char *at, uint64_t value, unsigned int rule)
{
	if (rule & PAGE_SWAPPED)
		value = __builtin_bswap64(value);
	memcpy(at, &value, sizeof(value));
}

PAGE_INLINE void page_put_word_by(unsigned char *at, uint32_t type, uint32_t delta, unsigned int rule)
{
	page_put32_by(at, rule & PAGE_BIG ? type << REC_DELTA_BITS | delta : page_word(type, delta), rule);
}

/* The bytes of an event with this payload, and of the time extend before it. */
static inline uint32_t page_event_size(uint32_t size, uint64_t delta)
{
	const bool is_plain = size && size % 4 == 0 && size <= REC_TYPE_DATA_MAX * 4;

	return (delta > REC_DELTA_MAX ? REC_TIME_EXTEND_SIZE : 0u) +
	       (is_plain ? 4u + size : (8u + size + 3u) & ~UINT32_C(3));
}

/*
 * An event that is `delta` later than the one before, at most 59 bits; page_event_size() bytes. The payload keeps its
 * exact size.
 */
static inline void page_put_event(unsigned char *at, uint64_t delta, const void *payload, uint32_t size,
				  unsigned int rule)
{
	if (delta > REC_DELTA_MAX) {
		page_put_word_by(at, REC_TYPE_TIME_EXTEND, (uint32_t)(delta & REC_DELTA_MAX), rule);
		page_put32_by(at + 4, (uint32_t)(delta >> REC_DELTA_BITS), rule);
		at += REC_TIME_EXTEND_SIZE;
		delta = 0;
	}
	if (size && size % 4 == 0 && size <= REC_TYPE_DATA_MAX * 4) {
		page_put_word_by(at, size / 4, (uint32_t)delta, rule);
		memcpy(at + 4, payload, size);
		return;
	}
	page_put_word_by(at, 0, (uint32_t)delta, rule);
	page_put32_by(at + 4, size + 4, rule);
	memcpy(at + 8, payload, size);
	memset(at + 8 + size, 0, -size & 3u);
}

/*
 * Writes the header of a page by a rule, and after the data the number of lost events, if it is known and there is
 * room.
 */
static inline void page_put_header(unsigned char *page, uint64_t time, uint32_t size, uint64_t lost, uint32_t capacity,
				   unsigned int rule)
{
	const bool is_short = rule & PAGE_COMMIT32;
	const uint32_t lost_size = is_short ? 4u : PAGE_LOST_SIZE;
	unsigned char *end = page + page_header_size(rule) + size;
	uint32_t commit = size;

	if (lost)
		commit |= REC_COMMIT_LOST;
	if (lost && lost != UINT64_MAX && capacity - size >= lost_size && (!is_short || lost <= INT32_MAX)) {
		commit |= REC_COMMIT_LOST_STORED;
		if (is_short)
			page_put32_by(end, (uint32_t)lost, rule);
		else
			page_put64_by(end, lost, rule);
	}
	page_put64_by(page, time, rule);
	if (is_short)
		page_put32_by(page + 8, commit, rule);
	else
		page_put64_by(page + 8, commit, rule);
}

/* Marker and absolute stamp: they state CPU and time again. */
#define PAGE_RESTATE_SIZE (REC_MARKER_SIZE + REC_TIME_EXTEND_SIZE)

static inline void page_put_restate(unsigned char *at, uint32_t cpu, uint64_t time)
{
	const struct rec_marker marker = { REC_MARKER_WORD, REC_MARKER_SIZE - 4u, REC_MARKER_MAGIC, cpu };

	memcpy(at, &marker, sizeof(marker));
	page_put_time(at + REC_MARKER_SIZE, REC_TYPE_TIME_STAMP, time & REC_TIME_STAMP_MASK);
}

#endif
