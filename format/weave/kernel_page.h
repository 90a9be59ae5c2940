/* SPDX-License-Identifier: MIT */
/*
 * The events of a page that the kernel wrote. There are two differences from rec_page_next(). A padding record's delta
 * is added to the time, as in libtraceevent: the kernel counts the time of an event after a discarded one from the
 * discarded one. And the functions are inline, because there are millions of events.
 */
#ifndef FORMAT_KERNEL_PAGE_H
#define FORMAT_KERNEL_PAGE_H

#include <errno.h>
#include <librecorder/page.h>
#include <string.h>

/*
 * Skip the time stamp at iter->offset, and nothing else: a padding record may follow, for which the rules differ. The
 * page is shortened to end after the stamp, so that rec_page_next() stops there.
 */
static inline void kernel_page_stamp(struct rec_page_iter *iter)
{
	struct rec_page_iter stamp = *iter;
	struct rec_record none;

	stamp.size = iter->offset + REC_TIME_EXTEND_SIZE;
	rec_page_next(&stamp, &none);
	iter->offset = stamp.offset;
	iter->time = stamp.time;
}

/* As rec_page_next(); the whole record is between ret_record->offset and iter->offset. */
static inline int kernel_page_next(struct rec_page_iter *iter, struct rec_record *ret_record)
{
	while ((uint64_t)iter->offset + 8 <= iter->size) {
		const unsigned char *at = iter->data + iter->offset;
		const uint32_t left = iter->size - iter->offset;
		uint32_t words[2];
		uint32_t type, delta, length;
		uint32_t head = 4;

		memcpy(words, at, sizeof(words));
		type = words[0] & ((1u << REC_TYPE_BITS) - 1u);
		delta = words[0] >> REC_TYPE_BITS;
		length = type * 4;
		if (type == REC_TYPE_TIME_STAMP) {
			kernel_page_stamp(iter);
			continue;
		}
		if (type == REC_TYPE_TIME_EXTEND) {
			iter->time += ((uint64_t)words[1] << REC_DELTA_BITS) + delta;
			iter->offset += REC_TIME_EXTEND_SIZE;
			continue;
		}
		if (type == REC_TYPE_PADDING && delta == 0)
			return 0;
		if (type == 0 || type == REC_TYPE_PADDING) {
			/* The stored length includes its own word. */
			if (words[1] < 4)
				return -EBADMSG;
			length = words[1] - 4;
			head = 8;
		}
		/* An event may be as long as the page, and a length may have any value. */
		if (length > left - head)
			return -EBADMSG;
		iter->time += delta;
		ret_record->time = iter->time;
		ret_record->payload = at + head;
		ret_record->size = length;
		ret_record->offset = iter->offset;
		iter->offset += head + ((length + 3u) & ~UINT32_C(3));
		if (iter->offset > iter->size)
			iter->offset = iter->size;
		if (type != REC_TYPE_PADDING)
			return 1;
	}
	return 0;
}

#endif
