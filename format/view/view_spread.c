/* SPDX-License-Identifier: MIT */
/*
 * See view_spread.h. Spans are taken in the order of their begins. A tree has the end of the last span of each line as
 * leaves, and in each inner node the smallest end below it. So the first free line is found in a few steps, even if a
 * server has thousands of requests open at a time.
 */
#include "format/view/view_spread.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int view_by_begin(const void *a, const void *b)
{
	const struct view_item *one = a, *other = b;

	if (one->begin != other->begin)
		return one->begin < other->begin ? -1 : 1;
	/*
	 * If items begin at the same time, one without length comes first, then the longer one, because it contains the
	 * other.
	 */
	if (one->end != other->end && (one->end == one->begin || other->end == other->begin))
		return one->end == one->begin ? -1 : 1;
	if (one->end != other->end)
		return one->end > other->end ? -1 : 1;
	return (one->event > other->event) - (one->event < other->event);
}

/* --------------------------------------------------------------------------------------------------------- lines */

struct ends {
	uint64_t *least; /* node n has the nodes 2n and 2n + 1 below it; the lines are the nodes from nr_lines on */
	size_t nr_lines; /* a power of two; a line that is not used ended at 0 */
};

static int ends_grow(struct ends *ends)
{
	const size_t nr = ends->nr_lines ? 2 * ends->nr_lines : 16;
	uint64_t *least = calloc(2 * nr, sizeof(*least));

	if (!least)
		return -ENOMEM;
	if (ends->nr_lines)
		memcpy(least + nr, ends->least + ends->nr_lines, ends->nr_lines * sizeof(*least));
	/* The new half is free, so each node above both halves has a least of 0. */
	for (size_t n = nr; --n > 0;)
		least[n] = least[2 * n] < least[2 * n + 1] ? least[2 * n] : least[2 * n + 1];
	free(ends->least);
	*ends = (struct ends){ .least = least, .nr_lines = nr };
	return 0;
}

/* The first line from `line` on that is free at this time; nr_lines: no line is free yet. */
static size_t ends_find(const struct ends *ends, size_t line, uint64_t time)
{
	size_t n = line + ends->nr_lines;

	if (line >= ends->nr_lines)
		return ends->nr_lines;
	while (ends->least[n] > time) {
		/* Move to the next node on the right. If n becomes 0, this was the right edge. */
		while (n & 1)
			n /= 2;
		if (!n)
			return ends->nr_lines;
		n++;
	}
	while (n < ends->nr_lines)
		n = 2 * n + (ends->least[2 * n] > time);
	return n - ends->nr_lines;
}

static void ends_set(struct ends *ends, size_t line, uint64_t end)
{
	size_t n = line + ends->nr_lines;

	for (ends->least[n] = end; n /= 2;)
		ends->least[n] =
			ends->least[2 * n] < ends->least[2 * n + 1] ? ends->least[2 * n] : ends->least[2 * n + 1];
}

/* --------------------------------------------------------------------------------------------------------- spans */

struct span {
	struct view_item item; /* the first member, so that view_by_begin() compares spans, too */
	size_t line;	       /* at first its depth, later its line */
};

struct spans {
	struct span *spans;
	size_t nr;
	size_t *lengths; /* number of spans in each line */
	size_t nr_lines;
};

static bool is_spread(const struct view_line *line, unsigned int depth)
{
	return line->kind == VIEW_SPANS && line->depth >= depth;
}

static bool overlap(const struct view_level *level)
{
	for (size_t i = 1; i < level->nr; i++)
		if (level->items[i].begin < level->items[i - 1].end)
			return true;
	return false;
}

static int take_spans(const struct view_row *row, unsigned int depth, struct spans *spans)
{
	for (size_t l = 0; l < row->nr_lines; l++)
		spans->nr += is_spread(&row->lines[l], depth) ? row->lines[l].levels[0].nr : 0;
	spans->spans = reallocarray(NULL, spans->nr + 1, sizeof(*spans->spans));
	if (!spans->spans)
		return -ENOMEM;
	spans->nr = 0;
	for (size_t l = 0; l < row->nr_lines; l++)
		for (size_t i = 0; is_spread(&row->lines[l], depth) && i < row->lines[l].levels[0].nr; i++)
			spans->spans[spans->nr++] =
				(struct span){ .item = row->lines[l].levels[0].items[i], .line = row->lines[l].depth };
	qsort(spans->spans, spans->nr, sizeof(*spans->spans), view_by_begin);
	return 0;
}

/* Choose the line of each span, and count the spans of each line. */
static int place_spans(struct spans *spans)
{
	struct ends ends = { .nr_lines = 0 };
	int err = 0;

	for (size_t i = 0; !err && i < spans->nr; i++) {
		struct span *span = &spans->spans[i];
		size_t line = ends_find(&ends, span->line, span->item.begin);

		while (!err && line == ends.nr_lines) {
			err = ends_grow(&ends);
			line = ends_find(&ends, span->line, span->item.begin);
		}
		if (err)
			break;
		ends_set(&ends, line, span->item.end);
		span->line = line;
		spans->nr_lines = line >= spans->nr_lines ? line + 1 : spans->nr_lines;
	}
	free(ends.least);
	spans->lengths = err ? NULL : calloc(spans->nr_lines + 1, sizeof(*spans->lengths));
	for (size_t i = 0; spans->lengths && i < spans->nr; i++)
		spans->lengths[spans->spans[i].line]++;
	return spans->lengths ? 0 : -ENOMEM;
}

static void free_lines(struct view_line *lines, size_t nr)
{
	for (size_t l = 0; l < nr; l++)
		free(lines[l].levels[0].items);
	free(lines);
}

/* Make a line for each depth; lines without a span have no items. NULL: no memory. */
static struct view_line *fill_lines(const struct spans *spans)
{
	struct view_line *lines = calloc(spans->nr_lines + 1, sizeof(*lines));

	for (size_t l = 0; lines && l < spans->nr_lines; l++) {
		struct view_level *all = &lines[l].levels[0];

		lines[l].kind = VIEW_SPANS;
		lines[l].depth = (unsigned int)l;
		lines[l].nr_levels = 1;
		all->room = spans->lengths[l];
		all->items = reallocarray(NULL, all->room + 1, sizeof(*all->items));
		if (!all->items) {
			free_lines(lines, l);
			return NULL;
		}
	}
	for (size_t i = 0; lines && i < spans->nr; i++) {
		struct view_level *all = &lines[spans->spans[i].line].levels[0];

		all->items[all->nr++] = spans->spans[i].item;
	}
	return lines;
}

/* Replace the row's lines of spans by the new lines, except those that have no spans. */
static int replace_lines(struct view_row *row, unsigned int depth, struct spans *spans)
{
	struct view_line *lines = fill_lines(spans), *all;
	size_t nr = 0;

	all = lines ? reallocarray(NULL, row->nr_lines + spans->nr_lines, sizeof(*all)) : NULL;
	if (!all) {
		if (lines)
			free_lines(lines, spans->nr_lines);
		return -ENOMEM;
	}
	for (size_t l = 0; l < row->nr_lines; l++) {
		if (is_spread(&row->lines[l], depth))
			free(row->lines[l].levels[0].items);
		else
			all[nr++] = row->lines[l];
	}
	for (size_t l = 0; l < spans->nr_lines; l++) {
		if (spans->lengths[l])
			all[nr++] = lines[l];
		else
			free(lines[l].levels[0].items);
	}
	free(lines);
	free(row->lines);
	row->lines = all;
	row->nr_lines = nr;
	return 0;
}

int view_spread(struct view_row *row, unsigned int depth)
{
	struct spans spans = { .nr = 0 };
	size_t l = 0;
	int err;

	while (l < row->nr_lines && !(is_spread(&row->lines[l], depth) && overlap(&row->lines[l].levels[0])))
		l++;
	if (l == row->nr_lines)
		return 0;
	err = take_spans(row, depth, &spans);
	if (!err)
		err = place_spans(&spans);
	if (!err)
		err = replace_lines(row, depth, &spans);
	free(spans.spans);
	free(spans.lengths);
	return err;
}
