/* SPDX-License-Identifier: MIT */
/* Patterns that name events. Matching needs no recursion: only the last star has to be tried again. */
#include "librecorder/core/pattern_private.h"

#include <errno.h>
#include <string.h>

static bool is_pattern_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '*' ||
	       c == '?';
}

static bool glob(const char *pattern, const char *end, const char *name, const char *name_end)
{
	const char *star = NULL, *resume = NULL;

	while (name < name_end) {
		if (pattern < end && *pattern == '*') {
			star = ++pattern;
			resume = name;
		} else if (pattern < end && (*pattern == '?' || *pattern == *name)) {
			pattern++;
			name++;
		} else if (star) {
			pattern = star;
			name = ++resume;
		} else {
			return false;
		}
	}
	while (pattern < end && *pattern == '*')
		pattern++;
	return pattern == end;
}

/* The separator of system and name: trace-cmd writes a slash. */
static bool is_separator(char c)
{
	return c == ':' || c == '/';
}

int rec_pattern_check_part(const char *patterns, size_t size)
{
	const char *const end = patterns + size;
	size_t side = 0; /* characters on this side of a separator or comma */
	bool separated = false;

	/* The first pattern of a list cannot exclude events: only a later one may begin with !. */
	for (;; patterns++) {
		if (patterns < end && is_pattern_char(*patterns)) {
			side++;
			continue;
		}
		if (!side || (patterns < end && *patterns != ',' && (!is_separator(*patterns) || separated)))
			return -EINVAL;
		if (patterns == end)
			return 0;
		separated = is_separator(*patterns);
		side = 0;
		if (!separated && patterns + 1 < end && patterns[1] == '!')
			patterns++;
	}
}

/* Whether the name has this ending, and the pattern matches what is before it. */
static bool glob_without(const char *pattern, const char *end, const struct rec_words *name, const char *ending)
{
	const size_t size = strlen(ending);

	return name->size > size && memcmp(name->text + name->size - size, ending, size) == 0 &&
	       glob(pattern, end, name->text, name->text + name->size - size);
}

/* Whether one pattern, up to `end`, names the event. The name of a span stands for both of its events. */
static bool names(const char *pattern, const char *end, const struct rec_words *system, const struct rec_words *name)
{
	const char *at = pattern;

	while (at < end && !is_separator(*at))
		at++;
	return glob(pattern, at, system->text, system->text + system->size) &&
	       (at == end || glob(at + 1, end, name->text, name->text + name->size) ||
		glob_without(at + 1, end, name, "_begin") || glob_without(at + 1, end, name, "_end"));
}

bool rec_pattern_match_part(const char *patterns, size_t size, const struct rec_words *system,
			    const struct rec_words *name)
{
	const char *const last = patterns + size;
	const char *end;
	bool found = false;

	if (rec_pattern_check_part(patterns, size) < 0)
		return false;
	for (;; patterns = end + 1) {
		const bool excludes = *patterns == '!';

		end = memchr(patterns, ',', (size_t)(last - patterns));
		if (!end)
			end = last;
		if ((excludes || !found) && names(patterns + excludes, end, system, name)) {
			if (excludes)
				return false;
			found = true;
		}
		if (end == last)
			return found;
	}
}

int rec_pattern_check(const char *patterns)
{
	return rec_pattern_check_part(patterns, strlen(patterns));
}

bool rec_pattern_match(const char *patterns, const char *system, size_t system_size, const char *name, size_t name_size)
{
	const struct rec_words system_words = { system, (uint32_t)system_size };
	const struct rec_words name_words = { name, (uint32_t)name_size };

	return rec_pattern_match_part(patterns, strlen(patterns), &system_words, &name_words);
}
