/* SPDX-License-Identifier: MIT */
/* See sql_filter.h. */
#include "format/sql/sql_filter.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* 1: the value is usable. 0: it is of a kind that SQLite compares by rules of its own. -ENOMEM. */
static int read_value(sqlite3_value *from, struct sql_value *ret_value)
{
	const unsigned char *text;
	double real;
	char *copy;
	int size;

	switch (sqlite3_value_type(from)) {
	case SQLITE_INTEGER:
		*ret_value = sql_int(sqlite3_value_int64(from));
		return 1;
	case SQLITE_FLOAT:
		/* Compare 17.0 as 17, if it is from -2^63 to below 2^63. */
		real = sqlite3_value_double(from);
		if (!(real >= -0x1p63 && real < 0x1p63) || real != trunc(real))
			return 0;
		*ret_value = sql_int((int64_t)real);
		return 1;
	case SQLITE_NULL:
		*ret_value = sql_null();
		return 1;
	case SQLITE_TEXT:
		text = sqlite3_value_text(from);
		size = sqlite3_value_bytes(from);
		copy = text ? malloc((size_t)size + 1) : NULL;
		if (!copy)
			return -ENOMEM;
		memcpy(copy, text, (size_t)size);
		*ret_value = (struct sql_value){ .kind = SQL_TEXT, .text = copy, .size = (size_t)size };
		return 1;
	default:
		return 0;
	}
}

static int by_value(const void *a, const void *b)
{
	const struct sql_value *x = a, *y = b;

	if (x->kind != y->kind)
		return x->kind == SQL_INT ? -1 : 1;
	if (x->kind == SQL_INT)
		return x->number < y->number ? -1 : x->number > y->number;
	if (x->size != y->size)
		return x->size < y->size ? -1 : 1;
	return memcmp(x->text, y->text, x->size);
}

/* Read the values of an IN. 1: all values except NULL are usable. 0, -ENOMEM as above. */
static int read_list(struct sql_filter *filter, sqlite3_value *list)
{
	sqlite3_value *item;
	size_t room = 0;
	int rc;

	for (rc = sqlite3_vtab_in_first(list, &item); rc == SQLITE_OK; rc = sqlite3_vtab_in_next(list, &item)) {
		int ret;

		if (filter->nr_list == room) {
			struct sql_value *more = reallocarray(filter->list, room ? 2 * room : 8, sizeof(*more));

			if (!more)
				return -ENOMEM;
			filter->list = more;
			room = room ? 2 * room : 8;
		}
		ret = read_value(item, &filter->list[filter->nr_list]);
		if (ret <= 0)
			return ret;
		/* NULL is equal to nothing. */
		if (filter->list[filter->nr_list].kind != SQL_NULL)
			filter->nr_list++;
	}
	if (rc != SQLITE_DONE)
		return 0;
	for (size_t i = 0; i < filter->nr_list; i++)
		*(filter->list[i].kind == SQL_INT ? &filter->has_numbers : &filter->has_texts) = true;
	if (filter->nr_list)
		qsort(filter->list, filter->nr_list, sizeof(*filter->list), by_value);
	return 1;
}

static void close_filter(struct sql_filter *filter)
{
	for (size_t i = 0; i < filter->nr_list; i++) {
		if (filter->list[i].kind == SQL_TEXT)
			free((void *)(uintptr_t)filter->list[i].text);
	}
	free(filter->list);
	if (filter->value.kind == SQL_TEXT)
		free((void *)(uintptr_t)filter->value.text);
}

int sql_filters_open(const char *plan, int nr_values, sqlite3_value **values, struct sql_filters *ret_filters)
{
	struct sql_filters filters = { .filters = calloc((size_t)nr_values + 1, sizeof(*filters.filters)) };
	char *end;

	if (!filters.filters)
		return -ENOMEM;
	for (int i = 0; i < nr_values; i++) {
		struct sql_filter *filter = &filters.filters[filters.nr];
		int ret;

		filter->column = (unsigned int)strtoul(plan, &end, 10);
		filter->op = (enum sql_op) * end;
		plan = end + 1;
		ret = filter->op == SQL_IN ? read_list(filter, values[i]) : read_value(values[i], &filter->value);
		if (ret < 0) {
			filters.nr++;
			sql_filters_close(&filters);
			return ret;
		}
		if (!ret) {
			close_filter(filter);
			*filter = (struct sql_filter){ 0 };
			continue;
		}
		if (filter->op != SQL_IN && filter->value.kind == SQL_NULL)
			filters.is_empty = true;
		filters.nr++;
	}
	*ret_filters = filters;
	return 0;
}

void sql_filters_close(struct sql_filters *filters)
{
	for (unsigned int i = 0; i < filters->nr; i++)
		close_filter(&filters->filters[i]);
	free(filters->filters);
	*filters = (struct sql_filters){ 0 };
}

static bool are_equal(const struct sql_value *a, const struct sql_value *b)
{
	if (a->kind != b->kind)
		return false;
	if (a->kind == SQL_INT)
		return a->number == b->number;
	return a->size == b->size && !memcmp(a->text, b->text, a->size);
}

/* Whether two values can be compared here: if one is a number and the other a text, SQLite must compare them. */
static bool are_comparable(const struct sql_value *a, const struct sql_value *b)
{
	return a->kind == SQL_INT && b->kind == SQL_INT;
}

bool sql_filter_passes(const struct sql_filter *filter, const struct sql_value *value)
{
	const struct sql_value *with = &filter->value;

	if (value->kind == SQL_NULL)
		return false;
	if (filter->op == SQL_IN) {
		if (value->kind == SQL_INT ? filter->has_texts : filter->has_numbers)
			return true;
		return filter->nr_list && bsearch(value, filter->list, filter->nr_list, sizeof(*value), by_value);
	}
	if (filter->op == SQL_EQ)
		return value->kind != with->kind || are_equal(value, with);
	if (filter->op == SQL_NE)
		return value->kind != with->kind || !are_equal(value, with);
	if (!are_comparable(value, with))
		return true;
	switch (filter->op) {
	case SQL_LT:
		return value->number < with->number;
	case SQL_LE:
		return value->number <= with->number;
	case SQL_GT:
		return value->number > with->number;
	default:
		return value->number >= with->number;
	}
}

void sql_filters_bounds(const struct sql_filters *filters, unsigned int column, int64_t *ret_low, int64_t *ret_high)
{
	int64_t low = INT64_MIN, high = INT64_MAX;

	for (unsigned int i = 0; i < filters->nr; i++) {
		const struct sql_filter *f = &filters->filters[i];
		const int64_t number = f->value.number;

		if (f->column != column || f->op == SQL_IN || f->value.kind != SQL_INT)
			continue;
		if ((f->op == SQL_EQ || f->op == SQL_GE || f->op == SQL_GT) && number > low)
			low = number;
		if ((f->op == SQL_EQ || f->op == SQL_LE || f->op == SQL_LT) && number < high)
			high = number;
	}
	*ret_low = low;
	*ret_high = high;
}
