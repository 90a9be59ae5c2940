/* SPDX-License-Identifier: MIT */
/*
 * The expected results. A list of all events that were begun, in the order of their positions; each is reserving, open,
 * committing, committed or handed to the reader. What the reader gets is compared with the list, event by event:
 *
 *  - it is on the list, its bytes, time and CPU are what its writer gave it, and its commit has at least begun;
 *  - so has that of all before it; those that were not read then are lost, and the page reports how many;
 *  - its number is the number of all before it, read and lost; positions and times grow;
 *  - a page that was handed over does not change until the next one is asked for;
 *  - where nothing moves, a reader that reports that there is nothing, or to try again, is right.
 */
#include "model.h"

#include <errno.h>
#include <string.h>

#define o m.oracle

/* Sequence and offset of a position; the number of events in it changes with discards. */
static uint32_t place_of(uint64_t position)
{
	return REC_POS_SEQ(position) << 16 | REC_POS_OFF(position);
}

static struct event *find(uint32_t id)
{
	uint32_t i;

	for (i = 0; i < EVENTS_MAX; i++)
		if (o.events[i].state != EVENT_NONE && o.events[i].id == id)
			return &o.events[i];
	return NULL;
}

static struct event *known(uint32_t id)
{
	struct event *event = find(id);

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

static void forget(struct event *event)
{
	*event = (struct event){ 0 };
}

/* Whether the running action is the only one, and was not interrupted. */
static bool is_alone(void)
{
	const struct actor *writer = &m.actors[WRITER];

	return !writer->depth || (writer->depth == 1 && !writer->levels[0].interrupts);
}

/* Whether events could be refused rightly: a writer is interrupted, or the lane is full of unread events. */
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
 * Where nothing else writes or reads: whether the tail's sub-buffer has room, or the next one is free, so that even in
 * discard mode there is no reason to refuse.
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
		o.refused_at = known(id)->time;
		o.refused_by = writer->depth ? writer->levels[writer->depth - 1].time : m.clock;
	}
	forget(known(id));
	/*
	 * Count and time are two words: a writer that publishes between them, or is interrupted, may take one without
	 * the other.
	 */
	o.untimed |= !is_alone();
	o.too_long += size > m.handle.capacity * 4 - REC_RESTATE_SIZE - 4;
	/* It may have been counted when a writer left. */
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
	forget(known(id));
}

/* A handler between its reads of tail and commit position can make a writer leave a sub-buffer without need. */
void oracle_elsewhere(void)
{
	const struct actor *writer = &m.actors[WRITER];

	if (!m.jumped && !oracle_stuck() && !(writer->depth && writer->levels[writer->depth - 1].interrupts))
		fail("another lane is taken, though this one is not stuck");
}

bool oracle_mistaken(uint32_t id)
{
	struct event *event = find(id);

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

/* What the action that runs has read from its clock last, and where. */
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
	known(id)->at_once = true;
}

/*
 * A reservation, or what a discard gives back. Only what was left is taken back over the end of a sub-buffer (edge I2).
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
			/* Its writer commits it before it returns; its clock was read before. */
			if (event->at_once) {
				event->state = EVENT_COMMITTING;
				event->time = time_here(&m.actors[self]);
				event->cpu = cpu_here(&m.actors[self]);
			}
		}
	}
}

/* The head begins to be moved: if its mover never returns, only `moving` shows where. */
static void marked(void)
{
	const struct rec_handle *handle = with(SHARED) ? &m.shared.handle : &m.handle;

	if (handle->movers == 1 && REC_POS_SEQ(handle->moving) != REC_POS_SEQ(m.shared.lane.tail))
		fail("a head is moved at %u, and %u is noted", (uint32_t)REC_POS_SEQ(m.shared.lane.tail),
		     (uint32_t)REC_POS_SEQ(handle->moving));
}

void oracle_exchanged(const void *at, uint64_t was, uint64_t value)
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
	struct event *event = known(id);
	const struct actor *writer = &m.actors[event->actor];

	event->state = EVENT_OPEN;
	event->position = place_of(slot->end);
	event->time = time_here(writer);
	event->cpu = cpu_here(writer);
	/* What was committed inside an event that was left is taken back with it. */
	if (event->position <= floor && !m.jumped)
		fail("a place before one that was committed earlier");
	/* Right, but wasteful: only the event itself where time and CPU are certain. */
	if (o.calm && is_alone() && REC_POS_SEQ(slot->end) == REC_POS_SEQ(slot->old) && !strcmp(config->ticks, "1") &&
	    !m.migrations && REC_POS_OFF(slot->end) - REC_POS_OFF(slot->old) != rec_event_total(size))
		fail("event %u takes %u bytes", id, REC_POS_OFF(slot->end) - REC_POS_OFF(slot->old));
}

/* An event that was taken for left, and was taken back, has nothing to commit. */
void oracle_committing(uint32_t id)
{
	struct event *event = find(id);

	if (event)
		event->state = EVENT_COMMITTING;
	else if (!m.jumped)
		fail("the checker lost event %u", id);
}

bool is_left(void)
{
	return m.jumped && (m.shared.lane.open || m.handle.movers || m.shared.lane.tail != m.shared.lane.commit);
}

void oracle_committed(uint32_t id)
{
	struct event *event = find(id);

	/* The reader may have it by now, and have finished with it. */
	if (event && event->state == EVENT_COMMITTING)
		event->state = EVENT_COMMITTED;
	o.calm = !with(SHARED) && !with(JUMPS) && is_alone();
}

/* An event that was taken back before, with what seemed to be left, may not be there. */
void oracle_discarding(uint32_t id)
{
	struct event *event = m.jumped ? find(id) : known(id);

	if (event)
		event->state = EVENT_DISCARDING;
}

void oracle_discarded(uint32_t id, const struct rec_slot *slot)
{
	struct event *event = m.jumped ? find(id) : known(id);

	const struct actor *writer = &m.actors[WRITER];

	if (event)
		forget(event);
	/* A discard that nothing interrupted gives back all that its event took. */
	if (!m.jumped && !with(SHARED) && running == WRITER && !writer->levels[writer->depth - 1].interrupts &&
	    REC_POS_SEQ(slot->old) == REC_POS_SEQ(slot->end) && m.shared.lane.tail != slot->old)
		fail("event %u was taken back, and %u bytes are not", id,
		     REC_POS_OFF(m.shared.lane.tail) - REC_POS_OFF(slot->old));
	/* What the common path had reserved disappears without a trace, if nothing interrupted. */
	o.calm = o.calm && !slot->open && is_alone();
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
		forget(event);
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
		forget(event);
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
		forget(event);
	}
}

void oracle_reader_died(void)
{
	o.died = true;
	o.again = true;
	o.page = NULL;
}

/* Of all that a reader of the page uses; a writer that leaves the page has yet to write its size. */
static uint64_t hash_page(const unsigned char *page, uint32_t size)
{
	uint64_t hash = UINT64_C(1469598103934665603);
	uint32_t i;

	for (i = 0; i < REC_SUBBUF_HEADER_SIZE + size; i++)
		if (i < sizeof(uint64_t) || i >= REC_SUBBUF_HEADER_SIZE)
			hash = (hash ^ page[i]) * UINT64_C(1099511628211);
	return hash;
}

/* The reader asks for more, so the page that it had may be written to again. */
void oracle_reading(void)
{
	if (o.page && hash_page(o.page, o.size) != o.hash)
		fail("a page that was handed over has changed");
	o.page = NULL;
	o.disturbed = m.actors[WRITER].depth || m.lease || is_left();
}

static void forget_all(enum state state)
{
	uint32_t i;

	for (i = 0; i < EVENTS_MAX; i++)
		if (o.events[i].state == state)
			forget(&o.events[i]);
}

static void check_record(const struct rec_record *record, struct event **ret_event)
{
	const uint32_t *words = record->payload;
	const uint32_t id = words[0] >> 8, size = words[0] & 0xff;
	struct event *event = find(id);
	uint32_t i;

	if (!event)
		fail("an event that was never there, or comes twice: number %u, %u bytes", id, record->size);
	if (event->state < EVENT_COMMITTING)
		fail("event %u is visible, but not committed", id);
	if (event->state == EVENT_HANDED)
		fail("event %u comes twice", id);
	if (record->size != size && size != 0)
		fail("event %u has %u bytes instead of %u", id, record->size, size);
	for (i = 1; i < size / 4; i++)
		if (words[i] != words[0])
			fail("event %u is damaged", id);
	if (o.back ? record->time < event->time : record->time != event->time)
		fail("event %u has the time %llu instead of %llu", id, (unsigned long long)record->time,
		     (unsigned long long)event->time);
	if (record->cpu != event->cpu && !(o.copied && record->cpu == REC_CPU_UNKNOWN))
		fail("event %u has the CPU %u instead of %u", id, record->cpu, event->cpu);
	*ret_event = event;
}

struct account {
	uint32_t events;
	uint32_t missing;
	uint32_t again; /* of the events, those that a reader that died had got already */
	uint64_t missing_time; /* of the first one missing */
};

static void note_missing(const struct event *event, struct account *account)
{
	if (!account->missing++ || event->time < account->missing_time)
		account->missing_time = event->time;
}

/* Events before this one that the reader did not get: overwritten. Takes them off the list. */
static void missing_before(const struct event *event, struct account *account)
{
	uint32_t i;

	for (i = 0; i < EVENTS_MAX; i++) {
		struct event *other = &o.events[i];

		if (other->state <= EVENT_RESERVING || other->state >= EVENT_HANDED ||
		    other->position >= event->position)
			continue;
		if (other->state == EVENT_OPEN || other->state == EVENT_LEFT)
			fail("event %u is visible, but one before it is not committed", event->id);
		note_missing(other, account);
		forget(other);
	}
}

/* A page without events reports the number lost only by its own number. */
static void missing_until(uint64_t number, struct account *account)
{
	while (o.number + account->missing < number) {
		struct event *first = NULL;
		uint32_t i;

		for (i = 0; i < EVENTS_MAX; i++)
			if ((o.events[i].state == EVENT_COMMITTING || o.events[i].state == EVENT_COMMITTED) &&
			    (!first || o.events[i].position < first->position))
				first = &o.events[i];
		if (!first)
			fail("an empty page counts more events than there were");
		note_missing(first, account);
		forget(first);
	}
}

static void check_event(const struct rec_record *record, struct account *account)
{
	struct event *event = NULL;
	const uint32_t missing = account->missing;

	check_record(record, &event);
	if (event->state == EVENT_AGAIN) {
		account->again++;
	} else {
		missing_before(event, account);
		if (account->events && account->missing != missing)
			fail("an event is missing in the middle of a page");
		if (event->position <= o.position)
			fail("event %u comes too late", event->id);
		if (record->time < o.time)
			fail("time goes back at event %u", event->id);
		o.position = event->position;
		o.time = record->time;
	}
	/* Handed, not gone: it may come again if the reader dies. */
	event->state = EVENT_HANDED;
	account->events++;
}

/* When the first of the lost events that this page reports was lost: not before those that were read. */
static void check_lost_time(const struct rec_page *page, const struct account *account)
{
	if (!page->lost || o.back || o.died || m.jumped || with(WEAK))
		return;
	/*
	 * The first move of a lane's head, and handlers have moved it on before its gap is noted: rec_ring_note_lost()
	 * then takes one of theirs for the first gap of all.
	 */
	if (!page->lost_time && !o.untimed && (page->first != account->missing || !m.interrupts))
		fail("%llu events are lost, and the page does not show since when", (unsigned long long)page->lost);
	if (account->missing && page->lost_time > account->missing_time)
		fail("an event is lost of %llu, but the loss began at %llu", (unsigned long long)account->missing_time,
		     (unsigned long long)page->lost_time);
	/* The time of a refusal is stored at the next change of sub-buffer. */
	if (page->lost == account->missing && page->lost_time < o.time_before)
		fail("a loss began at %llu, but an event of %llu was read before it",
		     (unsigned long long)page->lost_time, (unsigned long long)o.time_before);
	if (page->lost != account->missing && !o.untimed && page->lost_time < o.refused_at &&
	    (!account->missing || page->lost_time < o.time_before))
		fail("a loss began at %llu, but nothing was refused before %llu", (unsigned long long)page->lost_time,
		     (unsigned long long)o.refused_at);
	if (page->lost != account->missing && !o.untimed && page->lost_time > o.refused_by)
		fail("a loss began at %llu, but something was refused at %llu", (unsigned long long)page->lost_time,
		     (unsigned long long)o.refused_by);
}

/* The losses that a page, or a single event, reports before it. */
static void check_told(const struct rec_page *page, const struct account *account)
{
	o.number += account->missing + account->events - account->again;
	o.lost += account->missing;
	if (account->missing && !with(OVERWRITE))
		fail("%u events were overwritten in discard mode", account->missing);
	check_lost_time(page, account);
	if (page->lost < account->missing)
		fail("%u events are missing, %llu are reported", account->missing, (unsigned long long)page->lost);
	/* Refusals that the dead reader's page carried may be reported again with it. */
	if (o.again && page->lost - account->missing <= o.handed_lost && (account->again || !account->events))
		o.doubtful = true;
	else
		o.told += (uint32_t)page->lost - account->missing;
	/* Of what is still to be reported, the time of the first refusal is not known. */
	if (page->lost > account->missing) {
		o.refused_at = o.told == o.refused ? 0 : 1;
		o.refused_by = UINT64_MAX;
	}
	if (o.told > o.refused)
		fail("more is reported lost than was refused or overwritten");
	o.handed_lost = (uint32_t)page->lost;
}

static void check_page(const struct rec_page *page)
{
	struct account account = { 0 };
	struct rec_page_iter iter;
	struct rec_record record;
	bool first = true;
	uint64_t iter_time;
	int r;

	o.time_before = o.time;
	rec_page_iter_init(&iter, page->data, page->size);
	iter_time = iter.time;
	/* What other readers rely on. Every page of ours states its time once more. */
	if (!page->from && !o.again && !o.back && iter.time < o.time)
		fail("the time of a page is older than the page before");
	while ((r = rec_page_next(&iter, &record)) > 0) {
		/* The first one, unless it was discarded. */
		if (first && iter_time != record.time && !strpbrk(config->program, "dDXY") &&
		    !strpbrk(config->nested, "dD"))
			fail("a page that begins at %llu has the time %llu", (unsigned long long)record.time,
			     (unsigned long long)iter_time);
		first = false;
		if (record.offset >= page->from)
			check_event(&record, &account);
	}
	if (r < 0)
		fail("a page cannot be read: %d", r);
	if (account.events != page->entries)
		fail("a page of %u events counts %u", account.events, page->entries);
	if (!account.events)
		missing_until(page->first, &account);
	if (page->first + account.again != o.number + account.missing)
		fail("the page's first event has the number %llu instead of %llu", (unsigned long long)page->first,
		     (unsigned long long)(o.number + account.missing - account.again));
	check_told(page, &account);
}
void oracle_consumed(const struct rec_ring_event *event)
{
	const struct rec_page page = { .first = event->number, .lost = event->lost, .lost_time = event->lost_time };
	struct account account = { 0 };

	forget_all(EVENT_HANDED);
	o.time_before = o.time;
	check_event(&event->record, &account);
	if (event->number != o.number + account.missing)
		fail("an event has the number %llu instead of %llu", (unsigned long long)event->number,
		     (unsigned long long)(o.number + account.missing));
	check_told(&page, &account);
	forget_all(EVENT_HANDED);
	o.answer = 1;
}

void oracle_counted(const struct rec_ring_counts *counts)
{
	const struct rec_lane *lane = &m.shared.lane;
	const uint64_t all = m.shared.subbufs[REC_POS_ID(lane->commit)].first + REC_POS_COUNT(lane->commit);

	if (counts->entries + counts->overrun + counts->read != counts->committed)
		fail("%llu events are counted as there, %llu as overwritten, %llu as read, of %llu",
		     (unsigned long long)counts->entries, (unsigned long long)counts->overrun,
		     (unsigned long long)counts->read, (unsigned long long)counts->committed);
	if (counts->committed > all || counts->read > o.number)
		fail("more is counted than there was");
	if (running < 0 && (counts->committed != all || counts->read != o.number - o.lost))
		fail("nothing moves, and %llu of %llu events are counted, %llu of %llu as read",
		     (unsigned long long)counts->committed, (unsigned long long)all, (unsigned long long)counts->read,
		     (unsigned long long)(o.number - o.lost));
}

uint64_t oracle_all(void)
{
	uint64_t all = o.number;
	uint32_t i;

	for (i = 0; i < EVENTS_MAX; i++)
		all += o.events[i].state == EVENT_COMMITTED;
	return all;
}

/* Events that were overwritten, or whose sub-buffer was given up, and that no page has reported yet. */
static uint32_t given_up(void)
{
	return m.shared.lane.lost_until > o.number ? (uint32_t)(m.shared.lane.lost_until - o.number) : 0;
}

uint32_t oracle_unread(bool whole)
{
	uint32_t i, all = 0, here = 0;

	for (i = 0; i < EVENTS_MAX; i++) {
		all += o.events[i].state == EVENT_COMMITTED;
		here += o.events[i].state == EVENT_COMMITTED &&
			o.events[i].position >> 16 == REC_POS_SEQ(m.shared.lane.commit);
	}
	if (whole)
		all -= here;
	return all > given_up() ? all - given_up() : 0;
}

void oracle_read(int r, const struct rec_page *page, bool whole)
{
	const bool was = unwatched;
	uint32_t i;

	o.answer = r;
	if (r == -EAGAIN && (o.disturbed || with(WEAK)) && !m.program_gone)
		return;
	if (r < 0)
		fail("a read fails: %d", r);
	if (whole && running >= 0 && !quiet && !strpbrk(config->reads, "pkqQ") &&
	    REC_POS_ID(m.shared.lane.commit) == m.reader.page)
		fail("the reader has taken the sub-buffer where the commit position is");
	if (r == 0) {
		if (!o.again)
			forget_all(EVENT_HANDED);
		if (!o.disturbed && oracle_unread(whole) && !with(WEAK))
			fail("there is something to read, and the reader finds nothing");
	} else {
		for (i = 0; i < EVENTS_MAX; i++)
			if (o.events[i].state == EVENT_HANDED && o.again)
				o.events[i].state = EVENT_AGAIN;
		forget_all(EVENT_HANDED);
		/* The page is read as its user would, without steps, but races are noticed. */
		unwatched = true;
		check_page(page);
		unwatched = was;
		forget_all(EVENT_AGAIN);
		o.page = page->data;
		o.size = page->size;
		o.hash = hash_page(o.page, o.size);
		o.again = false;
	}
}

/*
 * An iterator's events are those of a consuming reader, but may be lost in between, and nothing leaves the list for
 * them: so the number of an event is that of the committed ones before it.
 */
void oracle_looked(const struct rec_record *record, uint64_t number, uint64_t lost)
{
	struct event *event = NULL;
	uint64_t before = o.number;
	uint32_t i;

	check_record(record, &event);
	for (i = 0; i < EVENTS_MAX; i++) {
		const struct event *other = &o.events[i];

		if (other->state <= EVENT_RESERVING || other->position >= event->position)
			continue;
		if (other->state < EVENT_COMMITTING)
			fail("event %u is visible, but one before it is not committed", event->id);
		before++;
	}
	if (number != before)
		fail("an iterator gives event %u the number %llu, not %llu", event->id, (unsigned long long)number,
		     (unsigned long long)before);
	if (number < o.looked)
		fail("an iterator returns event %u twice", event->id);
	if (lost < number - o.looked)
		fail("an iterator has lost %llu events before event %u, and reports %llu",
		     (unsigned long long)(number - o.looked), event->id, (unsigned long long)lost);
	o.looked = number + 1;
}

void oracle_looked_all(void)
{
	const struct rec_lane *lane = &m.shared.lane;

	if (o.looked != m.shared.subbufs[REC_POS_ID(lane->commit)].first + REC_POS_COUNT(lane->commit))
		fail("an iterator has come to event number %llu only", (unsigned long long)o.looked);
}

void oracle_sleeps(void)
{
	const struct rec_lane *lane = &m.shared.lane;

	if (m.sleeps && m.shared.words.wake == m.wake && REC_POS_ID(lane->commit) != m.reader.page &&
	    rec_ring_is_hit(lane, &m.shared.words, 100))
		fail("a reader sleeps, though the ring is full");
}
