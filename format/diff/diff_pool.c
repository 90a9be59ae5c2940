/* SPDX-License-Identifier: MIT */
/*
 * Judges parts of runs. Parts show how much a run varies within itself, but not how much runs differ. The changes of
 * all series of a kind, a pool, show that: their median is the difference between the two runs as a whole, and their
 * spread around it shows how much single series of two runs differ in addition.
 */
#include "format/diff/diff_private.h"

#include "format/stats/stats.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Comparisons whose changes between two runs of the same program are probably similar. */
struct pool {
	struct diff_work **works;
	size_t nr;
	double *ratios, *variances, *room;
	double common; /* the median of the ratios */
};

/* Take the common change of the pool out of the units of side B. */
static void take_common(struct diff_work *work, double common)
{
	const bool is_count = work->row.kind == DIFF_COUNT;
	const double add = is_count ? 0 : work->row.kind == DIFF_CLASS ? -common * work->whole : -common;
	const double scale = is_count ? exp(-common) : 1;

	for (size_t i = 0; i < work->units[1].nr; i++)
		work->units[1].values[i] = work->units[1].values[i] * scale + add;
}

static bool is_same_pool(const struct diff_work *x, const struct diff_work *y)
{
	return x->row.kind == y->row.kind && diff_is_log(x->row.statistic) == diff_is_log(y->row.statistic) &&
	       (x->row.statistic == DIFF_MEDIAN) == (y->row.statistic == DIFF_MEDIAN) &&
	       x->row.series->is_kernel == y->row.series->is_kernel &&
	       !strcmp(x->row.series->class, y->row.series->class);
}

/* Add a row for the common change of a pool, which no single series would show. */
static void note_common(struct blob *common_rows, double threshold, const struct diff_work *of, double common,
			size_t nr)
{
	const bool is_ratio = of->row.kind != DIFF_CLASS;
	const double change = is_ratio ? expm1(common) : common;
	/* This change gets no statistical test, so the threshold is never lower than DIFF_ALONE. */
	const double least = fmax(DIFF_ALONE, threshold);
	const struct diff_row row = { .kind = of->row.kind,
				      .statistic = of->row.statistic,
				      .nr_values = { nr, nr },
				      .a = NAN,
				      .b = NAN,
				      .change = change,
				      .low = NAN,
				      .high = NAN,
				      .effect = NAN,
				      .p = NAN,
				      .adjusted = NAN,
				      .cost = INFINITY,
				      .is_changed = true };

	/* The kernel's numbers and waits depend on everything else that the machine does. */
	if (of->row.series->is_kernel || (of->row.statistic != DIFF_MEDIAN && of->row.kind != DIFF_COUNT))
		return;
	if (fabs(change) >= least)
		blob_put(common_rows, &row, sizeof(row));
}

/* The variance of a mean of the units, on the scale of `ratio`. */
static double variance_of(const struct diff_work *work, unsigned int side)
{
	const struct diff_units *units = &work->units[side];
	const double mean = diff_units_mean(units);
	double sum = 0, scale = 1;

	if (units->nr < 2)
		return 0;
	for (size_t i = 0; i < units->nr; i++)
		sum += (units->values[i] - mean) * (units->values[i] - mean);
	if (work->row.kind == DIFF_COUNT)
		scale = mean > 0 ? 1 / (mean * mean) : 0;
	else if (work->row.kind == DIFF_CLASS)
		scale = work->whole > 0 ? 1 / (work->whole * work->whole) : 0;
	return scale * sum / (double)(units->nr - 1) / (double)units->nr;
}

/*
 * The median distance from `common` in standard deviations, if runs vary by `between` in addition to what their parts
 * show.
 */
static double typical_distance(const struct pool *pool, double between, double *room)
{
	double median, spread;

	for (size_t i = 0; i < pool->nr; i++) {
		const double variance = pool->variances[i] + between * between;

		room[i] = variance > 0 ? fabs(pool->ratios[i] - pool->common) / sqrt(variance) : 0;
	}
	stats_median_spread(room, pool->nr, &median, &spread);
	return median;
}

/*
 * How much runs vary beyond what their parts show, as a standard deviation: the value with which the median distance is
 * that of a normal distribution. The median is used, so that series which did change have no influence.
 */
static double between_runs(const struct pool *pool, double *room)
{
	const double normal = 0.6745; /* the upper quartile of the normal distribution */
	double low = 0, high = 1e-6;

	if (typical_distance(pool, 0, room) <= normal)
		return 0;
	while (high < 1e6 && typical_distance(pool, high, room) > normal)
		high *= 2;
	for (int i = 0; i < 30; i++) {
		const double middle = (low + high) / 2;

		if (typical_distance(pool, middle, room) > normal)
			low = middle;
		else
			high = middle;
	}
	return high;
}

/*
 * Parts of runs: a series must also stand out from those of its pool, whose changes show how much runs vary. Returns
 * the least change that counts in the pool.
 */
static double judge_pool(struct pool *pool)
{
	double spread, between, *room = pool->room;

	/*
	 * The durations of the slowest spans depend most on the machine's other work, and with so few series nothing
	 * shows how much.
	 */
	for (size_t i = 0; pool->nr < DIFF_SERIES_ENOUGH && i < pool->nr; i++) {
		if (pool->works[i]->row.statistic == DIFF_P95 || pool->works[i]->row.statistic == DIFF_P99)
			pool->works[i]->row.p = 1;
	}
	if (pool->nr < DIFF_SERIES_ENOUGH)
		return DIFF_ALONE;
	memcpy(room, pool->ratios, pool->nr * sizeof(*room));
	stats_median_spread(room, pool->nr, &pool->common, &spread);
	between = between_runs(pool, room);
	for (size_t i = 0; i < pool->nr; i++) {
		struct diff_work *work = pool->works[i];
		struct diff_row *row = &work->row;
		const double distance = fabs(pool->ratios[i] - pool->common);
		const double deviation = sqrt(pool->variances[i] + between * between);
		const size_t df = row->nr_units[0] + row->nr_units[1] - 2;

		if (deviation > 0)
			row->p = stats_student_p(distance / deviation, (double)(df < pool->nr ? df : pool->nr - 1));
		else
			row->p = distance > 0 ? 0 : 1;
		work->ratio -= pool->common;
		take_common(work, pool->common);
	}
	return DIFF_THRESHOLD;
}

static bool is_in_pool(const struct pool *pool, const struct diff_work *work)
{
	return !pool->nr || is_same_pool(pool->works[0], work);
}

int diff_pools_judge(struct diff_work *works, size_t nr_works, double threshold, double *ret_least,
		     struct blob *common)
{
	double *numbers = calloc(3 * nr_works + 1, sizeof(*numbers));
	struct pool pool = { .works = calloc(nr_works + 1, sizeof(struct diff_work *)) };
	bool *is_judged = calloc(nr_works + 1, sizeof(*is_judged));
	const int err = numbers && pool.works && is_judged ? 0 : -ENOMEM;

	pool.ratios = numbers;
	for (size_t first = 0; !err && first < nr_works; first++) {
		double of_pool;

		if (is_judged[first])
			continue;
		pool.nr = 0;
		pool.variances = numbers + nr_works;
		pool.room = numbers + 2 * nr_works;
		for (size_t i = first; i < nr_works; i++) {
			struct diff_work *work = &works[i];

			if (!is_in_pool(&pool, work))
				continue;
			pool.ratios[pool.nr] = work->ratio;
			pool.variances[pool.nr] = variance_of(work, 0) + variance_of(work, 1);
			pool.works[pool.nr++] = work;
		}
		of_pool = judge_pool(&pool);
		if (pool.nr >= DIFF_SERIES_ENOUGH)
			note_common(common, threshold, pool.works[0], pool.common, pool.nr);
		for (size_t i = 0; i < pool.nr; i++) {
			ret_least[pool.works[i] - works] = of_pool;
			is_judged[pool.works[i] - works] = true;
		}
	}
	free(numbers);
	free(pool.works);
	free(is_judged);
	return err;
}
