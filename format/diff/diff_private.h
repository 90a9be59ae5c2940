/* SPDX-License-Identifier: MIT */
/* Shared by the files that make a comparison. */
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
 * The number of values in the unit, of either side, that has the fewest. 0: a side has no unit.
 */
size_t diff_units_least(const struct diff_series *series, const struct diff_side sides[2], bool by_runs);

/* The mean of the units' values. */
double diff_units_mean(const struct diff_units *units);

/*
 * For units that are parts of runs. The changes of a pool, which is the series of a kind, have a median: their common
 * change. Sets the p of each comparison by how far its change is from the common one, takes the common change out of
 * the units of side B, and adds a row to `common` for each pool whose common change counts. ret_least gets, for each
 * comparison, the least change that counts. `threshold`: as in struct diff_options. 0; -ENOMEM.
 */
int diff_pools_judge(struct diff_work *works, size_t nr_works, double threshold, double *ret_least,
		     struct blob *common);

#endif
