/* SPDX-License-Identifier: MIT */
/* Random choices of the tests that run lives, and the output for a failed life. */
#ifndef CHANCE_H
#define CHANCE_H

#include <criterion/criterion.h>
#include <stdbool.h>
#include <stdint.h>

/* RECORDER_SEED, and the current position in the sequence drawn from it. */
extern uint64_t first_seed, drawn;

/* Begin with the seed of the environment. */
void draw_begin(void);

/* A number below `n`. */
uint32_t draw(uint32_t n);

/*
 * A life begins. It is determined by what it draws from now on, and by `n` numbers. If it fails, the line that repeats
 * it (tests/unit/repeat.h) has RECORDER_LIFE=START,NUMBER,... Call draw_end() after the last life.
 */
#define LIFE_NUMBERS 5u

void note_life(const uint64_t *numbers, unsigned int n);
void draw_end(void);

/*
 * Whether RECORDER_LIFE asks for one life alone. If it does, the next draws are that life's, and `numbers`, which has
 * room for LIFE_NUMBERS, gets its other numbers, 0 for those that are not given.
 */
bool is_repeated(uint64_t *numbers);

/* The number in an environment variable. */
uint64_t number_from(const char *name, uint64_t otherwise);

/* Like cr_assert(); describe_life() prints what is needed to repeat the life. */
#define CHECK(life, condition, ...)                                                                                    \
	do {                                                                                                           \
		if (!(condition)) {                                                                                    \
			describe_life(life);                                                                           \
			cr_assert_fail(__VA_ARGS__);                                                                   \
		}                                                                                                      \
	} while (0)

#endif
