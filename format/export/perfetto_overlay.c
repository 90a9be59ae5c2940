/* SPDX-License-Identifier: MIT */
/* An overlay's tracks, in a group; each piece is a slice that is named after its class. */
#include "format/export/perfetto_private.h"

#include <errno.h>
#include <string.h>

#include "format/model/overlay.h"

static int put_piece(struct perfetto *p, const struct overlay_piece *piece, uint64_t track)
{
	size_t event = perfetto_event_begin(p, piece->begin, TYPE_BEGIN, track);
	int err;

	proto_text(&p->packet, EVENT_NAME_TEXT, piece->class);
	perfetto_argument_text(p, "task", piece->task);
	perfetto_argument_int(p, "tid", piece->tid);
	if (piece->cpu >= 0)
		perfetto_argument_int(p, "cpu", piece->cpu);
	if (piece->by[0])
		perfetto_argument_text(p, "by", piece->by);
	if (piece->what[0])
		perfetto_argument_text(p, "what", piece->what);
	err = perfetto_event_end(p, event);
	if (err)
		return err;
	event = perfetto_event_begin(p, piece->end, TYPE_END, track);
	return perfetto_event_end(p, event);
}

int perfetto_overlay(struct perfetto *p, const struct overlay *overlay)
{
	const uint64_t group = perfetto_track(p, 0, overlay->name, false);
	int err = group ? 0 : -ENOMEM;

	for (size_t i = 0; !err && i < overlay->nr; i++) {
		const struct overlay_track *from = &overlay->tracks[i];
		const uint64_t track = perfetto_track(p, group, from->name, false);

		err = track ? 0 : -ENOMEM;
		for (size_t j = 0; !err && j < from->nr; j++)
			err = put_piece(p, &from->pieces[j], track);
	}
	return err;
}
