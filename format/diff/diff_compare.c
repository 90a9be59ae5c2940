/* SPDX-License-Identifier: MIT */
/*
 * Compares series. The test is a rank test of the units (stats_mann_whitney); if units are runs, and there are too few
 * of them for a rank test to be significant among this many comparisons, it is a t test of their logarithms. Holm's
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

/* --------------------------------------------------------------------------------------------------- one comparison */

/* Whether all units of both sides have the same value. */
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

/* Compute Cliff's delta of all values, and count the values. 0; -ENOMEM. */
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

/* Compute a, b, the change and its interval from the units. 0; -ENOMEM. */
static int measure_change(const struct compare *c, const struct diff_series *series, struct diff_work *work)
{
	struct diff_row *row = &work->row;
	const double a = diff_units_mean(&work->units[0]), b = diff_units_mean(&work->units[1]);
	struct stats_interval interval;
	double whole = a;

	/* The seed may be any number, but must be the same each time. */
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

/* Add a comparison; if the values never vary, it is left out. 0; -ENOMEM. */
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

/*
 * Add the comparisons of a series. For durations: of the median, and of the highest quantile for which units have
 * enough values.
 */
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

/* The size of the change, without the common change of its pool. */
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
		err = diff_pools_judge(c->works, c->nr_works, c->threshold, least, &c->common);
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

/* Changed rows come first; then those that cost the most time; then those that changed the most. */
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
