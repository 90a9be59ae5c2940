/* SPDX-License-Identifier: MIT */
/*
 * Conditions in a program: where they are stored, how patterns name them, what happens to an event that has one, and
 * what they survive: stop and start, off and on, a fork, another buffer, events registered later.
 */
#include "condition_fixture.h"
#include "librecorder/core/conditions.h"
#include "librecorder/process/event_private.h"
#include "tests/unit/made_event.h"
#include "tests/unit/own_buffer.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <inttypes.h>
#include <librecorder/event.h>
#include <librecorder/filter.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

REC_EVENT(cond, two, u64(n));

#define TWO rec_event_cond__two

TestSuite(condition, .init = begin, .fini = lane_end);

static uint32_t bits_of(const struct rec_event *event)
{
	return REC_ENABLE_CONDITION(*event->enabled);
}

/* ----------------------------------------------------------------------------------------------- from within */

Test(condition, what_does_not_pass_is_not_there)
{
	cr_assert_eq(rec_enable("cond:one if n >= 7"), 1);
	expect(3, 24);
	cr_assert_eq(rec_enable("cond:one if text == 'odd' && n < 4"), 1, "another one takes its place");
	expect(2, 4);
	cr_assert_eq(rec_enable("cond:one if n > 100"), 1);
	expect(0, 0);
	cr_assert_eq(rec_enable("cond:one"), 1, "no filter, no condition");
	expect(10, 45);
	cr_assert_eq(bits_of(&ONE), 0);
}

/* Without rseq, for example under valgrind, the word that should hold the CPU holds one of rseq's negative states. */
Test(condition, the_cpu_without_rseq)
{
	static const uint32_t states[] = { UINT32_MAX, UINT32_MAX - 1, UINT32_MAX - 2 };
	struct rec_handle *handle = rec_handle_get();
	const unsigned int cpu = (unsigned int)sched_getcpu();
	char same[32], other[32], above[32];
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	cr_assert_eq(sched_setaffinity(0, sizeof(set), &set), 0);
	snprintf(same, sizeof(same), "cond:one if CPU == %u", cpu);
	snprintf(other, sizeof(other), "cond:one if CPU != %u", cpu);
	snprintf(above, sizeof(above), "cond:two if CPU > %u", cpu);
	cr_assert_not_null(handle);
	cr_assert_eq(rec_enable(above), 1);
	for (unsigned int i = 0; i < sizeof(states) / sizeof(states[0]); i++) {
		handle->cpu = &states[i];
		cr_assert_eq(rec_enable(same), 1);
		expect(10, 45);
		cr_assert_eq(rec_enable(other), 1);
		expect(0, 0);
		/* An event of whole numbers only goes another way. */
		REC(cond, two, i);
		expect(0, 0);
	}
}

Test(condition, off_and_on_stop_and_start)
{
	cr_assert_eq(rec_enable("cond:one if n == 3"), 1);
	rec_stop();
	expect(0, 0);
	rec_start();
	expect(1, 3);
	cr_assert_eq(rec_disable("cond:one"), 1);
	expect(0, 0);
	cr_assert_eq(rec_view_switch_event(view, ONE.id, *ONE.enabled | REC_ENABLE_WANTED), 0);
	expect(1, 3);
	cr_assert_eq(rec_disable("cond:one"), 1);
	cr_assert_eq(rec_enable("cond:one"), 1);
	expect(10, 45);
}

Test(condition, what_does_not_fit_stays_off)
{
	cr_assert_eq(rec_enable("cond:* if text ~ 'e*'"), 1, "the other one has no such field");
	cr_assert_neq(*ONE.enabled & REC_ENABLE_ON, 0);
	cr_assert_eq(*TWO.enabled & REC_ENABLE_ON, 0);
	expect(5, 20);
	cr_assert_eq(rec_enable("cond:two"), 1);
	cr_assert_eq(rec_enable("cond:two if nothing == 1"), 0);
	cr_assert_eq(*TWO.enabled & REC_ENABLE_WANTED, 0, "nor does it stay on as it was");
	cr_assert_eq(rec_enable("cond:one if"), -EINVAL);
	cr_assert_eq(rec_enable("cond:one if n >"), -EINVAL);
	cr_assert_eq(rec_enable("cond:one rate 0"), -EINVAL);
	cr_assert_eq(rec_enable("cond:one rate x"), -EINVAL);
	cr_assert_eq(rec_enable("cond:one n > 3"), -EINVAL);
	cr_assert_eq(rec_enable("cond::one if n > 3"), -EINVAL);
	cr_assert_eq(rec_process_header()->lost_log_full, 0);
}

Test(condition, an_event_that_comes_later)
{
	static struct made_event fits, other;

	cr_assert_eq(rec_enable("late:* rate 5 if n == 2"), 0);
	made_event(&fits, "late", "fits, u32(n)", 12);
	made_event(&other, "late", "other, u32(m)", 12);
	rec_event_register(&fits.event);
	rec_event_register(&other.event);
	cr_assert_neq(*fits.event.enabled & REC_ENABLE_ON, 0);
	cr_assert_neq(bits_of(&fits.event), 0);
	cr_assert_eq(*other.event.enabled & (REC_ENABLE_ON | REC_ENABLE_WANTED), 0);
}

Test(condition, rec_printf_has_the_common_fields)
{
	struct rec_view_event event;
	char selector[96];

	snprintf(selector, sizeof(selector), "ftrace:bprint if common_pid == %d", (int)getpid());
	cr_assert_eq(rec_enable(selector), 1);
	rec_printf("%d", 1);
	cr_assert_eq(rec_view_consume(view, REC_ALL_LANES, &event), 1);
	snprintf(selector, sizeof(selector), "ftrace:bprint if common_pid != %d", (int)getpid());
	cr_assert_eq(rec_enable(selector), 1);
	rec_printf("%d", 2);
	cr_assert_eq(rec_view_consume(view, REC_ALL_LANES, &event), 0);
	cr_assert_eq(rec_enable("ftrace:bprint if n == 1"), 0);
}

/* ---------------------------------------------------------------------------------------------- from outside */

Test(condition, switched_from_outside)
{
	const uint32_t *word = ONE.enabled;

	cr_assert_eq(rec_view_switch(view, "cond:one if n >= 8", true), 1);
	expect(2, 17);
	cr_assert_eq(rec_view_switch(view, "cond:* if n < 2", true), 2);
	cr_assert_eq(bits_of(&ONE) == bits_of(&TWO), false, "the fields are of other sizes");
	expect(2, 1);
	cr_assert_eq(rec_view_switch(view, "cond:* if text == 'odd'", true), 1);
	cr_assert_eq(*TWO.enabled & REC_ENABLE_WANTED, 0);
	expect(5, 25);
	cr_assert_eq(rec_view_switch(view, "cond:one if n = 3", true), -EINVAL);
	expect(5, 25);
	cr_assert_eq(rec_view_switch(view, "cond:one", false), 1);
	expect(0, 0);
	cr_assert_eq(rec_view_switch(view, "cond:one", true), 1);
	expect(10, 45);
	cr_assert_eq(word, ONE.enabled);
}

Test(condition, a_loan_gives_the_condition_back)
{
	cr_assert_eq(rec_enable("cond:one if n == 1"), 1);
	cr_assert_eq(rec_view_borrow(view, "cond:one\ncond:t*"), 0);
	cr_assert_eq(rec_view_switch(view, "cond:one if n == 2", true), 1);
	cr_assert_eq(rec_view_switch(view, "cond:t*", true), 1);
	expect(1, 2);
	cr_assert_neq(*TWO.enabled & REC_ENABLE_ON, 0);
	cr_assert_eq(rec_view_give_back(view), 1);
	expect(1, 1);
	cr_assert_eq(*TWO.enabled & REC_ENABLE_ON, 0);
}

static void count_in_child(const char *selector, unsigned int count)
{
	int status;
	pid_t pid;

	cr_assert_gt(rec_enable(selector), 0);
	pid = fork();
	if (pid == 0) {
		uint64_t sum;

		rec_view_close(view);
		view = reader_view();
		_exit((int)write_some(10, &sum));
	}
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_assert(WIFEXITED(status));
	cr_assert_eq(WEXITSTATUS(status), (int)count);
}

Test(condition, a_forked_child_has_them)
{
	count_in_child("cond:one if n > 5", 4);
	count_in_child("cond:one", 10);
	cr_assert_eq(rec_view_switch(view, "cond:one if n < 3", true), 1);
	count_in_child("cond:two if n < 3", 3);
}

/* Adds call sites to the log, until it has no room for one more. */
static void fill_log(const char *function)
{
	const uint64_t lost = rec_process_header()->lost_log_full;

	while (rec_process_header()->lost_log_full == lost) {
		struct rec_printf_site site = { 0 };

		rec_printf_write(&site, function, 0, "full");
	}
}

/*
 * Call sites have filled the log, and are not copied. So the child has room for an event for which its parent has none.
 */
Test(condition, a_forked_child_has_one_more)
{
	static struct made_event late;
	char function[256];
	int status;
	pid_t pid;

	memset(function, 'f', sizeof(function) - 1);
	function[sizeof(function) - 1] = '\0';
	fill_log(function);
	fill_log("");
	cr_assert_eq(rec_enable("late:* if n == 2"), 0);
	made_event(&late, "late", "late, u32(n)", 12);
	rec_event_register(&late.event);
	cr_assert_eq(*late.event.enabled, 0);
	pid = fork();
	if (pid == 0) {
		const struct rec_condition *condition =
			(const void *)(rec_event_conditions + bits_of(&late.event) * REC_CONDITION_UNIT);

		_exit(!(*late.event.enabled & REC_ENABLE_ON) || condition->nr_steps != 1);
	}
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_assert_eq(status, 0);
}

Test(condition, another_buffer_has_them)
{
	struct rec_options options = { .size = sizeof(options), .subbuf_size = 8192 };

	cr_assert_eq(rec_view_switch(view, "cond:one if n == 9", true), 1);
	cr_assert_eq(rec_configure(&options), 0);
	rec_view_close(view);
	view = reader_view();
	expect(1, 9);
}

/* --------------------------------------------------------------------------------------------------- places */

static uint64_t used(size_t half)
{
	return ((const struct rec_conditions *)(const void *)(rec_event_conditions + half))->used;
}

Test(condition, equal_ones_share_a_place)
{
	uint64_t before;
	uint32_t bits;

	cr_assert_eq(rec_enable("cond:one if n == 4"), 1);
	before = used(CONDITIONS_OF_PROGRAM);
	bits = bits_of(&ONE);
	cr_assert_eq(rec_enable("cond:one if n==5"), 1);
	cr_assert_gt(used(CONDITIONS_OF_PROGRAM), before);
	before = used(CONDITIONS_OF_PROGRAM);
	for (unsigned int i = 0; i < 100; i++)
		cr_assert_eq(rec_enable(i % 2 ? "cond:one if n==5" : "cond:one if ( n == 4 )"), 1);
	cr_assert_eq(rec_enable("cond:one if n == 4"), 1);
	cr_assert_eq(used(CONDITIONS_OF_PROGRAM), before);
	cr_assert_eq(bits_of(&ONE), bits);
	/* With a rate each event has its own condition. */
	cr_assert_eq(rec_enable("cond:* rate 3"), 2);
	cr_assert_neq(bits_of(&ONE), bits_of(&TWO));
}

Test(condition, where_there_is_no_room_nothing_changes)
{
	struct rec_rules rules;
	char selector[64];
	unsigned int i;
	int r = 1;

	for (i = 0; r == 1; i++) {
		rules = *own_rules();
		snprintf(selector, sizeof(selector), "cond:one if n == %u", i);
		r = rec_view_switch(view, selector, true);
	}
	cr_assert_eq(r, -ENOSPC);
	cr_assert_eq(i, (REC_CONDITIONS_HALF - 16) / 48 + 1);
	cr_assert_eq(memcmp(&rules, own_rules(), sizeof(rules)), 0);
	cr_assert_neq(*ONE.enabled & REC_ENABLE_ON, 0);
	cr_assert_eq(rec_view_switch(view, "cond:one if n == 7", true), 1, "a condition that exists can be used");
	expect(1, 7);
	cr_assert_eq(rec_enable("cond:one if n == 9999999"), 1, "the program's half is another one");
}

Test(condition, where_the_program_has_no_room_the_event_stays_as_it_is)
{
	char selector[64];
	uint32_t word = 0;
	unsigned int i;
	int r = 1;

	for (i = 0; r == 1; i++) {
		word = *ONE.enabled;
		snprintf(selector, sizeof(selector), "cond:one if n == %u", i);
		r = rec_enable(selector);
	}
	cr_assert_eq(r, -ENOSPC);
	cr_assert_eq(i, (REC_CONDITIONS_HALF - 16) / 48 + 1);
	cr_assert_eq(*ONE.enabled, word, "on, with the condition before");
	cr_assert_eq(rec_process_header()->lost_log_full, 1);
	cr_assert_eq(rec_enable("cond:t*,cond:one rate 7"), -ENOSPC);
	cr_assert_eq(*ONE.enabled, word);
	cr_assert_eq(*TWO.enabled & REC_ENABLE_WANTED, 0, "it was off");
	cr_assert_eq(rec_process_header()->lost_log_full, 3);
	cr_assert_eq(rec_enable("cond:* if n == 5"), -ENOSPC, "its condition exists for one of them");
	cr_assert_eq(*TWO.enabled & REC_ENABLE_WANTED, 0);
	expect(1, 5);
	cr_assert_eq(rec_enable("cond:*"), 2, "no filter needs no room");
	expect(10, 45);
}

static void put_used(uint64_t value)
{
	((struct rec_conditions *)(void *)(rec_event_conditions + CONDITIONS_OF_OTHERS))->used = value;
}

Test(condition, rubbish_in_the_way)
{
	struct rec_condition *first = (struct rec_condition *)(void *)(rec_event_conditions + 16);

	cr_assert_eq(rec_view_switch(view, "cond:one if n == 7", true), 1);
	put_used(17);
	cr_assert_eq(rec_view_switch(view, "cond:one if n == 8", true), -EBADMSG);
	put_used(REC_CONDITIONS_HALF + 16);
	cr_assert_eq(rec_view_switch(view, "cond:one if n == 8", true), -EBADMSG);
	put_used(16 + 48);
	first->size = 0;
	cr_assert_eq(rec_view_switch(view, "cond:one if n == 8", true), 1);
	expect(1, 8);
	first->size = UINT32_MAX - 15;
	cr_assert_eq(rec_view_switch(view, "cond:one if n == 9", true), 1);
	expect(1, 9);
}

static int populate_none(void *data, size_t offset, size_t size)
{
	(void)data;
	(void)offset;
	(void)size;
	return 0;
}

/* A child copies conditions from its parent's file, whose truncated part has no memory. */
Test(condition, what_is_cut_off_is_not_copied)
{
	static _Alignas(8) unsigned char to[REC_CONDITIONS_SIZE];
	const int fd = memfd_create("conditions", MFD_CLOEXEC);
	const uint64_t own = 3 * REC_MAP_PAGE;
	unsigned char *from;

	cr_assert_eq(ftruncate(fd, REC_CONDITIONS_SIZE), 0);
	from = mmap(NULL, REC_CONDITIONS_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	memcpy(from + CONDITIONS_OF_OTHERS, &(uint64_t){ 48 }, sizeof(uint64_t));
	from[CONDITIONS_OF_OTHERS + 40] = 7;
	memcpy(from + CONDITIONS_OF_PROGRAM, &own, sizeof(own));
	from[CONDITIONS_OF_PROGRAM + own - 1] = 8;
	/* The file is truncated in the middle of the second half, at its beginning, and to 0 bytes. */
	cr_assert_eq(ftruncate(fd, CONDITIONS_OF_PROGRAM + 2 * REC_MAP_PAGE), 0);
	cr_assert_eq(rec_conditions_copy(to, from, populate_none, NULL), -EFAULT);
	cr_assert_eq(ftruncate(fd, CONDITIONS_OF_PROGRAM), 0);
	cr_assert_eq(rec_conditions_copy(to, from, populate_none, NULL), 0);
	cr_assert_eq(to[CONDITIONS_OF_OTHERS + 40], 7);
	cr_assert_eq(to[CONDITIONS_OF_PROGRAM], 0);
	memset(to, 0, sizeof(to));
	cr_assert_eq(ftruncate(fd, 0), 0);
	cr_assert_eq(rec_conditions_copy(to, from, populate_none, NULL), 0);
	cr_assert_eq(to[CONDITIONS_OF_OTHERS + 40], 0);
	close(fd);
}

/* A condition that is damaged, or lies outside of the memory, lets events pass. */
Test(condition, rubbish_costs_no_events)
{
	struct rec_condition *condition;
	struct rec_condition_step *step;

	cr_assert_eq(rec_enable("cond:one if n == 100"), 1);
	condition = (struct rec_condition *)(void *)(rec_event_conditions + bits_of(&ONE) * 16);
	step = (struct rec_condition_step *)(condition + 1);
	expect(0, 0);
	step->offset = 60000;
	expect(10, 45);
	step->offset = 8;
	step->no = 0;
	expect(10, 45);
	step->no = 7;
	expect(10, 45);
	step->no = REC_STEP_DROP;
	expect(0, 0);
	step->test = 15;
	expect(10, 45);
	step->test = REC_TEST_GLOB;
	step->offset = 12;
	step->value = UINT64_MAX;
	expect(10, 45);
	condition->nr_steps = UINT16_MAX;
	expect(10, 45);
	*ONE.enabled |= UINT32_MAX << REC_ENABLE_CONDITION_SHIFT;
	expect(10, 45);
}
