/* SPDX-License-Identifier: MIT */
/* Suggestions for mistyped words. */
#ifndef CLI_SUGGEST_H
#define CLI_SUGGEST_H

#include <stdbool.h>

/* The word among `words` (ended by NULL) of which `word` is most likely a misspelling; NULL: none is similar. */
const char *suggest(const char *word, const char *const *words);

/* Whether `word` may be a misspelling of `name`; or, for may_mean(), also a part of it of at least three characters. */
bool is_misspelt(const char *word, const char *name);
bool may_mean(const char *word, const char *name);

#endif
