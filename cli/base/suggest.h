/* SPDX-License-Identifier: MIT */
/* Suggestions for mistyped words. */
#ifndef CLI_SUGGEST_H
#define CLI_SUGGEST_H

/* The word among `words` (ended by NULL) of which `word` is most likely a misspelling; NULL: none is similar. */
const char *suggest(const char *word, const char *const *words);

#endif
