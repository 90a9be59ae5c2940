/* SPDX-License-Identifier: MIT */
/*
 * Compares the results of readers with the list: pages, single events, the events of an iterator, and counts. The
 * losses that a page reports are compared with the events missing before it.
 */
#include "oracle_private.h"

#include <errno.h>
#include <string.h>

/* Hash of all that a reader of the page uses; not of the size, which a writer that leaves the page may still write. */
static uint64_t hash_page(const unsigned char *page, uint32_t size)
{
	uint64_t hash = UINT64_C(1469598103934665603);
	uint32_t i;

	for (i = 0; i < REC_SUBBUF_HEADER_SIZE + size; i++)
		if (i < sizeof(uint64_t) || i >= REC_SUBBUF_HEADER_SIZE)
			hash = (hash ^ page[i]) * UINT64_C(1099511628211);
	return hash;
}

/* The reader requests more, so the page that it had may be written again. */
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
			oracle_forget(&o.events[i]);
}

static void check_record(const struct rec_record *record, struct event **ret_event)
{
	const uint32_t *words = record->payload;
	const uint32_t id = words[0] >> 8, size = words[0] & 0xff;
	struct event *event = oracle_find(id);
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
	uint32_t again;	       /* the events among them that a reader that died had already got */
	uint64_t missing_time; /* of the first missing event */
};

static void note_missing(const struct event *event, struct account *account)
{
	if (!account->missing++ || event->time < account->missing_time)
		account->missing_time = event->time;
}

/* Removes from the list the events before this one that the reader did not get: they were overwritten. */
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
		oracle_forget(other);
	}
}

/* A page without events reports losses only through its own number. */
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
		oracle_forget(first);
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
	/* The event was handed over but stays on the list, because it is returned again if the reader dies. */
	event->state = EVENT_HANDED;
	account->events++;
}

/* Check the time of the first loss that this page reports: it is not before events that were read. */
static void check_lost_time(const struct rec_page *page, const struct account *account)
{
	if (!page->lost || o.back || o.died || m.jumped || with(WEAK))
		return;
	/*
	 * If handlers move the head on before the gap of the lane's first move is noted, note_lost() in ring.c takes
	 * one of their gaps for the first.
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
	/* The time of the first refusal that is still to be reported is not known. */
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
	/* Check what other readers rely on: every page of ours states its time once more. */
	if (!page->from && !o.again && !o.back && iter.time < o.time)
		fail("the time of a page is older than the page before");
	while ((r = rec_page_next(&iter, &record)) > 0) {
		/* The first event, unless it was discarded. */
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
 * An iterator returns the events of a consuming reader, but events may be lost in between, and none is removed from the
 * list. So the number of an event is the number of committed events before it.
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
