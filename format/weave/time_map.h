/* SPDX-License-Identifier: MIT */
/*
 * Converts a buffer's clock to nanoseconds of CLOCK_MONOTONIC: a line through anchors, in segments, that never goes
 * back. At an anchor the error is the anchor's own. Between two anchors the error is the anchors' own plus the drift
 * between them, which the anchors in the middle show. Before the first anchor and after the last, the error grows with
 * the distance.
 */
#ifndef FORMAT_TIME_MAP_H
#define FORMAT_TIME_MAP_H

#include <librecorder/clock.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * The `mult` of a segment is ns per tick in units of 2^-TIME_MAP_SHIFT. It is at most 255 ns, and so precise that the
 * error over a month is a hundredth of a ns.
 */
#define TIME_MAP_SHIFT 56u

struct time_segment {
	uint64_t clock; /* where the segment begins */
	uint64_t mono;
	uint64_t mult;
};

struct time_map {
	bool identity;
	struct time_segment *segments; /* the last one begins at the last anchor */
	unsigned int nr_segments;
	uint64_t first_clock; /* the clock of the first anchor; for earlier times the rate is `before_mult` */
	uint64_t before_mult;
	uint64_t error;	   /* between the first and the last anchor; UINT64_MAX: not known */
	double slope_error; /* beyond them: ns per ns of distance */
};

/*
 * The map for a clock from all available anchors, in any order. With one anchor, or none, the rate of the clock is
 * unknown and error is UINT64_MAX; one tick then counts as one ns. REC_CLOCK_MONO needs no anchors. 0; -EINVAL: no
 * such clock; -ENOMEM.
 */
int time_map_init(struct time_map *map, uint32_t clock, const struct rec_anchor *anchors, unsigned int nr_anchors);
void time_map_free(struct time_map *map);

/* The maximum of |time_map_ns(clock) - CLOCK_MONOTONIC at that moment|; UINT64_MAX: unknown. */
uint64_t time_map_error(const struct time_map *map, uint64_t clock);

/*
 * The whole map as one line, in the form that readers of a file use: ns = ((clock * mult) >> shift) + offset, most
 * exact in the middle between the two given clock values.
 */
struct time_line {
	uint32_t mult;
	uint32_t shift;
	int64_t offset;
};

void time_map_line(const struct time_map *map, uint64_t from, uint64_t to, struct time_line *ret_line);

/* The maximum distance between the line and the map, between two clock values; ns. */
uint64_t time_map_line_error(const struct time_map *map, const struct time_line *line, uint64_t from, uint64_t to);

/* The range in which the map is one line: from clock up to end. */
struct time_stretch {
	uint64_t clock, ns;
	uint64_t mult;
	uint64_t end;
};

/*
 * The segment around `clock`; the search starts at `hint`. False: `clock` is before the first anchor, where there is no
 * segment.
 */
bool time_map_stretch(const struct time_map *map, unsigned int hint, uint64_t clock, struct time_stretch *ret_stretch);

/* The rare cases, out of line: a segment other than that of the hint, or a time before the first anchor. */
uint64_t time_map_search(const struct time_map *map, unsigned int *hint, uint64_t clock);

static inline uint64_t time_map_scale(uint64_t ticks, uint64_t mult)
{
	return (uint64_t)(((unsigned __int128)ticks * mult) >> TIME_MAP_SHIFT);
}

/* Convert. *hint belongs to the caller, begins as 0 and makes increasing times cheap. */
static inline uint64_t time_map_ns(const struct time_map *map, unsigned int *hint, uint64_t clock)
{
	const struct time_segment *segment;

	if (map->identity)
		return clock;
	segment = &map->segments[*hint];
	if (clock < segment->clock || (*hint + 1 < map->nr_segments && clock >= segment[1].clock))
		return time_map_search(map, hint, clock);
	return segment->mono + time_map_scale(clock - segment->clock, segment->mult);
}

#endif
