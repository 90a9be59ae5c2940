/* SPDX-License-Identifier: MIT */
#include "steps.h"
#include "repeat.h"
#include "tell.h"

#include <criterion/criterion.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* A number that differs for each seed and each actor of the test. */
static unsigned int draw_first(uint64_t seed, unsigned int below)
{
	static uint64_t actors;
	uint64_t x = seed * UINT64_C(0x9e3779b97f4a7c15) + ++actors * UINT64_C(0xd1b54a32d192ed03);

	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return (unsigned int)((x >> 33) % below);
}

static unsigned int number(const char *text)
{
	char *end;
	const unsigned long n = strtoul(text, &end, 10);

	cr_assert(n > 0 && n < 1000000 && !*end, "STEPS is 'all', N or 'at:K'");
	return (unsigned int)n;
}

static void note(const struct steps *steps)
{
	repeat_by("STEPS=at:%u", steps->at);
}

static struct steps begin_by(const char *text, unsigned int otherwise, unsigned int instructions)
{
	const char *seed_text = getenv("RECORDER_SEED");
	const uint64_t seed = seed_text ? strtoull(seed_text, NULL, 10) : 1;
	struct steps steps = { .stride = otherwise };
	static bool told;

	if (text && strncmp(text, "at:", 3) == 0) {
		steps.only_one = true;
		steps.at = number(text + 3);
	} else {
		if (text)
			steps.stride = strcmp(text, "all") == 0 ? 1 : number(text);
		/* Begin with one of the first instructions, so that the sample is not empty. */
		steps.at = 1 + draw_first(seed, steps.stride < instructions ? steps.stride : instructions);
		steps.least = steps.stride < instructions ? instructions / steps.stride : 1;
	}
	if (!told && !steps.only_one && steps.stride > 1)
		tell("RECORDER_SEED=%llu STEPS=%u: interrupts after one instruction in %u", (unsigned long long)seed,
		     steps.stride, steps.stride);
	else if (!told)
		tell("STEPS=%s: interrupts after %s", steps.only_one ? text : "all",
		     steps.only_one ? "this instruction alone" : "every instruction");
	told = true;
	note(&steps);
	return steps;
}

struct steps steps_begin(unsigned int otherwise, unsigned int instructions)
{
	return begin_by(getenv("STEPS"), otherwise, instructions);
}

struct steps steps_begin_all(unsigned int instructions)
{
	const char *text = getenv("STEPS");

	return begin_by(text && strncmp(text, "at:", 3) == 0 ? text : "all", 1, instructions);
}

bool steps_next(struct steps *steps, bool came)
{
	steps->looks += came;
	if (came && !steps->only_one) {
		steps->at += steps->stride;
		note(steps);
		return true;
	}
	cr_assert_geq(steps->looks, steps->least, "interrupted after only %u instructions", steps->looks);
	repeat_nothing();
	return false;
}
