/* SPDX-License-Identifier: MIT */
/*
 * The expected fate of events whose writers died, or whose actions were left for good: events that a commit has passed
 * are read; the others are taken back and counted as torn.
 */
#include "oracle_private.h"

bool oracle_mistaken(uint32_t id)
{
	struct event *event = oracle_find(id);

	/* Either the action was left, or other actions are below it. */
	if (!event || m.actors[WRITER].depth > 1)
		return false;
	event->state = EVENT_LEFT;
	m.jumped = true;
	return true;
}

uint64_t oracle_deepen(const void *frame)
{
	const uint64_t open = m.shared.lane.open, depth = (uint64_t)REC_OPEN_DEPTH_MAX << REC_OPEN_SHIFT;

	m.shared.lane.open = depth | (open ? REC_OPEN_FRAME(open) : (uint64_t)(uintptr_t)frame);
	return open;
}

void oracle_undeepen(uint64_t open)
{
	m.shared.lane.open = open;
}

bool is_left(void)
{
	return m.jumped && (m.shared.lane.open || m.handle.movers || m.shared.lane.tail != m.shared.lane.commit);
}

/*
 * Readers will get exactly the events that a commit has passed, because the next writer begins at the commit position.
 */
void oracle_writer_died(void)
{
	const uint32_t commit = place_of(m.shared.lane.commit);
	uint32_t i;

	o.calm = false;
	o.died = true;
	/*
	 * The writer died after it had counted the events that it takes back, and before it had moved the tail back:
	 * the next writer counts them again.
	 */
	if (m.masked)
		o.maybe_torn += EVENTS_MAX;
	for (i = 0; i < EVENTS_MAX; i++) {
		struct event *event = &o.events[i];

		if (event->state == EVENT_NONE || event->state == EVENT_HANDED)
			continue;
		/* The other thread continues with its own events. */
		if (event->actor != WRITER && event->state < EVENT_COMMITTED)
			continue;
		if (event->state >= EVENT_COMMITTING && event->position <= commit) {
			event->state = EVENT_COMMITTED;
			continue;
		}
		if ((event->state == EVENT_OPEN || event->state == EVENT_LEFT) && event->position <= commit)
			fail("the commit position has passed event %u, which is not committed", event->id);
		if (event->state == EVENT_COMMITTED && !m.actors[WRITER].depth && !m.jumped)
			fail("event %u was committed by an outermost writer and is not there", event->id);
		/* An event that was being discarded may be gone. */
		if (event->state == EVENT_DISCARDING)
			o.maybe_torn++;
		else
			o.torn += event->state != EVENT_RESERVING || event->placed;
		o.torn_away |= REC_POS_SEQ(m.shared.lane.tail) != REC_POS_SEQ(m.shared.lane.commit);
		oracle_forget(event);
	}
	/*
	 * Refusals that the lane has counted and the oracle has not, or vice versa. Those of the other thread are not
	 * included.
	 */
	if (with(SHARED) && m.shared.lane.owner != THREAD(WRITER))
		return;
	o.too_long = (uint32_t)m.shared.lane.too_long;
	o.refused = (uint32_t)rec_lane_refusals(&m.shared.lane);
}

/*
 * Events that were left open will not be read. If a commit was left, its event is visible already; or it becomes
 * visible, or is taken back, with the outermost writer's event.
 */
void oracle_jumped(uint8_t level)
{
	const uint32_t commit = place_of(m.shared.lane.commit);
	uint32_t i;

	o.calm = false;
	for (i = 0; i < EVENTS_MAX; i++) {
		struct event *event = &o.events[i];

		if (event->state == EVENT_NONE || event->state >= EVENT_COMMITTED)
			continue;
		if (event->level < level) {
			event->kept = event->placed;
			continue;
		}
		if (event->state == EVENT_OPEN && event->position <= commit)
			fail("the commit position has passed event %u, which is not committed", event->id);
		if (event->state == EVENT_COMMITTING)
			event->state = EVENT_COMMITTED;
		if (event->state == EVENT_OPEN || (event->state == EVENT_RESERVING && event->placed))
			event->state = EVENT_LEFT;
		if (event->state > EVENT_RESERVING)
			continue;
		o.maybe_torn += event->state == EVENT_DISCARDING;
		oracle_forget(event);
	}
	o.refused = (uint32_t)rec_lane_refusals(&m.shared.lane);
}

void oracle_putting_back(void)
{
	o.torn_away |= REC_POS_SEQ(m.shared.lane.tail) != REC_POS_SEQ(m.shared.lane.commit);
}

/*
 * Events after the tail were taken back. If a writer that continues had events there, only events that no reader could
 * see were taken back.
 */
void oracle_put_back(void)
{
	const uint32_t tail = place_of(m.shared.lane.tail);
	uint32_t i;

	for (i = 0; i < EVENTS_MAX; i++) {
		struct event *event = &o.events[i];

		if (event->state < EVENT_LEFT || event->state > EVENT_COMMITTED || event->position <= tail)
			continue;
		if (!m.jumped)
			fail("event %u is taken back, though nothing was left", event->id);
		if (event->kept)
			fail("event %u is taken back, though its writer continues", event->id);
		o.torn++;
		oracle_forget(event);
	}
}

void oracle_reader_died(void)
{
	o.died = true;
	o.again = true;
	o.page = NULL;
}
