/* SPDX-License-Identifier: MIT */
/*
 * Patterns that name events: "system:name" with * (any characters) and ? (any one character) in both parts; "system"
 * alone for all events of that system; several patterns separated by commas. A pattern after ! excludes:
 * "io:*,!io:poll" names all events of io except poll. "io:request" also names request_begin and request_end, the events
 * of a span. "io/submit", as trace-cmd writes it, is the same as "io:submit". The first pattern of a list cannot
 * exclude. Pure functions, any thread, signal-safe.
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
 * Check whether this is a valid list of patterns. Returns 0, or -EINVAL: an empty pattern, nothing on one side of a
 * colon, a second colon or slash, a character that is not allowed in names, or a list that begins with !.
 */
int rec_pattern_check(const char *patterns);

/*
 * True if one of the patterns names the event and none excludes it; false if rec_pattern_check() refuses the patterns.
 * Names need not end with NUL.
 */
bool rec_pattern_match(const char *patterns, const char *system, size_t system_size, const char *name,
		       size_t name_size);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif
#endif
