/* SPDX-License-Identifier: MIT */
/* Runs handlers after given instructions of an actor, an act of a film (film.h). For inclusion in one source file. */
#ifndef ACTOR_STEPS_H
#define ACTOR_STEPS_H

#include "film.h"

/* The number of instructions of an actor, while `counting` is set. */
static volatile bool counting;
static volatile unsigned int counted, first_target, second_target;

static inline bool at_first(const struct ring *ring)
{
	(void)ring;
	return counting && ++counted == first_target;
}

static inline bool at_second(const struct ring *ring)
{
	(void)ring;
	return counting && counted >= first_target && ++counted == second_target;
}

static inline void count_to(unsigned int first, unsigned int second)
{
	counted = 0;
	first_target = first;
	second_target = second;
}

#endif
