/* SPDX-License-Identifier: MIT */
/*
 * Finds the differences between two sides, each of which is one or more recordings (runs). diff_compare() compares
 * series of numbers from traces, each series of side A with that of side B: durations of a span, its wait classes,
 * waits after a wake-up, numbers of events.
 *
 * Events of one run are not independent of each other: a run as a whole can be faster or slower. So units are compared,
 * each with one value:
 * - With at least DIFF_RUNS_ENOUGH runs on both sides together a unit is a run, and nothing else is assumed.
 * - Otherwise a unit is a part of a run, DIFF_PARTS on each side. Parts show how much a run varies within itself, but
 *   not how much runs differ. Therefore a series must also stand out from all series of its kind, whose changes show
 *   how much the runs differ. If there are fewer than DIFF_SERIES_ENOUGH of these, only a change of at least DIFF_ALONE
 *   counts, and no change of a quantile.
 *
 * diff_collect.h collects series. recorder-diff(1) describes all of it for users.
 */
#ifndef FORMAT_DIFF_H
#define FORMAT_DIFF_H

#include "format/io/blob.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DIFF_LEVEL	   0.05 /* the probability that anything is reported if nothing changed */
#define DIFF_THRESHOLD	   0.02 /* the least change that is reported */
#define DIFF_ALONE	   0.2
#define DIFF_RUNS_ENOUGH   6u
#define DIFF_SERIES_ENOUGH 10u
#define DIFF_PARTS	   12u

enum diff_kind {
	DIFF_SPAN,    /* durations of a span */
	DIFF_CLASS,   /* for each span, the time that it spent in one class of 'recorder why' */
	DIFF_LATENCY, /* waits for a CPU after a wake-up */
	DIFF_COUNT,   /* numbers of events, in DIFF_PARTS parts of each run with the same number of all events */
};

struct diff_series {
	enum diff_kind kind;
	bool is_kernel;
	const char *name;  /* "io:request"; of a latency: the task */
	const char *class; /* of DIFF_CLASS; otherwise "" */
	size_t whole;	   /* for DIFF_CLASS: the index of the series of its span's durations */
	struct blob *runs; /* values of each run, doubles, in the order of time; side A's runs first */
};

enum diff_statistic { DIFF_MEDIAN, DIFF_P95, DIFF_P99, DIFF_MEAN, DIFF_NUMBER };

/* "median", "p95" ... */
const char *diff_statistic_name(enum diff_statistic statistic);

/* One comparison. Times in ns. */
struct diff_row {
	const struct diff_series *series; /* NULL: the row is the common change of all series of a kind */
	enum diff_kind kind;
	enum diff_statistic statistic;
	size_t nr_values[2]; /* of sides A and B */
	size_t nr_units[2];
	double a, b;	    /* the values of the statistic; of DIFF_NUMBER: per run */
	double change;	    /* relative to a; of DIFF_CLASS: to the mean duration of the span. INFINITY: a is 0 */
	double low, high;   /* the interval of the change, with 95 % confidence */
	double effect;	    /* Cliff's delta of all values */
	double p, adjusted; /* adjusted for all comparisons; NAN: not tested */
	double cost;	    /* ns in a run of side B, weighted by the effect; determines the order of rows */
	bool is_changed;
};

struct diff_options {
	double threshold; /* the least change that is reported, as a fraction; negative: the default */
};

struct diff_result {
	struct diff_row *rows; /* changed ones first, and among these the most important ones */
	size_t nr_rows, nr_changed;
	bool by_runs; /* units are runs */
};

/* 0; -ENOMEM. The series must outlive the result. diff_result_free() also accepts a result of all zeros. */
int diff_compare(const struct diff_series *series, size_t nr_series, unsigned int runs_a, unsigned int runs_b,
		 const struct diff_options *options, struct diff_result *ret_result);
void diff_result_free(struct diff_result *result);

#endif
