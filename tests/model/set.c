/* SPDX-License-Identifier: MIT */
/* Sets of 64-bit hashes, with open addressing; 0 cannot be a member. */
#include "set.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static const uint64_t factors[4] = { UINT64_C(0x9e3779b97f4a7c15), UINT64_C(0xc2b2ae3d27d4eb4f),
				     UINT64_C(0xd6e8feb86659fd93), UINT64_C(0xa0761d6478bd642f) };

/* A step that can be inverted, so that no information of the input is lost in a lane. */
static inline uint64_t add_to_lane(uint64_t lane, const unsigned char *at, uint64_t factor)
{
	uint64_t word;

	memcpy(&word, at, sizeof(word));
	lane = (lane ^ word) * factor;
	return lane << 32 | lane >> 32;
}

/* Hashes thousands of bytes in four lanes, because a CPU can begin four multiplications in the time that one takes. */
uint64_t set_hash(uint64_t hash, const void *bytes, size_t size)
{
	uint64_t a = hash, b = ~hash, c = hash ^ factors[0], d = hash ^ factors[1];
	const unsigned char *at = bytes;
	unsigned char rest[32] = { 0 };

	for (; size >= sizeof(rest); at += sizeof(rest), size -= sizeof(rest)) {
		a = add_to_lane(a, at, factors[0]);
		b = add_to_lane(b, at + 8, factors[1]);
		c = add_to_lane(c, at + 16, factors[2]);
		d = add_to_lane(d, at + 24, factors[3]);
	}
	memcpy(rest, at, size);
	hash = (size ^ add_to_lane(a, rest, factors[0])) * factors[0];
	hash = (hash ^ hash >> 29 ^ add_to_lane(b, rest + 8, factors[1])) * factors[1];
	hash = (hash ^ hash >> 29 ^ add_to_lane(c, rest + 16, factors[2])) * factors[2];
	hash = (hash ^ hash >> 29 ^ add_to_lane(d, rest + 24, factors[3])) * factors[3];
	return hash ^ hash >> 32;
}

static uint64_t *find(const struct set *set, uint64_t hash)
{
	uint64_t at = hash & (set->max - 1);

	while (set->table[at] && set->table[at] != hash)
		at = (at + 1) & (set->max - 1);
	return &set->table[at];
}

void set_begin(struct set *set, uint64_t max)
{
	set->have = 0;
	set->max = max;
	set->table = mmap(NULL, max * sizeof(uint64_t), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (set->table == MAP_FAILED) {
		fprintf(stderr, "out of memory\n");
		exit(1);
	}
}

void set_end(struct set *set)
{
	if (set->table)
		munmap(set->table, set->max * sizeof(uint64_t));
	set->table = NULL;
}

bool set_put(struct set *set, uint64_t hash)
{
	uint64_t *at;

	hash = hash ? hash : 1;
	if (set->have * 2 >= set->max) {
		struct set larger;
		uint64_t i;

		set_begin(&larger, set->max * 4);
		larger.have = set->have;
		for (i = 0; i < set->max; i++)
			if (set->table[i])
				*find(&larger, set->table[i]) = set->table[i];
		set_end(set);
		*set = larger;
	}
	at = find(set, hash);
	if (*at)
		return false;
	*at = hash;
	set->have++;
	return true;
}
