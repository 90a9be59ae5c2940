/* SPDX-License-Identifier: MIT */
/*
 * Compares series. The test is a rank test of the units (stats_mann_whitney); of runs, if there are too few of them for
 * a rank test to give a p that is significant among this many comparisons, a t test of their logarithms. Holm's
 * correction bounds the probability of any false alarm, whatever the dependence of the comparisons: a span, its inner
 * spans and its classes depend on each other, and one false alarm suffices to stop a build.
 */
#include "format/diff/diff_private.h"

#include "format/stats/stats.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct compare {
	const struct diff_series *series;
	struct diff_side sides[2];
	double threshold; /* negative: the default */
	bool by_runs;
	struct diff_work *works;
	size_t nr_works;
	struct blob common; /* diff_row */
};

/* Comparisons whose changes between two runs of the same program can be expected to be alike. */
struct pool {
	struct diff_work **works;
	size_t nr;
	double *ratios, *variances, *room;
	double common; /* the median of the ratios */
};

/* --------------------------------------------------------------------------------------------------- one comparison */

static double mean_of(const struct diff_units *units)
{
	double sum = 0;

	for (size_t i = 0; i < units->nr; i++)
		sum += units->values[i];
	return sum / (double)units->nr;
}

/* All units of both sides have the same value. */
static bool is_constant(const struct diff_units units[2])
{
	for (unsigned int s = 0; s < 2; s++) {
		for (size_t i = 0; i < units[s].nr; i++) {
			if (units[s].values[i] < units[0].values[0] || units[s].values[i] > units[0].values[0])
				return false;
		}
	}
	return true;
}

/* Cliff's delta of all values, and their numbers. 0; -ENOMEM. */
static int measure_effect(const struct compare *c, const struct diff_series *series, struct diff_row *row)
{
	double *values[2] = { NULL, NULL };
	struct stats_rank rank;
	size_t nr;
	int err = 0;

	for (unsigned int s = 0; s < 2; s++) {
		const struct diff_side side = c->sides[s];
		size_t nr_all = 0;

		for (unsigned int run = side.first; run < side.first + side.nr; run++)
			nr_all += series->runs[run].size / sizeof(double);
		values[s] = calloc(nr_all + 1, sizeof(double));
		if (!values[s]) {
			err = -ENOMEM;
			break;
		}
		for (unsigned int run = side.first; run < side.first + side.nr; run++) {
			const double *from = diff_values(&series->runs[run], nr);

			if (nr)
				memcpy(values[s] + row->nr_values[s], from, nr * sizeof(double));
			row->nr_values[s] += nr;
		}
	}
	if (!err) {
		stats_mann_whitney(values[0], row->nr_values[0], values[1], row->nr_values[1], &rank);
		row->effect = rank.delta;
	}
	free(values[0]);
	free(values[1]);
	return err;
}

/* The mean duration of the span of a class on side A. */
static double whole_of(const struct compare *c, const struct diff_series *series)
{
	const struct diff_series *whole = &c->series[series->whole];
	double sum = 0;
	size_t nr, nr_all = 0;

	for (unsigned int run = 0; run < c->sides[0].nr; run++) {
		const double *values = diff_values(&whole->runs[run], nr);

		for (size_t i = 0; i < nr; i++)
			sum += values[i];
		nr_all += nr;
	}
	return nr_all ? sum / (double)nr_all : 0;
}

static double relative(double difference, double to)
{
	return to > 0 ? difference / to : difference > 0 ? INFINITY : difference < 0 ? -INFINITY : 0;
}

/* a, b, the change and its interval, from units. 0; -ENOMEM. */
static int measure_change(const struct compare *c, const struct diff_series *series, struct diff_work *work)
{
	struct diff_row *row = &work->row;
	const double a = mean_of(&work->units[0]), b = mean_of(&work->units[1]);
	struct stats_interval interval;
	double whole = a;

	/* Any number serves as the seed; it must only be the same each time. */
	if (stats_bootstrap(work->units[0].values, work->units[0].nr, work->units[1].values, work->units[1].nr, 0.95, 1,
			    &interval))
		return -ENOMEM;
	row->a = a;
	row->b = b;
	if (diff_is_log(row->statistic)) {
		row->a = exp(a);
		row->b = exp(b);
		row->change = expm1(b - a);
		row->low = expm1(interval.low);
		row->high = expm1(interval.high);
		work->ratio = b - a;
		return 0;
	}
	if (row->kind == DIFF_CLASS)
		whole = work->whole = whole_of(c, series);
	row->change = relative(b - a, whole);
	row->low = relative(interval.low, whole);
	row->high = relative(interval.high, whole);
	work->ratio = row->change;
	if (row->kind == DIFF_COUNT) {
		row->a = a * (double)work->units[0].nr / c->sides[0].nr;
		row->b = b * (double)work->units[1].nr / c->sides[1].nr;
		work->ratio = log((row->b + 0.5) / (row->a + 0.5));
	}
	return 0;
}

static double cost_of(const struct compare *c, const struct diff_row *row)
{
	const double part = row->statistic == DIFF_P95 ? 0.05 : row->statistic == DIFF_P99 ? 0.01 : 1;

	if (row->kind == DIFF_COUNT)
		return 0;
	return fabs(row->b - row->a) * part * (double)row->nr_values[1] / c->sides[1].nr * fabs(row->effect);
}

/* 0; -ENOMEM. A comparison of what never varies is left out. */
static int add_work(struct compare *c, const struct diff_series *series, enum diff_statistic statistic)
{
	struct diff_work *work = &c->works[c->nr_works];
	/* The effect is that of all values, whatever the statistic. */
	const struct diff_row *known = c->nr_works && work[-1].row.series == series ? &work[-1].row : NULL;
	int err = 0;

	*work = (struct diff_work){ .row = { .series = series, .kind = series->kind, .statistic = statistic } };
	for (unsigned int s = 0; !err && s < 2; s++) {
		err = diff_units_make(series, c->sides[s], c->by_runs, statistic, &work->units[s]);
		work->row.nr_units[s] = work->units[s].nr;
	}
	if (!err && !is_constant(work->units)) {
		if (known) {
			work->row.effect = known->effect;
			memcpy(work->row.nr_values, known->nr_values, sizeof(known->nr_values));
		} else {
			err = measure_effect(c, series, &work->row);
		}
		if (!err)
			err = measure_change(c, series, work);
		work->row.cost = cost_of(c, &work->row);
		c->nr_works++;
		return err;
	}
	free(work->units[0].values);
	free(work->units[1].values);
	return err;
}

/* Durations: their median, and the highest quantile that units have values for. */
static int add_series(struct compare *c, const struct diff_series *series)
{
	const size_t least = diff_units_least(series, c->sides, c->by_runs);
	int err;

	if (!least)
		return 0;
	if (series->kind == DIFF_COUNT || series->kind == DIFF_CLASS)
		return add_work(c, series, series->kind == DIFF_COUNT ? DIFF_NUMBER : DIFF_MEAN);
	err = add_work(c, series, DIFF_MEDIAN);
	if (!err && least >= 20)
		err = add_work(c, series, least >= 100 ? DIFF_P99 : DIFF_P95);
	return err;
}

/* ------------------------------------------------------------------------------------------------------ comparisons */

/* Side B without what all series of the pool have in common. */
static void take_common(struct diff_work *work, double common)
{
	const bool is_count = work->row.kind == DIFF_COUNT;
	const double add = is_count ? 0 : work->row.kind == DIFF_CLASS ? -common * work->whole : -common;
	const double scale = is_count ? exp(-common) : 1;

	for (size_t i = 0; i < work->units[1].nr; i++)
		work->units[1].values[i] = work->units[1].values[i] * scale + add;
}

/* The rank test, or the t test if no order of so few runs would be significant. */
static double test_work(struct diff_work *work, bool by_runs, double nr_tests)
{
	struct diff_units *a = &work->units[0], *b = &work->units[1];
	struct stats_rank rank;

	if (by_runs && stats_rank_least_p(a->nr, b->nr) * nr_tests > DIFF_LEVEL / 2)
		return stats_welch_p(a->values, a->nr, b->values, b->nr);
	stats_mann_whitney(a->values, a->nr, b->values, b->nr, &rank);
	return rank.p;
}

static bool is_same_pool(const struct diff_work *x, const struct diff_work *y)
{
	return x->row.kind == y->row.kind && diff_is_log(x->row.statistic) == diff_is_log(y->row.statistic) &&
	       (x->row.statistic == DIFF_MEDIAN) == (y->row.statistic == DIFF_MEDIAN) &&
	       x->row.series->is_kernel == y->row.series->is_kernel &&
	       !strcmp(x->row.series->class, y->row.series->class);
}

/* What all series of a pool have in common is one change, which no single series would show. */
static void note_common(struct compare *c, const struct diff_work *of, double common, size_t nr)
{
	const bool is_ratio = of->row.kind != DIFF_CLASS;
	const double change = is_ratio ? expm1(common) : common;
	/* It is not tested, so a lower threshold must not apply. */
	const double least = fmax(DIFF_ALONE, c->threshold);
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
		blob_put(&c->common, &row, sizeof(row));
}

/* The variance of a mean of the units, on the scale of `ratio`. */
static double variance_of(const struct diff_work *work, unsigned int side)
{
	const struct diff_units *units = &work->units[side];
	const double mean = mean_of(units);
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

/* The median distance from `common` in standard deviations, if runs vary by `between` besides what their parts show. */
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
 * How much runs vary beyond what their parts show, as a standard deviation: as much as makes the median distance what
 * it is in a normal distribution. A median, so that series which did change have no influence on it.
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
static double judge_pool(struct compare *c, struct pool *pool)
{
	double spread, between, *room = pool->room;

	/* How slow the slowest spans are depends most on what else the machine does: here nothing shows how much. */
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
	note_common(c, pool->works[0], pool->common, pool->nr);
	return DIFF_THRESHOLD;
}

static bool is_in_pool(const struct pool *pool, const struct diff_work *work)
{
	return !pool->nr || is_same_pool(pool->works[0], work);
}

/* Every comparison gets the least change that counts. 0; -ENOMEM. */
static int judge_runs(struct compare *c, double *least)
{
	double *numbers = calloc(3 * c->nr_works + 1, sizeof(*numbers));
	struct pool pool = { .works = calloc(c->nr_works + 1, sizeof(struct diff_work *)) };
	bool *is_judged = calloc(c->nr_works + 1, sizeof(*is_judged));
	const int err = numbers && pool.works && is_judged ? 0 : -ENOMEM;

	pool.ratios = numbers;
	for (size_t first = 0; !err && first < c->nr_works; first++) {
		double of_pool;

		if (is_judged[first])
			continue;
		pool.nr = 0;
		pool.variances = numbers + c->nr_works;
		pool.room = numbers + 2 * c->nr_works;
		for (size_t i = first; i < c->nr_works; i++) {
			struct diff_work *work = &c->works[i];

			if (!is_in_pool(&pool, work))
				continue;
			pool.ratios[pool.nr] = work->ratio;
			pool.variances[pool.nr] = variance_of(work, 0) + variance_of(work, 1);
			pool.works[pool.nr++] = work;
		}
		of_pool = judge_pool(c, &pool);
		for (size_t i = 0; i < pool.nr; i++) {
			least[pool.works[i] - c->works] = of_pool;
			is_judged[pool.works[i] - c->works] = true;
		}
	}
	free(numbers);
	free(pool.works);
	free(is_judged);
	return err;
}

/* The change besides what all have in common. */
static double distance_of(const struct diff_work *work)
{
	return fabs(work->row.kind == DIFF_CLASS ? work->ratio : expm1(work->ratio));
}

static int judge(struct compare *c)
{
	double *least = calloc(c->nr_works + 1, sizeof(*least)), *p = calloc(c->nr_works + 1, sizeof(*p));
	int err = least && p ? 0 : -ENOMEM;

	for (size_t i = 0; !err && i < c->nr_works; i++)
		least[i] = DIFF_THRESHOLD;
	if (!err && !c->by_runs)
		err = judge_runs(c, least);
	for (size_t i = 0; !err && i < c->nr_works; i++) {
		struct diff_row *row = &c->works[i].row;

		row->p = p[i] = fmax(row->p, test_work(&c->works[i], c->by_runs, (double)c->nr_works));
	}
	if (!err)
		err = stats_holm(p, c->nr_works, p);
	for (size_t i = 0; !err && i < c->nr_works; i++) {
		struct diff_row *row = &c->works[i].row;

		row->adjusted = p[i];
		row->is_changed = p[i] < DIFF_LEVEL &&
				  distance_of(&c->works[i]) >= (c->threshold < 0 ? least[i] : c->threshold);
	}
	free(least);
	free(p);
	return err;
}

/* ------------------------------------------------------------------------------------------------------------ order */

/* Changed ones first; what costs the most time; counts by how much they changed. */
static int by_importance(const void *a, const void *b)
{
	const struct diff_row *x = a, *y = b;

	if (x->is_changed != y->is_changed)
		return x->is_changed ? -1 : 1;
	if (x->cost > y->cost || x->cost < y->cost)
		return x->cost > y->cost ? -1 : 1;
	if (fabs(x->change) > fabs(y->change) || fabs(x->change) < fabs(y->change))
		return fabs(x->change) > fabs(y->change) ? -1 : 1;
	if (x->series && y->series && strcmp(x->series->name, y->series->name) != 0)
		return strcmp(x->series->name, y->series->name);
	return (int)x->kind * 8 + (int)x->statistic - (int)y->kind * 8 - (int)y->statistic;
}

static int make_rows(const struct compare *c, struct diff_result *ret_result)
{
	const size_t nr_common = c->common.size / sizeof(struct diff_row);
	struct diff_row *rows = calloc(c->nr_works + nr_common + 1, sizeof(*rows));

	if (!rows || c->common.error) {
		free(rows);
		return -ENOMEM;
	}
	if (nr_common)
		memcpy(rows, c->common.data, c->common.size);
	for (size_t i = 0; i < c->nr_works; i++)
		rows[nr_common + i] = c->works[i].row;
	*ret_result = (struct diff_result){ .rows = rows, .nr_rows = c->nr_works + nr_common, .by_runs = c->by_runs };
	qsort(rows, ret_result->nr_rows, sizeof(*rows), by_importance);
	while (ret_result->nr_changed < ret_result->nr_rows && rows[ret_result->nr_changed].is_changed)
		ret_result->nr_changed++;
	return 0;
}

int diff_compare(const struct diff_series *series, size_t nr_series, unsigned int runs_a, unsigned int runs_b,
		 const struct diff_options *options, struct diff_result *ret_result)
{
	struct compare c = { .series = series,
			     .sides = { { 0, runs_a }, { runs_a, runs_b } },
			     .threshold = options->threshold,
			     .by_runs = runs_a + runs_b >= DIFF_RUNS_ENOUGH,
			     .common = BLOB_INIT };
	int err;

	/* A series makes two comparisons at most. */
	c.works = calloc(2 * nr_series + 1, sizeof(*c.works));
	err = c.works ? 0 : -ENOMEM;
	for (size_t i = 0; !err && i < nr_series; i++)
		err = add_series(&c, &series[i]);
	if (!err)
		err = judge(&c);
	if (!err)
		err = make_rows(&c, ret_result);
	for (size_t i = 0; i < c.nr_works; i++) {
		free(c.works[i].units[0].values);
		free(c.works[i].units[1].values);
	}
	free(c.works);
	blob_free(&c.common);
	return err;
}

void diff_result_free(struct diff_result *result)
{
	free(result->rows);
	*result = (struct diff_result){ 0 };
}
