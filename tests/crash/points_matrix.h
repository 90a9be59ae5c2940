/* SPDX-License-Identifier: MIT */
/* The kill matrix: at which test points a process was killed, in which mode, and how often. */
#ifndef POINTS_MATRIX_H
#define POINTS_MATRIX_H

#include "points_life.h"

/* How often a process is to be killed at each point in each mode: RECORDER_KILLS, or 1. */
extern unsigned int kills_wanted;

/* The number of kills so far at each point in each mode: discard, overwrite. */
struct matrix {
	unsigned int met[2][TRACER_POINTS];
};

extern struct matrix matrix;

/*
 * Heads are moved only in overwrite mode, where no writer is refused because the ring is full. A ring of two
 * sub-buffers is full for a nested writer in either mode.
 */
bool can_be_met(unsigned int point, bool overwrite);

/*
 * The row of the kill matrix: the points that `whose` names, in both modes. Some are reached in one mode a hundred
 * times more often than in the other; at most `few` may be missed in both.
 */
void check_matrix(const char *victim, bool (*whose)(unsigned int point), unsigned int few);

#endif
