/* SPDX-License-Identifier: MIT */
/* Sets of 64-bit hashes, open addressing; 0 is no member. */
#include "model.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

uint64_t set_hash(uint64_t hash, const void *bytes, size_t size)
{
	const unsigned char *at = bytes;
	uint64_t word, a = hash, b = ~hash;

	for (; size >= 16; at += 16, size -= 16) {
		memcpy(&word, at, 8);
		a = (a ^ word) * UINT64_C(0x9e3779b97f4a7c15);
		a ^= a >> 29;
		memcpy(&word, at + 8, 8);
		b = (b ^ word) * UINT64_C(0xc2b2ae3d27d4eb4f);
		b ^= b >> 31;
	}
	word = 0;
	memcpy(&word, at, size < 8 ? size : 8);
	a = (a ^ word) * UINT64_C(0x9e3779b97f4a7c15);
	if (size > 8) {
		word = 0;
		memcpy(&word, at + 8, size - 8);
		b = (b ^ word) * UINT64_C(0xc2b2ae3d27d4eb4f);
	}
	return (a ^ (a >> 32)) * UINT64_C(0xd6e8feb86659fd93) ^ (b ^ (b >> 29)) * UINT64_C(0xa0761d6478bd642f);
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
