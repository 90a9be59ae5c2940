/* SPDX-License-Identifier: MIT */
/*
 * What writers and readers do. Compiled as the ring is, so that the inline part of it is checked here.
 *
 *  s  an event of one word                 w  take whole pages
 *  l  an event of the longest that fits    p  take what is there
 *  m  an event of three words              i  begin to read, or take over from a reader that died
 *  d  reserve one word and take it back    z  two events, the second one inside the first, in one thread
 *  D  the same with three words
 *  L  lease the lane, mending what a dead writer left
 *  t  an event that fits no page
 *  r  a round: the longest event, as often as the ring has pages    R  two rounds
 */
#include "model.h"

#include <errno.h>
#include <string.h>

static uint32_t long_size(void)
{
	/* Marker, stamp, event word; and the length word, if it comes to that. */
	const uint32_t size =
		(1u << config->shift) - REC_SUBBUF_HEADER_SIZE - REC_MARKER_SIZE - REC_TIME_EXTEND_SIZE - 4u;

	return size;
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

static struct rec_handle *attend(struct rec_handle *self)
{
	struct rec_handle *handle = &m.shared.handle;
	uint32_t was = 0;

	if (rec_load_relaxed(&handle->lane->owner) != 0 || !rec_cmpxchg32(&handle->lane->owner, &was, thread_here())) {
		if (!take_orphan()) {
			m.missed = true;
			return NULL;
		}
	}
	handle->cpu = self->cpu;
	return handle;
}

void share_lane(void)
{
	static struct rec_lane nowhere;
	unsigned int i;

	m.shared.handle = m.handle;
	m.shared.handle.is_held = is_held;
	m.shared.handle.leave = leave;
	for (i = 0; i < ACTORS; i++)
		m.threads[i] = (struct rec_handle){ .lane = &nowhere, .cpu = &m.shared.cpu, .attend = attend, .capacity = 1 };
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

static void write_event(uint32_t size, bool take_back, bool another_inside)
{
	const uint32_t floor = oracle_floor();
	const uint32_t id = oracle_begin()->id;
	struct rec_slot slot;
	void *payload = rec_reserve(handle_here(), size, &slot);

	if (m.missed) {
		m.missed = false;
		oracle_missed(id);
		return;
	}
	if (!payload) {
		oracle_refused(id);
		return;
	}
	oracle_reserved(id, &slot, size, floor);
	fill(payload, size, id);
	if (another_inside)
		write_event(size, false, false);
	if (take_back) {
		oracle_discarding(id);
		rec_discard(&slot, payload);
		oracle_discarded(id);
		return;
	}
	oracle_committing(id);
	rec_commit(&slot);
	oracle_committed(id);
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

void act(char action)
{
	uint32_t i;

	switch (action) {
	case 's':
		write_event(4, false, false);
		break;
	case 'm':
		write_event(12, false, false);
		break;
	case 'l':
		write_event(long_size(), false, false);
		break;
	case 'r':
	case 'R':
		for (i = 0; i < (action == 'r' ? 1u : 2u) * config->pages; i++)
			write_event(long_size(), false, false);
		break;
	case 't':
		write_event(long_size() + 4, false, false);
		break;
	case 'd':
		write_event(4, true, false);
		break;
	case 'D':
		write_event(12, true, false);
		break;
	case 'z':
		write_event(4, false, true);
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
