/* SPDX-License-Identifier: MIT */
#include "chance.h"

#include <stdlib.h>

uint64_t first_seed, drawn;

void draw_begin(void)
{
	first_seed = number_from("RECORDER_SEED", 1);
	drawn = first_seed * 2654435761u + 12345;
}

uint32_t draw(uint32_t n)
{
	drawn = drawn * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)((drawn >> 33) % n);
}

uint64_t number_from(const char *name, uint64_t otherwise)
{
	const char *text = getenv(name);

	return text ? strtoull(text, NULL, 10) : otherwise;
}
