/* SPDX-License-Identifier: MIT */
/*
 * One sub-buffer, read and built: the only place that knows how events lie in a page. Pure functions over the memory
 * they are given; no state elsewhere, safe from any thread and from signal handlers. Reading never looks outside the
 * size it was given, whatever the bytes say.
 */
#ifndef LIBRECORDER_PAGE_H
#define LIBRECORDER_PAGE_H

#pragma push_macro("REC__DETAIL")
#define REC__DETAIL 1
#include <librecorder/detail/abi.h>
#pragma pop_macro("REC__DETAIL")
#include <stdbool.h>
#include <stdint.h>

/* Inline where it is included; ffi.c alone defines these functions for everybody, for other languages. */
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
	const unsigned char *data; /* behind the header */
	uint32_t size;
	uint32_t offset; /* of the next record */
	uint32_t cpu;	 /* of the last marker; REC_CPU_UNKNOWN before the first */
	uint64_t time;	 /* running time */
};

struct rec_record {
	uint64_t time;
	const void *payload; /* common fields first; in the page's own memory, aligned to 4 */
	uint32_t size;	     /* of the payload as stored: rounded up to a multiple of 4 */
	uint32_t offset;     /* of the event word, from behind the header */
	uint32_t cpu;
};

/* The number of valid data bytes that a page's header states, loss bits taken off. */
uint32_t rec_page_size(const void *page);

/* Begin to read `page`, of which `size` bytes behind the header are valid. */
void rec_page_iter_init(struct rec_page_iter *iter, const void *page, uint32_t size);

/*
 * The next event. Padding, time extends and markers are taken into account and not shown. A padding record's own delta
 * is not added to the time, as in the kernel's readers.
 * 1: *ret_record is filled. 0: the page ends here. -EBADMSG: the bytes at iter->offset are no record.
 */
int rec_page_next(struct rec_page_iter *iter, struct rec_record *ret_record);

/*
 * The events lost immediately before a page that left its ring: 0, a number, or UINT64_MAX where the page says only
 * that there were some. `capacity` bounds where the number may stand.
 */
uint64_t rec_page_lost(const void *page, uint32_t capacity);

/* ----------------------------------------------------------------------------------------------------- building */

struct rec_page_writer {
	unsigned char *page;
	uint32_t capacity; /* bytes behind the header that events may take */
	uint32_t used;
	uint32_t entries;
	uint64_t time; /* of the last event */
	uint64_t lost;
};

/*
 * Begin a page of `subbuf_size` bytes at `page` (aligned to 8). `lost` events were lost immediately before it: 0, a
 * number, or UINT64_MAX for an unknown one; room for the number is kept free behind the data.
 */
void rec_page_begin(struct rec_page_writer *writer, void *page, uint32_t subbuf_size, uint64_t lost);

/*
 * Room for an event of `size` bytes at `time`, which must not be earlier than the event before (it is raised to it).
 * NULL: the page is full. The memory beyond `size`, up to a multiple of 4, is cleared.
 */
void *rec_page_put(struct rec_page_writer *writer, uint64_t time, uint32_t size);

/* Write the header and clear what was not used. */
void rec_page_end(struct rec_page_writer *writer);

/* The longest payload that a page of this size takes as its first event, nothing lost before it. */
uint32_t rec_page_payload_max(uint32_t subbuf_size);

/* Bytes that an event with this payload takes, its event word included (facts A3.1). */
REC_INLINE uint32_t rec_event_total(uint32_t size)
{
	uint32_t total;

	if (size > REC_EVENT_SMALL_MAX)
		return (8u + size + 3u) & ~UINT32_C(3);
	total = (4u + size + 3u) & ~UINT32_C(3);
	/* 12 bytes can become neither valid padding nor a time extend with room for its event. */
	return total <= 4 ? 8 : total == 12 ? 16 : total;
}

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif
#endif
