/* SPDX-License-Identifier: MIT */
/* See dat_page.h. The layout is facts A1 and A2 of the kernel's ring buffer. */
#include "format/dat/dat_page.h"
#include "format/io/bytes.h"
#include "format/dat/dat_internal.h"

#include <errno.h>
#include <inttypes.h>

/* What libtraceevent takes for the size; the kernel uses 20 bits of it. */
#define COMMIT_SIZE_MASK ((UINT32_C(1) << 27) - 1u)
#define COMMIT_LOST	 (UINT32_C(1) << 31)
#define COMMIT_STORED	 (UINT32_C(1) << 30)

#define TYPE_PADDING 29u
#define TYPE_EXTEND  30u
#define TYPE_STAMP   31u

/* An absolute stamp carries 59 bits; the rest comes from the time before it (facts A2.7). */
#define STAMP_BITS 59
#define STAMP_TOP  (~((UINT64_C(1) << STAMP_BITS) - 1u))

int dat_walk_open(const struct dat_file *file, const struct dat_page *page, struct dat_walk *ret_walk,
		  struct dat_error *ret_error)
{
	struct dat_walk w = { .page = page->data, .big = file->big, .header = 8 + file->commit_size };
	unsigned int word = file->commit_size;

	if (page->size < w.header)
		return dat_fail(ret_error, -EBADMSG, page->offset, "a page of %" PRIu32 " bytes", page->size);
	w.page_ts = bytes_get64(page->data, w.big);
	w.commit = word == 8 ? (uint32_t)bytes_get64(page->data + 8, w.big) : bytes_get32(page->data + 8, w.big);
	w.used = w.commit & COMMIT_SIZE_MASK;
	if (w.used > page->size - w.header)
		return dat_fail(ret_error, -EBADMSG, page->offset, "a page of %" PRIu32 " bytes says it holds %" PRIu32,
				page->size, w.used);
	if (w.commit & COMMIT_LOST) {
		const unsigned char *count = page->data + w.header + w.used;

		w.page_lost = DAT_PAGE_LOST_UNKNOWN;
		if (w.commit & COMMIT_STORED && page->size - w.header - w.used >= word)
			w.page_lost = word == 8 ? (int64_t)bytes_get64(count, w.big) : (int32_t)bytes_get32(count, w.big);
	}
	w.ts = w.page_ts;
	w.pos = w.header;
	w.used += w.header;
	*ret_walk = w;
	return 0;
}

static uint64_t stamp(uint64_t value, uint64_t before)
{
	if (before & STAMP_TOP) {
		value |= before & STAMP_TOP;
		if (value < before)
			value += UINT64_C(1) << STAMP_BITS;
	}
	return value;
}

static int damaged(const struct dat_walk *w, struct dat_error *error)
{
	return dat_fail(error, -EBADMSG, w->pos, "the record at byte %" PRIu32 " of the page does not fit", w->pos);
}

int dat_walk_next(struct dat_walk *walk, struct dat_record *ret_record, struct dat_error *ret_error)
{
	struct dat_walk *w = walk;
	const unsigned char *at = w->page + w->pos;
	uint32_t left = w->used - w->pos;
	uint32_t word, type, delta, array = 0;
	struct dat_record r = { .pos = w->pos };

	if (!left)
		return 0;
	if (left < 4)
		return damaged(w, ret_error);
	word = bytes_get32(at, w->big);
	type = w->big ? word >> 27 : word & 31u;
	delta = w->big ? word & ((UINT32_C(1) << 27) - 1u) : word >> 5;
	r.delta = delta;
	if (type == TYPE_PADDING && !delta) {
		/* The rest of the page is dead. */
		r.kind = DAT_RECORD_PADDING;
		r.length = left;
		r.ts = w->ts;
		r.data = at + 4;
		w->pos = w->used;
		*ret_record = r;
		return 1;
	}
	if (!type || type >= TYPE_PADDING) {
		if (left < 8)
			return damaged(w, ret_error);
		array = bytes_get32(at + 4, w->big);
	}
	switch (type) {
	case TYPE_EXTEND:
		r.kind = DAT_RECORD_EXTEND;
		r.length = 8;
		r.data = at + 8;
		w->ts += ((uint64_t)array << 27) + delta;
		break;
	case TYPE_STAMP:
		r.kind = DAT_RECORD_STAMP;
		r.length = 8;
		r.data = at + 8;
		w->ts = stamp(((uint64_t)array << 27) + delta, w->ts);
		break;
	case TYPE_PADDING:
	case 0:
		if (array < 4 || array > left - 4)
			return damaged(w, ret_error);
		r.kind = type ? DAT_RECORD_PADDING : DAT_RECORD_DATA;
		/* Payloads are padded to four bytes; the length need not be. */
		r.length = 4 + ((array + 3) & ~UINT32_C(3));
		if (r.length > left)
			r.length = left;
		r.size = array - 4;
		r.data = at + 8;
		w->ts += delta;
		break;
	default:
		r.kind = DAT_RECORD_DATA;
		r.length = 4 + 4 * type;
		if (r.length > left)
			return damaged(w, ret_error);
		r.size = 4 * type;
		r.data = at + 4;
		w->ts += delta;
	}
	r.ts = w->ts;
	/* Only a record at the very start carries the loss to those who read it (trace-dat.md 7.6). */
	if (w->pos == w->header)
		r.lost = w->page_lost;
	w->pos += r.length;
	*ret_record = r;
	return 1;
}
