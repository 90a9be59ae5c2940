/* SPDX-License-Identifier: MIT */
/* Plans that are drawn: what the writer and its readers do in a life. */
#ifndef POINTS_PLAN_H
#define POINTS_PLAN_H

#include "points_life.h"

/* Points that writers reach; and those that writers or readers reach. */
bool is_writers(unsigned int point);
bool is_anybodys(unsigned int point);

/* Kinds differ in what is injected where; those with even numbers overwrite. */
struct plan draw_plan(unsigned int kind);

/* A reservation that is interrupted at each attempt. */
struct plan draw_plain_plan(void);

/*
 * Each discard is interrupted by a handler that writes: where its room was just given back, next to few other events,
 * or at every step of it. `n` numbers these plans; those with even numbers overwrite.
 */
struct plan draw_discard_plan(unsigned int n);

#endif
