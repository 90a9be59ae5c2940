/* SPDX-License-Identifier: MIT */
/* Calls of every function of a reader, on a buffer in which any byte may have any value. */
#ifndef VIEW_CALLS_H
#define VIEW_CALLS_H

#include "hostile.h"

/*
 * Open a view of the file and make calls that the random numbers choose. Each returns one of its documented results,
 * and all that it hands out is read: otherwise the process aborts. If `alone`, no other process or thread changes the
 * file, and the events that remain end.
 */
void view_calls(const char *path, struct hostile_random *random, bool alone);

#endif
