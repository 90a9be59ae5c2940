/* SPDX-License-Identifier: MIT */
/* What a dead writer left, compared with what it noted. */
#include "points_life.h"

#if defined(__x86_64__)

#include <stdlib.h>

/* What the writer had handed to rec_commit(), in the order of their places. */
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

/* The highest page number that any event was given, and one more for one that was about to be. */
static uint64_t furthest_page(const struct notes *notes)
{
	uint64_t last = 0;
	uint32_t i;

	for (i = 0; i < notes->next; i++)
		if (notes->made[i].end && note_order(notes->made[i].end) >> 32 > last)
			last = note_order(notes->made[i].end) >> 32;
	return last + 1;
}

/* Whether a reservation certainly stood open when the writer was killed: 1, certainly not: 0, or either: -1. */
static int was_open(const struct life *life)
{
	static const char *const open_at[] = { "reserve_tail",	  "reserve_after",  "slow_tail",     "slow_lead",
					       "slow_cpu",	  "slow_after",	    "slow_doubt",    "left_size",
					       "left_entries",	  "entered_time",   "entered_first", "entered_refused",
					       "discard_padding", "discard_before", "discard_delta" };
	static const char *const closed_at[] = { "reserve_before", "slow_before", "head_", "refuse_", "time_back" };
	unsigned int i;

	if (life->end != TRACER_KILLED)
		return 0;
	if (count_state(life->notes, NOTE_RESERVED))
		return 1;
	if (life->notes->level != 1 || is_readers(life->kill_point))
		return -1;
	for (i = 0; i < sizeof(open_at) / sizeof(open_at[0]); i++)
		if (!strcmp(points.names[life->kill_point], open_at[i]))
			return 1;
	for (i = 0; i < sizeof(closed_at) / sizeof(closed_at[0]); i++)
		if (is_named(life->kill_point, closed_at[i]))
			return 0;
	return -1;
}

/* What was read stands in the list where its number says; each other event may be lost, and is counted. */
static uint64_t check_reads(const struct life *life, const struct committed *list, uint64_t committed)
{
	const struct notes *notes = life->notes;
	/*
	 * Of the pages of the ring the tail has one; one more may have been
	 * given up for a reservation that never was.
	 */
	const uint64_t pages = notes->least ? notes->least : ring_pages(life->plan);
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
			      (life->plan->overwrite || notes->least) &&
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
	int r, torn;

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
	/* What a disabled lane refuses is counted and no loss: it was not wanted. */
	CHECK(life, lost + stats.disabled == gaps + counted, "%llu lost: %llu overwritten, %llu refused",
	      (unsigned long long)lost, (unsigned long long)gaps, (unsigned long long)counted);
	torn = was_open(life);
	/* Killed in the middle of a repair: one may be counted and still stand open. */
	CHECK(life, stats.torn >= notes->torn + (torn == 1) && stats.torn <= notes->torn + (torn != 0),
	      "%llu torn, %u of them by threads that ended, open %d", (unsigned long long)stats.torn, notes->torn,
	      torn);
	figures.events += (unsigned int)committed;
	figures.lost += (unsigned int)gaps;
	figures.torn += (unsigned int)stats.torn;
	free(list);
}

#endif
