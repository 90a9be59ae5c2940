/* SPDX-License-Identifier: MIT */
/* See view_trace.h. This file adds strings, rows and items; view_levels.c does the rest. */
#include "format/view/view_trace.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/io/hash.h"

/* Make room for one more element. False: no memory. */
static bool grow(struct view_trace *trace, void *array, size_t nr, size_t *room, size_t size)
{
	void **elements = array;
	size_t more = *room ? 2 * *room : 16;
	void *bigger;

	if (trace->error)
		return false;
	if (nr < *room)
		return true;
	bigger = reallocarray(*elements, more, size);
	if (!bigger) {
		trace->error = -ENOMEM;
		return false;
	}
	*elements = bigger;
	*room = more;
	return true;
}

void view_trace_free(struct view_trace *trace)
{
	for (size_t i = 0; i < trace->nr_rows; i++) {
		struct view_row *row = &trace->rows[i];

		for (size_t l = 0; l < row->nr_lines; l++)
			for (unsigned int k = 0; k < row->lines[l].nr_levels; k++)
				free(row->lines[l].levels[k].items);
		free(row->lines);
	}
	for (size_t i = 0; i < trace->nr_strings; i++)
		free(trace->strings[i]);
	for (unsigned int i = 0; i <= VIEW_WHY; i++)
		number_map_free(&trace->row_of[i]);
	free(trace->rows);
	free(trace->arrows);
	free(trace->strings);
	free(trace->string_events);
	free(trace->slots);
	memset(trace, 0, sizeof(*trace));
}

/* ------------------------------------------------------------------------------------------------------ strings */

/* The slot of a string in the table, or the free one where it belongs. A slot has the string's number plus 1. */
static uint32_t *slot_of(const struct view_trace *trace, const char *text)
{
	size_t at = (size_t)hash_bytes(text, strlen(text)) & (trace->nr_slots - 1);

	while (trace->slots[at] && strcmp(trace->strings[trace->slots[at] - 1], text))
		at = (at + 1) & (trace->nr_slots - 1);
	return &trace->slots[at];
}

static bool grow_slots(struct view_trace *trace)
{
	size_t nr = trace->nr_slots ? 2 * trace->nr_slots : 256;
	uint32_t *slots = calloc(nr, sizeof(*slots));

	if (!slots) {
		trace->error = -ENOMEM;
		return false;
	}
	free(trace->slots);
	trace->slots = slots;
	trace->nr_slots = nr;
	for (size_t i = 0; i < trace->nr_strings; i++)
		*slot_of(trace, trace->strings[i]) = (uint32_t)i + 1;
	return true;
}

uint32_t view_string(struct view_trace *trace, const char *text)
{
	size_t room = trace->string_room;
	uint32_t *slot;

	if (trace->error || (2 * trace->nr_strings >= trace->nr_slots && !grow_slots(trace)))
		return 0;
	slot = slot_of(trace, text);
	if (*slot)
		return *slot - 1;
	if (!grow(trace, &trace->string_events, trace->nr_strings, &room, sizeof(*trace->string_events)) ||
	    !grow(trace, &trace->strings, trace->nr_strings, &trace->string_room, sizeof(*trace->strings)))
		return 0;
	trace->strings[trace->nr_strings] = strdup(text);
	trace->string_events[trace->nr_strings] = 0;
	if (!trace->strings[trace->nr_strings]) {
		trace->error = -ENOMEM;
		return 0;
	}
	*slot = (uint32_t)++trace->nr_strings;
	return *slot - 1;
}

/* --------------------------------------------------------------------------------------------------------- rows */

uint32_t view_row(struct view_trace *trace, enum view_row_kind kind, uint64_t id, uint32_t parent, bool *ret_new)
{
	uint64_t known = number_map_get(&trace->row_of[kind], id);

	*ret_new = false;
	if (known)
		return (uint32_t)known - 1;
	if (!grow(trace, &trace->rows, trace->nr_rows, &trace->row_room, sizeof(*trace->rows)))
		return VIEW_NO_ROW;
	if (number_map_set(&trace->row_of[kind], id, trace->nr_rows + 1)) {
		trace->error = -ENOMEM;
		return VIEW_NO_ROW;
	}
	trace->rows[trace->nr_rows] = (struct view_row){ .kind = kind, .id = id, .order = id, .parent = parent };
	*ret_new = true;
	return (uint32_t)trace->nr_rows++;
}

static struct view_line *line_of(struct view_trace *trace, struct view_row *row, enum view_line_kind kind,
				 unsigned int depth)
{
	struct view_line *lines;

	for (size_t i = row->nr_lines; i-- > 0;)
		if (row->lines[i].kind == kind && row->lines[i].depth == depth)
			return &row->lines[i];
	lines = reallocarray(row->lines, row->nr_lines + 1, sizeof(*lines));
	if (!lines) {
		trace->error = -ENOMEM;
		return NULL;
	}
	row->lines = lines;
	lines[row->nr_lines] = (struct view_line){ .kind = kind, .depth = depth, .nr_levels = 1 };
	return &lines[row->nr_lines++];
}

void view_add(struct view_trace *trace, uint32_t row, enum view_line_kind kind, unsigned int depth,
	      const struct view_item *item)
{
	struct view_level *all;
	struct view_line *line;

	if (trace->error || row == VIEW_NO_ROW)
		return;
	line = line_of(trace, &trace->rows[row], kind, depth);
	if (!line)
		return;
	all = &line->levels[0];
	if (grow(trace, &all->items, all->nr, &all->room, sizeof(*all->items))) {
		all->items[all->nr] = *item;
		all->items[all->nr++].count = 1;
	}
}

void view_add_arrow(struct view_trace *trace, const struct view_arrow *arrow)
{
	if (arrow->from_row == VIEW_NO_ROW || arrow->to_row == VIEW_NO_ROW)
		return;
	if (grow(trace, &trace->arrows, trace->nr_arrows, &trace->arrow_room, sizeof(*trace->arrows)))
		trace->arrows[trace->nr_arrows++] = *arrow;
}
