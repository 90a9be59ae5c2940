/* SPDX-License-Identifier: MIT */
/* What a word was likely meant to be. */
#ifndef CLI_SUGGEST_H
#define CLI_SUGGEST_H

/* The word among `words` (ended by NULL) that `word` is most likely a slip of; NULL: none is near. */
const char *suggest(const char *word, const char *const *words);

#endif
