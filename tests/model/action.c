/* SPDX-License-Identifier: MIT */
/*
 * What writers and readers do. Compiled as the ring is, so that the inline part of it is checked here.
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
 *  v  look at the counts; ITERATES
 *  b  sleep until all of the ring is full, as reader_wait.c does
 *  Y  as y, and it takes its event back
 *  y  an event whose writer is taken for one that left, by another event inside it; JUMPS
 *  r  a round: the longest event, as often as the ring has pages    R  two rounds
 */
#include "librecorder/view/reader_private.h"
#include "model.h"

#include <errno.h>
#include <string.h>

static uint32_t long_size(void)
{
	/* Marker, stamp, event word; and the length word, if it comes to that. */
	const uint32_t size =
		(1u << config->shift) - REC_SUBBUF_HEADER_SIZE - REC_MARKER_SIZE - REC_TIME_EXTEND_SIZE - 4u;

	return size > REC_EVENT_SMALL_MAX ? size - 4 : size;
}

/* ------------------------------------------------------------------------------------------------ a shared lane */

/*
 * As lane_share.c has it, which cannot be here for all that it needs of the
 * process. At the end, it is the second thread.
 */
static uint32_t thread_here(void)
{
	return running < 0 ? THREAD(READER) : THREAD(running);
}

static bool is_held(const struct rec_lane *lane)
{
	return rec_load_relaxed(&lane->owner) == thread_here();
}

static void leave(struct rec_handle *handle)
{
	/* Release: edge O1. */
	rec_store_release(&handle->lane->owner, 0);
}

/* The kernel says that the thread is gone. */
static bool take_orphan(void)
{
	struct rec_handle *handle = &m.shared.handle;
	uint32_t was = THREAD(WRITER);

	if (!m.writer_died || rec_load_relaxed(&handle->lane->owner) != was)
		return false;
	if (running >= 0)
		memory_death_seen((unsigned int)running);
	if (!rec_cmpxchg32(&handle->lane->owner, &was, thread_here()))
		return false;
	oracle_putting_back();
	rec_ring_repair(handle);
	oracle_put_back();
	return true;
}

/* One event is not for this lane. */
static uint8_t missed_bit(void)
{
	return (uint8_t)(running < 0 ? 1u : 1u << (unsigned int)(running * 4 + m.actors[running].depth));
}

static struct rec_handle *attend_shared(struct rec_handle *self)
{
	struct rec_handle *handle = &m.shared.handle;
	uint32_t was = 0;

	if (rec_load_relaxed(&handle->lane->owner) != 0 || !rec_cmpxchg32(&handle->lane->owner, &was, thread_here())) {
		if (!take_orphan()) {
			m.missed |= missed_bit();
			return NULL;
		}
	}
	handle->cpu = self->cpu;
	return handle;
}

static struct rec_lane nowhere;

void share_lane(void)
{
	unsigned int i;

	m.shared.handle = m.handle;
	m.shared.handle.is_held = is_held;
	m.shared.handle.leave = leave;
	for (i = 0; i < ACTORS; i++)
		m.threads[i] = (struct rec_handle){ .lane = &nowhere, .cpu = &m.shared.cpu, .on_gate = attend_shared, .capacity = 1 };
}

/* The gate of a lane that is not shared. The request is granted, so the gate stays open. */
static struct rec_handle *attend(struct rec_handle *handle)
{
	if (handle->disabled) {
		m.missed |= missed_bit();
		return NULL;
	}
	handle->room = handle->capacity;
	return handle;
}

static struct rec_handle *attend_nowhere(struct rec_handle *handle)
{
	(void)handle;
	m.missed |= missed_bit();
	return NULL;
}

/* In the place of rec_thread_elsewhere(): the event is written to another lane, which is of no interest here. */
static struct rec_handle *go_elsewhere(struct rec_handle *stuck)
{
	if (with(STAYS))
		return stuck;
	oracle_elsewhere();
	return &m.threads[0];
}

void lease_lane(void)
{
	m.handle.on_gate = attend;
	m.handle.on_stuck = go_elsewhere;
	m.threads[0] = (struct rec_handle){ .lane = &nowhere, .cpu = &m.shared.cpu, .on_gate = attend_nowhere, .capacity = 1 };
}

static struct rec_handle *handle_here(void)
{
	return with(SHARED) ? &m.threads[thread_here() - 1] : &m.handle;
}

/* ------------------------------------------------------------------------------------------------------- events */

/* Every word of an event's payload tells its number and its length. */
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
	MISTAKEN = 8,	/* and that one comes from a frame above, so this one seems to have been left */
};

static inline __attribute__((always_inline)) void *reserve(uint32_t size, unsigned int how, struct rec_slot *ret_slot)
{
	struct rec_handle *handle = handle_here();
	void *payload;

	if (!(how & AS_MACRO))
		return rec_reserve(handle, size, ret_slot);
	payload = rec_reserve_fast(handle, size, 0, ret_slot);
	return payload ? payload : rec_reserve_rest(handle, size, __builtin_dwarf_cfa(), ret_slot);
}

static bool write_event(uint32_t size, unsigned int how);

/* As if a writer above had found this one's reservation, and now writes. */
static void write_mistaken(uint32_t outer, const void *above)
{
	if (!oracle_mistaken(outer))
		return;
	rec_ring_close_left(handle_here(), (uint64_t)(uintptr_t)above);
	write_event(4, PLAINLY);
}

static bool write_one(uint32_t size, unsigned int how)
{
	const uint32_t floor = oracle_floor();
	const uint32_t id = oracle_begin()->id;
	const bool stuck = oracle_stuck();
	struct rec_slot slot;
	void *payload = reserve(size, how, &slot);

	if (m.missed & missed_bit()) {
		m.missed = (uint8_t)(m.missed & ~missed_bit());
		oracle_missed(id);
		return false;
	}
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

/* Whether the lane took it. Those who are moving the head when it begins are so still, where the first of them began. */
static bool write_event(uint32_t size, unsigned int how)
{
	const uint64_t movers = m.handle.movers, moving = m.handle.moving;
	const bool taken = write_one(size, how);

	if (movers && !m.jumped && m.handle.moving != moving)
		fail("where the head began to be moved is not known any more");
	return taken;
}

/* An event that comes to a gate that is closed. */
static void write_gated(bool disabled)
{
	const uint32_t was = m.handle.disabled;

	m.handle.disabled = disabled;
	m.handle.room = 0;
	if (write_event(4, PLAINLY) && disabled)
		fail("a lane that is disabled has taken an event");
	if (!disabled && !m.handle.room)
		fail("an event was written after the gate was closed");
	m.handle.disabled = was;
	m.handle.room = was ? 0 : m.handle.capacity;
}

/* Others have gone inside one after the other, so it seems. */
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

/* Copies and single events count as read at once. */
static void read_copy(size_t room)
{
	unsigned char copy[SUBBUF_MAX];
	struct rec_page page;
	int r;

	memset(&page, 0, sizeof(page));
	oracle_reading();
	r = rec_ring_copy(&m.reader, false, copy, room, &page);
	m.oracle.copied = true;
	oracle_read(r, &page, false);
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

/* The lane is empty, and gets a shape: the same, and once more beginning with sub-buffer 1. */
static void make_anew(void)
{
	rec_ring_read_done(&m.reader);
	if (!rec_ring_is_empty(&m.handle))
		fail("all was read, but the lane is not empty");
	m.shared.lane.subbuf_size = 0;
	rec_ring_restart(&m.handle);
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

/* begin() of reader_wait.c, and the look after it. */
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

void act(char action)
{
	uint32_t i;

	switch (action) {
	case 's':
		write_event(4, PLAINLY);
		break;
	case 'm':
		write_event(12, PLAINLY);
		break;
	case 'h':
		write_event(60, PLAINLY);
		break;
	case 'l':
		write_event(long_size(), PLAINLY);
		break;
	case 'r':
	case 'R':
		for (i = 0; i < (action == 'r' ? 1u : 2u) * config->pages; i++)
			write_event(long_size(), PLAINLY);
		break;
	case 't':
		write_event(long_size() + 4, PLAINLY);
		break;
	case 'd':
		write_event(4, TAKE_BACK);
		break;
	case 'D':
		write_event(12, TAKE_BACK);
		break;
	case 'z':
		write_event(4, ONE_INSIDE);
		break;
	case 'T':
		write_event(UINT32_MAX, PLAINLY);
		break;
	case 'e':
		write_event(4, AS_MACRO);
		break;
	case 'g':
	case 'G':
		write_gated(action == 'G');
		break;
	case 'n':
		write_deepest();
		break;
	case 'x':
	case 'X':
		write_event(REC_EVENT_SMALL_MAX + 4u, action == 'x' ? PLAINLY : TAKE_BACK);
		break;
	case 'y':
	case 'Y':
		write_event(4, action == 'y' ? MISTAKEN : MISTAKEN | TAKE_BACK);
		break;
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
		read_copy(1u << config->shift);
		break;
	case 'Q':
		read_copy(REC_SUBBUF_HEADER_SIZE + REC_RESTATE_SIZE + 12);
		break;
	case 'v':
		look_at_counts();
		break;
	case 'a':
		make_anew();
		break;
	case 'L':
		oracle_putting_back();
		if (!with(SHARED))
			rec_ring_repair(&m.handle);
		else if (take_orphan())
			leave(&m.shared.handle);
		m.lease = false;
		oracle_put_back();
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
