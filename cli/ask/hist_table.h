/* SPDX-License-Identifier: MIT */
/* Counts by key: the number of occurrences, and the sum of the values. */
#ifndef CLI_HIST_TABLE_H
#define CLI_HIST_TABLE_H

#include <stddef.h>
#include <stdint.h>

struct hist_row {
	struct hist_row *next; /* in its chain */
	uint64_t hash;
	uint64_t hits;
	__int128 sum; /* of the values */
	uint64_t number; /* number of rows made before this one */
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
int hist_table_add(struct hist_table *table, const void *key, size_t size, __int128 value);
void hist_table_free(struct hist_table *table);

/*
 * The rows, sorted by hits, lowest first; equal ones in the order in which they appeared. The caller frees the list.
 * NULL: no memory.
 */
struct hist_row **hist_table_rows(const struct hist_table *table);

#endif
