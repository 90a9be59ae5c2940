/* SPDX-License-Identifier: MIT */
/* See view_overlay.h. */
#include "format/view/view_overlay.h"

#include "format/view/view_rows.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* The string with what is known about a piece, which the page shows as its fields. */
static uint32_t details_of(struct view_trace *trace, const struct overlay_piece *piece)
{
	char cpu[16] = "";
	char *text;
	uint32_t string;

	if (piece->cpu >= 0)
		snprintf(cpu, sizeof(cpu), " cpu=%" PRId32, piece->cpu);
	if (asprintf(&text, "task=%s tid=%" PRId32 "%s%s%s%s%s", piece->task, piece->tid, cpu, *piece->by ? " by=" : "",
		     piece->by, *piece->what ? " what=" : "", piece->what) < 0) {
		trace->error = -ENOMEM;
		return 0;
	}
	string = view_string(trace, text);
	free(text);
	return string;
}

static void add_track(struct view_trace *trace, uint64_t number, uint32_t group, const struct overlay_track *track)
{
	bool is_new;
	const uint32_t row = view_row(trace, VIEW_WHY, number, group, &is_new);

	if (row == VIEW_NO_ROW)
		return;
	trace->rows[row].name = view_string(trace, track->name);
	for (size_t i = 0; i < track->nr; i++) {
		const struct overlay_piece *piece = &track->pieces[i];
		const struct view_item item = {
			.begin = piece->begin,
			.end = piece->end,
			.name = view_string(trace, piece->class),
			.last = details_of(trace, piece),
			.event = VIEW_NO_EVENT,
			.cpu = (uint16_t)(piece->cpu >= 0 ? piece->cpu : 0),
		};

		view_add(trace, row, VIEW_SPANS, 0, &item);
	}
}

void view_add_overlay(struct view_trace *trace, const struct overlay *overlay)
{
	const uint32_t group = view_group_row(trace, VIEW_GROUP_WHY);

	if (group == VIEW_NO_ROW)
		return;
	trace->rows[group].name = view_string(trace, overlay->name);
	for (size_t i = 0; i < overlay->nr; i++)
		add_track(trace, i, group, &overlay->tracks[i]);
}
