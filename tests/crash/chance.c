/* SPDX-License-Identifier: MIT */
#include "chance.h"
#include "tests/unit/repeat.h"
#include "tests/unit/tell.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

uint64_t first_seed, drawn;

void draw_begin(void)
{
	first_seed = number_from("RECORDER_SEED", 1);
	drawn = first_seed * 2654435761u + 12345;
	/* If a test fails before its first life, the seed repeats it. */
	repeat_by("RECORDER_SEED=%" PRIu64, first_seed);
}

uint32_t draw(uint32_t n)
{
	drawn = drawn * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)((drawn >> 33) % n);
}

void note_life(const uint64_t *numbers, unsigned int n)
{
	char text[LIFE_NUMBERS * 24] = "";
	unsigned int i;

	cr_assert_leq(n, LIFE_NUMBERS);
	for (i = 0; i < n; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), ",%" PRIu64, numbers[i]);
	repeat_by("RECORDER_SEED=%" PRIu64 " RECORDER_LIFE=%" PRIu64 "%s", first_seed, drawn, text);
}

void draw_end(void)
{
	repeat_nothing();
}

bool is_repeated(uint64_t *numbers)
{
	unsigned long long given[LIFE_NUMBERS + 1] = { 0 };
	unsigned int i;

	if (!repeat_numbers("RECORDER_LIFE", given, LIFE_NUMBERS + 1))
		return false;
	drawn = given[0];
	for (i = 0; i < LIFE_NUMBERS; i++)
		numbers[i] = given[i + 1];
	tell("the life of RECORDER_LIFE alone");
	return true;
}

uint64_t number_from(const char *name, uint64_t otherwise)
{
	const char *text = getenv(name);

	return text ? strtoull(text, NULL, 10) : otherwise;
}
