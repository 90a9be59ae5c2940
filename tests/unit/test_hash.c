/* SPDX-License-Identifier: MIT */
/* Keys do not collide, even if a file's author chose them so that they would. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "format/io/hash.h"
#include "format/io/number_map.h"

#define KEYS 32768u

/* The odd number whose product with 2^64 / golden ratio is 1: multiplied by it, keys undo that multiplication. */
#define INVERSE UINT64_C(0xf1de83e19937733d)

/* How far the multiples of `factor` are from their places in a map, on average. */
static double distance_of(uint64_t factor)
{
	struct number_map map = { 0 };
	uint64_t sum = 0;

	for (uint64_t i = 1; i <= KEYS; i++)
		cr_assert_eq(number_map_set(&map, i * factor, i), 0);
	for (uint64_t i = 1; i <= KEYS; i++)
		cr_assert_eq(number_map_get(&map, i * factor), i);
	cr_assert_eq(number_map_get(&map, 0), 0);
	for (size_t at = 0; at < map.size; at++)
		if (map.entries[at].value)
			sum += (at - hash_number(map.entries[at].key)) & (map.size - 1);
	number_map_free(&map);
	return (double)sum / KEYS;
}

/* Half of the places are free, so the average is 0.5. With all keys in one place it would be KEYS / 2. */
Test(hash, chosen_numbers_do_not_collide)
{
	const uint64_t factors[] = { INVERSE, 1, 1u << 16, UINT64_C(1) << 32, UINT64_C(1) << 48, 0x9e3779b1u };

	cr_assert_eq(INVERSE * UINT64_C(0x9e3779b97f4a7c15), 1);
	for (unsigned int i = 0; i < sizeof(factors) / sizeof(factors[0]); i++) {
		const double distance = distance_of(factors[i]);

		cr_assert(distance < 8, "%u: %f", i, distance);
	}
}

static int by_number(const void *a, const void *b)
{
	const uint16_t x = *(const uint16_t *)a, y = *(const uint16_t *)b;

	return x < y ? -1 : x > y;
}

/* How many of 4096 numbers are different. */
static unsigned int distinct(uint16_t numbers[4096])
{
	unsigned int nr = 1;

	qsort(numbers, 4096, sizeof(numbers[0]), by_number);
	for (unsigned int i = 1; i < 4096; i++)
		nr += numbers[i] != numbers[i - 1];
	return nr;
}

/* Of 4096 random numbers of 16 bits 3970 are different on average, with a standard deviation of 11. */
Test(hash, low_bits_depend_on_every_bit)
{
	uint16_t numbers[4096], texts[4096];

	for (unsigned int shift = 0; shift <= 52; shift += 4) {
		for (uint64_t i = 0; i < 4096; i++) {
			const uint64_t words[2] = { i << shift, 0 };

			numbers[i] = (uint16_t)hash_number(i << shift);
			texts[i] = (uint16_t)hash_bytes(words, shift % 8 ? 9 : 15);
		}
		cr_assert_gt(distinct(numbers), 3800, "numbers, shift %u", shift);
		cr_assert_gt(distinct(texts), 3800, "texts, shift %u", shift);
	}
}

Test(hash, sizes_count)
{
	static const char zeros[32];

	for (size_t i = 0; i < sizeof(zeros); i++)
		for (size_t j = 0; j < i; j++)
			cr_assert_neq(hash_bytes(zeros, i), hash_bytes(zeros, j));
	cr_assert_eq(hash_bytes("recorder, 1", 11), hash_bytes("recorder, 12", 11));
}
