/* SPDX-License-Identifier: MIT */
/* Sets of 64-bit hashes, and the hash. */
#ifndef SET_H
#define SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct set {
	uint64_t *table;
	uint64_t have;
	uint64_t max;
};

uint64_t set_hash(uint64_t hash, const void *bytes, size_t size);
void set_begin(struct set *set, uint64_t max);
void set_end(struct set *set);
/* Insert it; returns whether it was not there. */
bool set_put(struct set *set, uint64_t hash);

#endif
