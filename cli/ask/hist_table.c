/* SPDX-License-Identifier: MIT */
/* See hist_table.h. */
#include "cli/ask/hist_table.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "format/io/hash.h"

static int grow(struct hist_table *table)
{
	const size_t nr = table->nr_chains ? 2 * table->nr_chains : 256;
	struct hist_row **chains = calloc(nr, sizeof(*chains));

	if (!chains)
		return -ENOMEM;
	for (size_t i = 0; i < table->nr_chains; i++) {
		while (table->chains[i]) {
			struct hist_row *row = table->chains[i], **to = &chains[row->hash & (nr - 1)];

			table->chains[i] = row->next;
			row->next = *to;
			*to = row;
		}
	}
	free(table->chains);
	table->chains = chains;
	table->nr_chains = nr;
	return 0;
}

/* Neumaier's sum. If the sum is infinite or not a number, rounding has taken nothing from it. */
static void add_value(struct hist_row *row, const struct hist_value *value)
{
	const double before = row->sum.real, sum = before + value->real;

	row->sum.whole += value->whole;
	row->sum.real = sum;
	row->sum.has_decimals |= value->has_decimals;
	if (!isfinite(sum))
		row->rest = 0;
	else if (fabs(before) >= fabs(value->real))
		row->rest += (before - sum) + value->real;
	else
		row->rest += (value->real - sum) + before;
}

double hist_row_sum(const struct hist_row *row)
{
	return (double)row->sum.whole + (row->sum.real + row->rest);
}

int hist_table_add(struct hist_table *table, const void *key, size_t size, const struct hist_value *value)
{
	const uint64_t hash = hash_bytes(key, size);
	struct hist_row **chain, *row;

	if (table->nr >= table->nr_chains && grow(table))
		return -ENOMEM;
	chain = &table->chains[hash & (table->nr_chains - 1)];
	for (row = *chain; row; row = row->next)
		if (row->hash == hash && row->size == size && !memcmp(row->key, key, size))
			break;
	if (!row) {
		row = malloc(sizeof(*row) + size);
		if (!row)
			return -ENOMEM;
		*row = (struct hist_row){ .next = *chain, .hash = hash, .number = table->nr++, .size = size };
		memcpy(row->key, key, size);
		*chain = row;
	}
	row->hits++;
	add_value(row, value);
	return 0;
}

void hist_table_free(struct hist_table *table)
{
	for (size_t i = 0; i < table->nr_chains; i++) {
		while (table->chains[i]) {
			struct hist_row *row = table->chains[i];

			table->chains[i] = row->next;
			free(row);
		}
	}
	free(table->chains);
}

static int by_hits(const void *a, const void *b)
{
	const struct hist_row *x = *(struct hist_row *const *)a, *y = *(struct hist_row *const *)b;

	if (x->hits != y->hits)
		return x->hits < y->hits ? -1 : 1;
	return x->number < y->number ? -1 : 1;
}

struct hist_row **hist_table_rows(const struct hist_table *table)
{
	struct hist_row **rows = calloc(table->nr + 1, sizeof(*rows));
	size_t nr = 0;

	for (size_t i = 0; rows && i < table->nr_chains; i++)
		for (struct hist_row *row = table->chains[i]; row; row = row->next)
			rows[nr++] = row;
	if (nr)
		qsort(rows, nr, sizeof(*rows), by_hits);
	return rows;
}
