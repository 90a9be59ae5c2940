/* SPDX-License-Identifier: MIT */
/* A comparison in the making. */
#ifndef FORMAT_DIFF_PRIVATE_H
#define FORMAT_DIFF_PRIVATE_H

#include "format/diff/diff.h"

/* The runs of one side. */
struct diff_side {
	unsigned int first, nr;
};

/* The values of the units of one side, on the scale on which they are tested. */
struct diff_units {
	double *values;
	size_t nr;
};

struct diff_work {
	struct diff_row row;
	struct diff_units units[2];
	double whole; /* of DIFF_CLASS: the mean duration of its span */
	double ratio; /* on a scale on which all series of a kind can be compared; of DIFF_CLASS: as row.change */
};

#define diff_values(blob, nr) ((nr) = (blob)->size / sizeof(double), (double *)(void *)(blob)->data)

/* Whether the values of this statistic are tested as logarithms. */
static inline bool diff_is_log(enum diff_statistic statistic)
{
	return statistic == DIFF_MEDIAN || statistic == DIFF_P95 || statistic == DIFF_P99;
}

/*
 * The units of one side of a series: runs, or parts of them. 0; -ENOMEM. A run without values is not a unit. The caller
 * frees ret_units->values.
 */
int diff_units_make(const struct diff_series *series, struct diff_side side, bool by_runs,
		    enum diff_statistic statistic, struct diff_units *ret_units);

/*
 * The least number of values in a unit, over both sides, for which side A and side B have units. 0: one of them has
 * none.
 */
size_t diff_units_least(const struct diff_series *series, const struct diff_side sides[2], bool by_runs);

/* Their mean. */
double diff_units_mean(const struct diff_units *units);

/*
 * Parts of runs: sets the p of each comparison by how far it stands out from its pool, takes what the pool has in
 * common out of the units of side B, and adds a row to `common` where that is a change. ret_least gets the least change
 * that counts of each comparison. `threshold`: as in struct diff_options. 0; -ENOMEM.
 */
int diff_pools_judge(struct diff_work *works, size_t nr_works, double threshold, double *ret_least,
		     struct blob *common);

#endif
