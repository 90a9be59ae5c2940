/* SPDX-License-Identifier: MIT */
/* Random numbers, and those among them that code is likely to handle wrongly. */
#include "hostile.h"

/* splitmix64 */
uint64_t hostile_random(struct hostile_random *random)
{
	uint64_t z = random->state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

size_t hostile_below(struct hostile_random *random, size_t limit)
{
	return limit ? (size_t)(hostile_random(random) % limit) : 0;
}

/* A position or a link that may well be valid. */
static uint64_t likely_word(struct hostile_random *random)
{
	const uint64_t pick = hostile_random(random);
	const uint32_t any = (uint32_t)(pick >> 8);
	const uint32_t id = pick % 8 == 0 ? any & 0xffff : any % (HOSTILE_LANE_PAGES + 2);

	if (pick & 1u << 24)
		return REC_LINK(id, (pick >> 25) % 4, (pick >> 32) & 15);
	return REC_POS(id, (pick >> 32) & 63, (pick >> 40) & 127, (pick >> 48) & 4095);
}

uint64_t hostile_number(struct hostile_random *random)
{
	static const uint64_t numbers[] = { 0,
					    1,
					    2,
					    3,
					    4,
					    7,
					    8,
					    16,
					    28,
					    29,
					    30,
					    31,
					    255,
					    4080,
					    4095,
					    4096,
					    65535,
					    65536,
					    0x7fffffff,
					    0x80000000,
					    0xfffffffe,
					    0xffffffff,
					    0x100000000,
					    UINT64_C(1) << 62,
					    INT64_MAX,
					    (uint64_t)INT64_MIN,
					    UINT64_MAX - 1,
					    UINT64_MAX };
	const uint64_t pick = hostile_random(random);

	switch (pick % 4) {
	case 0:
		return hostile_random(random) >> (pick >> 8) % 64;
	case 1:
		return likely_word(random);
	default:
		return numbers[(pick >> 8) % (sizeof(numbers) / sizeof(numbers[0]))];
	}
}
