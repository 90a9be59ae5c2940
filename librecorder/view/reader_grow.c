/* SPDX-License-Identifier: MIT */
/* A reader permits the program's threads to take further lanes instead of overwriting unread events. */
#include "librecorder/view/reader_private.h"
#include "librecorder/core/atomic.h"

#include <errno.h>
#include <sys/mman.h>

int rec_view_grow(struct rec_view *view, unsigned int seconds)
{
	struct view_map map;
	int r;

	if (!(view->features & REC_FEATURE_GROWTH))
		return -EOPNOTSUPP;
	if (view->read_only)
		return -EROFS;
	r = rec_view_map(view, &map, PROT_READ | PROT_WRITE, 0, REC_MAP_PAGE);
	if (r < 0)
		return r;
	rec_store_relaxed(&((struct rec_buffer_header *)(void *)map.at)->grow_until,
			  seconds ? rec_clock_mono() + seconds * NS_PER_S : 0);
	rec_view_unmap(&map);
	return rec_view_is_cut(view) ? -EFAULT : 0;
}
