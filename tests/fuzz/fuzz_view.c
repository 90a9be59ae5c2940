/* SPDX-License-Identifier: MIT */
/*
 * The reader's functions on a buffer file in which any byte may have any value, before and while they read it: each
 * call returns one of its documented results, and reads nothing outside of the file. bounds.c checks the memory, the
 * sanitizers the rest. A round depends only on its number, except for changes by another thread.
 */
#include "view_calls.h"

#include <criterion/criterion.h>
#include <librecorder/reader.h>
#include <signal.h>

static void on_sigbus(int sig, siginfo_t *info, void *context)
{
	(void)context;
	if (info->si_code <= 0 || !rec_view_fault(info->si_addr))
		signal(sig, SIG_DFL);
}

static void do_round(uint64_t number, bool alone)
{
	struct hostile_random random = { number * UINT64_C(0xd1342543de82ef95) };

	hostile_restore(hostile_below(&random, 2));
	if (alone)
		hostile_strike(&random);
	else
		hostile_scribble(number);
	view_calls(hostile_path, &random, alone);
	if (!alone)
		hostile_scribble_end();
}

static void spoilt_before(uint64_t number)
{
	do_round(number, true);
}

static void spoilt_meanwhile(uint64_t number)
{
	do_round(number, false);
}

static void begin(void)
{
	struct sigaction action = { .sa_sigaction = on_sigbus, .sa_flags = SA_SIGINFO };

	sigaction(SIGBUS, &action, NULL);
	hostile_make();
}

Test(fuzz_view, spoilt_before, .init = begin, .fini = hostile_remove, .timeout = 100000)
{
	hostile_rounds("fuzz_view/spoilt_before", spoilt_before);
}

Test(fuzz_view, spoilt_meanwhile, .init = begin, .fini = hostile_remove, .timeout = 100000)
{
	hostile_rounds("fuzz_view/spoilt_meanwhile", spoilt_meanwhile);
}
