/* SPDX-License-Identifier: MIT */
/*
 * What reader_iter.c asks of the view of a buffer: here there is one lane, of one shape, in a file that is never cut.
 */
#include "librecorder/view/reader_private.h"
#include "model.h"

unsigned int rec_view_lanes(const struct rec_view *view)
{
	(void)view;
	return 1;
}

int rec_view_look(const struct rec_view *view, uint32_t index, struct rec_ring_reader *ret_ring)
{
	(void)view;
	(void)index;
	*ret_ring = (struct rec_ring_reader){
		.lane = &m.shared.lane,
		.subbufs = m.shared.subbufs,
		.pages = m.shared.pages,
		.words = &m.shared.words,
		.links = m.shared.links,
		.nr_subbufs = m.handle.nr_subbufs,
		.subbuf_size = 1u << config->shift,
	};
	return 0;
}

bool rec_view_still(const struct rec_ring_reader *ring)
{
	(void)ring;
	return true;
}

bool rec_view_writers_are_gone(const struct rec_view *view)
{
	(void)view;
	return m.program_gone;
}
