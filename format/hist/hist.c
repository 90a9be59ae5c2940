/* SPDX-License-Identifier: MIT */
/* See hist.h. */
#include "format/hist/hist.h"

#include <errno.h>
#include <stdlib.h>

#define MILLION 1000000u
#define SIDE	(HIST_OCTAVES * HIST_PARTS)

enum { POSITIVE, NEGATIVE };

/* ---------------------------------------------------------------------------------------------------------- buckets */

static uint64_t magnitude_of(int64_t value)
{
	return value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
}

/* Octave 0 has the magnitudes below HIST_PARTS, octave n those from HIST_PARTS << (n - 1) to HIST_PARTS << n. */
static unsigned int octave_of(uint64_t magnitude)
{
	return magnitude < HIST_PARTS ? 0 : 63u - (unsigned int)__builtin_clzll(magnitude) - HIST_PART_BITS + 1u;
}

/* The number of low bits of a magnitude that have no influence on its bucket. */
static unsigned int shift_of(unsigned int octave)
{
	return octave ? octave - 1 : 0;
}

static unsigned int part_of(uint64_t magnitude, unsigned int octave)
{
	return (unsigned int)(magnitude >> shift_of(octave)) & (HIST_PARTS - 1);
}

static struct hist_bucket bucket_at(unsigned int side, unsigned int octave, unsigned int part, uint64_t count)
{
	const uint64_t first = octave ? (uint64_t)HIST_PARTS + part : part;
	const uint64_t low = first << shift_of(octave), high = low + ((UINT64_C(1) << shift_of(octave)) - 1);
	struct hist_bucket bucket = { .low = (int64_t)low, .high = (int64_t)high, .count = count };

	if (side == NEGATIVE) {
		/* INT64_MIN is the only value whose magnitude INT64_MAX does not include. */
		bucket.low = high > INT64_MAX ? INT64_MIN : -(int64_t)high;
		bucket.high = low > INT64_MAX ? INT64_MIN : -(int64_t)low;
	}
	return bucket;
}

/* ----------------------------------------------------------------------------------------------------------- values */

void hist_free(struct hist *hist)
{
	for (unsigned int side = 0; side < 2; side++)
		for (unsigned int i = 0; i < HIST_OCTAVES; i++)
			free(hist->octaves[side][i]);
	*hist = (struct hist)HIST_INIT;
}

static uint64_t *need_octave(struct hist *hist, unsigned int side, unsigned int octave)
{
	uint64_t **place = &hist->octaves[side][octave];

	if (!*place)
		*place = calloc(HIST_PARTS, sizeof(**place));
	return *place;
}

static void add_sum(struct hist *hist, uint64_t low, int64_t high)
{
	const uint64_t before = hist->sum_low;

	hist->sum_low += low;
	hist->sum_high += high + (hist->sum_low < before);
}

int hist_add(struct hist *hist, int64_t value)
{
	const unsigned int side = value < 0 ? NEGATIVE : POSITIVE;
	const uint64_t magnitude = magnitude_of(value);
	const unsigned int octave = octave_of(magnitude);
	uint64_t *counts = need_octave(hist, side, octave);

	if (!counts)
		return -ENOMEM;
	counts[part_of(magnitude, octave)]++;
	if (!hist->count || value < hist->min)
		hist->min = value;
	if (!hist->count || value > hist->max)
		hist->max = value;
	hist->count++;
	add_sum(hist, (uint64_t)value, value < 0 ? -1 : 0);
	return 0;
}

int hist_merge(struct hist *hist, const struct hist *other)
{
	for (unsigned int side = 0; side < 2; side++)
		for (unsigned int i = 0; i < HIST_OCTAVES; i++)
			if (other->octaves[side][i] && !need_octave(hist, side, i))
				return -ENOMEM;
	for (unsigned int side = 0; side < 2; side++)
		for (unsigned int i = 0; i < HIST_OCTAVES; i++)
			for (unsigned int part = 0; other->octaves[side][i] && part < HIST_PARTS; part++)
				hist->octaves[side][i][part] += other->octaves[side][i][part];
	if (!other->count)
		return 0;
	if (!hist->count || other->min < hist->min)
		hist->min = other->min;
	if (!hist->count || other->max > hist->max)
		hist->max = other->max;
	hist->count += other->count;
	add_sum(hist, other->sum_low, other->sum_high);
	return 0;
}

/* ---------------------------------------------------------------------------------------------------------- answers */

double hist_mean(const struct hist *hist)
{
	const double sum = (double)hist->sum_high * 18446744073709551616.0 + (double)hist->sum_low;

	if (!hist->count)
		return 0;
	/*
	 * If the low half alone, as a signed number, is the sum, use it: that is more precise than -2^64 plus the low
	 * half.
	 */
	if (hist->sum_high == -1 && hist->sum_low > INT64_MAX)
		return (double)(int64_t)hist->sum_low / (double)hist->count;
	return sum / (double)hist->count;
}

bool hist_sum(const struct hist *hist, int64_t *ret_sum)
{
	const int64_t low = (int64_t)hist->sum_low;

	if (hist->sum_high == (low < 0 ? -1 : 0)) {
		*ret_sum = low;
		return true;
	}
	*ret_sum = hist->sum_high < 0 ? INT64_MIN : INT64_MAX;
	return false;
}

/* Positions count the negative buckets from the largest magnitude on, then the others. */
bool hist_next(const struct hist *hist, uint32_t *place, struct hist_bucket *ret_bucket)
{
	while (*place < 2 * SIDE) {
		const unsigned int side = *place < SIDE ? NEGATIVE : POSITIVE;
		const uint32_t at = side == NEGATIVE ? SIDE - 1 - *place : *place - SIDE;
		const unsigned int octave = at / HIST_PARTS, part = at % HIST_PARTS;
		const uint64_t *counts = hist->octaves[side][octave];

		if (!counts) {
			*place += side == NEGATIVE ? part + 1 : HIST_PARTS - part;
			continue;
		}
		++*place;
		if (counts[part]) {
			*ret_bucket = bucket_at(side, octave, part, counts[part]);
			return true;
		}
	}
	return false;
}

/* ceil(millionths * count / 1,000,000), without an overflow. */
static uint64_t rank_of(uint64_t count, uint32_t millionths)
{
	return count / MILLION * millionths + (count % MILLION * millionths + MILLION - 1) / MILLION;
}

int64_t hist_percentile(const struct hist *hist, uint32_t millionths)
{
	const uint64_t rank = rank_of(hist->count, millionths < MILLION ? millionths : MILLION);
	struct hist_bucket bucket;
	uint32_t place = 0;
	uint64_t seen = 0;

	if (rank <= 1)
		return hist->min;
	while (seen < rank && hist_next(hist, &place, &bucket)) {
		seen += bucket.count;
		if (seen >= rank && bucket.high < hist->max)
			return bucket.high;
	}
	return hist->max;
}
