/* SPDX-License-Identifier: MIT */
/*
 * Damaged memory: other processes can write to a lane, or to parts of it. Here each word of it in turn gets each of
 * many wrong values, before each of the calls of readers, counters and, for the words that readers may write, writers.
 * Every call must end, with one of its results, and use nothing outside of the lane. There is no right result, so the
 * results are not compared with the list. Compiled as the ring is.
 */
#include "model.h"

#include <errno.h>
#include <string.h>

/* The number of calls: enough for two rounds of the ring, or for all pages that a reader could return. */
#define TIMES (4u * SUBBUFS_MAX)

static struct model before;

/* The damaged word, and its wrong value. */
static struct {
	uint32_t offset;
	uint32_t value;
} spoilt;

static void spoil_one(void)
{
	memcpy((unsigned char *)&m.shared + spoilt.offset, &spoilt.value, sizeof(spoilt.value));
}

static void check_result(int r)
{
	if (r != 0 && r != 1 && r != -EAGAIN && r != -EBADMSG && r != -EMSGSIZE)
		fail("a call returns %d", r);
}

static void check_inside(const void *at, size_t size)
{
	const size_t offset = (size_t)((const unsigned char *)at - (const unsigned char *)&m.shared);

	if (offset < offsetof(struct shared, pages) || offset > memory_used() || size > memory_used() - offset)
		fail("%zu bytes are handed over that are not the lane's", size);
}

static void read_pages(bool whole)
{
	struct rec_page page;
	unsigned int i;
	int r = 1;

	for (i = 0; i < TIMES && r > 0; i++) {
		r = rec_ring_read(&m.reader, whole, &page);
		check_result(r);
		if (r > 0)
			check_inside(page.data, REC_SUBBUF_HEADER_SIZE + page.size);
	}
}

static void read_events(void)
{
	struct rec_ring_event event;
	unsigned int i;
	int r = 1;

	for (i = 0; i < TIMES && r > 0; i++) {
		check_result(rec_ring_peek(&m.reader, &event));
		r = rec_ring_consume(&m.reader, &event);
		check_result(r);
		if (r > 0)
			check_inside(event.record.payload, event.record.size);
	}
}

static void copy_pages(bool whole, size_t room)
{
	unsigned char copy[SUBBUF_MAX + 1];
	struct rec_page page;
	unsigned int i;
	int r = 1;

	for (i = 0; i < TIMES && r > 0; i++) {
		copy[room] = 0x5a;
		r = rec_ring_copy(&m.reader, whole, copy, room, &page);
		check_result(r);
		if (copy[room] != 0x5a)
			fail("a copy is longer than its room");
	}
}

static void look(void)
{
	struct rec_ring_counts counts;

	check_result(rec_ring_count(&m.reader, true, &counts));
	check_result(rec_ring_count(&m.reader, false, &counts));
	rec_ring_open_events(&m.reader);
	rec_ring_is_hit(&m.shared.lane, &m.shared.words, 50);
	rec_ring_settle(m.shared.links, m.handle.nr_subbufs, REC_POS_ID(m.shared.lane.tail) % m.handle.nr_subbufs);
}

static void write_one(bool stays)
{
	uint32_t payload[3] = { 0, 0, 0 };
	struct rec_slot slot;
	void *to = rec_reserve(&m.handle, sizeof(payload), &slot);

	if (!to)
		return;
	check_inside(to, sizeof(payload));
	memcpy(to, payload, sizeof(payload));
	if (stays)
		rec_commit(&slot);
	else
		rec_discard(&slot, to);
}

/* Two rounds, then an event that holds others back. The damage comes before it, or before its commit. */
static void write_events(bool late)
{
	uint32_t payload = 0;
	struct rec_slot slot;
	void *outer = rec_reserve(&m.handle, sizeof(payload), &slot);
	unsigned int i;

	if (outer)
		check_inside(outer, sizeof(payload));
	for (i = 0; i < (late ? 3 : TIMES); i++)
		write_one(i % 3 != 1);
	if (late)
		spoil_one();
	if (outer)
		rec_commit(&slot);
	for (i = 0; i < TIMES; i++)
		write_one(i % 3 != 1);
	rec_ring_repair(&m.handle);
	rec_ring_is_empty(&m.handle);
}

/* If `again`, a new reader takes over; otherwise the reader has begun before. */
static void begin_to_read(bool again)
{
	int r = again ? rec_ring_reader_init(&m.reader) : 0;

	check_result(r);
	if (r < 0)
		m.reader.extent = (struct rec_extent){ 0 };
}

#define READERS_CALLS 12u
#define CALLS	      14u

static void call(unsigned int which)
{
	const size_t all = 1u << config->shift;

	if (which < READERS_CALLS)
		begin_to_read(which % 2);
	switch (which / 2) {
	case 0:
		read_pages(true);
		break;
	case 1:
		read_pages(false);
		break;
	case 2:
		read_events();
		break;
	case 3:
		copy_pages(false, all);
		break;
	case 4:
		copy_pages(true, REC_SUBBUF_HEADER_SIZE + 12);
		break;
	case 5:
		look();
		break;
	default:
		write_events(which != READERS_CALLS);
		break;
	}
}

static void try(uint32_t offset, uint32_t value, unsigned int which)
{
	char name[48];

	m = before;
	quiet_begin();
	spoilt.offset = offset;
	spoilt.value = value;
	if (which <= READERS_CALLS)
		spoil_one();
	memory_name(offset, name, sizeof(name));
	spoilt_name(name, value, which);
	call(which);
	spoilt_name(NULL, 0, 0);
	tally.states++;
}

/* Whether readers may write the word, so that writers must expect any value. */
static bool is_readers(uint32_t offset)
{
	return offset >= offsetof(struct shared, words) && offset < offsetof(struct shared, cpu);
}

/* The words that are not in the lane: the CPU number and the handle. */
static bool is_nobodys(uint32_t offset)
{
	return offset >= offsetof(struct shared, cpu) && offset < offsetof(struct shared, pages);
}

void spoil(void)
{
	const uint32_t values[] = { 0, 1, 2, 3, 4, 5, 0xff, 0x100, 0x7fffffff, 0x80000000, 0xffffffff };
	uint32_t offset, now, i;
	unsigned int which;

	quiet = true;
	m.jumped = true;
	before = m;
	for (offset = 0; offset < memory_used(); offset += 4) {
		if (is_nobodys(offset))
			continue;
		memcpy(&now, (const unsigned char *)&before.shared + offset, sizeof(now));
		for (which = 0; which < (is_readers(offset) ? CALLS : READERS_CALLS); which++) {
			for (i = 0; i < sizeof(values) / sizeof(values[0]); i++)
				try(offset, values[i], which);
			for (i = 0; i < 32; i++)
				try(offset, now ^ UINT32_C(1) << i, which);
		}
	}
	m = before;
	quiet = false;
}
