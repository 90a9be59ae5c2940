/* SPDX-License-Identifier: MIT */
/* See dat_page.h. librecorder/core/page_bytes.h knows the layout of a page. */
#include "format/dat/dat_page.h"
#include "format/dat/dat_internal.h"

#include <inttypes.h>

unsigned int dat_page_rule(const struct dat_file *file)
{
	const bool is_swapped = file->big != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);

	return PAGE_STRICT | PAGE_KBUFFER | (file->big ? PAGE_BIG : 0) | (is_swapped ? PAGE_SWAPPED : 0) |
	       (file->commit_size == 4 ? PAGE_COMMIT32 : 0);
}

uint32_t dat_walk_marker(const struct dat_walk *walk, const struct dat_record *padding, uint32_t cpu)
{
	const struct page_record record = { .size = padding->size };

	return walk->rule & PAGE_SWAPPED ? cpu : page_marker_cpu(walk->page + padding->pos, &record, cpu);
}

/*
 * The rule of most files, which have this machine's byte order and commit words of 8 bytes. It is a constant, because
 * that is faster.
 */
#define RULE_PLAIN (PAGE_STRICT | PAGE_KBUFFER | (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? PAGE_BIG : 0u))

int dat_walk_open(const struct dat_file *file, const struct dat_page *page, struct dat_walk *ret_walk,
		  struct dat_error *ret_error)
{
	const unsigned int rule = dat_page_rule(file);
	struct dat_walk w = { .page = page->data, .rule = rule, .header = page_header_size(rule) };
	struct page_header header;

	w.cut = page->cut;
	w.is_usual = rule == RULE_PLAIN && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
	if (page->size < w.header && page->cut) {
		w.header = 0;
		*ret_walk = w;
		return 0;
	}
	if (page->size < w.header)
		return dat_fail(ret_error, -EBADMSG, page->offset, "a page of %" PRIu32 " bytes", page->size);
	header = page_header(page->data, page->size - w.header, rule);
	if (header.size > page->size - w.header && page->cut)
		header.size = page->size - w.header;
	if (header.size > page->size - w.header)
		return dat_fail(ret_error, -EBADMSG, page->offset, "a page of %" PRIu32 " bytes says it holds %" PRIu32,
				page->size, header.size);
	w.page_ts = header.time;
	w.commit = header.commit;
	w.page_lost = (int64_t)header.lost;
	w.ts = header.time;
	w.pos = w.header;
	w.used = w.header + header.size;
	*ret_walk = w;
	return 0;
}

int dat_walk_next(struct dat_walk *walk, struct dat_record *ret_record, struct dat_error *ret_error)
{
	static const enum dat_record_kind kinds[] = {
		[PAGE_END] = DAT_RECORD_PADDING,     [PAGE_DATA] = DAT_RECORD_DATA,
		[PAGE_PADDING] = DAT_RECORD_PADDING, [PAGE_EXTEND] = DAT_RECORD_EXTEND,
		[PAGE_STAMP] = DAT_RECORD_STAMP,
	};
	const unsigned char *at = walk->page + walk->pos;
	const uint32_t left = walk->used - walk->pos;
	/* Dead padding at the end of the page is returned as a record, too. */
	struct page_record record = { .head = 4, .length = left };
	int kind;

	if (!left)
		return 0;
	kind = page_record(at, left, walk->rule, &walk->ts, &record);
	if (kind < 0 && walk->cut)
		return 0;
	if (kind < 0)
		return dat_fail(ret_error, kind, walk->pos, "the record at byte %" PRIu32 " of the page does not fit",
				walk->pos);
	*ret_record = (struct dat_record){
		.kind = kinds[kind],
		.pos = walk->pos,
		.length = record.length,
		.size = record.size,
		.delta = record.delta,
		.data = at + record.head,
		.ts = walk->ts,
		/* Readers report the loss only with a record at the very start of the page (trace-dat.md 7.6). */
		.lost = walk->pos == walk->header ? walk->page_lost : 0,
	};
	walk->pos += record.length;
	return 1;
}

int dat_walk_event(struct dat_walk *walk, struct dat_record *ret_record, struct dat_error *ret_error)
{
	struct page_record record;

	while (walk->rule == RULE_PLAIN && walk->pos < walk->used) {
		const unsigned char *at = walk->page + walk->pos;
		uint64_t ts = walk->ts;
		const int kind = page_record(at, walk->used - walk->pos, RULE_PLAIN, &ts, &record);

		/* The other function handles the rare kinds. */
		if (kind != PAGE_DATA && kind != PAGE_EXTEND && kind != PAGE_STAMP)
			break;
		walk->ts = ts;
		if (kind == PAGE_DATA) {
			*ret_record = (struct dat_record){
				.kind = DAT_RECORD_DATA,
				.pos = walk->pos,
				.length = record.length,
				.size = record.size,
				.delta = record.delta,
				.data = at + record.head,
				.ts = ts,
				.lost = walk->pos == walk->header ? walk->page_lost : 0,
			};
			walk->pos += record.length;
			return 1;
		}
		walk->pos += record.length;
	}
	return dat_walk_next(walk, ret_record, ret_error);
}
