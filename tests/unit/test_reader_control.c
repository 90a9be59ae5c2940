/* SPDX-License-Identifier: MIT */
/* Views that switch a child's events, and what other processes do meanwhile. test_rules.c tests the rules alone. */
#include "librecorder/core/enable.h"
#include "librecorder/process/event_private.h"
#include "librecorder/core/rules.h"
#include "tests/unit/beside.h"
#include "tests/unit/made_event.h"
#include "tests/unit/reader_fixture.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <librecorder/event.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static void begin(void)
{
	reader_begin(4, false);
}

TestSuite(reader_control, .init = begin, .fini = reader_end);

/* ---------------------------------------------------------------------------------------------- a program to switch */

#define EVENTS_MAX 128u

static struct made_event made[EVENTS_MAX];
static unsigned int nr_made;

/* Register system:name; its number. */
static unsigned int make(const char *system, const char *name)
{
	char declaration[32];

	if (nr_made == EVENTS_MAX)
		abort();
	snprintf(declaration, sizeof(declaration), "%s, u8(a)", name);
	made_event(&made[nr_made], system, declaration, 9);
	rec_event_register(&made[nr_made].event);
	return nr_made++;
}

static uint32_t word_of(unsigned int number)
{
	return __atomic_load_n(made[number].event.enabled, __ATOMIC_SEQ_CST);
}

/* The requests to the child, and its answers. */
enum deed {
	REGISTER, /* system:name */
	LOOK,   /* at event `number` */
	ENABLE, /* system:name from within */
	FORK,   /* and let the child go on */
};

struct order {
	enum deed deed;
	uint32_t number;
	char system[16];
	char name[16];
};

struct answer {
	uint32_t number; /* of the event */
	uint32_t id;
	uint32_t word;
	uint32_t stopped;
	char path[PATH_MAX];
};

/* The parent waits for its end. */
static void become_child(void)
{
	const pid_t pid = fork();

	if (pid > 0) {
		waitpid(pid, NULL, 0);
		_exit(0);
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
}

static unsigned int carry_out(const struct order *order)
{
	char text[64];

	snprintf(text, sizeof(text), "%s:%s", order->system, order->name);
	switch (order->deed) {
	case REGISTER:
		return make(order->system, order->name);
	case ENABLE:
		rec_enable(text);
		break;
	case FORK:
		become_child();
		break;
	default:
		break;
	}
	return order->number;
}

static void serve(struct rec_handle *lane, int pipe)
{
	struct answer answer = { 0 };
	struct order order;

	(void)lane;
	while (recv(pipe, &order, sizeof(order), MSG_WAITALL) == sizeof(order)) {
		answer.number = carry_out(&order);
		answer.id = answer.number < nr_made ? made[answer.number].event.id : 0;
		answer.word = answer.number < nr_made ? word_of(answer.number) : 0;
		answer.stopped = rec_process.header->stopped;
		strcpy(answer.path, rec_process.path);
		if (write(pipe, &answer, sizeof(answer)) != sizeof(answer))
			break;
	}
}

/* The program, and a view of it. */
struct program {
	pid_t pid;
	int pipe;
	char path[PATH_MAX];
	struct rec_view *view;
};

static struct program start(void)
{
	struct program p = { 0 };

	p.pid = reader_child(serve, p.path, &p.pipe);
	p.view = reader_view_of(p.path);
	return p;
}

static void end(struct program *p)
{
	rec_view_close(p->view);
	close(p->pipe);
	cr_assert_eq(waitpid(p->pid, NULL, 0), p->pid);
}

static struct answer ask(const struct program *p, enum deed deed, const char *system, const char *name, uint32_t number)
{
	struct order order = { .deed = deed, .number = number };
	struct answer answer;

	snprintf(order.system, sizeof(order.system), "%s", system);
	snprintf(order.name, sizeof(order.name), "%s", name);
	cr_assert_eq(write(p->pipe, &order, sizeof(order)), (ssize_t)sizeof(order));
	cr_assert_eq(recv(p->pipe, &answer, sizeof(answer), MSG_WAITALL), (ssize_t)sizeof(answer));
	return answer;
}

static uint32_t look(const struct program *p, uint32_t number)
{
	return ask(p, LOOK, "", "", number).word;
}

#define BOTH (REC_ENABLE_ON | REC_ENABLE_WANTED)

/* ------------------------------------------------------------------------------------------------------- switching */

Test(reader_control, events_that_are_there)
{
	struct program p = start();
	const struct answer x = ask(&p, REGISTER, "a", "x", 0), y = ask(&p, REGISTER, "a", "y", 0);

	cr_assert_eq(x.word, 0);
	cr_assert_eq(rec_view_switch(p.view, "a:x", true), 1);
	cr_assert_eq(look(&p, x.number), BOTH);
	cr_assert_eq(rec_view_enabled(p.view, x.id), BOTH);
	cr_assert_eq(look(&p, y.number), 0);
	cr_assert_eq(rec_view_switch(p.view, "a", true), 2);
	cr_assert_eq(rec_view_switch(p.view, "b:*,?:x", false), 1);
	cr_assert_eq(look(&p, x.number), 0);
	cr_assert_eq(look(&p, y.number), BOTH);
	cr_assert_eq(rec_view_switch(p.view, "b:*", true), 0);
	end(&p);
}

Test(reader_control, events_to_come)
{
	struct program p = start();
	struct answer a;

	cr_assert_eq(rec_view_switch(p.view, "a:*", true), 0);
	a = ask(&p, REGISTER, "a", "x", 0);
	cr_assert_eq(a.word, BOTH);
	cr_assert_eq(ask(&p, REGISTER, "b", "x", 0).word, 0);
	cr_assert_eq(rec_view_switch(p.view, "a:*", false), 1);
	cr_assert_eq(look(&p, a.number), 0);
	cr_assert_eq(ask(&p, REGISTER, "a", "y", 0).word, 0);
	/* The program's own selectors are for what nobody outside has said anything of. */
	ask(&p, ENABLE, "*", "*", 0);
	cr_assert_eq(look(&p, a.number), BOTH, "a word is what was done to it last");
	cr_assert_eq(ask(&p, REGISTER, "a", "z", 0).word, 0);
	cr_assert_eq(ask(&p, REGISTER, "b", "y", 0).word, BOTH);
	end(&p);
}

Test(reader_control, what_was_said_is_forgotten)
{
	struct program p = start();
	struct answer a;

	rec_view_switch(p.view, "a:*", true);
	a = ask(&p, REGISTER, "a", "x", 0);
	cr_assert_eq(rec_view_forget(p.view, "a:*"), 0);
	cr_assert_eq(look(&p, a.number), BOTH, "words stay");
	cr_assert_eq(ask(&p, REGISTER, "a", "y", 0).word, 0);
	cr_assert_eq(rec_view_forget(p.view, "never:said"), 0);
	cr_assert_eq(rec_view_forget(p.view, "a:"), -EINVAL);
	cr_assert_eq(rec_view_forget(p.view, NULL), -EINVAL);
	end(&p);
}

Test(reader_control, one_by_its_id)
{
	struct program p = start();
	const struct answer a = ask(&p, REGISTER, "a", "x", 0);

	cr_assert_eq(rec_view_switch_event(p.view, a.id, REC_ENABLE_WANTED), 0);
	cr_assert_eq(look(&p, a.number), BOTH);
	cr_assert_eq(rec_view_switch_event(p.view, a.id, 0), 0);
	cr_assert_eq(look(&p, a.number), 0);
	cr_assert_eq(rec_view_switch_event(p.view, REC_EVENT_ID_FIRST - 1, REC_ENABLE_WANTED), -EINVAL);
	cr_assert_eq(rec_view_switch_event(p.view, REC_EVENT_ID_FIRST + REC_EVENTS_MAX, REC_ENABLE_WANTED), -EINVAL);
	cr_assert_eq(rec_view_switch_event(p.view, REC_EVENT_ID_FIRST + REC_EVENTS_MAX - 1, REC_ENABLE_WANTED), -EINVAL,
		     "it has no memory");
	end(&p);
}

Test(reader_control, stopped_and_started)
{
	struct program p = start();
	const struct answer a = ask(&p, REGISTER, "a", "x", 0), b = ask(&p, REGISTER, "a", "y", 0);

	rec_view_switch(p.view, "a:x", true);
	cr_assert_not(rec_view_stopped(p.view));
	cr_assert_eq(rec_view_stop(p.view), 0);
	cr_assert(rec_view_stopped(p.view));
	cr_assert_eq(ask(&p, LOOK, "", "", a.number).stopped, 1);
	cr_assert_eq(look(&p, a.number), REC_ENABLE_WANTED);
	cr_assert_eq(rec_view_switch(p.view, "a:y,later:*", true), 1);
	cr_assert_eq(look(&p, b.number), REC_ENABLE_WANTED);
	cr_assert_eq(ask(&p, REGISTER, "later", "x", 0).word, REC_ENABLE_WANTED);
	cr_assert_eq(rec_view_stop(p.view), 0);
	cr_assert_eq(rec_view_switch(p.view, "a:x", false), 1);
	cr_assert_eq(rec_view_start(p.view), 0);
	cr_assert_not(rec_view_stopped(p.view));
	cr_assert_eq(look(&p, a.number), 0);
	cr_assert_eq(look(&p, b.number), BOTH);
	cr_assert_eq(look(&p, 2), BOTH);
	end(&p);
}

Test(reader_control, a_forked_child_has_the_same)
{
	struct program p = start();
	const struct answer x = ask(&p, REGISTER, "a", "x", 0), y = ask(&p, REGISTER, "a", "y", 0);
	struct rec_view *view;
	struct answer child;

	rec_view_switch(p.view, "a:x", true);
	rec_view_switch(p.view, "later:*", true);
	rec_view_stop(p.view);
	child = ask(&p, FORK, "", "", x.number);
	cr_assert_str_neq(child.path, p.path);
	cr_assert_eq(child.stopped, 1);
	cr_assert_eq(child.word, REC_ENABLE_WANTED);
	view = reader_view_of(child.path);
	cr_assert_eq(rec_view_start(view), 0);
	cr_assert_eq(look(&p, x.number), BOTH);
	cr_assert_eq(look(&p, y.number), 0);
	cr_assert_eq(ask(&p, REGISTER, "later", "x", 0).word, BOTH);
	cr_assert(rec_view_stopped(p.view), "its parent is another program");
	cr_assert_eq(rec_view_switch(view, "a:*", true), 2);
	cr_assert_eq(rec_view_enabled(p.view, y.id), 0);
	rec_view_close(view);
	end(&p);
}

Test(reader_control, the_dead_are_not_switched)
{
	struct program p = start();

	cr_assert_eq(kill(p.pid, SIGKILL), 0);
	cr_assert_eq(waitpid(p.pid, NULL, 0), p.pid);
	cr_assert_eq(rec_view_switch(p.view, "a:*", true), -ESRCH);
	cr_assert_eq(rec_view_switch(p.view, "a:", true), -EINVAL);
	cr_assert_eq(rec_view_switch_event(p.view, REC_EVENT_ID_FIRST, REC_ENABLE_WANTED), -ESRCH);
	cr_assert_eq(rec_view_forget(p.view, "a:*"), -ESRCH);
	cr_assert_eq(rec_view_start(p.view), -ESRCH);
	cr_assert_eq(rec_view_stop(p.view), -ESRCH);
	cr_assert_not(rec_view_stopped(p.view));
	rec_view_close(p.view);
	close(p.pipe);
}

Test(reader_control, patterns_that_are_none)
{
	static const char *const bad[] = { "", ":", "a:", ":a", "a:b:c", "a b", "a,", ",a", "a:[x]" };
	struct rec_view *view = reader_view();
	unsigned int i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		cr_assert_eq(rec_view_switch(view, bad[i], true), -EINVAL, "%s", bad[i]);
	cr_assert_eq(rec_view_switch(view, NULL, true), -EINVAL);
	rec_view_close(view);
}

Test(reader_control, too_many_rules)
{
	struct program p = start();
	const struct answer a = ask(&p, REGISTER, "a", "x", 0);
	char patterns[32];
	unsigned int nr = 0;
	int r;

	do {
		snprintf(patterns, sizeof(patterns), "a:x,system%u:*", nr);
		r = rec_view_switch(p.view, patterns, false);
	} while (r == 1 && ++nr < REC_RULES_SIZE);
	cr_assert_eq(r, -ENOSPC);
	snprintf(patterns, sizeof(patterns), "a:x,system%u:*", nr);
	cr_assert_eq(rec_view_switch(p.view, patterns, true), -ENOSPC);
	cr_assert_eq(look(&p, a.number), 0, "nothing was changed");
	cr_assert_eq(rec_view_switch_event(p.view, a.id, REC_ENABLE_WANTED), 0, "that needs no rule");
	cr_assert_eq(rec_view_forget(p.view, "a:x,system7:*"), 0);
	cr_assert_eq(rec_view_switch(p.view, "a:x", true), 1);
	end(&p);
}

/* The file system has no room for the words. */
static bool is_full;
int __real_fallocate(int fd, int mode, off_t offset, off_t size);
int __wrap_fallocate(int fd, int mode, off_t offset, off_t size);

int __wrap_fallocate(int fd, int mode, off_t offset, off_t size)
{
	if (!is_full)
		return __real_fallocate(fd, mode, offset, size);
	errno = ENOSPC;
	return -1;
}

Test(reader_control, no_room_for_words)
{
	struct rec_view *view = reader_view();
	struct rec_rules rules;

	make("a", "x");
	cr_assert_eq(rec_view_switch(view, "a:y", true), 0);
	rules = *rec_process.rules;
	is_full = true;
	cr_assert_eq(rec_view_switch(view, "a:*", true), -ENOSPC);
	cr_assert_eq(rec_view_switch(view, "a:y", false), -ENOSPC);
	is_full = false;
	cr_assert_eq(word_of(0), 0);
	cr_assert_eq(memcmp(&rules, rec_process.rules, sizeof(rules)), 0);
	rec_view_close(view);
}

Test(reader_control, a_view_of_oneself)
{
	struct rec_view *view = reader_view(), *other = reader_view();
	unsigned int number = make("own", "x");

	cr_assert_eq(rec_view_switch(view, "own:*", true), 1);
	cr_assert_eq(rec_view_switch(other, "own:y", true), 0);
	cr_assert_eq(word_of(number), BOTH);
	cr_assert_eq(rec_stop(), 0);
	cr_assert(rec_view_stopped(view));
	cr_assert_eq(word_of(number), REC_ENABLE_WANTED);
	cr_assert_eq(rec_view_start(other), 0);
	cr_assert_eq(word_of(number), BOTH);
	cr_assert_not(rec_printf_on());
	/* It does not count, because this program has not used it. */
	cr_assert_eq(rec_view_switch(view, "ftrace:bprint", true), 0);
	cr_assert(rec_printf_on());
	rec_view_close(other);
	rec_view_close(view);
}

/* ------------------------------------------------------------------------------------------------------- at a time */

/*
 * What others do at the worst moments: behind each look at the rules, and before the events move to another buffer. The
 * linker leads these two calls here (tests/include.am).
 */
int __real_rec_rules_say(const struct rec_rules *rules, const struct rec_words *system, const struct rec_words *name,
			 char ret_selector[REC_RULES_SIZE]);
int __wrap_rec_rules_say(const struct rec_rules *rules, const struct rec_words *system, const struct rec_words *name,
			 char ret_selector[REC_RULES_SIZE]);
void __real_rec_events_move(const unsigned char *conditions, bool needed);
void __wrap_rec_events_move(const unsigned char *conditions, bool needed);

#define STEPS 4u

static struct {
	struct rec_view *view;
	const char *patterns;
	unsigned int script; /* to base 3, what is done after each look: nothing, off, on */
	unsigned int steps;
	int last; /* what was said last; -1: nothing */
} between;

static int opened_early;

int __wrap_rec_rules_say(const struct rec_rules *rules, const struct rec_words *system, const struct rec_words *name,
			 char ret_selector[REC_RULES_SIZE])
{
	const int said = __real_rec_rules_say(rules, system, name, ret_selector);
	const unsigned int what = between.script % 3;

	if (between.steps && between.steps--) {
		between.script /= 3;
		if (what && rec_view_switch(between.view, between.patterns, what == 2) >= 0)
			between.last = what == 2;
	}
	return said;
}

void __wrap_rec_events_move(const unsigned char *conditions, bool needed)
{
	struct rec_view *view = NULL;

	opened_early = rec_process.header ? rec_view_open(rec_process.path, &view) : 0;
	rec_view_close(view);
	__real_rec_events_move(conditions, needed);
}

/* Edge W2: an event is as the last rule has it, whatever was said while it was registered, and whenever. */
Test(reader_control, switched_while_registered)
{
	struct rec_view *view = reader_view();
	unsigned int script, scripts = 1, number, i;
	char system[16], patterns[24];

	for (i = 0; i < STEPS; i++)
		scripts *= 3;
	for (script = 0; script < scripts; script++) {
		snprintf(system, sizeof(system), "s%u", script);
		snprintf(patterns, sizeof(patterns), "%s:*", system);
		between.view = view;
		between.patterns = patterns;
		between.script = script;
		between.last = -1;
		between.steps = STEPS;
		number = make(system, "x");
		between.steps = 0;
		cr_assert_eq(word_of(number), between.last == 1 ? BOTH : 0, "script %u", script);
		cr_assert_eq(rec_view_forget(view, patterns), 0);
	}
	rec_view_close(view);
}

/* Edge B1: nobody may switch a buffer that its events have yet to come to. */
Test(reader_control, not_before_it_has_its_events)
{
	const struct rec_options options = REC_OPTIONS_INIT;

	cr_assert_eq(rec_configure(&options), 0);
	cr_assert_eq(opened_early, -EAGAIN);
	rec_view_close(reader_view());
}

#define OWN_RULES 60u

/* One of several who switch at the same time; data: its letter, then the path of the buffer. */
static void switch_many(void *data)
{
	const char *const letter = data;
	struct rec_view *view = NULL;
	char patterns[16];
	unsigned int i;

	if (rec_view_open(letter + 1, &view))
		_exit(1);
	for (i = 0; i < OWN_RULES; i++) {
		snprintf(patterns, sizeof(patterns), "%c%u:*", *letter, i);
		if (rec_view_switch(view, patterns, true))
			_exit(1);
	}
}

Test(reader_control, several_take_turns)
{
	struct rec_view *view = reader_view();
	char data[3][PATH_MAX + 8], system[16], selector[REC_RULES_SIZE];
	struct rec_words words = { .text = system };
	const struct rec_words x = { "x", 1 };
	unsigned int i, k;
	pid_t pids[3];
	int status;

	for (k = 0; k < 3; k++) {
		snprintf(data[k], sizeof(data[k]), "%c%s", "abc"[k], rec_process.path);
		pids[k] = beside_run(switch_many, data[k]);
	}
	for (k = 0; k < 3; k++) {
		cr_assert_eq(waitpid(pids[k], &status, 0), pids[k]);
		cr_assert_eq(status, 0);
	}
	for (k = 0; k < 3; k++)
		for (i = 0; i < OWN_RULES; i++) {
			words.size = (uint32_t)snprintf(system, sizeof(system), "%c%u", "abc"[k], i);
			cr_assert_eq(rec_rules_say(rec_process.rules, &words, &x, selector), 1, "%s is gone", system);
		}
	rec_view_close(view);
}

struct race {
	uint32_t round; /* the other one may begin it */
	uint32_t done;	/* and has ended it */
	uint32_t stopped;
	uint32_t word;
};

static void wait_for(const uint32_t *word, uint32_t value)
{
	unsigned int i;

	for (i = 0; __atomic_load_n(word, __ATOMIC_ACQUIRE) != value; i++)
		if (i % 1024 == 1023)
			sched_yield();
}

#define ROUNDS 20000u

static void switch_on(void *data)
{
	struct race *race = data;
	uint32_t round;

	for (round = 1; round <= ROUNDS; round++) {
		wait_for(&race->round, round);
		rec_enable_word(&race->stopped, &race->word, REC_ENABLE_WANTED);
		__atomic_store_n(&race->done, round, __ATOMIC_RELEASE);
	}
}

/* Edge W1: switched on by one and stopped by another at the same time, it is stopped. */
Test(reader_control, stopped_while_switched)
{
	struct race *race = beside_memory(sizeof(*race));
	const pid_t pid = beside_run(switch_on, race);
	uint32_t round;

	for (round = 1; round <= ROUNDS; round++) {
		race->word = 0;
		race->stopped = 0;
		__atomic_store_n(&race->round, round, __ATOMIC_RELEASE);
		for (volatile uint32_t i = 0; i < round % 64; i++)
			;
		rec_enable_stop(&race->stopped, &race->word, 1, true);
		wait_for(&race->done, round);
		cr_assert_eq(race->word, REC_ENABLE_WANTED, "round %u", round);
	}
	cr_assert_eq(waitpid(pid, NULL, 0), pid);
}
