/* SPDX-License-Identifier: MIT */
/*
 * Numbers for texts: equal texts have the same number. The table is bounded: once it is full, further texts get no
 * number.
 */
#ifndef FORMAT_STRING_TABLE_H
#define FORMAT_STRING_TABLE_H

#include "format/io/blob.h"

#include <stdbool.h>

struct string_slot {
	uint32_t hash;
	uint32_t offset; /* where the text begins in `texts` */
	uint32_t size;
	uint32_t number; /* 0: free */
};

struct string_table {
	struct string_slot *slots;
	uint32_t nr_slots; /* a power of two, or 0 */
	uint32_t used;
	uint32_t max;	   /* the most texts; 0: STRING_TABLE_MAX */
	struct blob texts;
};

#define STRING_TABLE_MAX   65536u
#define STRING_TABLE_BYTES (8u << 20) /* of all texts */

/* Whether there is no room for one more text of this size. */
bool string_table_is_full(const struct string_table *table, size_t size);

/*
 * The number of a text, from 1 in the order of the calls; 0: the table is full, or out of memory. *ret_new is set to
 * true if the text was not in the table before.
 */
uint32_t string_table_number(struct string_table *table, const void *text, size_t size, bool *ret_new);

/* Forget all texts; keep the memory. */
void string_table_clear(struct string_table *table);
void string_table_free(struct string_table *table);

#endif
