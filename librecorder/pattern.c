/* SPDX-License-Identifier: MIT */
/* Patterns that name events. Matching needs no recursion: only the last star ever has to be tried again. */
#include <librecorder/pattern.h>

#include <errno.h>
#include <string.h>

static bool is_pattern_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '*' || c == '?';
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

int rec_pattern_check(const char *patterns)
{
	size_t size = 0; /* of this side */
	bool colon = false;

	for (;; patterns++) {
		if (is_pattern_char(*patterns)) {
			size++;
			continue;
		}
		if (!size || (*patterns == ':' && colon) || (*patterns && *patterns != ':' && *patterns != ','))
			return -EINVAL;
		if (!*patterns)
			return 0;
		colon = *patterns == ':';
		size = 0;
	}
}

bool rec_pattern_match(const char *patterns, const char *system, size_t system_size, const char *name, size_t name_size)
{
	const char *end, *colon;

	if (rec_pattern_check(patterns) < 0)
		return false;
	for (;; patterns = end + 1) {
		end = patterns + strcspn(patterns, ",");
		colon = memchr(patterns, ':', (size_t)(end - patterns));
		if (glob(patterns, colon ? colon : end, system, system + system_size) &&
		    (!colon || glob(colon + 1, end, name, name + name_size)))
			return true;
		if (!*end)
			return false;
	}
}
