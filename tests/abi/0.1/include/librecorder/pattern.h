/* SPDX-License-Identifier: MIT */
/*
 * Patterns that name events: "system:name" with * (any characters) and ? (any one) in both, "system" alone for all
 * of its events, several separated by commas. Pure functions, any thread, signal-safe.
 */
#ifndef LIBRECORDER_PATTERN_H
#define LIBRECORDER_PATTERN_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/*
 * Whether this is a list of patterns: 0 or -EINVAL (nothing between two commas or on one side of a colon, a
 * second colon, a character that no name has).
 */
int rec_pattern_check(const char *patterns);

/*
 * Whether one of the patterns names the event; false for what
 * rec_pattern_check() refuses. Names need not end by NUL.
 */
bool rec_pattern_match(const char *patterns, const char *system, size_t system_size, const char *name,
		       size_t name_size);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif
#endif
