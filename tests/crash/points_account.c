/* SPDX-License-Identifier: MIT */
/* What a dead writer left, compared with what it noted. */
#include "points_life.h"

#if defined(__x86_64__)

#include <stdlib.h>

/* The events that the writer had handed to rec_commit(), in the order of their positions. */
struct committed {
	uint64_t order;
	uint32_t number;
};

static int compare(const void *a, const void *b)
{
	const struct committed *x = a, *y = b;

	return x->order < y->order ? -1 : x->order > y->order;
}

static uint32_t list_committed(const struct notes *notes, struct committed *list)
{
	uint32_t i, n = 0;

	for (i = 0; i < notes->next; i++)
		if (notes->made[i].state == NOTE_COMMITTED || notes->made[i].state == NOTE_COMMITTING)
			list[n++] = (struct committed){ note_order(notes->made[i].end), i };
	qsort(list, n, sizeof(*list), compare);
	return n;
}

static uint32_t count_state(const struct notes *notes, enum note_state state)
{
	uint32_t i, n = 0;

	for (i = 0; i < notes->next; i++)
		n += notes->made[i].state == state;
	return n;
}

/* The highest page number that any event was given, plus one if another event was about to get its page. */
static uint64_t furthest_page(const struct notes *notes)
{
	uint64_t last = 0;
	uint32_t i;

	for (i = 0; i < notes->next; i++)
		if (notes->made[i].end && note_order(notes->made[i].end) >> 32 > last)
			last = note_order(notes->made[i].end) >> 32;
	return last + 1;
}

/* The writer that was killed, of those that interrupted one another. NULL: it was not inside an event. */
static const struct note *find_innermost(const struct notes *notes)
{
	uint32_t i = notes->next;

	while (i-- > 0) {
		const struct note *note = &notes->made[i];

		if (note->state == NOTE_ASKED || note->state == NOTE_RESERVED || note->state == NOTE_COMMITTING ||
		    note->state == NOTE_DISCARDING)
			return note;
	}
	return NULL;
}

static bool is_one_of(const struct life *life, const char *const *names, unsigned int n)
{
	while (n-- > 0)
		if (is_named(life->kill_point, names[n]))
			return true;
	return false;
}

/*
 * Whether the event of a writer that was killed in rec_reserve() or rec_discard() counts as reserved. 1: yes; 0: no;
 * -1: both answers are correct.
 */
static int is_reserved(const struct life *life, const struct note *innermost)
{
	static const char *const reserved_at[] = { "reserve_tail", "slow_tail",	   "slow_lead",	   "slow_cpu",
						   "left_size",	   "left_entries", "entered_time", "discard_after",
						   "discard_cpu",  "discard_padding" };
	static const char *const not_at[] = { "reserve_open", "reserve_before", "slow_open", "slow_before",
					      "slow_left",    "head_",		"refuse_",   "time_back",
					      "uncount_",     "discard_tail" };

	if (life->end != TRACER_KILLED || is_readers(life->kill_point) || !innermost ||
	    (innermost->state != NOTE_ASKED && innermost->state != NOTE_DISCARDING))
		return -1;
	if (is_one_of(life, reserved_at, sizeof(reserved_at) / sizeof(reserved_at[0])))
		return 1;
	return is_one_of(life, not_at, sizeof(not_at) / sizeof(not_at[0])) ? 0 : -1;
}

/*
 * An event is torn if it was reserved and never became visible: a thread ended or was killed in it, or it was committed
 * inside such an event. The events read, lost and torn are together all that were reserved and not discarded.
 */
static void check_torn(const struct life *life, uint64_t torn, uint64_t unpublished)
{
	const struct notes *notes = life->notes;
	const uint64_t open = count_state(notes, NOTE_TORN) + count_state(notes, NOTE_RESERVED) + unpublished;
	const uint64_t unsure = count_state(notes, NOTE_ASKED) + count_state(notes, NOTE_DISCARDING);
	const int reserved = is_reserved(life, find_innermost(notes));
	const uint64_t least = open + (reserved == 1);
	uint64_t most = open + unsure - (reserved == 0);

	/* The writer was killed in a repair: events that were counted may still be open. */
	if (life->end == TRACER_KILLED &&
	    (is_named(life->kill_point, "repair_torn") || is_named(life->kill_point, "repair_visit")))
		most *= 2;
	CHECK(life, torn >= least && torn <= most, "%llu torn, not %llu to %llu", (unsigned long long)torn,
	      (unsigned long long)least, (unsigned long long)most);
}

/* An event that was read is in the list at its number; each other event may be lost, and is counted. */
static uint64_t check_reads(const struct life *life, const struct committed *list, uint64_t committed)
{
	const struct notes *notes = life->notes;
	/*
	 * The tail has one of the ring's pages; one more may have been given up for a reservation that never took
	 * place.
	 */
	const uint64_t pages = ring_pages(life->plan);
	const uint64_t furthest = furthest_page(notes);
	uint64_t expected = 0, gaps = 0;
	uint32_t i;

	for (i = 0; i <= notes->reads; i++) {
		const uint64_t index = i < notes->reads ? notes->read[i].index : committed;

		CHECK(life, index >= expected && index <= committed, "event %llu after %llu of %llu",
		      (unsigned long long)index, (unsigned long long)expected, (unsigned long long)committed);
		if (i < notes->reads)
			CHECK(life, list[index].number == notes->read[i].number, "event %u in the place of %u",
			      (unsigned int)notes->read[i].number, list[index].number);
		for (; expected < index; expected++, gaps++)
			CHECK(life,
			      life->plan->overwrite &&
				      (list[expected].order >> 32) + pages <= furthest + 1,
			      "committed event %u of page %u of %u is gone", list[expected].number,
			      (unsigned int)(list[expected].order >> 32), (unsigned int)furthest);
		expected = index + 1;
	}
	return gaps;
}

void check_life(struct life *life)
{
	struct notes *notes = life->notes;
	struct committed *list = malloc(NOTES_EVENTS * sizeof(*list));
	const uint32_t made = list_committed(notes, list);
	const uint32_t refused = count_state(notes, NOTE_REFUSED), asked = count_state(notes, NOTE_ASKED);
	struct rec_lane_stats stats;
	uint64_t committed, counted, gaps, lost;
	unsigned int pages = 0, i;
	int r;

	while ((r = read_one(life, 0)) > 0)
		CHECK(life, !notes->complaint && pages++ < 1000, "page %u: line %u", pages, notes->complaint);
	CHECK(life, r == 0 && !notes->complaint, "reading: %d, line %u", r, notes->complaint);
	cr_assert_eq(rec_view_stats(life->view, 0, &stats), 0);
	committed = stats.entries + stats.overrun + stats.read_events;
	CHECK(life, stats.broken == 0 && stats.entries == 0, "broken %u, entries %llu", stats.broken,
	      (unsigned long long)stats.entries);
	CHECK(life, committed <= made, "%llu committed, %u made", (unsigned long long)committed, made);
	for (i = (unsigned int)committed; i < made; i++)
		CHECK(life, list[i].number >= notes->sure, "event %u was committed and is not there", list[i].number);
	gaps = check_reads(life, list, committed);
	counted = stats.commit_overrun + stats.dropped_events + stats.too_long + stats.nested_limit + stats.disabled;
	CHECK(life, refused <= counted && counted <= refused + asked, "%u refused, %llu counted", refused,
	      (unsigned long long)counted);
	lost = notes->lost + notes->last_lost + stats.lost_unread;
	/* Events that a disabled lane refuses are counted, but are not losses, because they were not wanted. */
	CHECK(life, lost + stats.disabled == gaps + counted, "%llu lost: %llu overwritten, %llu refused",
	      (unsigned long long)lost, (unsigned long long)gaps, (unsigned long long)counted);
	check_torn(life, stats.torn, made - committed);
	figures.events += (unsigned int)committed;
	figures.lost += (unsigned int)gaps;
	figures.torn += (unsigned int)stats.torn;
	free(list);
}

#endif
