/* SPDX-License-Identifier: MIT */
/*
 * Chooses the anchors that become corners of the map: in each GRAIN of time the narrowest one. Two anchors that are
 * close together determine the rate between them badly, and a wide anchor is less exact than its neighbours. The other
 * anchors are still used: the amount by which they contradict the map, beyond their own error, is added to the map's
 * error.
 */
#include "format/weave/time_map.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* 10 ms. The usual error of an anchor, 50 ns, is 5 ppm of this: about the rate at which NTP usually slews a clock. */
#define GRAIN UINT64_C(10000000)

static int by_clock(const void *a, const void *b)
{
	const struct rec_anchor *left = a;
	const struct rec_anchor *right = b;

	if (left->clock != right->clock)
		return left->clock < right->clock ? -1 : 1;
	return left->error < right->error ? -1 : left->error > right->error;
}

static uint64_t distance(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

/* ns per tick between two anchors in fixed point, rounded down: a line ends at or below the next corner. */
static uint64_t rate(const struct rec_anchor *from, const struct rec_anchor *to)
{
	const uint64_t ticks = to->clock - from->clock;
	const unsigned __int128 ns = (unsigned __int128)(to->mono - from->mono) << TIME_MAP_SHIFT;
	const unsigned __int128 mult = ns / ticks;

	return mult > UINT64_MAX ? UINT64_MAX : (uint64_t)mult;
}

/* Whether `next` is later than `corner` in both clocks, at a plausible rate. */
static bool follows(const struct rec_anchor *corner, const struct rec_anchor *next)
{
	return next->clock > corner->clock && next->mono > corner->mono && rate(corner, next) < UINT64_MAX;
}

/* An anchor wider than this, four times the usual width plus 100 ns, was interrupted while it was taken. */
static uint64_t wide(const struct rec_anchor *anchors, unsigned int nr)
{
	uint64_t smallest = UINT64_MAX;
	uint64_t sum = 0;
	unsigned int i;

	for (i = 0; i < nr; i++)
		if (anchors[i].error < smallest)
			smallest = anchors[i].error;
	/* The usual width is the mean width of the anchors that are not outliers. */
	for (i = 0; i < nr; i++)
		sum += (anchors[i].error < 16 * smallest + 100 ? anchors[i].error : smallest) / nr;
	return 4 * sum + 100;
}

/* Move the corners to the front of the sorted anchors; returns how many. */
static unsigned int choose_corners(struct rec_anchor *anchors, unsigned int nr)
{
	const uint64_t limit = wide(anchors, nr);
	unsigned int corners = 0;
	unsigned int i;

	for (i = 0; i < nr; i++) {
		const struct rec_anchor anchor = anchors[i];
		struct rec_anchor *last = corners ? &anchors[corners - 1] : NULL;

		if (anchor.error > limit)
			continue;
		if (!last || (follows(last, &anchor) && anchor.mono - last->mono >= GRAIN))
			anchors[corners++] = anchor;
		else if (anchor.error < last->error && (corners == 1 || follows(last - 1, &anchor)))
			*last = anchor;
	}
	return corners;
}

/* If all anchors are within one grain, keep the first and the last: only they show the rate of a short program. */
static unsigned int choose_ends(struct rec_anchor *anchors, unsigned int nr)
{
	unsigned int i;

	for (i = nr; i-- > 1;) {
		if (follows(&anchors[0], &anchors[i])) {
			anchors[1] = anchors[i];
			return 2;
		}
	}
	return 1;
}

/* The map's error at an anchor. */
static uint64_t deviation(const struct time_map *map, const struct rec_anchor *anchor)
{
	unsigned int hint = 0;

	return distance(time_map_ns(map, &hint, anchor->clock), anchor->mono);
}

/* The distance from a corner to the line between its neighbours. */
static uint64_t bend(const struct rec_anchor *corner)
{
	const uint64_t mult = rate(corner - 1, corner + 1);

	return distance(corner[-1].mono + time_map_scale(corner->clock - corner[-1].clock, mult), corner->mono);
}

/*
 * The accuracy to which the rate beyond the anchors is known: there the clock may run at any rate that it has had
 * between them.
 */
static double slope_error(const struct time_map *map, const struct rec_anchor *corners, unsigned int nr)
{
	const uint64_t span = corners[nr - 1].mono - corners[0].mono;
	double largest = 0;
	unsigned int i;

	for (i = 0; i + 1 < nr; i++) {
		const double off = (double)distance(map->segments[i].mult, map->before_mult) / (double)map->before_mult;

		largest = off > largest ? off : largest;
	}
	return largest + (double)(corners[0].error + corners[nr - 1].error + map->error) / (double)span;
}

static void measure_error(struct time_map *map, const struct rec_anchor *corners, unsigned int nr_corners,
			  const struct rec_anchor *all, unsigned int nr_all)
{
	uint64_t error = 1; /* rounding */
	unsigned int i;

	for (i = 0; i < nr_corners; i++) {
		uint64_t here = corners[i].error;

		if (i && i + 1 < nr_corners)
			here += bend(&corners[i]);
		if (here + 1 > error)
			error = here + 1;
	}
	for (i = 0; i < nr_all; i++) {
		const uint64_t off = deviation(map, &all[i]);

		if (off > all[i].error && off - all[i].error > error)
			error = off - all[i].error;
	}
	map->error = error;
	map->slope_error = slope_error(map, corners, nr_corners);
}

static int make_segments(struct time_map *map, const struct rec_anchor *corners, unsigned int nr)
{
	uint64_t overall = UINT64_C(1) << TIME_MAP_SHIFT;
	unsigned int i;

	map->segments = calloc(nr, sizeof(*map->segments));
	if (!map->segments)
		return -ENOMEM;
	if (nr > 1)
		overall = rate(&corners[0], &corners[nr - 1]);
	for (i = 0; i < nr; i++) {
		map->segments[i].clock = corners[i].clock;
		map->segments[i].mono = corners[i].mono;
		map->segments[i].mult = i + 1 < nr ? rate(&corners[i], &corners[i + 1]) : overall;
	}
	map->nr_segments = nr;
	map->first_clock = corners[0].clock;
	map->before_mult = overall;
	return 0;
}

static void sort_copy(struct rec_anchor *to, const struct rec_anchor *from, unsigned int nr)
{
	memcpy(to, from, nr * sizeof(*to));
	qsort(to, nr, sizeof(*to), by_clock);
}

int time_map_init(struct time_map *map, uint32_t clock, const struct rec_anchor *anchors, unsigned int nr_anchors)
{
	static const struct rec_anchor none;
	struct rec_anchor *corners;
	unsigned int nr;
	int err;

	memset(map, 0, sizeof(*map));
	if (clock == REC_CLOCK_MONO) {
		map->identity = true;
		return 0;
	}
	if (clock != REC_CLOCK_TSC)
		return -EINVAL;
	if (!nr_anchors) {
		anchors = &none;
		nr_anchors = 1;
	}
	corners = calloc(nr_anchors, sizeof(*corners));
	if (!corners)
		return -ENOMEM;
	sort_copy(corners, anchors, nr_anchors);
	nr = choose_corners(corners, nr_anchors);
	if (nr < 2) {
		sort_copy(corners, anchors, nr_anchors);
		nr = choose_ends(corners, nr_anchors);
	}
	err = make_segments(map, corners, nr);
	map->error = UINT64_MAX;
	if (!err && nr > 1)
		measure_error(map, corners, nr, anchors, nr_anchors);
	free(corners);
	return err;
}

void time_map_free(struct time_map *map)
{
	free(map->segments);
	memset(map, 0, sizeof(*map));
}

uint64_t time_map_search(const struct time_map *map, unsigned int *hint, uint64_t clock)
{
	const struct time_segment *segment;
	unsigned int low = 0;
	unsigned int high = map->nr_segments;

	if (clock < map->first_clock) {
		const uint64_t back = time_map_scale(map->first_clock - clock, map->before_mult);

		return back < map->segments[0].mono ? map->segments[0].mono - back : 0;
	}
	while (high - low > 1) {
		const unsigned int middle = low + (high - low) / 2;

		if (map->segments[middle].clock <= clock)
			low = middle;
		else
			high = middle;
	}
	*hint = low;
	segment = &map->segments[low];
	return segment->mono + time_map_scale(clock - segment->clock, segment->mult);
}

bool time_map_stretch(const struct time_map *map, unsigned int hint, uint64_t clock, struct time_stretch *ret_stretch)
{
	struct time_stretch stretch = { .mult = UINT64_C(1) << TIME_MAP_SHIFT, .end = UINT64_MAX };

	if (!map->identity) {
		const struct time_segment *segment = &map->segments[hint];

		stretch = (struct time_stretch){ segment->clock, segment->mono, segment->mult, UINT64_MAX };
		if (hint + 1 < map->nr_segments)
			stretch.end = segment[1].clock;
	}
	if (clock < stretch.clock || clock >= stretch.end)
		return false;
	*ret_stretch = stretch;
	return true;
}

uint64_t time_map_error(const struct time_map *map, uint64_t clock)
{
	uint64_t beyond = 0;
	unsigned int hint = 0;
	const struct time_segment *last;

	if (map->identity)
		return 0;
	if (map->error == UINT64_MAX)
		return UINT64_MAX;
	last = &map->segments[map->nr_segments - 1];
	if (clock < map->first_clock)
		beyond = map->segments[0].mono - time_map_ns(map, &hint, clock);
	else if (clock > last->clock)
		beyond = time_map_ns(map, &hint, clock) - last->mono;
	return map->error + (uint64_t)((double)beyond * map->slope_error);
}

void time_map_line(const struct time_map *map, uint64_t from, uint64_t to, struct time_line *ret_line)
{
	const uint64_t middle = from + (to - from) / 2;
	uint64_t mult = map->identity ? UINT64_C(1) << TIME_MAP_SHIFT : map->before_mult;
	uint32_t shift = TIME_MAP_SHIFT;
	unsigned int hint = 0;
	uint64_t scaled;

	/*
	 * The line is the chord between the ends of the range; outside the anchors it has the overall rate.
	 */
	if (!map->identity && to > from) {
		const uint64_t ns = time_map_ns(map, &hint, to) - time_map_ns(map, &hint, from);

		if (ns > GRAIN)
			mult = (uint64_t)(((unsigned __int128)ns << TIME_MAP_SHIFT) / (to - from));
	}
	/*
	 * trace-cmd 3.1.6 keeps the multiplier in an int, multiplies in two
	 * halves and cannot shift by more than 32.
	 */
	while (mult > INT32_MAX || shift > 32) {
		mult = mult / 2 + (mult & 1);
		shift--;
	}
	scaled = (uint64_t)(((unsigned __int128)middle * mult) >> shift);
	ret_line->mult = (uint32_t)mult;
	ret_line->shift = shift;
	ret_line->offset = (int64_t)(time_map_ns(map, &hint, middle) - scaled);
}

static uint64_t line_error_at(const struct time_map *map, const struct time_line *line, uint64_t clock)
{
	const uint64_t scaled = (uint64_t)(((unsigned __int128)clock * line->mult) >> line->shift);
	unsigned int hint = 0;
	/* The offset of the line may be negative. */
	const int64_t off = (int64_t)(scaled + (uint64_t)line->offset - time_map_ns(map, &hint, clock));

	return (uint64_t)(off < 0 ? -off : off);
}

uint64_t time_map_line_error(const struct time_map *map, const struct time_line *line, uint64_t from, uint64_t to)
{
	const uint64_t first = line_error_at(map, line, from);
	const uint64_t last = line_error_at(map, line, to);
	uint64_t error = first > last ? first : last;
	unsigned int i;

	/* The distance between the line and the map is greatest at a corner of the map or at an end of the range. */
	for (i = 0; i < map->nr_segments; i++) {
		const uint64_t clock = map->segments[i].clock;
		const uint64_t here = clock > from && clock < to ? line_error_at(map, line, clock) : 0;

		error = here > error ? here : error;
	}
	return error;
}
