/* SPDX-License-Identifier: MIT */
/*
 * A list of events for each lane, in the order in which they were written. Readers must find an event by its place in
 * the list, which is its number.
 */
#include "lanes.h"

static uint32_t index_of(const struct rec_lane *lane)
{
	const uint32_t index = (uint32_t)((const struct lane_file *)(const void *)lane - file);

	if (index >= config->max_lanes)
		fail("an event is written to a lane that is not there");
	return index;
}

/* The number of committed events according to the lane. */
static uint64_t committed(uint32_t index)
{
	const uint64_t commit = file[index].lane.commit;

	return file[index].subbufs[REC_POS_ID(commit) % SUBBUFS].first + REC_POS_COUNT(commit);
}

uint32_t oracle_tries(void)
{
	return ++m.oracle.tried;
}

void oracle_enters(const struct rec_lane *lane)
{
	struct list *list = &m.oracle.lists[index_of(lane)];

	if (list->writer)
		fail("actors %d and %u write to lane %u at the same time", list->writer - 1, current, index_of(lane));
	list->writer = (uint8_t)(current + 1);
}

void oracle_commits(const struct rec_lane *lane, uint32_t id)
{
	struct list *list = &m.oracle.lists[index_of(lane)];

	if (list->nr == EVENTS_MAX)
		fail("the checker has too little room for events");
	list->id[list->nr++] = (uint8_t)id;
	list->writing = true;
}

void oracle_leaves(const struct rec_lane *lane)
{
	struct list *list = &m.oracle.lists[index_of(lane)];

	list->writing = false;
	list->writer = 0;
}

void oracle_dies(unsigned int actor)
{
	const char action = m.actors[actor].action;
	uint32_t i;

	m.oracle.died = true;
	m.oracle.unknown = (uint8_t)(m.oracle.unknown + (action == 's' || action == 'l'));
	for (i = 0; i < config->max_lanes; i++) {
		struct list *list = &m.oracle.lists[i];

		if (list->writer != actor + 1)
			continue;
		/* The event counts once the commit position has passed it. */
		if (list->writing && committed(i) < list->nr)
			list->nr--;
		list->writing = false;
		list->writer = 0;
	}
}

void oracle_reads(uint32_t lane, const struct rec_ring_event *event)
{
	struct list *list = &m.oracle.lists[lane];
	const uint32_t *payload = event->record.payload;
	const uint64_t gap = event->number - list->next;

	if (event->number < list->next)
		fail("event %u of lane %u is read twice", (uint32_t)event->number, lane);
	if (event->number >= list->nr)
		fail("event %u of lane %u is read, which was not written", (uint32_t)event->number, lane);
	if (*payload != list->id[event->number])
		fail("event %u of lane %u is %u, but is read as %u", (uint32_t)event->number, lane,
		     list->id[event->number], *payload);
	/* A thread that ends while it moves the head has not counted what was lost. */
	if (gap && !file[lane].lane.pages_lost && !m.oracle.died)
		fail("%u events before event %u of lane %u are missing", (uint32_t)gap, (uint32_t)event->number, lane);
	if (event->lost < gap || (event->lost != gap && !rec_lane_refusals(&file[lane].lane)))
		fail("%u events of lane %u are lost, %u are reported", (uint32_t)gap, lane, (uint32_t)event->lost);
	list->next = (uint8_t)(event->number + 1);
}
