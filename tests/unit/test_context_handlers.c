/* SPDX-License-Identifier: MIT */
/* Context (test_context.c) and signal handlers: after every instruction of rec_context_set(), and at a jump. */
#include "tests/unit/context_fixture.h"

#include "librecorder/process/process.h"
#include "steps.h"
#include "trap_flag.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <setjmp.h>
#include <signal.h>

#define PAGES 6u

#if defined(__x86_64__)

static struct {
	volatile unsigned int step, target;
	uint64_t now; /* the value of "n", if known */
	bool jumps;
	sigjmp_buf back;
} stepped;

/*
 * After one instruction the handler sets another value, and writes events that fill a sub-buffer. With more events the
 * thread would continue in another lane.
 */
static void on_trap(int number, siginfo_t *info, void *context)
{
	(void)number;
	(void)info;
	if (++stepped.step != stepped.target)
		return;
	trap_flag_clear_in(context);
	if (stepped.jumps)
		siglongjmp(stepped.back, 1);
	context_set_number(1000000 + stepped.step);
	context_write(1000000 + stepped.step, 3, 1300);
}

static void expect_known(unsigned int step)
{
	const struct verdict verdict = context_judge();

	cr_assert_eq(verdict.wrong, 0, "step %u: %u wrong", step, verdict.wrong);
	cr_assert_eq(verdict.unknown, 0, "step %u: %u unknown", step, verdict.unknown);
	cr_assert_gt(verdict.events, 1);
}

static void trap_steps(void)
{
	const struct sigaction action = { .sa_sigaction = on_trap, .sa_flags = SA_SIGINFO };

	context_begin(PAGES, 0, false);
	context_set_number(1);
	context_write(1, 1, 0);
	sigaction(SIGTRAP, &action, NULL);
}

/* Which of the two values remains depends on the instruction; the records and the later repeats agree on it. */
Test(context, a_set_interrupted_at_any_instruction, .timeout = 300)
{
	struct steps steps = steps_begin(31, 100);
	struct verdict verdict;

	trap_steps();
	do {
		const uint64_t value = 10 + steps.at;

		stepped.step = 0;
		stepped.target = steps.at;
		trap_flag_set();
		cr_assert_eq(rec_context_set("n", steps.at % 2 ? "77777" : "88888"), 0);
		trap_flag_clear();
		/* The handler's value is correct, whichever value remains. */
		verdict = context_judge();
		cr_assert_eq(verdict.wrong, 0, "step %u", steps.at);
		context_set_number(value);
		context_write(value, 120, 100);
		expect_known(steps.at);
	} while (steps_next(&steps, stepped.step >= stepped.target));
}

/*
 * A jump out of rec_context_set() costs at most a cell. When too many are lost, that is reported, and events continue.
 */
Test(context, a_set_left_at_any_instruction, .timeout = 300)
{
	struct steps steps = steps_begin(29, 100);
	int r;

	trap_steps();
	stepped.jumps = true;
	do {
		stepped.step = 0;
		stepped.target = steps.at;
		if (sigsetjmp(stepped.back, 1) == 0) {
			trap_flag_set();
			rec_context_set("n", steps.at % 2 ? "77777" : "88888");
			trap_flag_clear();
		}
		r = rec_context_set("n", "5");
		cr_assert(r == 0 || r == -EBUSY, "step %u: %d", steps.at, r);
		if (!r) {
			context_write(5, 200, 0);
			expect_known(steps.at);
		}
	} while (steps_next(&steps, stepped.step >= stepped.target));
}

/* An event at whose instructions a handler fills sub-buffers, and sets the value that it found. */
Test(context, an_event_interrupted_at_any_instruction, .timeout = 300)
{
	struct steps steps = steps_begin(7, 30);

	trap_steps();
	do {
		stepped.step = 0;
		stepped.target = steps.at;
		context_set_number(1000000 + steps.at);
		trap_flag_set();
		context_write(1000000 + steps.at, 1, 0);
		trap_flag_clear();
		context_write(1000000 + steps.at, 1, 0);
		expect_known(steps.at);
	} while (steps_next(&steps, stepped.step >= stepped.target));
}

#endif
