/* SPDX-License-Identifier: MIT */
/* Randomly drawn plans: the actions of the writer and its readers in a life. */
#ifndef POINTS_PLAN_H
#define POINTS_PLAN_H

#include "points_life.h"

/* Points that writers reach; and those that writers or readers reach. */
bool is_writers(unsigned int point);
bool is_anybodys(unsigned int point);

/* Kinds differ in which faults are injected, and where. Kinds with even numbers use overwrite mode. */
struct plan draw_plan(unsigned int kind);

/* A reservation that is interrupted at each attempt. */
struct plan draw_plain_plan(void);

/*
 * Each discard is interrupted by a handler that writes: where its room was just given back, next to few other events,
 * or at every step of it. `n` numbers these plans; those with even numbers overwrite.
 */
struct plan draw_discard_plan(unsigned int n);

#endif
