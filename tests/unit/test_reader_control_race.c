/* SPDX-License-Identifier: MIT */
/* Views that switch events, and what other processes do at the worst moments. */
#include "librecorder/core/enable.h"
#include "librecorder/core/rules.h"
#include "librecorder/process/event_private.h"
#include "tests/unit/beside.h"
#include "tests/unit/own_buffer.h"
#include "tests/unit/reader_fixture.h"
#include "tests/unit/switched_events.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <limits.h>
#include <librecorder/event.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void begin(void)
{
	reader_begin(4, false);
}

TestSuite(reader_control, .init = begin, .fini = reader_end);

/*
 * The actions of other processes and threads at the worst moments: after each look at the rules, before the events move
 * to another buffer, and before enable words are switched. The linker redirects these three calls (tests/include.am).
 */
int __real_rec_rules_say(const struct rec_rules *rules, const struct rec_words *system, const struct rec_words *name,
			 char ret_selector[REC_RULES_SIZE]);
int __wrap_rec_rules_say(const struct rec_rules *rules, const struct rec_words *system, const struct rec_words *name,
			 char ret_selector[REC_RULES_SIZE]);
void __real_rec_events_move(const struct rec_buffer_header *before, const struct rec_geometry *geometry, bool needed);
void __wrap_rec_events_move(const struct rec_buffer_header *before, const struct rec_geometry *geometry, bool needed);
void __real_rec_enable_stop(uint32_t *stopped, uint32_t *words, uint32_t nr, bool stop);
void __wrap_rec_enable_stop(uint32_t *stopped, uint32_t *words, uint32_t nr, bool stop);

#define STEPS 4u

static struct {
	struct rec_view *view;
	const char *patterns;
	unsigned int script; /* digits in base 3, the action after each look: none, off, on */
	unsigned int steps;
	int last; /* the last request; -1: none */
	unsigned int flips; /* number of looks plus 1, each of which finds another rule than the one before; 0: none */
} between;

static int opened_early;

/* An event that is registered before words are switched. */
static struct {
	unsigned int before; /* before the first, second, ... call; 0: it is registered, or shall not be */
	unsigned int number;
} late;

int __wrap_rec_rules_say(const struct rec_rules *rules, const struct rec_words *system, const struct rec_words *name,
			 char ret_selector[REC_RULES_SIZE])
{
	const int said = __real_rec_rules_say(rules, system, name, ret_selector);
	const unsigned int what = between.script % 3;

	if (between.flips) {
		strcpy(ret_selector, "flips:*");
		return (int)(between.flips++ % 2);
	}
	if (between.steps && between.steps--) {
		between.script /= 3;
		if (what && rec_view_switch(between.view, between.patterns, what == 2) >= 0)
			between.last = what == 2;
	}
	return said;
}

void __wrap_rec_events_move(const struct rec_buffer_header *before, const struct rec_geometry *geometry, bool needed)
{
	struct rec_view *view = NULL;

	opened_early = rec_process_header() ? rec_view_open(rec_process_path(), &view) : 0;
	rec_view_close(view);
	__real_rec_events_move(before, geometry, needed);
}

void __wrap_rec_enable_stop(uint32_t *stopped, uint32_t *words, uint32_t nr, bool stop)
{
	char system[16];

	if (late.before && --late.before == 0) {
		snprintf(system, sizeof(system), "late%u", nr_made);
		late.number = make(system, "x");
	}
	__real_rec_enable_stop(stopped, words, nr, stop);
}

/* Start or stop, while an event is registered before this call. False: there is no such call. */
static bool is_late(unsigned int before, bool stop)
{
	late.before = before;
	cr_assert_eq(stop ? rec_stop() : rec_start(), 0);
	return late.before == 0;
}

/* Edge W1: an event that is registered while the program stops is off, and one that is while it starts is on. */
Test(reader_control, registered_while_stopped_and_started)
{
	unsigned int call;

	cr_assert_eq(rec_enable("late*:*"), 0);
	for (call = 1; is_late(call, true); call++) {
		cr_assert_eq(word_of(late.number), REC_ENABLE_WANTED, "call %u", call);
		cr_assert_eq(rec_start(), 0);
		cr_assert_eq(word_of(late.number), BOTH, "call %u", call);
	}
	cr_assert_gt(call, 1);
	for (call = 1; is_late(call, false); call++) {
		cr_assert_eq(word_of(late.number), BOTH, "call %u", call);
		cr_assert_eq(rec_stop(), 0);
		cr_assert_eq(word_of(late.number), REC_ENABLE_WANTED, "call %u", call);
	}
	cr_assert_gt(call, 1);
}

/*
 * Edge W2: an event follows the last rule, whichever rules were made while it was registered, and at whatever moment.
 */
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

/* A process that switches an event after each look at the rules does not keep the program from continuing. */
Test(reader_control, switched_again_and_again)
{
	between.flips = 1;
	make("flips", "x");
	cr_assert_gt(between.flips, 10);
	between.flips = 0;
}

/* Edge B1: no process may switch a buffer before the program's events are in it. */
Test(reader_control, not_before_it_has_its_events)
{
	const struct rec_options options = REC_OPTIONS_INIT;

	cr_assert_eq(rec_configure(&options), 0);
	cr_assert_eq(opened_early, -EAGAIN);
	rec_view_close(reader_view());
}

#define OWN_RULES 60u

/* One of several processes that switch at the same time. `data` is its letter, then the path of the buffer. */
static void switch_many(void *data)
{
	const char *const letter = data;
	struct rec_view *view = NULL;
	char patterns[16];
	unsigned int i;
	int r;

	if (rec_view_open(letter + 1, &view))
		_exit(1);
	for (i = 0; i < OWN_RULES; i++) {
		snprintf(patterns, sizeof(patterns), "%c%u:*", *letter, i);
		/* On a busy machine a process may get no turn within a second. */
		do {
			r = rec_view_switch(view, patterns, true);
		} while (r == -EBUSY);
		if (r)
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
		snprintf(data[k], sizeof(data[k]), "%c%s", "abc"[k], rec_process_path());
		pids[k] = beside_run(switch_many, data[k]);
	}
	for (k = 0; k < 3; k++) {
		cr_assert_eq(waitpid(pids[k], &status, 0), pids[k]);
		cr_assert_eq(status, 0);
	}
	for (k = 0; k < 3; k++)
		for (i = 0; i < OWN_RULES; i++) {
			words.size = (uint32_t)snprintf(system, sizeof(system), "%c%u", "abc"[k], i);
			cr_assert_eq(rec_rules_say(own_rules(), &words, &x, selector), 1, "%s is gone", system);
		}
	rec_view_close(view);
}

struct race {
	uint32_t round; /* the round that the other process may begin */
	uint32_t done;	/* the round that it has ended */
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

/* Edge W1: if one process switches an event on while another one stops the program's recording, the event is off. */
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
