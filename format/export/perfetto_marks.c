/* SPDX-License-Identifier: MIT */
/* Marks as tracks of their own, in a group; each mark is a slice that is called after its class. */
#include "format/export/perfetto_private.h"

#include <errno.h>
#include <string.h>

#include "format/model/mark.h"

static size_t begin_slice(struct perfetto *p, uint64_t ts, unsigned int type, uint64_t track)
{
	size_t event;

	perfetto_packet(p, ts);
	event = proto_begin(&p->packet, PACKET_EVENT);
	proto_uint(&p->packet, EVENT_TYPE, type);
	proto_uint(&p->packet, EVENT_TRACK, track);
	return event;
}

static int put_mark(struct perfetto *p, const struct mark *mark, uint64_t track)
{
	size_t event = begin_slice(p, mark->begin, TYPE_BEGIN, track);
	int err;

	proto_text(&p->packet, EVENT_NAME_TEXT, mark->class);
	perfetto_argument_text(p, "task", mark->task);
	perfetto_argument_int(p, "tid", mark->tid);
	if (mark->cpu >= 0)
		perfetto_argument_int(p, "cpu", mark->cpu);
	if (mark->by[0])
		perfetto_argument_text(p, "by", mark->by);
	if (mark->what[0])
		perfetto_argument_text(p, "what", mark->what);
	proto_end(&p->packet, event);
	err = perfetto_packet_end(p);
	if (err)
		return err;
	event = begin_slice(p, mark->end, TYPE_END, track);
	proto_end(&p->packet, event);
	return perfetto_packet_end(p);
}

int perfetto_marks(struct perfetto *p, const struct marks *marks)
{
	const uint64_t group = perfetto_track(p, 0, marks->name, false);
	int err = group ? 0 : -ENOMEM;

	for (size_t i = 0; !err && i < marks->nr; i++) {
		const struct mark_track *from = &marks->tracks[i];
		const uint64_t track = perfetto_track(p, group, from->name, false);

		err = track ? 0 : -ENOMEM;
		for (size_t j = 0; !err && j < from->nr; j++)
			err = put_mark(p, &from->marks[j], track);
	}
	return err;
}
