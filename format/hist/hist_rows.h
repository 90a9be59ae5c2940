/* SPDX-License-Identifier: MIT */
/*
 * A histogram as a few readable rows: each power of two is one row, or is divided into 2, 4 or 8 rows of equal width
 * if the values have few powers of two. Rows between the lowest and the highest value that have no value are there,
 * too.
 */
#ifndef FORMAT_HIST_ROWS_H
#define FORMAT_HIST_ROWS_H

#include "format/hist/hist.h"

struct hist_rows {
	const struct hist *hist;
	unsigned int division; /* each power of two is divided into 2 to the power of this */
	int64_t next;	       /* where the next row begins */
	bool is_over;
	uint32_t place; /* the place for hist_next() */
	bool has_bucket;
	struct hist_bucket bucket; /* the next bucket, which is in no row yet */
	uint64_t highest;	   /* the largest count of a row */
};

/* Starts before the first row. */
void hist_rows_open(const struct hist *hist, struct hist_rows *ret_rows);

/* Values from low to high, both included. False: there are no more. */
bool hist_rows_next(struct hist_rows *rows, struct hist_bucket *ret_row);

#endif
