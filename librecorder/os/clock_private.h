/* SPDX-License-Identifier: MIT */
/* What else there is to know of clocks. */
#ifndef CLOCK_PRIVATE_H
#define CLOCK_PRIVATE_H

#include <stdbool.h>

/*
 * Whether this thread may read clocks: with PR_SET_TSC it can have given up the time stamp counter, and then
 * CLOCK_MONOTONIC without a system call, too, is a SIGSEGV.
 */
bool rec_clock_is_allowed(void);

#endif
