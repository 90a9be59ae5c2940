/* SPDX-License-Identifier: MIT */
/*
 * Levels of detail: merging loses no event and no covered time; a level is never finer than its resolution, nor larger
 * than half of the previous level; items that are far apart are not merged.
 */
#include <criterion/criterion.h>
#include <stdio.h>

#include "format/view/view_trace.h"

static uint64_t state = 1;

static uint64_t number(uint64_t below)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (state >> 33) % below;
}

static void add(struct view_trace *trace, uint32_t row, enum view_line_kind kind, uint64_t begin, uint64_t end,
		uint32_t name)
{
	const struct view_item item = { .begin = begin, .end = end, .name = name, .event = (uint32_t)trace->events++ };

	view_add(trace, row, kind, 0, &item);
	if (end > trace->end)
		trace->end = end;
}

static uint32_t new_row(struct view_trace *trace, enum view_row_kind kind, uint64_t id)
{
	bool is_new;

	return view_row(trace, kind, id, VIEW_NO_ROW, &is_new);
}

/* `nr` spans, `gap` apart on average, with lengths of all sizes below it. */
static uint32_t spans(struct view_trace *trace, size_t nr, uint64_t gap)
{
	const uint32_t row = new_row(trace, VIEW_THREAD, 1);
	uint64_t at = 0;

	for (size_t i = 0; i < nr; i++) {
		const uint64_t begin = at + number(gap);

		at = begin + number(gap >> number(12));
		add(trace, row, VIEW_SPANS, begin, at, (uint32_t)number(5));
	}
	return row;
}

struct sums {
	uint64_t count, covered;
};

static struct sums sums_of(const struct view_level *level)
{
	struct sums sums = { 0, 0 };

	for (size_t i = 0; i < level->nr; i++) {
		const struct view_item *item = &level->items[i];

		sums.count += item->count;
		sums.covered += item->count > 1 ? item->covered : item->end - item->begin;
	}
	return sums;
}

static void check_level(const struct view_level *level, const struct view_level *below, struct sums all)
{
	const struct sums sums = sums_of(level);

	cr_assert_eq(sums.count, all.count);
	cr_assert_eq(sums.covered, all.covered);
	cr_assert(!below || level->nr <= below->nr / 2);
	for (size_t i = 0; i < level->nr; i++) {
		cr_assert(level->items[i].count == 1 ||
			  level->items[i].end - level->items[i].begin <= level->resolution);
		cr_assert(!i || level->items[i].begin >= level->items[i - 1].end);
	}
}

Test(view_levels, nothing_is_lost)
{
	struct view_trace trace = { 0 };
	const uint32_t row = spans(&trace, 200000, 5000);
	const struct view_line *line;
	struct sums all = { 0, 0 };

	all = sums_of(&trace.rows[row].lines[0].levels[0]);
	cr_assert_eq(all.count, 200000);
	cr_assert_eq(view_finish(&trace, VIEW_ITEMS_MAX), 0);
	line = &trace.rows[row].lines[0];
	cr_assert_gt(line->nr_levels, 4);
	cr_assert_eq(line->levels[0].nr, 200000);
	cr_assert_eq(trace.resolution, 0);
	for (unsigned int k = 0; k < line->nr_levels; k++)
		check_level(&line->levels[k], k ? &line->levels[k - 1] : NULL, all);
	view_trace_free(&trace);
}

Test(view_levels, too_many_are_reduced)
{
	struct view_trace trace = { 0 };
	const uint32_t row = spans(&trace, 100000, 5000), alone = new_row(&trace, VIEW_THREAD, 2);
	const struct view_line *line;
	struct sums all;

	/* Items that are far apart are kept, with their events. */
	for (uint64_t i = 0; i < 100; i++)
		add(&trace, alone, VIEW_POINTS, i * 1000000, i * 1000000, 7);
	all = sums_of(&trace.rows[row].lines[0].levels[0]);
	cr_assert_eq(view_finish(&trace, 10000), 0);
	line = &trace.rows[row].lines[0];
	cr_assert_gt(trace.resolution, 0);
	cr_assert_leq(line->levels[0].nr + trace.rows[alone].lines[0].levels[0].nr, 10000);
	for (unsigned int k = 0; k < line->nr_levels; k++)
		check_level(&line->levels[k], k ? &line->levels[k - 1] : NULL, all);
	line = &trace.rows[alone].lines[0];
	cr_assert_eq(line->levels[0].nr, 100);
	for (size_t i = 0; i < 100; i++) {
		cr_assert_eq(line->levels[0].items[i].count, 1);
		cr_assert_eq(line->levels[0].items[i].event, 100000 + i);
	}
	view_trace_free(&trace);
}

/* A time of a damaged file may be anything. */
Test(view_levels, times_may_be_centuries_apart, .timeout = 300)
{
	struct view_trace trace = { 0 };
	const uint32_t row = new_row(&trace, VIEW_THREAD, 1);

	add(&trace, row, VIEW_POINTS, 5, 5, 1);
	add(&trace, row, VIEW_POINTS, UINT64_MAX - 1, UINT64_MAX - 1, 1);
	cr_assert_eq(view_finish(&trace, 10000), 0);
	cr_assert_eq(trace.rows[row].lines[0].levels[0].nr, 2);
	view_trace_free(&trace);
}

Test(view_levels, the_longest_gives_the_name)
{
	struct view_trace trace = { 0 };
	const uint32_t row = new_row(&trace, VIEW_THREAD, 1);
	const struct view_line *line;

	for (uint64_t i = 0; i < 3000; i++) {
		add(&trace, row, VIEW_SPANS, i * 100, i * 100 + 10, 1);
		add(&trace, row, VIEW_SPANS, i * 100 + 20, i * 100 + 60, 2);
	}
	cr_assert_eq(view_finish(&trace, VIEW_ITEMS_MAX), 0);
	line = &trace.rows[row].lines[0];
	cr_assert_gt(line->nr_levels, 1);
	for (unsigned int k = 1; k < line->nr_levels; k++)
		for (size_t i = 0; i < line->levels[k].nr; i++)
			cr_assert(line->levels[k].items[i].name == 2 || line->levels[k].items[i].count == 1);
	view_trace_free(&trace);
}

Test(view_levels, spans_by_key_do_not_overlap_in_a_line)
{
	struct view_trace trace = { 0 };
	const uint32_t row = new_row(&trace, VIEW_KEYED, 1);
	size_t nr = 0;

	for (uint64_t i = 0; i < 1000; i++) {
		const uint64_t begin = number(100000);

		add(&trace, row, VIEW_SPANS, begin, begin + number(1000), 1);
	}
	cr_assert_eq(view_finish(&trace, VIEW_ITEMS_MAX), 0);
	cr_assert_gt(trace.rows[row].nr_lines, 2);
	for (size_t l = 0; l < trace.rows[row].nr_lines; l++) {
		const struct view_level *level = &trace.rows[row].lines[l].levels[0];

		nr += level->nr;
		cr_assert_eq(trace.rows[row].lines[l].depth, l);
		for (size_t i = 1; i < level->nr; i++)
			cr_assert_geq(level->items[i].begin, level->items[i - 1].end);
	}
	cr_assert_eq(nr, 1000);
	view_trace_free(&trace);
}

/* Two hundred requests are open at a time: each has a line of its own, with its times. */
Test(view_levels, any_number_of_spans_may_overlap)
{
	struct view_trace trace = { 0 };
	const uint32_t row = new_row(&trace, VIEW_KEYED, 1);
	uint64_t seen = 0;

	for (uint64_t i = 0; i < 20000; i++)
		add(&trace, row, VIEW_SPANS, 10 * i, 10 * i + 1990 + i % 10, 1);
	cr_assert_eq(view_finish(&trace, VIEW_ITEMS_MAX), 0);
	cr_assert_eq(trace.rows[row].nr_lines, 200);
	for (size_t l = 0; l < 200; l++) {
		const struct view_level *level = &trace.rows[row].lines[l].levels[0];

		for (size_t i = 0; i < level->nr; i++) {
			const struct view_item *item = &level->items[i];

			cr_assert_eq(item->begin, UINT64_C(10) * item->event);
			cr_assert_eq(item->end, item->begin + 1990 + item->event % 10);
			cr_assert_eq(item->flags, 0);
			cr_assert(!i || item->begin >= item[-1].end);
			seen++;
		}
	}
	cr_assert_eq(seen, 20000);
	view_trace_free(&trace);
}

/* Each span gets the first line from its depth on that is free, as a search of all lines finds it. */
Test(view_levels, the_first_free_line_is_taken)
{
	struct view_trace trace = { 0 };
	const uint32_t row = new_row(&trace, VIEW_THREAD, 1);
	uint64_t ends[600] = { 0 };
	unsigned int lines[3000];
	size_t at[600] = { 0 };

	for (uint64_t i = 0; i < 3000; i++) {
		const unsigned int depth = (unsigned int)number(40);
		const struct view_item item = { .begin = 10 * i, .end = 10 * i + 1 + number(2500),
					       .event = (uint32_t)i };
		unsigned int line = depth;

		while (ends[line] > item.begin)
			line++;
		ends[line] = item.end;
		lines[i] = line;
		view_add(&trace, row, VIEW_SPANS, depth, &item);
		trace.end = item.end > trace.end ? item.end : trace.end;
	}
	cr_assert_eq(view_finish(&trace, VIEW_ITEMS_MAX), 0);
	for (uint32_t i = 0; i < 3000; i++) {
		size_t l = 0;

		while (l < trace.rows[row].nr_lines && trace.rows[row].lines[l].depth != lines[i])
			l++;
		cr_assert_lt(l, trace.rows[row].nr_lines);
		cr_assert_eq(trace.rows[row].lines[l].levels[0].items[at[l]++].event, i);
	}
	view_trace_free(&trace);
}

/* Whether each level has the range of all values. */
Test(view_levels, values_keep_their_range)
{
	struct view_trace trace = { 0 };
	const uint32_t row = new_row(&trace, VIEW_COUNTER, 1);
	int64_t low = INT64_MAX, high = INT64_MIN;

	for (uint64_t i = 0; i < 20000; i++) {
		struct view_item item = { .begin = i * 300, .end = i * 300, .event = VIEW_NO_EVENT };

		item.low = item.high = (int64_t)number(1000) - 500;
		low = item.low < low ? item.low : low;
		high = item.high > high ? item.high : high;
		view_add(&trace, row, VIEW_VALUES, 0, &item);
		trace.end = item.end;
	}
	cr_assert_eq(view_finish(&trace, VIEW_ITEMS_MAX), 0);
	cr_assert_gt(trace.rows[row].lines[0].nr_levels, 2);
	for (unsigned int k = 0; k < trace.rows[row].lines[0].nr_levels; k++) {
		const struct view_level *level = &trace.rows[row].lines[0].levels[k];
		int64_t least = INT64_MAX, most = INT64_MIN;
		uint64_t count = 0;

		for (size_t i = 0; i < level->nr; i++) {
			least = level->items[i].low < least ? level->items[i].low : least;
			most = level->items[i].high > most ? level->items[i].high : most;
			count += level->items[i].count;
		}
		cr_assert(least == low && most == high && count == 20000);
	}
	view_trace_free(&trace);
}

/* Add arrows, each `flow`-th of which is a flow, and then `wakes` wake-ups. */
static void add_arrows(struct view_trace *trace, uint32_t nr, uint32_t flow, uint32_t wakes)
{
	const uint32_t row = new_row(trace, VIEW_THREAD, 1);

	for (uint32_t i = 0; i < nr + wakes; i++) {
		const struct view_arrow arrow = { .from = i,
						  .to = i + 1,
						  .from_row = row,
						  .to_row = row,
						  .kind = i >= nr || i % flow ? VIEW_WAKE : VIEW_FLOW };

		view_add_arrow(trace, &arrow);
	}
	trace->end = nr + wakes;
	cr_assert_eq(view_finish(trace, VIEW_ITEMS_MAX), 0);
	cr_assert_eq(trace->all_arrows, nr + wakes);
	cr_assert_leq(trace->nr_arrows, 500000);
}

/* If there are too many arrows, wake-ups are left out; flows are left out only if they alone are too many. */
Test(view_levels, flows_are_kept_before_wake_ups)
{
	struct view_trace trace = { 0 };
	size_t flows = 0;

	add_arrows(&trace, 600000, 999, 0);
	for (size_t i = 0; i < trace.nr_arrows; i++)
		flows += trace.arrows[i].kind == VIEW_FLOW;
	cr_assert_eq(flows, 601);
	cr_assert_gt(trace.nr_arrows, 200000);
	view_trace_free(&trace);
	add_arrows(&trace, 600000, 1, 0);
	cr_assert_eq(trace.nr_arrows, 300000);
	for (size_t i = 1; i < trace.nr_arrows; i++)
		cr_assert_eq(trace.arrows[i].from, 2 * i);
	view_trace_free(&trace);
}

/* If the number of flows is exactly the limit, all flows are kept and no wake-up. */
Test(view_levels, exactly_as_many_arrows_as_may_be)
{
	struct view_trace trace = { 0 };

	add_arrows(&trace, 500000, 1, 0);
	cr_assert_eq(trace.nr_arrows, 500000);
	view_trace_free(&trace);
	add_arrows(&trace, 500000, 1000000, 0);
	cr_assert_eq(trace.nr_arrows, 500000, "a flow, and wake-ups");
	view_trace_free(&trace);
	for (uint32_t nr = 500000; nr <= 999999; nr += 499999) {
		add_arrows(&trace, nr, 1, 10);
		cr_assert_eq(trace.nr_arrows, 500000);
		for (size_t i = 0; i < trace.nr_arrows; i++)
			cr_assert_eq(trace.arrows[i].kind, VIEW_FLOW);
		view_trace_free(&trace);
	}
}

Test(view_levels, strings_and_rows_are_found_again)
{
	struct view_trace trace = { 0 };
	char text[32];

	for (int turn = 0; turn < 2; turn++)
		for (uint32_t i = 0; i < 5000; i++) {
			bool is_new;

			snprintf(text, sizeof(text), "name %u", i);
			cr_assert_eq(view_string(&trace, text), i);
			cr_assert_eq(view_row(&trace, VIEW_TASK, i * 7919u, VIEW_NO_ROW, &is_new), i);
			cr_assert_eq(is_new, !turn);
		}
	cr_assert_eq(trace.error, 0);
	view_trace_free(&trace);
}
