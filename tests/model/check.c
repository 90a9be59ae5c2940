/* SPDX-License-Identifier: MIT */
/* What must hold between actions, at the end, and after everybody died. */
#include "model.h"

#include <errno.h>

/* More reads than any ring here has pages in all states that a reader distinguishes. */
#define READS_MAX 40u

void check_ring(void)
{
	const struct rec_link *links = m.shared.links;
	const uint32_t start = REC_LINK_ID(links[m.reader.page].next);
	uint32_t id = start, heads = 0, steps = 0;

	do {
		const uint32_t next = REC_LINK_ID(links[id].next);

		if (next >= m.handle.nr_subbufs || id == m.reader.page || steps++ > SUBBUFS_MAX)
			fail("the links make no ring");
		if (links[next].prev != id)
			fail("links[%u].prev is %u, and %u leads there", next, links[next].prev, id);
		if (REC_LINK_FLAG(links[id].next) == REC_LINK_UPDATE)
			fail("nobody moves the head, but a link says so");
		heads += REC_LINK_FLAG(links[id].next) == REC_LINK_HEAD;
		id = next;
	} while (id != start);
	if (heads != 1)
		fail("%u heads", heads);
	if (steps != config->pages)
		fail("%u sub-buffers in the ring", steps);
	if (m.shared.lane.tail != m.shared.lane.commit)
		fail("nobody writes, but tail and commit position differ");
	if (m.shared.lane.open)
		fail("nobody is inside, but the lane says so");
	if (m.shared.lane.torn < m.oracle.torn || m.shared.lane.torn > m.oracle.torn + m.oracle.maybe_torn)
		fail("%llu reservations are torn, but %u to %u were", (unsigned long long)m.shared.lane.torn, m.oracle.torn,
		     m.oracle.torn + m.oracle.maybe_torn);
	if (m.shared.lane.owner)
		fail("the lane is not given back");
	if (m.shared.lane.broken)
		fail("the lane is broken at line %u", m.shared.lane.broken);
	if (rec_lane_refusals(&m.shared.lane) != m.oracle.refused)
		fail("%u events were refused, %u are counted", m.oracle.refused, (uint32_t)rec_lane_refusals(&m.shared.lane));
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

void check_end(void)
{
	uint32_t i;

	quiet = true;
	quiet_begin();
	if (with(SHARED) || is_left())
		act('L');
	read_all();
	if (!m.program_gone) {
		check_ring();
		/* The lane goes on working, through all its pages. */
		for (i = 0; i < 2 * config->pages; i++) {
			act('s');
			act('l');
			act('w');
			read_all();
		}
		check_ring();
		/* A refusal is told by the next page but one, at the latest. */
		if (!m.oracle.doubtful && m.oracle.told != m.oracle.refused)
			fail("%u events were refused, %u are told", m.oracle.refused, m.oracle.told);
	}
	for (i = 0; i < EVENTS_MAX; i++)
		if (m.oracle.events[i].state != EVENT_NONE && m.oracle.events[i].state < EVENT_COMMITTED)
			fail("event %u is left half done", m.oracle.events[i].id);
	if (oracle_unread(false))
		fail("%u events are neither read nor lost", oracle_unread(false));
	quiet = false;
}

void check_cut(bool program_gone)
{
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
	check_end();
}
