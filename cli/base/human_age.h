/* SPDX-License-Identifier: MIT */
/* How long ago something happened, as text for people. */
#ifndef CLI_BASE_HUMAN_AGE_H
#define CLI_BASE_HUMAN_AGE_H

#include <stddef.h>
#include <stdint.h>

/*
 * The age in the largest unit of which there are at least two: "90 s", "3 h". `made`: seconds,
 * CLOCK_REALTIME. Returns `text`.
 */
const char *human_age(uint64_t made, char *text, size_t size);

#endif
