/* SPDX-License-Identifier: MIT */
/*
 * Reading and building one sub-buffer. These are pure functions over the memory that they are given, without other
 * state: safe from any thread and from signal handlers. Reading never looks outside the given size, whatever the bytes
 * contain. The page belongs to the caller, and must exist as long as its iterator or writer is used.
 */
#ifndef LIBRECORDER_PAGE_H
#define LIBRECORDER_PAGE_H

#pragma push_macro("REC__DETAIL")
#define REC__DETAIL 1
#include <librecorder/detail/abi.h>
#pragma pop_macro("REC__DETAIL")
#include <stdbool.h>
#include <stdint.h>

/*
 * The functions below are inline in every file that includes this header. ffi.c defines them once more, as functions
 * that other languages can call.
 */
#ifndef REC_INLINE
#define REC_INLINE	  static inline
#define REC_INLINE_ALWAYS static inline __attribute__((always_inline))
#endif

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/* ------------------------------------------------------------------------------------------------------ reading */

struct rec_page_iter {
	const unsigned char *data; /* after the header */
	uint32_t size;
	uint32_t offset; /* of the next record */
	uint32_t cpu;	 /* of the last marker; REC_CPU_UNKNOWN before the first */
	uint64_t time;	 /* running time */
};

struct rec_record {
	uint64_t time;
	const void *payload; /* common fields first; in the page's own memory, aligned to 4 */
	uint32_t size;	     /* of the payload as stored: rounded up to a multiple of 4 */
	uint32_t offset;     /* of the event word, counted from the end of the header */
	uint32_t cpu;
};

/* The number of valid data bytes in a page's header, without the loss bits. */
uint32_t rec_page_size(const void *page);

/* Begin to read `page`, which has `size` valid bytes after the header. */
void rec_page_iter_init(struct rec_page_iter *iter, const void *page, uint32_t size);

/*
 * The next event. Padding, time extends and markers are evaluated and not returned. A padding record's own delta is
 * added to the time, except that a delta of 1 counts as 0. 1: *ret_record is filled. 0: the page ends here. -EBADMSG:
 * the bytes at iter->offset are not a valid record.
 */
int rec_page_next(struct rec_page_iter *iter, struct rec_record *ret_record);

/*
 * The number of events lost immediately before a page that left its ring: 0, a number, or UINT64_MAX if the page only
 * shows that events were lost. The page has room for `capacity` bytes after its header; a number that is stored beyond
 * them is not read.
 */
uint64_t rec_page_lost(const void *page, uint32_t capacity);

/* ----------------------------------------------------------------------------------------------------- building */

struct rec_page_writer {
	unsigned char *page;
	uint32_t capacity; /* bytes after the header that events may use */
	uint32_t used;
	uint32_t entries;
	uint64_t time; /* of the last event */
	uint64_t lost;
};

/*
 * Begin a page of `subbuf_size` bytes at `page` (aligned to 8). `lost` events were lost immediately before it: 0, a
 * number, or UINT64_MAX if unknown. Room for the number is kept free after the data.
 */
void rec_page_begin(struct rec_page_writer *writer, void *page, uint32_t subbuf_size, uint64_t lost);

/*
 * Reserve room for an event of `size` bytes at `time`. A time earlier than that of the event before is raised to it.
 * NULL: the page is full. The memory beyond `size`, up to a multiple of 4, is cleared.
 */
void *rec_page_put(struct rec_page_writer *writer, uint64_t time, uint32_t size);

/* Write the header and clear the unused rest of the page. */
void rec_page_end(struct rec_page_writer *writer);

/* The longest payload that fits into a page of this size as its first event, if nothing was lost before it. */
uint32_t rec_page_payload_max(uint32_t subbuf_size);

/* Bytes that an event with this payload takes, including its event word (facts A3.1). */
REC_INLINE uint32_t rec_event_total(uint32_t size)
{
	const uint32_t total = (size + (size > REC_EVENT_SMALL_MAX ? 8u : 4u) + 3u) & ~UINT32_C(3);

	/* A record of 12 bytes could become neither valid padding nor a time extend with room for its event. */
	return total <= 4 ? 8 : total == 12 ? 16 : total;
}

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif
#endif
