/* SPDX-License-Identifier: MIT */
/* Conditions that must hold between actions, at the end, and after both sides died. */
#include "model.h"

#include <errno.h>
#include <string.h>

/* More reads than are needed to empty any of these rings, even if a reader gets pages in several parts. */
#define READS_MAX 40u

/* Links from one sub-buffer to another. */
static int32_t distance(uint32_t id, uint32_t to)
{
	int32_t steps;

	for (steps = 0; id != to && steps <= (int32_t)SUBBUFS_MAX; steps++)
		id = REC_LINK_ID(m.shared.links[id].next);
	return steps;
}

/*
 * The fill level for which readers wait (rec_ring_is_hit()): sub-buffers that the writer has reached, minus those lost
 * and read.
 */
static void check_dirty(int32_t filled)
{
	const struct rec_lane *lane = &m.shared.lane;

	/* A head without events, because all of them were discarded, is not counted as lost (note_lost() in ring.c). */
	if (strpbrk(config->program, "dD") || strpbrk(config->nested, "dD"))
		return;
	if (m.jumped || m.oracle.died || REC_POS_ID(lane->commit) == m.reader.page)
		return;
	if ((int64_t)(lane->pages_touched - lane->pages_lost - m.shared.words.pages_read) != filled)
		fail("%d sub-buffers are full, %d are counted", filled,
		     (int)(lane->pages_touched - lane->pages_lost - m.shared.words.pages_read));
}

/*
 * The handle's function was called since the commit position entered its sub-buffer. A handler that leaves for good may
 * leave this function, too.
 */
static void check_entered(void)
{
	if (with(SHARED) || m.jumped || m.oracle.died)
		return;
	if (REC_POS_SEQ(m.oracle.entered) != REC_POS_SEQ(m.shared.lane.commit))
		fail("a sub-buffer was entered, and the handle's function is not called");
}

void check_ring(void)
{
	const struct rec_link *links = m.shared.links;
	const struct rec_handle *handle = with(SHARED) ? &m.shared.handle : &m.handle;
	const uint32_t start = REC_LINK_ID(links[m.reader.page].next);
	const uint64_t commit = m.shared.lane.commit;
	uint32_t id = start, heads = 0, steps = 0;
	/* Checks the sub-buffers from the head to the commit position. */
	int32_t filled = -1;

	do {
		const uint32_t next = REC_LINK_ID(links[id].next);

		if (next >= m.handle.nr_subbufs || id == m.reader.page || steps++ > SUBBUFS_MAX)
			fail("the links make no ring");
		if (links[next].prev != id)
			fail("links[%u].prev is %u, and %u leads there", next, links[next].prev, id);
		if (REC_LINK_FLAG(links[id].next) == REC_LINK_UPDATE)
			fail("a link is marked UPDATE, but no writer moves the head");
		heads += REC_LINK_FLAG(links[id].next) == REC_LINK_HEAD;
		if (REC_LINK_FLAG(links[id].next) == REC_LINK_HEAD)
			filled = distance(next, REC_POS_ID(m.shared.lane.commit));
		id = next;
	} while (id != start);
	check_dirty(filled);
	if (heads != 1)
		fail("%u heads", heads);
	if (steps != config->pages)
		fail("%u sub-buffers in the ring", steps);
	if (m.shared.lane.tail != m.shared.lane.commit)
		fail("no writer is inside, but tail and commit position differ");
	if (m.shared.lane.open)
		fail("the lane counts writers inside, but no writer is inside");
	if (handle->movers)
		fail("no writer moves the head, but %llu are noted", (unsigned long long)handle->movers);
	if (!with(SHARED) && handle->any_room != handle->capacity)
		fail("the lane's gate has stayed closed");
	/* Each event was read, or can be read, or is reported as lost by the number of the event after it. */
	if (m.shared.subbufs[REC_POS_ID(commit)].first + REC_POS_COUNT(commit) != oracle_all())
		fail("%llu events were committed, and the lane has counted %llu", (unsigned long long)oracle_all(),
		     (unsigned long long)(m.shared.subbufs[REC_POS_ID(commit)].first + REC_POS_COUNT(commit)));
	if (m.shared.lane.torn < m.oracle.torn || m.shared.lane.torn > m.oracle.torn + m.oracle.maybe_torn)
		fail("%llu reservations are torn, but %u to %u were", (unsigned long long)m.shared.lane.torn,
		     m.oracle.torn, m.oracle.torn + m.oracle.maybe_torn);
	check_entered();
	if (m.shared.lane.owner)
		fail("the lane is not given back");
	if (m.shared.lane.broken)
		fail("the lane is broken at line %u", m.shared.lane.broken);
	if (!m.oracle.died && !m.jumped && m.shared.lane.too_long != m.oracle.too_long)
		fail("%u events were too long, %u are counted", m.oracle.too_long, (uint32_t)m.shared.lane.too_long);
	if (rec_lane_refusals(&m.shared.lane) != m.oracle.refused)
		fail("%u events were refused, %u are counted", m.oracle.refused,
		     (uint32_t)rec_lane_refusals(&m.shared.lane));
}

static void read_all(void)
{
	uint32_t reads = 0;

	do {
		if (reads++ == READS_MAX)
			fail("the reader does not come to an end");
		act('p');
	} while (m.oracle.answer > 0);
}

static void check_what_is_left(void)
{
	uint32_t i;

	if (with(SHARED) || is_left())
		act('L');
	oracle_sleeps();
	if (strchr(config->reads, 'o')) {
		act('c');
		oracle_looked_all();
	}
	read_all();
	if (!m.program_gone) {
		check_ring();
		/* The lane continues to work, through all its pages. */
		for (i = 0; i < 2 * config->pages; i++) {
			act('s');
			act('l');
			act('w');
			read_all();
		}
		/*
		 * In discard mode, write until the ring is full, and more. Each page must report the refusals since the
		 * page before.
		 */
		for (i = 0; !with(OVERWRITE) && i < 2 * (config->pages + 3u); i++) {
			act('l');
			if (i % (config->pages + 3u) == config->pages + 1u)
				read_all();
		}
		read_all();
		check_ring();
		act('v');
		if (with(ANEW)) {
			act('a');
			act('i');
			check_ring();
			act('l');
			act('s');
			read_all();
			check_ring();
		}
		/* A refusal is reported at the latest by the second page after it. */
		if (!m.oracle.doubtful && m.oracle.told != m.oracle.refused)
			fail("%u events were refused, %u are reported", m.oracle.refused, m.oracle.told);
	}
	for (i = 0; i < EVENTS_MAX; i++)
		if (m.oracle.events[i].state != EVENT_NONE && m.oracle.events[i].state < EVENT_COMMITTED)
			fail("event %u is left half done", m.oracle.events[i].id);
	if (oracle_unread(false))
		fail("%u events are neither read nor lost", oracle_unread(false));
}

void check_end(void)
{
	quiet = true;
	quiet_begin();
	/* The check is made once for each state of the data on which it depends. */
	if (explorer_ends())
		check_what_is_left();
	quiet = false;
}

void check_cut(bool program_gone)
{
	uint64_t torn;

	oracle_writer_died();
	oracle_reader_died();
	actor_reset(WRITER);
	actor_reset(READER);
	m.program_gone = program_gone;
	quiet = true;
	quiet_begin();
	if (!program_gone)
		act('L');
	act('i');
	/* What rec_view_stats() returns for a program that is gone. */
	torn = m.shared.lane.torn + (program_gone ? rec_ring_open_events(&m.reader) : 0);
	if (torn < m.oracle.torn || torn > m.oracle.torn + m.oracle.maybe_torn)
		fail("%llu events are torn, but %u to %u were", (unsigned long long)torn, m.oracle.torn,
		     m.oracle.torn + m.oracle.maybe_torn);
	check_end();
}
