/* SPDX-License-Identifier: MIT */
/*
 * Levels of detail. A screen has some thousand columns, so a picture of a million items needs only a few thousand of
 * them: those that are long enough to be seen, and for the others how many there are and how much time they cover. The
 * levels of a line have resolutions that grow by four, and one is kept only if it has at most half the items of the one
 * before. So all of them together have less than twice the items of the line, and a page that draws with the coarsest
 * level whose resolution is below a pixel touches a few items for each pixel.
 */
#include "format/view/view_trace.h"

#include "format/view/view_spread.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FINEST	   256u /* ns: two events of one thread are seldom closer */
#define COARSER	   4u
#define SMALL	   512u /* a line with at most this many items needs no further level */
#define ARROWS_MAX 500000u

/* ------------------------------------------------------------------------------------------------------- merging */

/* The part of [begin, end] that an item covers. */
static uint64_t covered(const struct view_item *item)
{
	return item->count > 1 ? item->covered : item->end - item->begin;
}

static uint64_t longest(const struct view_item *item)
{
	return item->count > 1 ? item->longest : item->end - item->begin;
}

static void absorb(struct view_item *run, const struct view_item *item)
{
	const uint64_t cover = covered(run) + covered(item), length = longest(run);

	run->name = longest(item) > length ? item->name : run->name;
	run->longest = longest(item) > length ? longest(item) : length;
	run->covered = cover;
	run->count += item->count;
	run->event = VIEW_NO_EVENT;
	run->flags |= item->flags;
	if (item->end > run->end)
		run->end = item->end;
}

static void absorb_value(struct view_item *run, const struct view_item *item)
{
	run->low = item->low < run->low ? item->low : run->low;
	run->high = item->high > run->high ? item->high : run->high;
	run->count += item->count;
	run->event = VIEW_NO_EVENT;
	run->end = item->end;
}

/* Whether `item` joins the items that were merged into `run`: all of them within one resolution. */
static bool joins(enum view_line_kind kind, const struct view_item *run, const struct view_item *item,
		  uint64_t resolution)
{
	if (kind == VIEW_VALUES)
		return item->begin - run->begin < resolution;
	return run->end - run->begin < resolution && item->end - run->begin <= resolution;
}

/*
 * Returns the number of items after merging. The items are stored at `to`, unless that is NULL; `to` may equal `from`.
 */
static size_t merge(enum view_line_kind kind, const struct view_item *from, size_t nr, uint64_t resolution,
		    struct view_item *to)
{
	struct view_item run = { 0 };
	size_t made = 0;

	for (size_t i = 0; i < nr; i++) {
		if (i && joins(kind, &run, &from[i], resolution)) {
			(kind == VIEW_VALUES ? absorb_value : absorb)(&run, &from[i]);
			continue;
		}
		if (i && to)
			to[made] = run;
		made += i > 0;
		run = from[i];
	}
	if (nr && to)
		to[made] = run;
	return made + (nr > 0);
}

static int make_level(struct view_line *line, uint64_t resolution)
{
	const struct view_level *below = &line->levels[line->nr_levels - 1];
	struct view_level level = { .resolution = resolution };

	level.nr = merge(line->kind, below->items, below->nr, resolution, NULL);
	if (level.nr > below->nr / 2)
		return 0;
	level.items = reallocarray(NULL, level.nr, sizeof(*level.items));
	if (!level.items)
		return -ENOMEM;
	merge(line->kind, below->items, below->nr, resolution, level.items);
	line->levels[line->nr_levels++] = level;
	return 0;
}

static int make_levels(const struct view_trace *trace, struct view_line *line)
{
	uint64_t resolution = trace->resolution > FINEST ? trace->resolution : FINEST;
	int err = 0;

	while (!err && resolution < trace->end - trace->begin && line->nr_levels < VIEW_LEVELS_MAX) {
		if (line->levels[line->nr_levels - 1].nr > SMALL)
			err = make_level(line, resolution);
		/* Damaged times may be centuries apart. */
		if (resolution > UINT64_MAX / COARSER)
			break;
		resolution *= COARSER;
	}
	return err;
}

/* ------------------------------------------------------------------------------------------------------- sorting */

static void sort_line(struct view_line *line)
{
	struct view_level *all = &line->levels[0];

	for (size_t i = 1; i < all->nr; i++) {
		if (view_by_begin(&all->items[i - 1], &all->items[i]) > 0) {
			qsort(all->items, all->nr, sizeof(*all->items), view_by_begin);
			return;
		}
	}
}

/*
 * End each item of a CPU where the next one begins: only one thread runs at a time, and a switch may be hidden or lost.
 */
static void cut_runs(struct view_line *line)
{
	struct view_level *all = &line->levels[0];

	for (size_t i = 1; i < all->nr; i++)
		if (all->items[i - 1].end > all->items[i].begin)
			all->items[i - 1].end = all->items[i].begin;
}

/* Make each state or value last until the next one. */
static void extend_values(const struct view_trace *trace, struct view_line *line)
{
	struct view_level *all = &line->levels[0];

	for (size_t i = 0; i < all->nr; i++)
		all->items[i].end = i + 1 < all->nr ? all->items[i + 1].begin : trace->end;
}

static int by_kind(const void *a, const void *b)
{
	const struct view_line *one = a, *other = b;

	if (one->kind != other->kind)
		return one->kind < other->kind ? -1 : 1;
	return (one->depth > other->depth) - (one->depth < other->depth);
}

static void sort_row(struct view_trace *trace, uint32_t number)
{
	struct view_row *row = &trace->rows[number];
	const bool is_cpu = row->kind == VIEW_CPU;

	for (size_t i = 0; i < row->nr_lines; i++) {
		sort_line(&row->lines[i]);
		if (row->lines[i].kind == VIEW_VALUES)
			extend_values(trace, &row->lines[i]);
		if (is_cpu && row->lines[i].kind == VIEW_SPANS && !row->lines[i].depth)
			cut_runs(&row->lines[i]);
	}
	trace->error = view_spread(row, is_cpu);
	if (row->nr_lines)
		qsort(row->lines, row->nr_lines, sizeof(*row->lines), by_kind);
}

static int by_from(const void *a, const void *b)
{
	const struct view_arrow *one = a, *other = b;

	return one->from != other->from ? (one->from < other->from ? -1 : 1)
					: (one->event > other->event) - (one->event < other->event);
}

/* ------------------------------------------------------------------------------------------------------ too many */

static size_t count_items(const struct view_trace *trace, uint64_t resolution)
{
	size_t nr = 0;

	for (size_t i = 0; i < trace->nr_rows; i++)
		for (size_t l = 0; l < trace->rows[i].nr_lines; l++) {
			const struct view_line *line = &trace->rows[i].lines[l];

			nr += resolution
				      ? merge(line->kind, line->levels[0].items, line->levels[0].nr, resolution, NULL)
				      : line->levels[0].nr;
		}
	return nr;
}

/* Merges with the finest resolution that leaves at most `max` items. Items that are far apart are not merged. */
static void reduce(struct view_trace *trace, size_t max)
{
	if (count_items(trace, 0) <= max)
		return;
	trace->resolution = FINEST;
	while (count_items(trace, trace->resolution) > max && trace->resolution < trace->end - trace->begin &&
	       trace->resolution <= UINT64_MAX / 2)
		trace->resolution *= 2;
	for (size_t i = 0; i < trace->nr_rows; i++)
		for (size_t l = 0; l < trace->rows[i].nr_lines; l++) {
			struct view_line *line = &trace->rows[i].lines[l];
			struct view_level *all = &line->levels[0];

			all->nr = merge(line->kind, all->items, all->nr, trace->resolution, all->items);
			all->resolution = trace->resolution;
		}
}

/* The n for which at most `max` of `nr` arrows remain if every n-th is kept; 0: none is kept. */
static size_t step_of(size_t nr, size_t max)
{
	if (nr <= max)
		return 1;
	return max ? (nr + max - 1) / max : 0;
}

/* If there are too many, every n-th wake-up is kept; if the flows alone are too many, every n-th of these. */
static void reduce_arrows(struct view_trace *trace)
{
	size_t of_kind[] = { 0, 0 }, seen[] = { 0, 0 }, step[2], nr = 0, flows;

	trace->all_arrows = trace->nr_arrows;
	for (size_t i = 0; i < trace->nr_arrows; i++)
		of_kind[trace->arrows[i].kind]++;
	step[VIEW_FLOW] = step_of(of_kind[VIEW_FLOW], ARROWS_MAX);
	flows = (of_kind[VIEW_FLOW] + step[VIEW_FLOW] - 1) / step[VIEW_FLOW];
	step[VIEW_WAKE] = step_of(of_kind[VIEW_WAKE], ARROWS_MAX - flows);
	for (size_t i = 0; i < trace->nr_arrows; i++) {
		const enum view_arrow_kind kind = trace->arrows[i].kind;

		if (step[kind] && seen[kind]++ % step[kind] == 0)
			trace->arrows[nr++] = trace->arrows[i];
	}
	trace->nr_arrows = nr;
}

int view_finish(struct view_trace *trace, size_t items_max)
{
	for (size_t i = 0; i < trace->nr_rows && !trace->error; i++)
		sort_row(trace, (uint32_t)i);
	if (trace->error)
		return trace->error;
	if (trace->nr_arrows)
		qsort(trace->arrows, trace->nr_arrows, sizeof(*trace->arrows), by_from);
	reduce_arrows(trace);
	reduce(trace, items_max);
	for (size_t i = 0; i < trace->nr_rows; i++)
		for (size_t l = 0; l < trace->rows[i].nr_lines && !trace->error; l++)
			trace->error = make_levels(trace, &trace->rows[i].lines[l]);
	return trace->error;
}
