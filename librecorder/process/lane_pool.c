/* SPDX-License-Identifier: MIT */
/*
 * The pool of lanes as a whole: the buffer that it is in. The memory of the handles is the caller's, and is zeroed in a
 * copy of this process, so that the copy does not write to its parent's lanes.
 */
#include "librecorder/process/lane_life.h"
#include "librecorder/process/lane_private.h"
#include "librecorder/core/atomic.h"

struct rec_pool rec_pool;

size_t rec_pool_private_size(const struct rec_geometry *geometry)
{
	return geometry->max_lanes * (sizeof(*rec_pool.handles) + sizeof(*rec_pool.own));
}

void rec_pool_begin(struct rec_buffer_header *header, const struct rec_geometry *geometry,
		    const struct rec_options *options, void *memory)
{
	rec_pool.geometry = *geometry;
	rec_pool.clock = options->clock;
	rec_pool.overwrite = !options->discard;
	rec_pool.handles = memory;
	rec_pool.own = (struct rec_lane_own *)(void *)(rec_pool.handles + geometry->max_lanes);
	rec_pool.header = header;
}

void rec_pool_end(void)
{
	rec_pool.header = NULL;
}

struct rec_options rec_pool_options(void)
{
	const struct rec_geometry *g = &rec_pool.geometry;
	/* Another thread may be changing it. */
	const uint32_t subbuf_size = rec_load_relaxed(&g->subbuf_size);
	const size_t capacity = subbuf_size - REC_SUBBUF_HEADER_SIZE;

	return (struct rec_options){
		.size = sizeof(struct rec_options),
		.lane_size = rec_geometry_pages(g, subbuf_size) * capacity,
		.lane_max = (rec_geometry_subbufs(g, subbuf_size) - 1) * capacity,
		.subbuf_size = subbuf_size,
		.memory_max = (size_t)(g->max_lanes * g->lane_stride),
		.clock = rec_pool.clock,
		.discard = !rec_pool.overwrite,
	};
}

uint32_t rec_lanes(void)
{
	const uint32_t lanes = rec_load_acquire(&rec_pool.header->nr_lanes);

	return lanes < rec_pool.geometry.max_lanes ? lanes : rec_pool.geometry.max_lanes;
}

void rec_lane_wake_readers(void)
{
	const uint32_t lanes = rec_pool.header ? rec_lanes() : 0;

	for (uint32_t index = 0; index < lanes; index++)
		if (rec_lane_is_made(index))
			rec_ring_wake(rec_pool.handles[index].reader);
}
