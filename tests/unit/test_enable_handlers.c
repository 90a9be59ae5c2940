/* SPDX-License-Identifier: MIT */
/* An enable word, switched, started and stopped, with handlers that start and stop after every instruction of that. */
#include "librecorder/core/enable.h"
#include "steps.h"
#include "trap_flag.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#if defined(__x86_64__)

static uint32_t stopped, word;

static void start(void)
{
	rec_enable_stop(&stopped, &word, 1, false);
}

static void stop(void)
{
	rec_enable_stop(&stopped, &word, 1, true);
}

static void enable(void)
{
	rec_enable_word(&stopped, &word, REC_ENABLE_WANTED);
}

static struct {
	unsigned int step, at[2]; /* instructions */
	void (*handlers[2])(void);
} stepped;

static void on_trap(int number, siginfo_t *info, void *context)
{
	const unsigned int step = ++stepped.step;

	(void)number;
	(void)info;
	if (step == stepped.at[0])
		stepped.handlers[0]();
	if (step != stepped.at[1])
		return;
	trap_flag_clear_in(context);
	stepped.handlers[1]();
}

/* Run it with a handler after each of two instructions. Returns whether it reached the second one. */
static bool run(void (*act)(void), unsigned int first, unsigned int second)
{
	stopped = act == start;
	word = act == stop ? REC_ENABLE_WANTED | REC_ENABLE_ON : act == start ? REC_ENABLE_WANTED : 0;
	stepped.step = 0;
	stepped.at[0] = first;
	stepped.at[1] = second;
	trap_flag_set();
	act();
	trap_flag_clear();
	cr_assert_eq(word, REC_ENABLE_WANTED | (stopped ? 0 : REC_ENABLE_ON),
		     "word %u, stopped %u, handlers after instructions %u and %u", word, stopped, first, second);
	return stepped.step >= second;
}

/* Edge W1: whatever comes in between, an event that is wanted is on if and only if the buffer is not stopped. */
static void check(void (*act)(void))
{
	static const struct sigaction action = { .sa_sigaction = on_trap, .sa_flags = SA_SIGINFO };
	unsigned int i, second;

	sigaction(SIGTRAP, &action, NULL);
	for (i = 0; i < 4; i++) {
		struct steps steps = steps_begin_all(10);

		stepped.handlers[0] = i % 2 ? start : stop;
		stepped.handlers[1] = i / 2 ? start : stop;
		do {
			second = steps.at + 1;
			while (run(act, steps.at, second))
				second++;
		} while (steps_next(&steps, stepped.step >= steps.at));
	}
}

Test(enable, stop_interrupted_at_any_instruction, .timeout = 300)
{
	check(stop);
}

Test(enable, start_interrupted_at_any_instruction, .timeout = 300)
{
	check(start);
}

Test(enable, a_switch_interrupted_at_any_instruction, .timeout = 300)
{
	check(enable);
}

#endif
