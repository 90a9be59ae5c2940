/* SPDX-License-Identifier: MIT */
/*
 * The expected results. The oracle has a list of all events that were begun, in the order of their positions; each is
 * reserving, open, committing, committed or handed to the reader. The events that the reader gets are compared with the
 * list:
 *
 *  - an event is on the list, has the bytes, time and CPU that its writer gave it, and its commit has at least begun;
 *  - the commits of all events before it have begun; those that were not read are lost, and the page reports how many;
 *  - its number is the number of all events before it, read and lost; positions and times grow;
 *  - a page that was handed over does not change until the reader asks for the next one;
 *  - if no writer moves, a reader that reports that there is nothing, or to try again, is right.
 *
 * This file has the list and the writers' calls; oracle_left.c has events that writers left, oracle_read.c the results
 * of readers.
 */
#include "oracle_private.h"

#include <string.h>

struct event *oracle_find(uint32_t id)
{
	uint32_t i;

	for (i = 0; i < EVENTS_MAX; i++)
		if (o.events[i].state != EVENT_NONE && o.events[i].id == id)
			return &o.events[i];
	return NULL;
}

struct event *oracle_known(uint32_t id)
{
	struct event *event = oracle_find(id);

	if (!event)
		fail("the checker lost event %u", id);
	return event;
}

struct event *oracle_begin(void)
{
	const unsigned int self = running < 0 ? WRITER : (unsigned int)running;
	struct actor *writer = &m.actors[self];
	uint32_t i;

	if (writer->depth)
		writer->levels[writer->depth - 1].events++;

	for (i = 0; i < EVENTS_MAX; i++)
		if (o.events[i].state == EVENT_NONE) {
			o.events[i] = (struct event){ .id = ++o.next_id,
						      .state = EVENT_RESERVING,
						      .actor = (uint8_t)self,
						      .level = writer->depth,
						      .time = m.clock };
			return &o.events[i];
		}
	fail("the checker's list is too short");
}

void oracle_forget(struct event *event)
{
	*event = (struct event){ 0 };
}

/* Whether the running action is the only one, and was not interrupted. */
static bool is_alone(void)
{
	const struct actor *writer = &m.actors[WRITER];

	return !writer->depth || (writer->depth == 1 && !writer->levels[0].interrupts);
}

/* Whether events may be refused: because a writer is interrupted, or because the lane is full of unread events. */
static bool may_refuse(void)
{
	const struct actor *writer = &m.actors[WRITER];
	uint32_t i;

	/* On a shared lane an event interrupts no other. */
	if (is_left())
		return true;
	if (!with(SHARED) && (writer->depth > 1 || strchr("tTzn", writer->levels[0].action)))
		return true;
	if (with(OVERWRITE))
		return false;
	for (i = 0; i < EVENTS_MAX; i++)
		if (o.events[i].state == EVENT_COMMITTED || o.events[i].state == EVENT_HANDED)
			return true;
	return strpbrk(config->program, "dD") || strpbrk(config->nested, "dD");
}

/*
 * Whether there is room, so that even in discard mode a refusal is wrong: the tail's sub-buffer has room, or the next
 * one is free. Only valid while nothing else writes or reads.
 */
static bool is_room(uint32_t size)
{
	const struct rec_lane *lane = &m.shared.lane;
	const uint64_t link = m.shared.links[REC_POS_ID(lane->tail)].next;
	const uint32_t most = m.handle.capacity * 4;

	if (!is_alone() || *config->reads || with(SHARED) || m.jumped || m.lease || size > most ||
	    REC_RESTATE_SIZE + rec_event_total(size) > most || m.actors[WRITER].levels[0].action == 'n')
		return false;
	return REC_POS_OFF(lane->tail) + REC_RESTATE_SIZE + rec_event_total(size) <= most ||
	       (REC_LINK_FLAG(link) == REC_LINK_NORMAL && REC_LINK_ID(link) != REC_POS_ID(lane->commit));
}

void oracle_refused(uint32_t id, uint32_t size)
{
	const struct actor *writer = &m.actors[running < 0 ? WRITER : running];

	if (!o.refused_at) {
		o.refused_at = oracle_known(id)->time;
		o.refused_by = writer->depth ? writer->levels[writer->depth - 1].time : m.clock;
	}
	oracle_forget(oracle_known(id));
	/*
	 * Count and time are two words: a writer that publishes between the two stores may see one without the other.
	 */
	o.untimed |= !is_alone();
	o.too_long += size > m.handle.capacity * 4 - REC_RESTATE_SIZE - 4;
	/* The refusal may have been counted before its writer was left. */
	if (m.jumped)
		o.refused = (uint32_t)rec_lane_refusals(&m.shared.lane);
	else
		o.refused++;
	o.calm = false;
	if (running >= 0 && !quiet && !with(WEAK) && !may_refuse())
		fail("refused, though there is room");
	if (running >= 0 && !quiet && !with(WEAK) && is_room(size))
		fail("refused, though it fits");
}

bool oracle_stuck(void)
{
	const struct rec_lane *lane = &m.shared.lane;
	const uint32_t far = config->pages > 2 ? 2 : 1, tail = REC_POS_SEQ(lane->tail);

	if (with(SHARED) || with(STAYS) || m.jumped || !lane->open)
		return false;
	return tail - REC_POS_SEQ(lane->commit) >= far ||
	       (m.handle.movers && tail - REC_POS_SEQ(m.handle.moving) >= far);
}

void oracle_missed(uint32_t id)
{
	oracle_forget(oracle_known(id));
}

/*
 * If a handler runs between a writer's reads of tail and commit position, the writer may leave a sub-buffer although it
 * has room.
 */
void oracle_leaves_stuck(void)
{
	const struct actor *writer = &m.actors[WRITER];

	if (!m.jumped && !oracle_stuck() && !(writer->depth && writer->levels[writer->depth - 1].interrupts))
		fail("another lane is taken, though this one is not stuck");
}

void oracle_entered(void)
{
	o.entered = m.shared.lane.commit;
}

uint32_t oracle_floor(void)
{
	uint32_t floor = o.position;
	uint32_t i;

	for (i = 0; i < EVENTS_MAX; i++)
		if ((o.events[i].state == EVENT_COMMITTED || o.events[i].state == EVENT_HANDED) &&
		    o.events[i].position > floor)
			floor = o.events[i].position;
	return floor;
}

/* The last clock reading of the running action, and its place. */
static uint64_t time_here(const struct actor *writer)
{
	return writer->depth ? writer->levels[writer->depth - 1].time : m.clock;
}

static uint8_t cpu_here(const struct actor *writer)
{
	return (uint8_t)(writer->depth ? writer->levels[writer->depth - 1].cpu : m.shared.cpu);
}

void oracle_at_once(uint32_t id)
{
	oracle_known(id)->at_once = true;
}

/*
 * The tail moves by a reservation, or back by a discard. Only events that were left are taken back across the end of a
 * sub-buffer (edge I2).
 */
static void placed(uint64_t was, uint64_t tail)
{
	const unsigned int self = running < 0 ? WRITER : (unsigned int)running;
	uint32_t i;

	if (REC_POS_SEQ(tail) < REC_POS_SEQ(was))
		fail("the tail goes back to a sub-buffer that it has left");
	for (i = 0; i < EVENTS_MAX; i++) {
		struct event *event = &o.events[i];

		if (event->state == EVENT_RESERVING && event->actor == self && event->level == m.actors[self].depth) {
			event->placed = true;
			event->position = place_of(tail);
			/* rec_write() commits the event before it returns, and has read the clock before. */
			if (event->at_once) {
				event->state = EVENT_COMMITTING;
				event->time = time_here(&m.actors[self]);
				event->cpu = cpu_here(&m.actors[self]);
			}
		}
	}
}

/* A writer begins to move the head. If that writer never returns, only `moving` shows where it was. */
static void marked(void)
{
	const struct rec_handle *handle = with(SHARED) ? &m.shared.handle : &m.handle;

	if (handle->movers == 1 && REC_POS_SEQ(handle->moving) != REC_POS_SEQ(m.shared.lane.tail))
		fail("a head is moved at %u, and %u is noted", (uint32_t)REC_POS_SEQ(m.shared.lane.tail),
		     (uint32_t)REC_POS_SEQ(handle->moving));
}

void memory_exchanged(const void *at, uint64_t was, uint64_t value)
{
	uint32_t i;

	if (at == &m.shared.lane.tail)
		placed(was, value);
	for (i = 0; i < SUBBUFS_MAX; i++)
		if (at == &m.shared.links[i].next && REC_LINK_FLAG(value) == REC_LINK_UPDATE)
			marked();
}

void oracle_reserved(uint32_t id, const struct rec_slot *slot, uint32_t size, uint32_t floor)
{
	struct event *event = oracle_known(id);
	const struct actor *writer = &m.actors[event->actor];

	event->state = EVENT_OPEN;
	event->position = place_of(slot->end);
	event->time = time_here(writer);
	event->cpu = cpu_here(writer);
	/* Events that were committed inside an event that was left are taken back with it. */
	if (event->position <= floor && !m.jumped)
		fail("a place before one that was committed earlier");
	/*
	 * If time and CPU are certain, the event must be written without restating them. Restating would be correct,
	 * but wasteful.
	 */
	if (o.calm && is_alone() && REC_POS_SEQ(slot->end) == REC_POS_SEQ(slot->old) && !strcmp(config->ticks, "1") &&
	    !m.migrations && REC_POS_OFF(slot->end) - REC_POS_OFF(slot->old) != rec_event_total(size))
		fail("event %u takes %u bytes", id, REC_POS_OFF(slot->end) - REC_POS_OFF(slot->old));
}

/* If an event was mistaken for left and was taken back, there is nothing to commit. */
void oracle_committing(uint32_t id)
{
	struct event *event = oracle_find(id);

	if (event)
		event->state = EVENT_COMMITTING;
	else if (!m.jumped)
		fail("the checker lost event %u", id);
}

void oracle_committed(uint32_t id)
{
	struct event *event = oracle_find(id);

	/* The reader may already have got the event and finished with it. */
	if (event && event->state == EVENT_COMMITTING)
		event->state = EVENT_COMMITTED;
	o.calm = !with(SHARED) && !with(JUMPS) && is_alone();
}

/* The event may be missing, because it was mistaken for one that its writer left, and was taken back before. */
void oracle_discarding(uint32_t id)
{
	struct event *event = m.jumped ? oracle_find(id) : oracle_known(id);

	if (event)
		event->state = EVENT_DISCARDING;
}

void oracle_discarded(uint32_t id, const struct rec_slot *slot)
{
	struct event *event = m.jumped ? oracle_find(id) : oracle_known(id);

	const struct actor *writer = &m.actors[WRITER];

	if (event)
		oracle_forget(event);
	/* A discard that nothing interrupted gives back all that its event took. */
	if (!m.jumped && !with(SHARED) && running == WRITER && !writer->levels[writer->depth - 1].interrupts &&
	    REC_POS_SEQ(slot->old) == REC_POS_SEQ(slot->end) && m.shared.lane.tail != slot->old)
		fail("event %u was taken back, and %u bytes are not", id,
		     REC_POS_OFF(m.shared.lane.tail) - REC_POS_OFF(slot->old));
	/* A discard on the fast path frees its room completely, if nothing interrupted it. */
	o.calm = o.calm && !slot->open && is_alone();
}
