/* SPDX-License-Identifier: MIT */
/*
 * Marks of lanes: the positions up to which snapshots have copied them. The process that makes a snapshot need not be
 * the lane's reader, so marks are written through the file, not through a reader's mapping. If two snapshots run at
 * the same time, the mark of one of them remains: the next snapshot repeats some events, or some are missing from one
 * file because they are in the other.
 */
#include "librecorder/view/reader_private.h"
#include "librecorder/core/atomic.h"

#include <errno.h>
#include <stddef.h>
#include <unistd.h>

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
	const off_t at = (off_t)(words_of(view, lane) + offsetof(struct rec_lane_reader, snapshot));
	ssize_t n;

	if (lane >= rec_view_lanes(view))
		return -EINVAL;
	if (view->read_only)
		return -EROFS;
	n = pwrite(view->fd, mark, sizeof(*mark), at);
	return n == (ssize_t)sizeof(*mark) ? 0 : n < 0 ? -errno : -EIO;
}
