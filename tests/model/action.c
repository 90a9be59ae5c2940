/* SPDX-License-Identifier: MIT */
/*
 * The actions of writers and readers. This file is compiled as the ring is, so that the ring's inline part is checked
 * here.
 *
 *  s  an event of one word                 w  take whole pages
 *  l  an event of the longest that fits    p  take what is there
 *  h  an event of fifteen words            k  peek at an event, and consume it
 *  m  an event of three words              i  begin to read, or take over from a reader that died
 *  d  reserve one word and take it back    z  two events, the second one inside the first, in one thread
 *  D  the same with three words
 *  a  make the lane anew, which is empty
 *  L  lease the lane, mending what a dead writer left
 *  t  an event that fits no page           T  one whose size is the largest number there is
 *  e  as s, but reserved as an event's macro does
 *  g  as s, while a request is noted          G  the same while the lane is disabled
 *  n  an event inside as many writers as can be counted
 *  x  an event with a length word          X  reserve it and take it back
 *  o  begin to look without consuming      c  look at all that is there; both ITERATES
 *  q  copy a page                          Q  the same into little room
 *  j  the same into no room                J  copy a whole page into little room
 *  W  an event of four words, written by rec_write()
 *  U  the same with one word                  V  the same with nine
 *  v  look at the counts; ITERATES
 *  b  sleep until all of the ring is full, as reader_wait.c does
 *  Y  as y, and it takes its event back
 *  y  an event whose writer is taken for one that left, by another event inside it; JUMPS
 *  r  a round: the longest event, as often as the ring has pages    R  two rounds
 */
#include "librecorder/core/atomic.h"
#include "librecorder/view/reader_private.h"
#include "model.h"

#include <errno.h>
#include <string.h>

static uint32_t long_size(void)
{
	/* Room for marker, stamp and event word; and for the length word if there is one. */
	const uint32_t size =
		(1u << config->shift) - REC_SUBBUF_HEADER_SIZE - REC_MARKER_SIZE - REC_TIME_EXTEND_SIZE - 4u;

	return size > REC_EVENT_SMALL_MAX ? size - 4 : size;
}

/* ------------------------------------------------------------------------------------------------------- events */

/* Every word of an event's payload contains its number and its length. */
static void fill(uint32_t *payload, uint32_t size, uint32_t id)
{
	uint32_t i;

	for (i = 0; i < size / 4; i++)
		payload[i] = id << 8 | size;
}

enum how {
	PLAINLY,
	AS_MACRO = 1,
	TAKE_BACK = 2,
	ONE_INSIDE = 4, /* another event */
	MISTAKEN = 8,	/* and that event comes from a frame above, so this one is mistaken for left */
	AT_ONCE = 16,	/* reserved, filled and committed by one call */
};

static inline __attribute__((always_inline)) void *reserve(uint32_t size, unsigned int how, struct rec_slot *ret_slot)
{
	struct rec_handle *handle = lane_handle();
	void *payload;

	if (!(how & AS_MACRO))
		return rec_reserve(handle, size, ret_slot);
	payload = rec_reserve_fast(handle, size, 0, ret_slot);
	return payload ? payload : rec_reserve_rest(handle, size, __builtin_dwarf_cfa(), ret_slot);
}

static bool write_event(uint32_t size, unsigned int how);

/* Acts as a writer from a frame above that finds this one's reservation and then writes. */
static void write_mistaken(uint32_t outer, const void *above)
{
	if (!oracle_mistaken(outer))
		return;
	rec_ring_close_left(lane_handle(), (uint64_t)(uintptr_t)above);
	write_event(4, PLAINLY);
}

/* Whether the event was not for this lane. */
static bool is_missed(uint32_t id)
{
	if (!(m.missed & lane_missed()))
		return false;
	m.missed = (uint8_t)(m.missed & ~lane_missed());
	oracle_missed(id);
	return true;
}

static bool write_at_once(struct rec_handle *handle, uint32_t size, uint32_t id)
{
	uint32_t payload[REC_EVENT_SMALL_MAX / 4];
	bool written;

	fill(payload, size, id);
	oracle_at_once(id);
	written = rec_write(handle, payload, size) == 0;
	if (written)
		oracle_committed(id);
	else if (!is_missed(id))
		oracle_refused(id, size);
	return written;
}

static bool write_one(uint32_t size, unsigned int how)
{
	const uint32_t floor = oracle_floor();
	const uint32_t id = oracle_begin()->id;
	const bool stuck = oracle_stuck();
	struct rec_slot slot;
	void *payload;

	if (how & AT_ONCE)
		return write_at_once(lane_handle(), size, id);
	payload = reserve(size, how, &slot);

	if (is_missed(id))
		return false;
	if (!payload) {
		if (stuck)
			fail("refused, though the lane is stuck, and there are others");
		oracle_refused(id, size);
		return false;
	}
	if (stuck)
		fail("an event is written to a lane that is stuck");
	if (size > m.handle.capacity * 4)
		fail("an event has got room that is larger than a page");
	oracle_reserved(id, &slot, size, floor);
	fill(payload, size, id);
	if (how & ONE_INSIDE)
		write_event(size, PLAINLY);
	if (how & MISTAKEN)
		write_mistaken(id, __builtin_dwarf_cfa());
	if (how & TAKE_BACK) {
		oracle_discarding(id);
		rec_discard(&slot, payload);
		oracle_discarded(id, &slot);
		return true;
	}
	oracle_committing(id);
	rec_commit(&slot);
	oracle_committed(id);
	return true;
}

/*
 * Write an event. Returns whether the lane has taken it. If a move of the head was unfinished before, the lane must
 * still know where that move began.
 */
static bool write_event(uint32_t size, unsigned int how)
{
	const uint64_t movers = m.handle.movers, moving = m.handle.moving;
	const bool taken = write_one(size, how);

	if (movers && !m.jumped && m.handle.moving != moving)
		fail("where the head began to be moved is not known any more");
	return taken;
}

/* An event that finds the gate closed. */
static void write_gated(bool disabled)
{
	const uint32_t was = m.handle.disabled;

	m.handle.disabled = disabled;
	m.handle.any_room = 0;
	if (write_event(4, PLAINLY) && disabled)
		fail("a lane that is disabled has taken an event");
	if (!disabled && !m.handle.any_room)
		fail("an event was written after the gate was closed");
	m.handle.disabled = was;
	m.handle.any_room = was ? 0 : m.handle.capacity;
}

/* Makes it appear that other writers have gone inside one after the other. */
static void write_deepest(void)
{
	const uint64_t open = oracle_deepen(__builtin_dwarf_cfa());

	if (write_event(4, PLAINLY))
		fail("more writers are inside one another than can be counted");
	oracle_undeepen(open);
}

static void read_once(bool whole)
{
	struct rec_page page;
	uint32_t tail;
	int r;

	memset(&page, 0, sizeof(page));
	oracle_reading();
	r = rec_ring_read(&m.reader, whole, &page);
	/* As rec_view_read() does once no writer is left. */
	if (r == -EAGAIN && m.program_gone) {
		tail = REC_POS_ID(m.shared.lane.tail);
		if (rec_ring_settle(m.shared.links, m.handle.nr_subbufs, tail) == 0)
			r = rec_ring_read(&m.reader, whole, &page);
	}
	oracle_read(r, &page, whole);
}

/* Copies and single events count as read at once. If the room is too small, nothing counts as read. */
static void read_copy(bool whole, size_t room)
{
	unsigned char copy[SUBBUF_MAX];
	struct rec_page page;
	uint64_t read;
	int r;

	memset(&page, 0, sizeof(page));
	oracle_reading();
	rec_ring_read_done(&m.reader);
	read = m.reader.read;
	r = rec_ring_copy(&m.reader, whole, copy, room, &page);
	if (r == -EMSGSIZE) {
		if (REC_POS_COUNT(m.reader.read) && m.reader.read != read)
			fail("what did not fit counts as read");
		return;
	}
	if (whole && r > 0 && REC_POS_COUNT(m.reader.read) != m.reader.extent.entries)
		fail("a part of a page is copied as a whole");
	m.oracle.copied = true;
	oracle_read(r, &page, whole);
	m.oracle.copied = false;
	m.oracle.page = NULL;
}

static void read_event(void)
{
	struct rec_ring_event event, peeked;
	int r;

	oracle_reading();
	if (rec_ring_peek(&m.reader, &peeked) > 0) {
		r = rec_ring_consume(&m.reader, &event);
		if (r != 1 || event.number != peeked.number || event.record.payload != peeked.record.payload)
			fail("another event is consumed than was peeked at");
		oracle_consumed(&event);
		return;
	}
	oracle_read(0, NULL, false);
}

static void look_at_counts(void)
{
	struct rec_ring_counts counts;

	if (rec_ring_count(&m.reader, true, &counts) < 0)
		fail("the lane cannot be counted");
	oracle_counted(&counts);
}

/* The empty lane is remade with the same shape, and then once more so that it begins with sub-buffer 1. */
static void make_anew(void)
{
	rec_ring_read_done(&m.reader);
	if (!rec_ring_is_empty(&m.handle))
		fail("all was read, but the lane is not empty");
	m.shared.lane.subbuf_size = 0;
	rec_ring_restart(&m.handle);
	oracle_entered();
	m.oracle.calm = false;
}

static void attach(void)
{
	int r;

	m.reader = (struct rec_ring_reader){
		.lane = &m.shared.lane,
		.subbufs = m.shared.subbufs,
		.pages = m.shared.pages,
		.words = &m.shared.words,
		.links = m.shared.links,
		.nr_subbufs = m.handle.nr_subbufs,
		.subbuf_size = 1u << config->shift,
	};
	r = rec_ring_reader_init(&m.reader);
	if (r < 0)
		fail("a reader cannot take over: %d", r);
	m.attach = false;
}

/* ---------------------------------------------------------------------------------------- looking, and sleeping */

static struct rec_view view;

static void look_begin(void)
{
	struct rec_iter *iter;
	const int r = rec_iter_open(&view, 0, &iter);

	if (r < 0)
		fail("an iterator cannot begin: %d", r);
}

/* The place of the iterator in memory is known (tsan.c). */
static void look_on(void)
{
	struct rec_iter *iter = (struct rec_iter *)(void *)m.iter;
	struct rec_view_event event;
	int r;

	while ((r = rec_iter_next(iter, &event)) > 0)
		oracle_looked(&event.record, event.number, event.lost);
	if (r < 0 && r != -EAGAIN)
		fail("an iterator fails: %d", r);
}

/* As begin() of reader_wait.c, and the check after it. */
static void sleep_begin(void)
{
	struct rec_lane_reader *words = &m.shared.words;
	const struct rec_lane *lane = &m.shared.lane;
	const uint32_t wake = __atomic_load_n(&words->wake, __ATOMIC_SEQ_CST);

	rec_ring_read_done(&m.reader);
	rec_store_relaxed(&words->waiters, 100 + 1);
	/* Edge K1. */
	rec_fence_full();
	if (REC_POS_ID(rec_load_acquire(&lane->commit)) != m.reader.page && rec_ring_is_hit(lane, words, 100)) {
		rec_store_relaxed(&words->waiters, 0);
		return;
	}
	m.sleeps = true;
	m.wake = wake;
}

/* Events of one size. */
static const struct {
	char action;
	uint32_t size;
	unsigned int how;
} events[] = {
	{ 's', 4, PLAINLY },
	{ 'm', 12, PLAINLY },
	{ 'h', 60, PLAINLY },
	{ 'T', UINT32_MAX, PLAINLY },
	{ 'x', REC_EVENT_SMALL_MAX + 4u, PLAINLY },
	{ 'X', REC_EVENT_SMALL_MAX + 4u, TAKE_BACK },
	{ 'd', 4, TAKE_BACK },
	{ 'D', 12, TAKE_BACK },
	{ 'z', 4, ONE_INSIDE },
	{ 'e', 4, AS_MACRO },
	{ 'y', 4, MISTAKEN },
	{ 'Y', 4, MISTAKEN | TAKE_BACK },
	{ 'W', 16, AT_ONCE },
	{ 'U', 4, AT_ONCE },
	{ 'V', 36, AT_ONCE },
};

static void write_pages(unsigned int pages)
{
	for (unsigned int i = 0; i < pages; i++)
		write_event(long_size(), PLAINLY);
}

/* False: the letter is not an action of a writer. */
static bool act_as_writer(char action)
{
	for (unsigned int i = 0; i < sizeof(events) / sizeof(events[0]); i++)
		if (events[i].action == action) {
			write_event(events[i].size, events[i].how);
			return true;
		}
	switch (action) {
	case 'l':
		write_event(long_size(), PLAINLY);
		return true;
	case 't':
		write_event(long_size() + 4, PLAINLY);
		return true;
	case 'r':
	case 'R':
		write_pages((action == 'r' ? 1u : 2u) * config->pages);
		return true;
	case 'g':
	case 'G':
		write_gated(action == 'G');
		return true;
	case 'n':
		write_deepest();
		return true;
	case 'a':
		make_anew();
		return true;
	default:
		return false;
	}
}

static void put_back(void)
{
	oracle_putting_back();
	if (!with(SHARED))
		rec_ring_repair(&m.handle);
	else if (lane_take_orphan())
		lane_leave(&m.shared.handle);
	m.lease = false;
	oracle_put_back();
}

void act(char action)
{
	if (act_as_writer(action))
		return;
	switch (action) {
	case 'o':
		look_begin();
		break;
	case 'c':
		look_on();
		break;
	case 'b':
		sleep_begin();
		break;
	case 'k':
		read_event();
		break;
	case 'q':
		read_copy(false, 1u << config->shift);
		break;
	case 'Q':
	case 'J':
		read_copy(action == 'J', REC_SUBBUF_HEADER_SIZE + REC_RESTATE_SIZE + 12);
		break;
	case 'j':
		if (rec_ring_copy(&m.reader, false, NULL, REC_SUBBUF_HEADER_SIZE, NULL) != -EMSGSIZE)
			fail("a copy without any room is made");
		read_copy(false, REC_SUBBUF_HEADER_SIZE + 4);
		break;
	case 'v':
		look_at_counts();
		break;
	case 'L':
		put_back();
		break;
	case 'w':
	case 'p':
		read_once(action == 'w');
		break;
	case 'i':
		attach();
		break;
	default:
		fail("no such action: %c", action);
	}
}
