/* SPDX-License-Identifier: MIT */
/* The pages of the files that dat_make.c makes: their headers, their records, and the contents of events. */
#include "dat_out.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct page {
	size_t at;
	uint64_t ts;
	size_t used;
};

static size_t header_size(const struct out *o)
{
	return 8 + o->what->long_size;
}

static void put_word(struct out *o, unsigned int type, uint32_t delta)
{
	out_number(o, o->what->big ? type << 27 | delta : delta << 5 | type, 4);
}

static void page_begin(struct out *o, struct page *p, uint64_t ts)
{
	p->at = o->size;
	p->ts = ts;
	out_number(o, ts, 8);
	out_number(o, 0, o->what->long_size);
}

/* lost: 0 none, -1 uncounted, else the number */
static void page_end(struct out *o, struct page *p, int lost, bool cut)
{
	size_t used = o->size - p->at - header_size(o);
	uint64_t commit = used;

	if (lost)
		commit |= 1u << 31;
	if (lost > 0)
		commit |= 1u << 30;
	/* The kernel's 64-bit word shows the sign of its 32-bit flags (facts A1.3). */
	if (lost && o->what->long_size == 8)
		commit |= UINT64_C(0xffffffff) << 32;
	out_set(o, o->data + p->at + 8, commit, o->what->long_size);
	if (lost > 0)
		out_number(o, (uint64_t)lost, o->what->long_size);
	if (!cut)
		out_space(o, p->at + o->what->page_size - o->size);
}

static size_t page_left(const struct out *o, const struct page *p)
{
	return p->at + o->what->page_size - o->size;
}

static void put_record(struct out *o, struct page *p, uint64_t ts, const struct out *payload, bool absolute)
{
	uint64_t delta = ts - p->ts;
	size_t size = (payload->size + 3) & ~(size_t)3;

	if (absolute) {
		put_word(o, 31, (uint32_t)(ts & ((1u << 27) - 1)));
		out_number(o, (ts & ((UINT64_C(1) << 59) - 1)) >> 27, 4);
		delta = 0;
	} else if (delta >> 27) {
		put_word(o, 30, (uint32_t)(delta & ((1u << 27) - 1)));
		out_number(o, delta >> 27, 4);
		delta = 0;
	}
	p->ts = ts;
	if (size <= 112) {
		put_word(o, (unsigned int)(size / 4), (uint32_t)delta);
	} else {
		put_word(o, 0, (uint32_t)delta);
		out_number(o, size + 4, 4);
	}
	out_put(o, payload->data, payload->size);
	out_space(o, size - payload->size);
}

static void put_padding(struct out *o, uint32_t delta, uint32_t body)
{
	put_word(o, 29, delta);
	out_number(o, body + 4, 4);
	out_space(o, body);
}

/* ------------------------------------------------------------------------------------------------------ events */

static void put_common(struct out *o, unsigned int id, unsigned int n)
{
	static const unsigned char flags[] = { 0, 1, 4, 8, 16, 24, 0x0c };

	out_number(o, id, 2);
	out_number(o, n % 5 == 4 ? flags[n / 5 % sizeof(flags)] : 0, 1);
	out_number(o, n % 7 == 6 ? 0x21 : 0, 1);
	out_number(o, n % 11 == 10 ? 0 : n % 13 == 12 ? 777777 : 1001 + n % 3, 4);
}

static void put_loc(struct out *o, const void *data, size_t size, size_t fixed)
{
	out_number(o, (uint64_t)(size << 16 | fixed), 4);
	(void)data;
}

static void make_submit(struct out *o, unsigned int n)
{
	static const char long_path[] = "/a/rather/long/path/that/goes/on/and/on/and/does/not/end/before/it/has/passed/"
					"the/hundred/and/twelve/bytes/of/a/small/event";
	const char *const paths[] = { "/etc/passwd", "", long_path, "x" };
	const char *path = paths[n % 4];
	char large[5000];

	if (o->what->flags & MAKE_LARGE && o->what->page_size > 4096 && n == 6) {
		memset(large, 'l', sizeof(large) - 1);
		large[sizeof(large) - 1] = '\0';
		path = large;
	}
	put_common(o, 16384, n);
	out_number(o, n * UINT64_C(0x123456789), 8);
	out_number(o, n % 2 ? n : 0u - n, 4);
	put_loc(o, path, strlen(path) + 1, 24);
	out_string(o, path);
}

static void make_kinds(struct out *o, unsigned int n)
{
	char name[16] = "";

	put_common(o, 16386, n);
	snprintf(name, sizeof(name), n % 2 ? "name%u" : "fifteen chars%u", n);
	out_number(o, n % 4, 1);
	out_number(o, 0u - n, 1);
	out_number(o, n * 1000, 2);
	out_number(o, 0u - n * 1000, 2);
	out_number(o, n % 9, 4);
	out_number(o, 0u - n * 100000, 4);
	out_number(o, UINT64_MAX - n, 8);
	out_number(o, 0u - (uint64_t)n * UINT64_C(10000000000), 8);
	out_number(o, UINT64_C(0xffffffff81000000) + n, 8);
	out_put(o, name, sizeof(name));
	for (unsigned int i = 0; i < 4; i++)
		out_number(o, i * n, 4);
}

static void make_bytes(struct out *o, unsigned int n)
{
	put_common(o, 16387, n);
	put_loc(o, NULL, n % 20, 16);
	out_number(o, n, 4);
	for (unsigned int i = 0; i < n % 20; i++)
		out_number(o, i * 7, 1);
}

static void make_plain(struct out *o, unsigned int id, unsigned int n)
{
	put_common(o, id, n);
	out_number(o, n, 8);
}

static void make_switch(struct out *o, unsigned int n)
{
	put_common(o, 300, n);
	out_put(o, "prev\0\0\0\0\0\0\0\0\0\0\0", 16);
	out_number(o, 1001, 4);
	out_number(o, 120, 4);
	out_number(o, n % 4, 8);
	out_put(o, "fifteen chars..\0", 16);
	out_number(o, 1002, 4);
	out_number(o, 100 + n, 4);
}

static void make_kernel(struct out *o, unsigned int n)
{
	switch (n % 5) {
	case 0:
		make_switch(o, n);
		break;
	case 1:
		put_common(o, 1, n);
		out_number(o, UINT64_C(0xffffffff81000000) + n % 3 * 0x100, 8);
		out_number(o, UINT64_C(0xffffffff81000010), 8);
		break;
	case 2:
		put_common(o, 5, n);
		out_number(o, UINT64_C(0xffffffff81000105), 8);
		out_put(o, "hello from print\n", 18);
		break;
	case 3:
		put_common(o, 4, n);
		out_number(o, 3, 4);
		out_number(o, 0, 4);
		for (unsigned int i = 0; i < 3; i++)
			out_number(o, UINT64_C(0xffffffff81000000) + i * 0x100, 8);
		out_number(o, n % 2 ? UINT64_MAX : 0x1234, 8);
		break;
	default:
		put_common(o, 6, n);
		out_number(o, UINT64_C(0xffffffff81000001), 8);
		out_number(o, UINT64_C(0xffffffff82000000), 8);
		out_number(o, n, 4);
		out_put(o, "str\0", 4);
	}
}

static void make_event(struct out *o, unsigned int n)
{
	unsigned int flags = o->what->flags;

	if (flags & MAKE_KERNEL) {
		make_kernel(o, n);
	} else if (flags & MAKE_UNKNOWN) {
		make_plain(o, n % 3 == 0 ? 16388 : n % 3 == 1 ? 16389 : 99, n);
	} else if (flags & MAKE_ALL_FIELDS && n % 3 == 1) {
		make_kinds(o, n);
	} else if (flags & MAKE_ALL_FIELDS && n % 3 == 2) {
		make_bytes(o, n);
	} else if (n % 3 == 2) {
		make_plain(o, 16385, n);
	} else {
		make_submit(o, n);
	}
}

/* The intervals between a CPU's events: irregular, and different on each CPU. */
static uint64_t next_time(const struct out *o, uint64_t ts, unsigned int cpu, unsigned int n)
{
	if (o->what->flags & MAKE_TIES)
		return ts + 1000;
	if (o->what->flags & MAKE_EXTENDS && n % 10 == 7)
		return ts + (UINT64_C(1) << 27) + n;
	return ts + 100 + (n * 2654435761u >> 22) + cpu * 7;
}

void put_cpu(struct out *o, unsigned int cpu, unsigned int buffer)
{
	unsigned int flags = o->what->flags;
	uint64_t ts = UINT64_C(5000000000) + buffer * 333 + cpu * 10;
	struct out payload = { .what = o->what };
	struct page page = { 0 };
	unsigned int pages = 0;
	bool fresh = true;

	if (flags & MAKE_TIES)
		ts = UINT64_C(5000000000);
	if (flags & MAKE_BIG_TIME)
		ts = (UINT64_C(3) << 59) - UINT64_C(500000000);
	for (unsigned int n = 0; n < o->what->events; n++) {
		payload.size = 0;
		make_event(&payload, n);
		ts = next_time(o, ts, cpu, n);
		if (!fresh && page_left(o, &page) < payload.size + 64) {
			page_end(o, &page,
				 flags & MAKE_LOST ? pages % 4 == 1   ? 42
						     : pages % 4 == 2 ? -1
								      : 0
						   : 0,
				 false);
			pages++;
			fresh = true;
			if (flags & MAKE_ZERO_PAGES && pages % 2)
				out_space(o, o->what->page_size);
		}
		if (fresh) {
			if (flags & MAKE_ZERO_PAGES && !pages)
				out_space(o, o->what->page_size);
			page_begin(o, &page, ts);
			if (flags & MAKE_MARKERS)
				put_padding(o, 1, 8);
		}
		if (flags & MAKE_EXTENDS && n % 10 == 3)
			put_padding(o, 5, 24), page.ts += 5;
		put_record(o, &page, ts, &payload,
			   (fresh && flags & MAKE_MARKERS) || (flags & MAKE_EXTENDS && n % 10 == 5));
		fresh = false;
	}
	if (flags & MAKE_EXTENDS && page_left(o, &page) > 64)
		put_word(o, 29, 0);
	page_end(o, &page, 0, flags & MAKE_SHORT);
	if (flags & MAKE_ZERO_PAGES)
		out_space(o, o->what->page_size);
	free(payload.data);
}

bool has_data(const struct out *o, unsigned int cpu, unsigned int buffer)
{
	if (o->what->flags & MAKE_EMPTY && cpu % 2)
		return false;
	return buffer || !(o->what->flags & MAKE_ONLY);
}
