/* SPDX-License-Identifier: MIT */
/* What a test of lives draws, and what is said when one of them goes wrong. */
#ifndef CHANCE_H
#define CHANCE_H

#include <criterion/criterion.h>
#include <stdint.h>

/* RECORDER_SEED, and where the sequence drawn from it stands. */
extern uint64_t first_seed, drawn;

/* Begin with the seed of the environment. */
void draw_begin(void);

/* A number below `n`. */
uint32_t draw(uint32_t n);

/* A number of the environment. */
uint64_t number_from(const char *name, uint64_t otherwise);

/* As cr_assert(); describe_life() tells what one must know of the life. */
#define CHECK(life, condition, ...)                                                                                    \
	do {                                                                                                           \
		if (!(condition)) {                                                                                    \
			describe_life(life);                                                                           \
			cr_assert_fail(__VA_ARGS__);                                                                   \
		}                                                                                                      \
	} while (0)

#endif
