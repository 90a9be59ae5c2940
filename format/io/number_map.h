/* SPDX-License-Identifier: MIT */
/* A map from numbers to numbers: a hash table without deletion. A value of 0 means: absent. */
#ifndef FORMAT_NUMBER_MAP_H
#define FORMAT_NUMBER_MAP_H

#include <stddef.h>
#include <stdint.h>

struct number_entry {
	uint64_t key;
	uint64_t value;
};

struct number_map {
	struct number_entry *entries;
	size_t used;
	size_t size; /* a power of two, or 0 */
};

uint64_t number_map_get(const struct number_map *map, uint64_t key);

/* Adds or replaces; the value is not 0. 0, -ENOMEM. */
int number_map_set(struct number_map *map, uint64_t key, uint64_t value);

void number_map_free(struct number_map *map);

#endif
