/* SPDX-License-Identifier: MIT */
/*
 * Marks of lanes: the positions up to which snapshots have copied them. The process that makes a snapshot need not be
 * the lane's reader, so it writes the mark through a mapping of its own. If two snapshots run at the same time, the
 * mark of one of them remains: the next snapshot repeats some events, or some are missing from one file because they
 * are in the other.
 */
#include "librecorder/view/reader_private.h"
#include "librecorder/core/atomic.h"

#include <errno.h>
#include <sys/mman.h>

static uint64_t words_of(const struct rec_view *view, unsigned int lane)
{
	return view->lanes + lane * view->lane_stride + view->lane_reader;
}

int rec_view_mark(const struct rec_view *view, unsigned int lane, struct rec_lane_mark *ret_mark)
{
	const struct rec_lane_reader *words;

	if (lane >= rec_view_lanes(view))
		return -EINVAL;
	words = (const struct rec_lane_reader *)(const void *)(view->map + words_of(view, lane));
	*ret_mark = (struct rec_lane_mark){ .next = rec_load_relaxed(&words->snapshot.next),
					    .refused = rec_load_relaxed(&words->snapshot.refused) };
	return 0;
}

int rec_view_set_mark(struct rec_view *view, unsigned int lane, const struct rec_lane_mark *mark)
{
	struct rec_lane_reader *words;
	struct view_map map;
	int r;

	if (lane >= rec_view_lanes(view))
		return -EINVAL;
	if (view->read_only)
		return -EROFS;
	/* Not by pwrite(): beyond the limit on a file's size it raises SIGXFSZ, even where the file does not grow. */
	r = rec_view_map(view, &map, PROT_READ | PROT_WRITE, words_of(view, lane), sizeof(*words));
	if (r < 0)
		return r;
	words = (struct rec_lane_reader *)(void *)map.at;
	rec_store_relaxed(&words->snapshot.next, mark->next);
	rec_store_relaxed(&words->snapshot.refused, mark->refused);
	rec_view_unmap(&map);
	return rec_view_is_cut(view) ? -EFAULT : 0;
}
