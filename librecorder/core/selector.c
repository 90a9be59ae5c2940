/* SPDX-License-Identifier: MIT */
#include "librecorder/core/selector.h"

#include <errno.h>
#include <librecorder/pattern.h>
#include <stdlib.h>
#include <string.h>

#include "librecorder/core/pattern_private.h"

static const char *skip_blanks(const char *at)
{
	return at + strspn(at, " ");
}

/* The position after the word and the blanks that follow it; NULL: another word is here. */
static const char *take_word(const char *at, const char *word)
{
	const size_t size = strlen(word);

	return strncmp(at, word, size) == 0 && at[size] == ' ' ? skip_blanks(at + size) : NULL;
}

static size_t patterns_size(const char *text)
{
	return strcspn(text, " ");
}

int rec_selector_parse(const char *text, struct rec_selector *ret_selector)
{
	struct rec_selector selector = { .patterns = { text, (uint32_t)patterns_size(text) } };
	const char *at = skip_blanks(text + selector.patterns.size), *next;
	struct rec_filter_error error;
	char *end;

	if (rec_pattern_check_part(text, selector.patterns.size) < 0)
		return -EINVAL;
	next = take_word(at, "rate");
	if (next) {
		const unsigned long rate = *next >= '0' && *next <= '9' ? strtoul(next, &end, 10) : 0;

		if (!rate || rate > REC_RATE_MAX || (*end && *end != ' '))
			return -EINVAL;
		selector.rate = (uint32_t)rate;
		at = skip_blanks(end);
	}
	next = take_word(at, "if");
	if (next) {
		if (rec_filter_check(next, &error) < 0)
			return -EINVAL;
		selector.filter = next;
	} else if (*at) {
		return -EINVAL;
	}
	*ret_selector = selector;
	return 0;
}

bool rec_selector_same_patterns(const char *a, const char *b)
{
	const size_t size = patterns_size(a);
	size_t i = 0;

	if (size != patterns_size(b))
		return false;
	while (i < size && (a[i] == '/' ? ':' : a[i]) == (b[i] == '/' ? ':' : b[i]))
		i++;
	return i == size;
}

bool rec_selector_matches(const struct rec_selector *selector, const struct rec_words *system,
			  const struct rec_words *name)
{
	return rec_pattern_match_part(selector->patterns.text, selector->patterns.size, system, name);
}

int rec_selector_compile(const struct rec_selector *selector, const struct rec_log_event *event, uint16_t id,
		     struct rec_condition *ret_condition, size_t size)
{
	struct rec_filter_error error;
	int r = 0;

	if (!selector->filter && !selector->rate)
		return 0;
	if (size < sizeof(*ret_condition))
		return -ENOSPC;
	if (selector->filter) {
		r = rec_filter_compile(event, selector->filter, ret_condition, size, &error);
		if (r < 0)
			return r;
	} else {
		memset(ret_condition, 0, sizeof(*ret_condition));
		ret_condition->size = sizeof(*ret_condition);
	}
	ret_condition->rate = selector->rate;
	ret_condition->id = selector->rate ? id : 0;
	return (int)ret_condition->size;
}
