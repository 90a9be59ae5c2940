/* SPDX-License-Identifier: MIT */
/* See view_marks.h. */
#include "format/view/view_marks.h"

#include "format/view/view_rows.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* The string with what is known about a mark, which the page shows as its fields. */
static uint32_t details_of(struct view_trace *trace, const struct mark *mark)
{
	char cpu[16] = "";
	char *text;
	uint32_t string;

	if (mark->cpu >= 0)
		snprintf(cpu, sizeof(cpu), " cpu=%" PRId32, mark->cpu);
	if (asprintf(&text, "task=%s tid=%" PRId32 "%s%s%s%s%s", mark->task, mark->tid, cpu, *mark->by ? " by=" : "",
		     mark->by, *mark->what ? " what=" : "", mark->what) < 0) {
		trace->error = -ENOMEM;
		return 0;
	}
	string = view_string(trace, text);
	free(text);
	return string;
}

static void add_track(struct view_trace *trace, uint64_t number, uint32_t group, const struct mark_track *track)
{
	bool is_new;
	const uint32_t row = view_row(trace, VIEW_WHY, number, group, &is_new);

	if (row == VIEW_NO_ROW)
		return;
	trace->rows[row].name = view_string(trace, track->name);
	for (size_t i = 0; i < track->nr; i++) {
		const struct mark *mark = &track->marks[i];
		const struct view_item item = {
			.begin = mark->begin,
			.end = mark->end,
			.name = view_string(trace, mark->class),
			.last = details_of(trace, mark),
			.event = VIEW_NO_EVENT,
			.cpu = (uint16_t)(mark->cpu >= 0 ? mark->cpu : 0),
		};

		view_add(trace, row, VIEW_SPANS, 0, &item);
	}
}

void view_add_marks(struct view_trace *trace, const struct marks *marks)
{
	const uint32_t group = view_group_row(trace, VIEW_GROUP_WHY);

	if (group == VIEW_NO_ROW)
		return;
	trace->rows[group].name = view_string(trace, marks->name);
	for (size_t i = 0; i < marks->nr; i++)
		add_track(trace, i, group, &marks->tracks[i]);
}
