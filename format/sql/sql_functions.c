/* SPDX-License-Identifier: MIT */
/*
 * Aggregates for durations. They keep the values of a group and answer when the group ends:
 *	percentile(X, P)		the P-th percentile, 0 to 100, of the numbers X, interpolated between neighbours
 *	histogram(X)			JSON: [[low, high, count], ...], powers of two and their negatives
 *	interval_overlap(BEGIN, END)	how long at least two of the intervals overlap
 */
#include "format/sql/sql_open.h"
#include "format/sql/sql_sort.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

/* Values of one group, as keys of sql_sort.h. */
struct list {
	uint64_t *keys;
	size_t nr, room;
};

/* False: out of memory, which is reported. */
static bool list_add(sqlite3_context *context, struct list *list, uint64_t key)
{
	if (list->nr == list->room) {
		const size_t room = list->room ? 2 * list->room : 64;
		uint64_t *more = reallocarray(list->keys, room, sizeof(*more));

		if (!more) {
			sqlite3_result_error_nomem(context);
			return false;
		}
		list->keys = more;
		list->room = room;
	}
	list->keys[list->nr++] = key;
	return true;
}

/* False: out of memory, or the statement was interrupted, which is reported. */
static bool list_sort(sqlite3_context *context, struct list *list)
{
	const int err = sql_sort(sqlite3_context_db_handle(context), &list->keys, list->nr);

	if (err == -EINTR)
		sqlite3_result_error_code(context, SQLITE_INTERRUPT);
	else if (err)
		sqlite3_result_error_nomem(context);
	return !err;
}

/* ------------------------------------------------------------------------------------------------------- percentile */

struct percentile {
	struct list numbers;
	double percent;
	bool has_percent;
};

/* Whether a value is a number, or a text that is one. */
static bool is_number(sqlite3_value *value)
{
	const int type = sqlite3_value_numeric_type(value);

	return type == SQLITE_INTEGER || type == SQLITE_FLOAT;
}

static void percentile_step(sqlite3_context *context, int argc, sqlite3_value **argv)
{
	struct percentile *p = sqlite3_aggregate_context(context, sizeof(*p));
	const double percent = sqlite3_value_double(argv[1]);

	(void)argc;
	if (!p || sqlite3_value_type(argv[0]) == SQLITE_NULL)
		return;
	if (!is_number(argv[1]) || !(percent >= 0 && percent <= 100) ||
	    (p->has_percent && (percent < p->percent || percent > p->percent))) {
		sqlite3_result_error(context, "percentile(X, P): P is a constant from 0 to 100", -1);
		return;
	}
	p->percent = percent;
	p->has_percent = true;
	if (!is_number(argv[0])) {
		sqlite3_result_error(context, "percentile(X, P): X is a number or NULL", -1);
		return;
	}
	list_add(context, &p->numbers, sql_key_of_double(sqlite3_value_double(argv[0])));
}

/*
 * The value at `part` of the way from low to high; 0 <= part < 1, low <= high. Both may be infinite. The result is NaN,
 * which SQL shows as NULL, if low is -infinity, high is infinity, and part is not 0.
 */
static double between(double low, double high, double part)
{
	if (!(part > 0) || !(low < high))
		return low;
	return isfinite(high - low) ? low + part * (high - low) : (1 - part) * low + part * high;
}

static void percentile_final(sqlite3_context *context)
{
	struct percentile *p = sqlite3_aggregate_context(context, 0);
	double place, low, high;
	size_t below;

	if (!p || !p->numbers.nr)
		return;
	if (list_sort(context, &p->numbers)) {
		place = p->percent / 100 * (double)(p->numbers.nr - 1);
		below = (size_t)place;
		low = sql_key_double(p->numbers.keys[below]);
		high = below + 1 < p->numbers.nr ? sql_key_double(p->numbers.keys[below + 1]) : low;
		sqlite3_result_double(context, between(low, high, place - (double)below));
	}
	free(p->numbers.keys);
}

/* -------------------------------------------------------------------------------------------------------- histogram */

#define WIDTHS 64

/* The bucket of a magnitude is its number of bits: bucket i has 2^(i-1) to 2^i - 1. Only -2^63 has 64 bits. */
struct buckets {
	sqlite3_int64 zero, above[WIDTHS + 1], below[WIDTHS + 1];
};

static void histogram_step(sqlite3_context *context, int argc, sqlite3_value **argv)
{
	struct buckets *b = sqlite3_aggregate_context(context, sizeof(*b));
	sqlite3_int64 value;

	(void)argc;
	if (!b || sqlite3_value_type(argv[0]) == SQLITE_NULL)
		return;
	value = sqlite3_value_int64(argv[0]);
	if (!value)
		b->zero++;
	else if (value > 0)
		b->above[WIDTHS - __builtin_clzll((unsigned long long)value)]++;
	else
		b->below[WIDTHS - __builtin_clzll(-(unsigned long long)value)]++;
}

/* Append a bucket to the text, which is freed on failure. NULL: out of memory. */
static char *add_bucket(char *text, sqlite3_int64 low, sqlite3_int64 high, sqlite3_int64 count)
{
	if (!text || !count)
		return text;
	return sqlite3_mprintf("%z%s[%lld,%lld,%lld]", text, text[1] ? "," : "", low, high, count);
}

static void histogram_final(sqlite3_context *context)
{
	const struct buckets *b = sqlite3_aggregate_context(context, 0);
	char *text = sqlite3_mprintf("[");

	for (int i = WIDTHS; b && i > 0; i--) {
		const sqlite3_int64 near = i < WIDTHS ? -(sqlite3_int64)(1ull << (i - 1)) : INT64_MIN;

		/* Bucket 64 has only the lowest number. */
		text = add_bucket(text, i < WIDTHS ? 2 * near + 1 : near, near, b->below[i]);
	}
	text = b ? add_bucket(text, 0, 0, b->zero) : text;
	for (int i = 1; b && i < WIDTHS; i++)
		text = add_bucket(text, (sqlite3_int64)(1ull << (i - 1)), (sqlite3_int64)((1ull << i) - 1),
				  b->above[i]);
	text = text ? sqlite3_mprintf("%z]", text) : NULL;
	if (text)
		sqlite3_result_text(context, text, -1, sqlite3_free);
	else
		sqlite3_result_error_nomem(context);
}

/* ------------------------------------------------------------------------------------------------- interval_overlap */

struct intervals {
	struct list begins, ends;
};

static void overlap_step(sqlite3_context *context, int argc, sqlite3_value **argv)
{
	struct intervals *v = sqlite3_aggregate_context(context, sizeof(*v));

	(void)argc;
	if (!v || sqlite3_value_type(argv[0]) == SQLITE_NULL || sqlite3_value_type(argv[1]) == SQLITE_NULL)
		return;
	/* An empty interval overlaps nothing. */
	if (sqlite3_value_int64(argv[1]) <= sqlite3_value_int64(argv[0]))
		return;
	if (list_add(context, &v->begins, sql_key_of_int(sqlite3_value_int64(argv[0]))))
		list_add(context, &v->ends, sql_key_of_int(sqlite3_value_int64(argv[1])));
}

/*
 * Walks over begins and ends in time order; `open` is the number of intervals around the present moment. The result may
 * be above INT64_MAX.
 */
static uint64_t overlap_of(const uint64_t *begins, const uint64_t *ends, size_t nr)
{
	uint64_t total = 0, since = 0;
	size_t open = 0, begin = 0, end = 0;

	while (end < nr) {
		if (begin < nr && begins[begin] < ends[end]) {
			if (++open == 2)
				since = begins[begin];
			begin++;
		} else {
			if (open-- == 2)
				total += ends[end] - since;
			end++;
		}
	}
	return total;
}

static void overlap_final(sqlite3_context *context)
{
	struct intervals *v = sqlite3_aggregate_context(context, 0);
	uint64_t total = 0;
	bool is_known = true;

	/* There is one end fewer than begins if there was no memory for the last end. */
	if (v && v->ends.nr && v->begins.nr == v->ends.nr) {
		is_known = list_sort(context, &v->begins) && list_sort(context, &v->ends);
		total = is_known ? overlap_of(v->begins.keys, v->ends.keys, v->begins.nr) : 0;
	}
	/* The result is limited to the largest number of SQLite. */
	if (is_known)
		sqlite3_result_int64(context, total < INT64_MAX ? (sqlite3_int64)total : INT64_MAX);
	if (v) {
		free(v->begins.keys);
		free(v->ends.keys);
	}
}

int sql_register_functions(sqlite3 *db)
{
	const int flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS;
	int code = sqlite3_create_function_v2(db, "percentile", 2, flags, NULL, NULL, percentile_step, percentile_final,
					      NULL);

	if (code == SQLITE_OK)
		code = sqlite3_create_function_v2(db, "histogram", 1, flags, NULL, NULL, histogram_step,
						  histogram_final, NULL);
	if (code == SQLITE_OK)
		code = sqlite3_create_function_v2(db, "interval_overlap", 2, flags, NULL, NULL, overlap_step,
						  overlap_final, NULL);
	return code;
}
