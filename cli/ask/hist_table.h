/* SPDX-License-Identifier: MIT */
/*
 * Counts by key: the number of occurrences, and the sum of the values. A sum of whole numbers is exact. In a sum of
 * numbers with decimals, the rounding errors are summed as well, so that they do not grow with the number of values.
 */
#ifndef CLI_HIST_TABLE_H
#define CLI_HIST_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A number, or a sum of numbers. */
struct hist_value {
	__int128 whole;	   /* the whole numbers */
	double real;	   /* the numbers with decimals */
	bool has_decimals; /* `real` is used */
};

struct hist_row {
	struct hist_row *next; /* in its chain */
	uint64_t hash;
	uint64_t hits;
	struct hist_value sum; /* of the values */
	double rest;	       /* what rounding has taken from sum.real */
	uint64_t number;       /* number of rows made before this one */
	size_t size;
	unsigned char key[];
};

struct hist_table {
	struct hist_row **chains;
	size_t nr_chains; /* a power of two, or 0 */
	size_t nr;
};

#define HIST_TABLE_INIT                                                                                                \
	{                                                                                                              \
		0                                                                                                      \
	}

/* 0; -ENOMEM. */
int hist_table_add(struct hist_table *table, const void *key, size_t size, const struct hist_value *value);
void hist_table_free(struct hist_table *table);

/*
 * The rows, sorted by hits, lowest first; equal ones in the order in which they appeared. The caller frees the list.
 * NULL: no memory.
 */
struct hist_row **hist_table_rows(const struct hist_table *table);

/* The sum of a row that has decimals: of its whole numbers, too. */
double hist_row_sum(const struct hist_row *row);

#endif
