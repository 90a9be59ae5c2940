/* SPDX-License-Identifier: MIT */
/*
 * What is expected of events whose writer died, or whose actions were left for good: those that a commit has passed
 * come, the others are taken back and counted as torn.
 */
#include "oracle_private.h"

bool oracle_mistaken(uint32_t id)
{
	struct event *event = oracle_find(id);

	/* It was indeed left, or others are below. */
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
 * All that a commit has passed will come; nothing else ever will, because the next writer begins at the commit
 * position.
 */
void oracle_writer_died(void)
{
	const uint32_t commit = place_of(m.shared.lane.commit);
	uint32_t i;

	o.calm = false;
	o.died = true;
	/* Between the count of what it takes back and the tail's return: the next one counts that again. */
	if (m.masked)
		o.maybe_torn += EVENTS_MAX;
	for (i = 0; i < EVENTS_MAX; i++) {
		struct event *event = &o.events[i];

		if (event->state == EVENT_NONE || event->state == EVENT_HANDED)
			continue;
		/* The other thread continues with its own. */
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
		/* One that was being discarded may be gone. */
		if (event->state == EVENT_DISCARDING)
			o.maybe_torn++;
		else
			o.torn += event->state != EVENT_RESERVING || event->placed;
		o.torn_away |= REC_POS_SEQ(m.shared.lane.tail) != REC_POS_SEQ(m.shared.lane.commit);
		oracle_forget(event);
	}
	/*
	 * Refusals that were counted in the lane but not by us yet, or vice versa; the other thread's are its own.
	 */
	if (with(SHARED) && m.shared.lane.owner != THREAD(WRITER))
		return;
	o.too_long = (uint32_t)m.shared.lane.too_long;
	o.refused = (uint32_t)rec_lane_refusals(&m.shared.lane);
}

/*
 * What was left open will not come. A commit that was left has come so far that its event is visible, or it may become
 * visible, or be taken back, with the outermost writer's.
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
 * What lies after the tail was taken back; of the writers that continue and have something there, only what no reader
 * could see was.
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
