/* SPDX-License-Identifier: MIT */
/*
 * The rules for events registered later: their contents, no room for them, damaged memory, changes while they are read.
 */
#include "librecorder/core/rules.h"
#include "tests/unit/beside.h"
#include "tests/unit/tell.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>

static int say(const struct rec_rules *rules, const char *system, const char *name)
{
	const struct rec_words a = { system, (unsigned int)strlen(system) }, b = { name, (unsigned int)strlen(name) };
	char selector[REC_RULES_SIZE];

	return rec_rules_say(rules, &a, &b, selector);
}

static const char *text_of(const struct rec_rules *rules)
{
	return rules->text[rules->changes & 1];
}

Test(rules, the_last_one_that_matches_holds)
{
	static struct rec_rules rules;

	cr_assert_eq(say(&rules, "a", "x"), -1);
	cr_assert_eq(rec_rules_add(&rules, "a:*", true), 0);
	cr_assert_eq(rec_rules_add(&rules, "a:x,b:?", false), 0);
	cr_assert_eq(say(&rules, "a", "x"), 0);
	cr_assert_eq(say(&rules, "a", "y"), 1);
	cr_assert_eq(say(&rules, "b", "z"), 0);
	cr_assert_eq(say(&rules, "b", "zz"), -1);
	cr_assert_eq(memcmp(text_of(&rules), "+a:*\0-a:x,b:?\0", 15), 0);
}

Test(rules, the_same_patterns_have_one_rule)
{
	static struct rec_rules rules;

	rec_rules_add(&rules, "a:*", true);
	rec_rules_add(&rules, "a:x", false);
	cr_assert_eq(rec_rules_add(&rules, "a:*", true), 0);
	cr_assert_eq(say(&rules, "a", "x"), 1, "it goes to the end");
	cr_assert_eq(memcmp(text_of(&rules), "-a:x\0+a:*\0", 11), 0);
	/* Programs of earlier versions know only the colon; a filter may contain a slash. */
	cr_assert_eq(rec_rules_add(&rules, "a/* if s == 'x/y'", true), 0);
	cr_assert_eq(memcmp(text_of(&rules), "-a:x\0+a:* if s == 'x/y'\0", 25), 0);
	rec_rules_remove(&rules, "a/x");
	cr_assert_eq(rec_rules_add(&rules, "a:x", false), 0);
	cr_assert_eq(rec_rules_add(&rules, "a:*", true), 0);
	cr_assert_eq(rec_rules_add(&rules, "a:*", false), 0);
	cr_assert_eq(say(&rules, "a", "y"), 0);
	rec_rules_remove(&rules, "b:*");
	cr_assert_eq(memcmp(text_of(&rules), "-a:x\0-a:*\0", 11), 0);
	rec_rules_remove(&rules, "a:*");
	cr_assert_eq(say(&rules, "a", "y"), -1);
	cr_assert_eq(say(&rules, "a", "x"), 0);
	rec_rules_remove(&rules, "a:x");
	cr_assert_eq(text_of(&rules)[0], '\0');
}

Test(rules, where_there_is_no_room_nothing_changes)
{
	static struct rec_rules rules, before;
	char patterns[32];
	unsigned int nr = 0, i;
	int r;

	do {
		snprintf(patterns, sizeof(patterns), "system%u:*", nr);
		before = rules;
		r = rec_rules_add(&rules, patterns, nr % 2);
	} while (r == 0 && ++nr < REC_RULES_SIZE);
	cr_assert_eq(r, -ENOSPC);
	cr_assert_gt(nr, REC_RULES_SIZE / 16);
	cr_assert_eq(memcmp(&rules, &before, sizeof(rules)), 0);
	for (i = 0; i < nr; i++) {
		snprintf(patterns, sizeof(patterns), "system%u", i);
		cr_assert_eq(say(&rules, patterns, "x"), (int)(i % 2));
	}
	cr_assert_eq(rec_rules_add(&rules, "system0:*", true), 0, "what is already there has room");
	cr_assert_eq(say(&rules, "system0", "x"), 1);
	rec_rules_remove(&rules, "system7:*");
	cr_assert_eq(rec_rules_add(&rules, "syste7:*", true), 0);
}

Test(rules, the_longest_one)
{
	static struct rec_rules rules;
	char patterns[REC_RULES_SIZE];

	memset(patterns, 'a', sizeof(patterns));
	/* A rule needs room for its sign, its NUL, and an empty rule after it. */
	patterns[REC_RULES_SIZE - 2] = '\0';
	cr_assert_eq(rec_rules_add(&rules, patterns, true), -ENOSPC);
	patterns[REC_RULES_SIZE - 3] = '\0';
	cr_assert_eq(rec_rules_add(&rules, patterns, true), 0);
	cr_assert_eq(say(&rules, patterns, "x"), 1);
	cr_assert_eq(rec_rules_add(&rules, "b", true), -ENOSPC);
	cr_assert_eq(say(&rules, patterns, "x"), 1);
}

/* Rules between two inaccessible pages, at the beginning or at the end of their memory. */
static struct rec_rules *walled(bool end)
{
	unsigned char *map = mmap(NULL, 3 * REC_MAP_PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	cr_assert_neq(map, MAP_FAILED);
	map += REC_MAP_PAGE;
	cr_assert_eq(mprotect(map, REC_MAP_PAGE, PROT_READ | PROT_WRITE), 0);
	return (struct rec_rules *)(void *)(map + (end ? REC_MAP_PAGE - sizeof(struct rec_rules) : 0));
}

Test(rules, rubbish_stays_in_its_place)
{
	static const char likely[] = "+-ab*?:,\0\0";
	struct rec_rules *const rules[] = { walled(false), walled(true) };
	const char *text = getenv("RECORDER_SEED");
	const unsigned int seed = text ? (unsigned int)strtoul(text, NULL, 10) : 1;
	unsigned int round, i, alphabet, taken = 0, refused = 0;
	struct rec_rules *r;

	tell("RECORDER_SEED=%u", seed);
	srandom(seed);
	for (round = 0; round < 2000; round++) {
		r = rules[round % 2];
		alphabet = (unsigned int)random() % 4;
		for (i = 0; i < sizeof(*r); i++)
			((char *)r)[i] = (char)(alphabet == 0 ? random() :
					       alphabet == 1 ? likely[random() % 10] :
					       alphabet == 2 ? likely[random() % 8] :
							       (random() % 300 ? 'a' : 0));
		i = (unsigned int)say(r, "aab", "bb");
		cr_assert(i + 1 <= 2);
		rec_rules_remove(r, "a*:*");
		if (rec_rules_add(r, "a*:b*", round % 4 < 2) == 0) {
			cr_assert_eq(say(r, "aab", "bb"), round % 4 < 2, "round %u", round);
			taken++;
		} else {
			refused++;
		}
	}
	cr_assert_gt(taken, 100);
	cr_assert_gt(refused, 100);
}

Test(rules, a_copy_has_the_same_rules)
{
	static struct rec_rules from, to;

	rec_rules_add(&from, "a:*", true);
	rec_rules_add(&from, "a:x", false);
	rec_rules_add(&to, "b:*", true);
	rec_rules_copy(&to, &from);
	cr_assert_eq(say(&to, "a", "y"), 1);
	cr_assert_eq(say(&to, "a", "x"), 0);
	cr_assert_eq(say(&to, "b", "x"), -1);
}

/* The tested rule moves back and forth among others of different lengths. */
static void shuffle(void *data)
{
	static const char *const others[] = { "b:*", "beside:*,it:*", "c:*,d:*,e:*,f:*,g:*" };
	struct rec_rules *rules = data;
	unsigned int i;

	for (i = 0;; i++) {
		rec_rules_add(rules, others[i % 3], i % 2);
		rec_rules_add(rules, "always:on", true);
	}
}

/* Edge W3. */
Test(rules, changed_while_read)
{
	struct rec_rules *rules = beside_memory(sizeof(*rules));
	unsigned int i, before;
	pid_t pid;

	cr_assert_eq(rec_rules_add(rules, "always:on", true), 0);
	pid = beside_run(shuffle, rules);
	before = rules->changes;
	for (i = 0; i < 100000 || __atomic_load_n(&rules->changes, __ATOMIC_RELAXED) - before < 1000; i++)
		cr_assert_eq(say(rules, "always", "on"), 1, "look %u", i);
	cr_assert_eq(kill(pid, SIGKILL), 0);
	cr_assert_eq(waitpid(pid, NULL, 0), pid);
	cr_assert_eq(say(rules, "always", "on"), 1, "killed in the middle of a change");
}

/* The text changes while it is being copied: its second half is inaccessible, and the fault there changes it. */
static struct {
	struct rec_rules *rules;
	unsigned char *rest;
	char patterns[1001];
	unsigned int times;
} torn;

static void change_twice(int signal)
{
	(void)signal;
	torn.times++;
	mprotect(torn.rest, REC_MAP_PAGE, PROT_READ | PROT_WRITE);
	rec_rules_add(torn.rules, torn.patterns, false);
	rec_rules_add(torn.rules, torn.patterns, false);
}

/* The long rule moves to the end. Its old copy must not hide the rule before it. */
Test(rules, changed_in_the_middle_of_a_look)
{
	unsigned char *map = beside_memory(2 * REC_MAP_PAGE);

	torn.rest = map + REC_MAP_PAGE;
	torn.rules = (struct rec_rules *)(void *)(torn.rest - offsetof(struct rec_rules, text) - 1000);
	memset(torn.patterns, 'f', sizeof(torn.patterns) - 1);
	cr_assert_eq(rec_rules_add(torn.rules, torn.patterns, false), 0);
	cr_assert_eq(rec_rules_add(torn.rules, "always:on", true), 0);
	cr_assert_eq(torn.rules->changes % 2, 0);
	signal(SIGSEGV, change_twice);
	cr_assert_eq(mprotect(torn.rest, REC_MAP_PAGE, PROT_NONE), 0);
	cr_assert_eq(say(torn.rules, "always", "on"), 1);
	signal(SIGSEGV, SIG_DFL);
	cr_assert_eq(torn.times, 1);
}
