/* SPDX-License-Identifier: MIT */
#include "librecorder/core/rules.h"

#include <errno.h>
#include <string.h>

#include "librecorder/core/atomic.h"
#include "librecorder/core/selector.h"

/* The number of attempts: a process that keeps changing the rules must not delay a program. */
#define TRIES 100u

/* Make a private copy of the valid text. It ends with an empty rule, even if the text is damaged. */
static void copy_text(const struct rec_rules *rules, char text[REC_RULES_SIZE])
{
	unsigned int tries = 0;
	uint32_t changes;

	do {
		/* Acquire: the text was complete before `changes` named it. */
		changes = rec_load_acquire(&rules->changes);
		memcpy(text, rules->text[changes & 1], REC_RULES_SIZE);
		/*
		 * This slot's text is overwritten only after `changes` has named the other slot. So if `changes` is the
		 * same after the copy, no byte of the copy was overwritten.
		 */
		rec_fence_acquire();
	} while (rec_load_relaxed(&rules->changes) != changes && ++tries < TRIES);
	text[REC_RULES_SIZE - 1] = '\0';
	text[REC_RULES_SIZE - 2] = '\0';
}

int rec_rules_say(const struct rec_rules *rules, const struct rec_words *system, const struct rec_words *name,
		  char ret_selector[REC_RULES_SIZE])
{
	const char *at, *last = NULL;
	char text[REC_RULES_SIZE];
	struct rec_selector selector;

	copy_text(rules, text);
	for (at = text; *at; at += strlen(at) + 1)
		if (rec_selector_parse(at + 1, &selector) == 0 && rec_selector_matches(&selector, system, name))
			last = at;
	if (!last)
		return -1;
	memcpy(ret_selector, last + 1, strlen(last));
	return *last == '+';
}

/*
 * Copy the rules except those that have the patterns of `selector`; returns their size, without the empty rule at the
 * end.
 */
static size_t copy_others(const struct rec_rules *rules, const char *selector, char others[REC_RULES_SIZE])
{
	char text[REC_RULES_SIZE];
	const char *at;
	size_t used = 0;

	copy_text(rules, text);
	memset(others, 0, REC_RULES_SIZE);
	for (at = text; *at; at += strlen(at) + 1) {
		if (rec_selector_same_patterns(at + 1, selector))
			continue;
		memcpy(others + used, at, strlen(at) + 1);
		used += strlen(at) + 1;
	}
	return used;
}

static void publish(struct rec_rules *rules, const char others[REC_RULES_SIZE])
{
	const uint32_t next = rec_load_relaxed(&rules->changes) + 1;

	/* Release: pairs with the acquire fence of copy_text(). */
	rec_fence_release();
	memcpy(rules->text[next & 1], others, REC_RULES_SIZE);
	rec_store_release(&rules->changes, next);
}

int rec_rules_add(struct rec_rules *rules, const char *selector, bool on)
{
	const size_t size = strlen(selector) + 2;
	char others[REC_RULES_SIZE];
	const size_t used = copy_others(rules, selector, others);

	/* Two bytes must remain 0: the NUL of the last rule, and an empty rule as the end. */
	if (size + 1 > REC_RULES_SIZE - used)
		return -ENOSPC;
	others[used] = on ? '+' : '-';
	memcpy(others + used + 1, selector, size - 1);
	/* A program of an earlier version knows only the colon. */
	for (char *at = others + used + 1; *at && *at != ' '; at++)
		if (*at == '/')
			*at = ':';
	publish(rules, others);
	return 0;
}

void rec_rules_remove(struct rec_rules *rules, const char *selector)
{
	char others[REC_RULES_SIZE];

	copy_others(rules, selector, others);
	publish(rules, others);
}

void rec_rules_copy(struct rec_rules *to, const struct rec_rules *from)
{
	char text[REC_RULES_SIZE];

	copy_text(from, text);
	publish(to, text);
}
