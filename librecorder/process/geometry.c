/* SPDX-License-Identifier: MIT */
/*
 * The layout of a buffer file, from the sizes asked for.
 *
 * Readers map parts of the file, and a program gives memory to parts and takes it back; both work in pages of the
 * system. So every part begins at a multiple of that size, and of REC_MAP_PAGE, which is the least that readers accept.
 */
#include "librecorder/process/geometry.h"

#include <errno.h>
#include <stdint.h>

#define DEFAULT_LANE_SIZE  (UINT64_C(1) << 20)
#define DEFAULT_MEMORY_MAX (UINT64_C(64) << 20)

/*
 * Room for the descriptions of tens of thousands of events, and as many thread names. Only what is used takes memory.
 */
#define LOG_SIZE (UINT64_C(4) << 20)

/* Sub-buffer ids have 16 bits (REC_POS_ID). */
#define NR_SUBBUFS_MAX 65535u

static uint64_t smallest(uint64_t a, uint64_t b, uint64_t c)
{
	const uint64_t least = a < b ? a : b;

	return least < c ? least : c;
}

bool rec_is_subbuf_size(uint64_t size)
{
	return size >= REC_SUBBUF_MIN && size <= REC_SUBBUF_MAX && (size & (size - 1)) == 0;
}

uint64_t rec_lane_pages(uint64_t size, uint64_t subbuf_size)
{
	const uint64_t capacity = subbuf_size - REC_SUBBUF_HEADER_SIZE;
	const uint64_t pages = size / capacity + (size % capacity != 0);

	return pages < 2 ? 2 : pages;
}

uint32_t rec_geometry_subbufs(const struct rec_geometry *geometry, uint32_t subbuf_size)
{
	/* The meta page is as large as a sub-buffer. */
	const uint64_t fit = (geometry->lane_stride - geometry->lane_meta) / subbuf_size - 1;

	return (uint32_t)(fit < geometry->max_subbufs ? fit : geometry->max_subbufs);
}

uint32_t rec_geometry_pages(const struct rec_geometry *geometry, uint32_t subbuf_size)
{
	const uint32_t fit = rec_geometry_subbufs(geometry, subbuf_size) - 1;
	const uint64_t pages = geometry->lane_bytes / subbuf_size;

	return (uint32_t)(pages < fit ? pages : fit);
}

/*
 * The number of lanes to share: at most a quarter of the lanes, because more than REC_SHARED_MAX threads are seldom in
 * the middle of an event at the same time.
 */
static uint32_t shared_lanes(uint32_t max_lanes)
{
	uint32_t shared = REC_SHARED_MAX;

	while (shared > 1 && shared > max_lanes / 4)
		shared /= 2;
	return max_lanes > 1 ? shared : 0;
}

/* The parts of a lane; `data` is the size of its sub-buffers, which follow a meta page of the same size as each. */
static void place_in_lane(struct rec_geometry *g, uint64_t data)
{
	g->lane_reader = rec_round_up(sizeof(struct rec_lane) + g->max_subbufs * sizeof(struct rec_subbuf), g->page);
	g->lane_meta = g->lane_reader +
		       rec_round_up(sizeof(struct rec_lane_reader) + g->max_subbufs * sizeof(struct rec_link), g->page);
	g->lane_stride = g->lane_meta + g->subbuf_size + data;
}

/* The parts that every program needs come first: header, rules, the first enable words. */
static void place_in_file(struct rec_geometry *g)
{
	g->rules = rec_round_up(sizeof(struct rec_buffer_header), g->page);
	g->enable = g->rules + rec_round_up(sizeof(struct rec_rules), g->page);
	g->conditions = g->enable + rec_round_up(REC_EVENTS_MAX * sizeof(uint32_t), g->page);
	g->loan = g->conditions + rec_round_up(REC_CONDITIONS_SIZE, g->page);
	g->log = g->loan + rec_round_up(sizeof(struct rec_loan), g->page);
	g->log_size = rec_round_up(LOG_SIZE, g->page);
	g->lanes = g->log + g->log_size;
	g->file_size = g->lanes + g->max_lanes * g->lane_stride;
}

int rec_geometry_make(const struct rec_options *options, uint64_t page_size, struct rec_geometry *ret_geometry)
{
	const uint64_t page = page_size > REC_MAP_PAGE ? page_size : REC_MAP_PAGE;
	/* A lane can be mapped as a ring (map.h) only if its sub-buffers are whole pages. */
	const uint64_t subbuf = options->subbuf_size ? options->subbuf_size : page;
	const uint64_t lane = options->lane_size ? options->lane_size : DEFAULT_LANE_SIZE;
	const uint64_t lane_max = options->lane_max > lane ? options->lane_max : lane;
	const uint64_t max = options->memory_max ? options->memory_max : DEFAULT_MEMORY_MAX;
	struct rec_geometry g = { .page = page };
	uint64_t data;

	if (!rec_is_subbuf_size(subbuf) || lane_max > UINT64_MAX / 2 || max > UINT64_MAX / 2)
		return -EINVAL;
	if (rec_lane_pages(lane_max, subbuf) + 1 > NR_SUBBUFS_MAX)
		return -EINVAL;
	g.subbuf_size = (uint32_t)subbuf;
	g.lane_bytes = rec_lane_pages(lane, subbuf) * subbuf;
	/* The lane ends with a page, without room that no sub-buffer uses: a forked child gets the same layout. */
	data = rec_round_up((rec_lane_pages(lane_max, subbuf) + 2) * subbuf, page) - subbuf;
	/* If the sub-buffers become smaller, there will be more of them. */
	g.max_subbufs = (uint32_t)(data / REC_SUBBUF_MIN < NR_SUBBUFS_MAX ? data / REC_SUBBUF_MIN : NR_SUBBUFS_MAX);
	place_in_lane(&g, data);
	g.max_lanes = (uint32_t)smallest(max / g.lane_stride, UINT16_MAX, REC_SUBBUFS_MAX / g.max_subbufs);
	g.max_lanes = g.max_lanes ? g.max_lanes : 1;
	g.shared_max = shared_lanes(g.max_lanes);
	place_in_file(&g);
	/* The file is mapped as a whole; a larger one does not fit into the address space of a 32-bit machine. */
	if (g.file_size > SIZE_MAX / 2)
		return -EOVERFLOW;
	*ret_geometry = g;
	return 0;
}
