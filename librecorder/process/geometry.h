/* SPDX-License-Identifier: MIT */
/* What a buffer file has where: nothing here looks at a file, or at this process. */
#ifndef GEOMETRY_H
#define GEOMETRY_H

#include <librecorder/buffer.h>
#include <librecorder/detail/abi.h>
#include <stdbool.h>

/* Lanes that are shared, at the most. */
#define REC_SHARED_MAX 16u

/* Where things lie in a buffer file; a pure function of lane size, sub-buffer size and cap. */
struct rec_geometry {
	uint32_t subbuf_size; /* that lanes have now; the one word here that changes */
	uint64_t lane_bytes;  /* of sub-buffers in a new lane's ring, as made */
	uint32_t max_subbufs; /* that a lane has descriptors and links for */
	uint32_t max_lanes;
	uint32_t shared_max; /* lanes that are shared when the others are not enough: a power of two, or 0 */
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

/* Whether sub-buffers may be so big. */
bool rec_is_subbuf_size(uint64_t size);

/* Sub-buffers that hold `size` bytes of events; two at the least, as the kernel counts (facts C18). */
uint64_t rec_lane_pages(uint64_t size, uint64_t subbuf_size);

/* Sub-buffers of this size in the ring of a lane that nobody has resized; less than two: they are too large for it. */
uint32_t rec_geometry_pages(const struct rec_geometry *geometry, uint32_t subbuf_size);

/* Sub-buffers of this size that the memory of a lane holds. */
uint32_t rec_geometry_subbufs(const struct rec_geometry *geometry, uint32_t subbuf_size);

/* Sizes and places from what was asked for; 0 means the default. 0 or -EINVAL. */
int rec_geometry_make(const struct rec_options *options, struct rec_geometry *ret_geometry);

#endif
