/* SPDX-License-Identifier: MIT */
#include "cli/base/suggest.h"

#include <stddef.h>
#include <string.h>

#define WORD_MAX 32u

/*
 * The edit distance; a swap of two neighbours counts as one edit. A word longer than WORD_MAX is similar to no other.
 */
static unsigned int distance(const char *a, const char *b)
{
	unsigned int row[3][WORD_MAX + 1];
	const size_t na = strlen(a), nb = strlen(b);
	unsigned int *up2 = row[0], *up = row[1], *now = row[2];

	if (na > WORD_MAX || nb > WORD_MAX)
		return WORD_MAX;
	for (unsigned int j = 0; j <= nb; j++)
		up[j] = j;
	for (unsigned int i = 1; i <= na; i++) {
		unsigned int *free_row = up2;

		now[0] = i;
		for (unsigned int j = 1; j <= nb; j++) {
			unsigned int best = up[j - 1] + (a[i - 1] != b[j - 1]);

			if (up[j] + 1 < best)
				best = up[j] + 1;
			if (now[j - 1] + 1 < best)
				best = now[j - 1] + 1;
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && up2[j - 2] + 1 < best)
				best = up2[j - 2] + 1;
			now[j] = best;
		}
		up2 = up;
		up = now;
		now = free_row;
	}
	return up[nb];
}

const char *suggest(const char *word, const char *const *words)
{
	const char *near = NULL;
	unsigned int best = 3; /* at most two edits, and fewer than half of the word */

	for (; *words; words++) {
		const unsigned int d = distance(word, *words);

		if (d < best && d * 2 < strlen(*words)) {
			best = d;
			near = *words;
		}
	}
	return near;
}

bool is_misspelt(const char *word, const char *name)
{
	const char *const names[] = { name, NULL };

	return suggest(word, names);
}

bool may_mean(const char *word, const char *name)
{
	return (strlen(word) >= 3 && strstr(name, word)) || is_misspelt(word, name);
}
