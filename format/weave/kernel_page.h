/* SPDX-License-Identifier: MIT */
/*
 * The events of a page as the kernel wrote it; rec_page_next() but for two things. A padding record's delta counts,
 * as in libtraceevent: what the kernel writes behind an event that it discards counts its time from that event. And
 * it is inline: there are millions of them.
 */
#ifndef FORMAT_KERNEL_PAGE_H
#define FORMAT_KERNEL_PAGE_H

#include <errno.h>
#include <librecorder/page.h>
#include <string.h>

/*
 * Over the time stamp at iter->offset, and nothing else: what follows may be a padding record, where the rules differ.
 * A page that ends behind the stamp makes rec_page_next() stop there.
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

/* As rec_page_next(); the whole record stands between ret_record->offset and iter->offset. */
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
			/* The stored length counts its own word. */
			if (words[1] < 4)
				return -EBADMSG;
			length = words[1] - 4;
			head = 8;
		}
		/* An event may be as long as the page is, and a length anything. */
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
