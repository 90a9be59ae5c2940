/* SPDX-License-Identifier: MIT */
/* Patterns that are part of a text. */
#ifndef PATTERN_PRIVATE_H
#define PATTERN_PRIVATE_H

#include <librecorder/event_text.h>
#include <librecorder/pattern.h>

/* As rec_pattern_check() and rec_pattern_match(), for patterns of this number of characters. */
int rec_pattern_check_part(const char *patterns, size_t size);
bool rec_pattern_match_part(const char *patterns, size_t size, const struct rec_words *system,
			    const struct rec_words *name);

#endif
