/* SPDX-License-Identifier: MIT */
/* Macros for writing cases, and functions that check them. */
#ifndef LITMUS_CASE_H
#define LITMUS_CASE_H

#include "tests/litmus/litmus.h"

/* Operations: the location, the operation, its order, and the function that does it; after that the macros below. */
#define ST(where, number, how, who, ...)                                                                               \
	{ .kind = LITMUS_STORE, .at = where, .value = number, .order = how, .code = who, __VA_ARGS__ }
#define LD(where, into, how, who, ...)                                                                                 \
	{ .kind = LITMUS_LOAD, .at = where, .reg = into, .order = how, .code = who, __VA_ARGS__ }
#define CAS(where, was, number, into, how, who, ...)                                                                   \
	{ .kind = LITMUS_CAS, .at = where, .expect = was, .value = number, .reg = into, .order = how, .code = who,     \
	  __VA_ARGS__ }
#define OR(where, number, how, who, ...)                                                                               \
	{ .kind = LITMUS_OR, .at = where, .value = number, .order = how, .code = who, __VA_ARGS__ }
#define AND(where, number, how, who, ...)                                                                              \
	{ .kind = LITMUS_AND, .at = where, .value = number, .order = how, .code = who, __VA_ARGS__ }
#define FENCE(how, who, ...) { .kind = LITMUS_FENCE, .order = how, .code = who, __VA_ARGS__ }

/* To be written after an operation. */
#define EDGE	      .edge = true
#define EDGE_TO(less) .edge = true, .weak = less
#define SPARE(less)   .spare = true, .weak = less
#define IF(r, number) .if_reg = r, .if_value = number

/* The value of register r of thread t at the end. Registers and threads are numbered from 1. */
#define REG(t, r) (end->reg[(t) - 1][(r) - 1])

/* Unchanged, the outcome is unreachable; with each EDGE weakened it is reachable, with each SPARE it is not. */
void litmus_check(const struct litmus *litmus);

#endif
