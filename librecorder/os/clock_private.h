/* SPDX-License-Identifier: MIT */
/* Clocks: functions that are private to the library. */
#ifndef CLOCK_PRIVATE_H
#define CLOCK_PRIVATE_H

#include <stdbool.h>

/*
 * Whether this thread may read clocks. With PR_SET_TSC it may have disabled the time stamp counter; then reading
 * CLOCK_MONOTONIC without a system call also raises SIGSEGV.
 */
bool rec_clock_is_allowed(void);

#endif
