/* SPDX-License-Identifier: MIT */
/* See hist_rows.h. Buckets are much narrower than rows, and each is within one row. */
#include "format/hist/hist_rows.h"

/* Rows are divided into smaller ones only while there are fewer than these. */
#define ROWS_ENOUGH  24u
#define DIVISION_MAX 3u

/* The row of a value. */
static struct hist_bucket row_at(int64_t value, unsigned int division)
{
	const uint64_t magnitude = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
	const uint64_t size = magnitude ? UINT64_C(1) << (63 - __builtin_clzll(magnitude)) : 1;
	const uint64_t width = size >> division ? size >> division : 1;
	const uint64_t low = magnitude / width * width, high = low + (width - 1);
	struct hist_bucket row = { .low = (int64_t)low, .high = (int64_t)high };

	if (value < 0) {
		row.low = high > INT64_MAX ? INT64_MIN : -(int64_t)high;
		row.high = low > INT64_MAX ? INT64_MIN : -(int64_t)low;
	}
	return row;
}

static void start(struct hist_rows *rows)
{
	rows->next = rows->hist->min;
	rows->is_over = !rows->hist->count;
	rows->place = 0;
	rows->has_bucket = hist_next(rows->hist, &rows->place, &rows->bucket);
}

bool hist_rows_next(struct hist_rows *rows, struct hist_bucket *ret_row)
{
	struct hist_bucket row;

	if (rows->is_over)
		return false;
	row = row_at(rows->next, rows->division);
	while (rows->has_bucket && rows->bucket.low <= row.high) {
		row.count += rows->bucket.count;
		rows->has_bucket = hist_next(rows->hist, &rows->place, &rows->bucket);
	}
	rows->is_over = row.high >= rows->hist->max;
	if (!rows->is_over)
		rows->next = row.high + 1;
	*ret_row = row;
	return true;
}

static unsigned int count_rows(struct hist_rows *rows)
{
	struct hist_bucket row;
	unsigned int nr = 0;

	rows->highest = 0;
	for (start(rows); hist_rows_next(rows, &row); nr++)
		if (row.count > rows->highest)
			rows->highest = row.count;
	return nr;
}

void hist_rows_open(const struct hist *hist, struct hist_rows *ret_rows)
{
	*ret_rows = (struct hist_rows){ .hist = hist, .division = DIVISION_MAX };
	while (count_rows(ret_rows) > ROWS_ENOUGH && ret_rows->division)
		ret_rows->division--;
	start(ret_rows);
}
