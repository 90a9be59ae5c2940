/* SPDX-License-Identifier: MIT */
/*
 * The instructions after which a step test interrupts an actor. It runs the actor once for each of them, and each run
 * traps at all instructions before that one. Every instruction takes minutes, so make check takes a sample.
 *
 *	STEPS=all	every instruction
 *	STEPS=N		one in N. RECORDER_SEED chooses the first of them, a different one for each actor
 *	STEPS=at:K	the K-th instruction of each actor: this repeats a failure
 *	(not set)	one in N, where N is the test's own
 */
#ifndef STEPS_H
#define STEPS_H

#include <stdbool.h>

struct steps {
	unsigned int at; /* interrupt after this instruction; the first is 1 */
	unsigned int stride;
	unsigned int least; /* the number of interruptions that there must be */
	unsigned int looks; /* interruptions */
	bool only_one;
};

/*
 * Begin with an actor that has at least this many instructions. `otherwise` is the test's own N. Prints the sampling.
 */
struct steps steps_begin(unsigned int otherwise, unsigned int instructions);

/* The same for an actor with few instructions: STEPS=N does not sample it. */
struct steps steps_begin_all(unsigned int instructions);

/*
 * Go to the next instruction, after a run in which the actor reached steps.at, or ended before it. If there is no next
 * instruction, assert that there were enough interruptions and return false.
 */
bool steps_next(struct steps *steps, bool came);

#endif
