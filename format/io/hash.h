/* SPDX-License-Identifier: MIT */
/*
 * Hashes of numbers and bytes for tables whose keys come from a file. They depend on a secret of this process, so the
 * author of a file cannot choose keys that all have the same place in a table, which would make each look-up as long as
 * the table. The same key has the same hash until the process ends, and another one in the next process: never write a
 * hash to a file, and never print in the order of a table.
 */
#ifndef FORMAT_IO_HASH_H
#define FORMAT_IO_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/auxv.h>

/* Add a word. Each bit of the word, and of the hash before it, changes each bit of the result in half of all cases. */
static inline uint64_t hash_step(uint64_t hash, uint64_t word)
{
	hash ^= word;
	hash = (hash ^ hash >> 32) * UINT64_C(0xbf58476d1ce4e5b9);
	hash = (hash ^ hash >> 29) * UINT64_C(0x94d049bb133111eb);
	return hash ^ hash >> 32;
}

/* The hash of nothing. The kernel gives each process 16 random bytes at its start; threads compute the same secret. */
static inline uint64_t hash_begin(void)
{
	static uint64_t secret;
	uint64_t words[2] = { 0, 0 }, begin = __atomic_load_n(&secret, __ATOMIC_RELAXED);
	const void *random;

	if (begin)
		return begin;
	random = (const void *)(uintptr_t)getauxval(AT_RANDOM);
	if (random)
		memcpy(words, random, sizeof(words));
	begin = hash_step(hash_step(1, words[0]), words[1]) | 1;
	__atomic_store_n(&secret, begin, __ATOMIC_RELAXED);
	return begin;
}

static inline uint64_t hash_number(uint64_t number)
{
	return hash_step(hash_begin(), number);
}

static inline uint64_t hash_bytes(const void *bytes, size_t size)
{
	const unsigned char *at = bytes;
	uint64_t hash = hash_number(size), word;

	for (; size >= sizeof(word); size -= sizeof(word), at += sizeof(word)) {
		memcpy(&word, at, sizeof(word));
		hash = hash_step(hash, word);
	}
	word = 0;
	if (size)
		memcpy(&word, at, size);
	return size ? hash_step(hash, word) : hash;
}

#endif
