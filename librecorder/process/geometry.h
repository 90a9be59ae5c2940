/* SPDX-License-Identifier: MIT */
/* The layout of a buffer file. This code accesses neither a file nor this process's state. */
#ifndef GEOMETRY_H
#define GEOMETRY_H

#include <librecorder/buffer.h>
#include <librecorder/detail/abi.h>
#include <stdbool.h>

/* The maximum number of shared lanes. */
#define REC_SHARED_MAX 16u

/* Places in a buffer file; a pure function of lane size, sub-buffer size, cap and page size. */
struct rec_geometry {
	uint64_t page;	      /* all places below are multiples of it; at least the system's page size */
	uint32_t subbuf_size; /* sub-buffer size of lanes made from now on; the only word here that changes */
	uint64_t lane_bytes;  /* bytes of all sub-buffers in the ring of a new lane */
	uint32_t max_subbufs; /* number of descriptors and links of a lane */
	uint32_t max_lanes;
	uint32_t shared_max; /* lanes to share if the others are not enough: a power of two, or 0 */
	uint64_t enable;
	uint64_t rules;
	uint64_t conditions;
	uint64_t loan;
	uint64_t log;
	uint64_t log_size;
	uint64_t lanes;
	uint64_t lane_stride;
	uint64_t lane_reader;
	uint64_t lane_meta;
	uint64_t file_size;
};

/* The smallest multiple of `unit` that is not below `value`. */
static inline uint64_t rec_round_up(uint64_t value, uint64_t unit)
{
	return (value + unit - 1) / unit * unit;
}

/* Whether sub-buffers may have this size. */
bool rec_is_subbuf_size(uint64_t size);

/* The number of sub-buffers that hold `size` bytes of events; at least two, as in the kernel (facts C18). */
uint64_t rec_lane_pages(uint64_t size, uint64_t subbuf_size);

/*
 * The number of sub-buffers of this size in the ring of a lane that was not resized; less than two: they are too large
 * for it.
 */
uint32_t rec_geometry_pages(const struct rec_geometry *geometry, uint32_t subbuf_size);

/* The number of sub-buffers of this size that fit into the memory of a lane. */
uint32_t rec_geometry_subbufs(const struct rec_geometry *geometry, uint32_t subbuf_size);

/*
 * Sizes and places from the requested values, of which 0 means the default, for a system with pages of `page_size`
 * bytes, a power of two. 0, -EINVAL, or -EOVERFLOW (32 bits).
 */
int rec_geometry_make(const struct rec_options *options, uint64_t page_size, struct rec_geometry *ret_geometry);

#endif
