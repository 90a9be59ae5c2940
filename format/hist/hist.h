/* SPDX-License-Identifier: MIT */
/*
 * Histograms of 64-bit numbers with a fixed relative error, in memory that does not grow with the number of values.
 *
 * Each power of two is divided into HIST_PARTS buckets of equal width. So values up to 2 * HIST_PARTS - 1 are counted
 * exactly, and a bucket of larger ones is at most 1 / HIST_PARTS of its lowest value wide. Negative values have the
 * same buckets, mirrored. Count, minimum, maximum and sum are exact.
 *
 * A percentile is that of the nearest rank: the value at place ceil(p * count) of the sorted values. The result
 * is the highest value of its bucket, but never more than the maximum. So it is never below the exact one, and above it
 * by less than 1 / HIST_PARTS of its magnitude; the first and the last rank are exact.
 *
 * Two histograms of parts of the values, merged, are the histogram of all.
 */
#ifndef FORMAT_HIST_H
#define FORMAT_HIST_H

#include <stdbool.h>
#include <stdint.h>

#define HIST_PART_BITS 10u
#define HIST_PARTS     (1u << HIST_PART_BITS)

/*
 * The first octave has the values below HIST_PARTS, each further one those up to the next power of two; the last one
 * has only 2^63.
 */
#define HIST_OCTAVES (64u - HIST_PART_BITS + 1u)

struct hist {
	uint64_t count;
	int64_t min, max; /* 0 if there are no values */
	uint64_t sum_low; /* the sum has 128 bits */
	int64_t sum_high;
	/*
	 * Arrays of HIST_PARTS counts; NULL: no value. The first list is for values from 0 on, the second for the
	 * magnitudes of negative values.
	 */
	uint64_t *octaves[2][HIST_OCTAVES];
};

#define HIST_INIT                                                                                                      \
	{                                                                                                              \
		0                                                                                                      \
	}

/* The histogram may be used again. */
void hist_free(struct hist *hist);

/* Adds a value. 0; -ENOMEM: the histogram is unchanged. */
int hist_add(struct hist *hist, int64_t value);

/* Adds all values of another histogram. 0; -ENOMEM: the histogram is unchanged. */
int hist_merge(struct hist *hist, const struct hist *other);

/* A percentile, in millionths: 500000 is the median, 999000 is p99.9. 0 if there are no values. */
int64_t hist_percentile(const struct hist *hist, uint32_t millionths);

/* 0 if there are no values. */
double hist_mean(const struct hist *hist);

/* False: the sum does not fit; *ret_sum is the nearest number that does. */
bool hist_sum(const struct hist *hist, int64_t *ret_sum);

/* Values from low to high, both included. */
struct hist_bucket {
	int64_t low, high;
	uint64_t count;
};

/* The buckets that are not empty, lowest values first. *place is 0 before the first. False: there are no more. */
bool hist_next(const struct hist *hist, uint32_t *place, struct hist_bucket *ret_bucket);

#endif
