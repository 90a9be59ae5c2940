/* SPDX-License-Identifier: MIT */
/* Rules that others put into a buffer for events that its program has not registered yet: struct rec_rules. */
#ifndef RULES_H
#define RULES_H

#include <librecorder/detail/abi.h>
#include <librecorder/event_text.h>
#include <stdbool.h>

/*
 * What the rules say of an event: 1 on, 0 off, and *ret_wish is the wish that says it; -1 nothing. They may be changed
 * meanwhile, or be rubbish.
 */
int rec_rules_say(const struct rec_rules *rules, const struct rec_words *system, const struct rec_words *name,
		  char ret_wish[REC_RULES_SIZE]);

/*
 * Add a rule behind the others, and take away those of the same patterns. The caller keeps other writers away. 0, or
 * -ENOSPC: there is no room; nothing was changed.
 */
int rec_rules_add(struct rec_rules *rules, const char *wish, bool on);

/* Take the rules of these patterns away. As rec_rules_add(). */
void rec_rules_remove(struct rec_rules *rules, const char *wish);

/* Give `to` the rules of `from`, which may be changed meanwhile. */
void rec_rules_copy(struct rec_rules *to, const struct rec_rules *from);

#endif
