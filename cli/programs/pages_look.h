/* SPDX-License-Identifier: MIT */
/* The pages of a ring, oldest first, without taking them: other readers of the ring still get all of them. */
#ifndef CLI_PAGES_LOOK_H
#define CLI_PAGES_LOOK_H

#include <librecorder/map.h>
#include <librecorder/reader.h>

/*
 * Called for each page that has events. The page is a copy that is valid during the call. meta->reader_id is the number
 * of the page: the sub-buffer's in a ring of the kernel, the place among the lane's pages (from 1) in a lane.
 */
typedef void (*pages_look_fn)(void *arg, const struct rec_meta *meta, const struct rec_page *page);

/* The contents that a meta page of the lane would have. 0 or as rec_view_stats(). */
int pages_look_meta(const struct rec_view *view, unsigned int lane, struct rec_meta *ret_meta);

/* Returns 0, -ENOMEM, or as rec_iter_page(). Pages that the program overwrites during the call are left out. */
int pages_look_lane(struct rec_view *view, unsigned int lane, pages_look_fn look, void *arg);

/* A ring of the kernel, which must be mapped. Returns 0; -ENOMEM; -EOPNOTSUPP: it is not mapped, but read as copies. */
int pages_look_kernel(const struct rec_map *map, pages_look_fn look, void *arg);

#endif
