/* SPDX-License-Identifier: MIT */
#include "raw.h"

#include <criterion/criterion.h>
#include <string.h>

bool raw_next(const struct rec_page *page, uint32_t *at, struct raw *ret)
{
	const unsigned char *data = (const unsigned char *)page->data + REC_SUBBUF_HEADER_SIZE + *at;
	uint32_t word;

	if (*at >= page->size)
		return false;
	memcpy(&word, data, sizeof(word));
	ret->at = *at;
	ret->type = word & 31;
	ret->delta = word >> 5;
	memcpy(&ret->second, data + 4, sizeof(ret->second));
	if (ret->type == REC_TYPE_TIME_EXTEND || ret->type == REC_TYPE_TIME_STAMP)
		ret->total = 8;
	else if (ret->type == REC_TYPE_PADDING || ret->type == 0)
		ret->total = 4 + ret->second;
	else
		ret->total = 4 + 4 * ret->type;
	*at += ret->total;
	cr_assert_leq(*at, page->size);
	return true;
}

uint64_t raw_value(const struct raw *raw)
{
	return ((uint64_t)raw->second << 27) + raw->delta;
}

struct rec_page raw_page(struct ring *ring)
{
	struct rec_page page;

	cr_assert_eq(rec_ring_read(&ring->reader, false, &page), 1);
	return page;
}

struct raw raw_find(const struct rec_page *page, uint32_t *at, uint32_t type)
{
	struct raw raw = { 0 };

	do
		cr_assert(raw_next(page, at, &raw), "no record of type %u", type);
	while (raw.type != type);
	return raw;
}

unsigned int raw_times(const struct rec_page *page, uint64_t *time, unsigned int max)
{
	struct rec_page_iter iter;
	struct rec_record record;
	unsigned int n = 0;

	rec_page_iter_init(&iter, page->data, page->size);
	while (n < max && rec_page_next(&iter, &record) > 0)
		if (record.offset >= page->from)
			time[n++] = record.time;
	return n;
}
