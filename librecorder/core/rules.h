/* SPDX-License-Identifier: MIT */
/*
 * Rules that other processes put into a buffer for events that its program has not registered yet: struct rec_rules.
 */
#ifndef RULES_H
#define RULES_H

#include <librecorder/detail/abi.h>
#include <librecorder/event_text.h>
#include <stdbool.h>

/*
 * The result of the rules for an event: 1 on, 0 off, and *ret_selector is the selector that applies; -1: no rule
 * applies. The rules may change meanwhile, or be invalid.
 */
int rec_rules_say(const struct rec_rules *rules, const struct rec_words *system, const struct rec_words *name,
		  char ret_selector[REC_RULES_SIZE]);

/*
 * Add a rule after the others, and remove those with the same patterns. The caller excludes other writers. 0, or
 * -ENOSPC: there is no room; nothing was changed.
 */
int rec_rules_add(struct rec_rules *rules, const char *selector, bool on);

/* Remove the rules with these patterns, if there are any. The caller excludes other writers. */
void rec_rules_remove(struct rec_rules *rules, const char *selector);

/* Copy the rules of `from`, which another process may be changing, to `to`. */
void rec_rules_copy(struct rec_rules *to, const struct rec_rules *from);

#endif
