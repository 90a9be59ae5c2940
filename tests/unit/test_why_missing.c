/* SPDX-License-Identifier: MIT */
/* `recorder why` where events are missing: not recorded, left out, lost, or of other machines and namespaces. */
#include "format/why/why_private.h"
#include "why_feed.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#define LEFT_OUT "not recorded (-F, -P) or left out by split"

TestSuite(why_missing, .init = why_feed_begin, .fini = why_feed_end);

/* An interrupt in the thread `waker` begins the wake-up of thread 1. */
static struct machine_event *waking_in_interrupt(int waker)
{
	struct machine_event *e;

	machine.nr_events = 0;
	e = machine_event(&machine, KIND_REQUEST, ID_WAKING, 0, 0, waker, true);
	machine_put32(e, 1);
	machine_put32(e, 120);
	machine_put32(e, 0);
	return e;
}

/* The events of chosen threads alone are recorded: not the interrupt that woke a thread while another one ran. */
static void wakes_in_interrupt(int waker, const char *what, bool lacks_threads)
{
	const struct why_piece *pieces;

	feed_switch(0, 0, 1);
	feed_number(ID_REQUEST_BEGIN, 1, 7);
	feed_switch(1, 1, 0);
	feed(waking_in_interrupt(waker));
	feed_switch(0, 0, 1);
	feed(event(ID_REQUEST_END, 1));
	cr_assert_eq(why_end(why), 0);
	cr_assert_eq(why_explain(why, span_of(7), &pieces, NULL), 4);
	cr_assert_str_eq(pieces[1].what, what);
	cr_assert_eq(why_lacks_threads(why), lacks_threads);
	cr_assert_eq(!strstr(why_missing(why), "irq"), lacks_threads);
}

static void choose_threads(void)
{
	table->absent.some_threads = true;
	table->absent.listed = realloc(table->absent.listed, 2 * sizeof(*table->absent.listed));
	cr_assert_not_null(table->absent.listed);
	table->absent.listed[0] = 1;
	table->absent.listed[1] = 3;
	table->absent.nr_listed = 2;
	why_close(why);
	cr_assert_eq(why_begin(table, &why), 0);
}

Test(why_missing, an_interrupt_in_a_thread_that_was_not_recorded)
{
	choose_threads();
	wakes_in_interrupt(5, "an interrupt woke it; interrupts of other threads were " LEFT_OUT, true);
}

Test(why_missing, an_interrupt_in_the_idle_task_that_was_not_recorded)
{
	choose_threads();
	wakes_in_interrupt(0, "an interrupt woke it; interrupts of other threads were " LEFT_OUT, true);
}

Test(why_missing, an_interrupt_in_a_thread_that_was_recorded)
{
	choose_threads();
	wakes_in_interrupt(3, "an interrupt woke it; which one was not recorded: add -e irq -e timer", false);
}

/* Interrupts were recorded, but the one that began the wake-up came before the thread had left its CPU. */
Test(why_missing, an_interrupt_before_the_sleep)
{
	const struct why_piece *pieces;

	choose_threads();
	feed_switch(0, 0, 1);
	feed_soft_interrupt(1);
	feed_number(ID_REQUEST_BEGIN, 1, 7);
	cpu = 1;
	feed(waking_in_interrupt(5));
	cpu = 0;
	feed_switch(1, 1, 0);
	feed_wakeup(1);
	feed_switch(0, 0, 1);
	feed(event(ID_REQUEST_END, 1));
	cr_assert_eq(why_end(why), 0);
	cr_assert_eq(why_explain(why, span_of(7), &pieces, NULL), 4);
	cr_expect_str_eq(pieces[1].what, "an interrupt woke it");
	cr_expect_not(why_lacks_threads(why));
}

static void expect_sums(uint64_t running, uint64_t interrupted, uint64_t unknown)
{
	const struct why_piece *pieces;
	uint64_t sums[WHY_CLASSES];

	cr_assert_eq(why_end(why), 0);
	cr_assert_gt(why_explain(why, span_of(7), &pieces, sums), 0);
	cr_expect_eq(sums[WHY_RUNNING], running, "%llu", (unsigned long long)sums[WHY_RUNNING]);
	cr_expect_eq(sums[WHY_INTERRUPTED], interrupted, "%llu", (unsigned long long)sums[WHY_INTERRUPTED]);
	cr_expect_eq(sums[WHY_UNKNOWN], unknown, "%llu", (unsigned long long)sums[WHY_UNKNOWN]);
}

/* An interrupt is open where a time without events of the kernel begins. */
static void interrupt_and_gap(void)
{
	struct machine_event *e = event(ID_SOFTIRQ_ENTRY, 1);

	machine_put32(e, 7);
	feed(e);
	ts = 1060;
	feed(event(ID_REQUEST_END, 1));
}

static void lacks_kernel(uint64_t since, uint64_t until)
{
	dat_losses_add(&table->absent.no_kernel, since, until);
	why_close(why);
	cr_assert_eq(why_begin(table, &why), 0);
}

Test(why_missing, an_interrupt_before_a_time_that_no_file_has)
{
	lacks_kernel(1010, 1049);
	feed_switch(0, 0, 1);
	feed_number(ID_REQUEST_BEGIN, 1, 7);
	interrupt_and_gap();
	expect_sums(11, 8, 40);
}

/* The loss ends before the interrupt begins. */
Test(why_missing, a_loss_before_a_time_that_no_file_has)
{
	lacks_kernel(1010, 1049);
	feed_switch(0, 0, 1);
	feed_number(ID_REQUEST_BEGIN, 1, 7);
	lost = 1;
	feed_wake(1, 3);
	ts += 2;
	interrupt_and_gap();
	expect_sums(13, 5, 41);
}

/* There is a switch to the thread, but what the table lacks makes its states unknown. */
static void states_are_unknown(const char *what)
{
	const struct why_piece *pieces;

	why_close(why);
	cr_assert_eq(why_begin(table, &why), 0);
	feed_switch(0, 0, 1);
	feed_number(ID_REQUEST_BEGIN, 1, 7);
	feed(event(ID_REQUEST_END, 1));
	cr_assert_eq(why_end(why), 0);
	cr_assert_eq(why_explain(why, span_of(7), &pieces, NULL), 1);
	cr_expect_eq(pieces[0].class, WHY_UNKNOWN);
	cr_expect_str_eq(pieces[0].what, what);
	cr_expect_str_eq(why_missing(why), "");
}

/* There are switches, but none at a time that has them all. */
Test(why_missing, switches_without_states)
{
	dat_losses_add(&table->absent.no_switches, 1, DAT_LOSS_NO_END);
	states_are_unknown("the trace has no switch of this thread here");
}

/* The thread sleeps while other CPUs lose events. */
static void sleep_over_losses(void)
{
	feed_switch(0, 0, 1);
	feed_number(ID_REQUEST_BEGIN, 1, 7);
	feed_switch(1, 1, 0);
	for (unsigned int i = 0; i < 1000; i++) {
		cpu = 1 + i % 2;
		feed_wake(0, 3);
		lost = 1;
		feed_wake(0, 3);
	}
	cpu = 0;
	feed_switch(0, 0, 1);
	feed(event(ID_REQUEST_END, 1));
	cr_assert_eq(why_end(why), 0);
}

Test(why_missing, many_losses_in_a_sleep)
{
	const struct why_piece *pieces;
	long nr;

	sleep_over_losses();
	nr = why_explain(why, span_of(7), &pieces, NULL);
	cr_expect(nr > 2 && nr < 8, "%ld", nr);
}

/* The kernel's thread has the id of a program's thread, so its states are unknown anyway. */
Test(why_missing, many_losses_in_a_sleep_of_another_pid_namespace)
{
	size_t nr;

	cr_assert_eq(number_map_set(&table->other_pids, 1, 1), 0);
	sleep_over_losses();
	nr = why_thread(why, 1)->states.size / sizeof(struct why_state);
	cr_expect(nr > 0 && nr < 8, "%zu", nr);
}

Test(why_missing, a_file_of_several_machines)
{
	table->absent.several_machines = true;
	states_are_unknown("the file is of several machines; an event does not name its machine");
}

/* The kernel's thread 1 is not the program's. */
Test(why_missing, a_program_in_another_pid_namespace)
{
	const struct why_piece *pieces;

	cr_assert_eq(number_map_set(&table->other_pids, 1, 1), 0);
	feed_switch(0, 0, 2);
	feed_number(ID_REQUEST_BEGIN, 1, 7);
	feed_number(ID_REQUEST_BEGIN, 2, 8);
	feed_switch(2, 0, 1);
	feed_number(ID_SYS_ENTER, 1, 0);
	feed_switch(1, 1, 2);
	feed(event(ID_REQUEST_END, 2));
	feed(event(ID_REQUEST_END, 1));
	cr_assert_eq(why_end(why), 0);
	cr_assert_eq(why_explain(why, span_of(7), &pieces, NULL), 1);
	cr_expect_eq(pieces[0].class, WHY_UNKNOWN);
	cr_expect_str_eq(pieces[0].what, "its thread id is that of another pid namespace, not the kernel's");
	cr_expect_str_eq(why_missing(why), "");
	/* That thread had the CPU. */
	cr_assert_eq(why_explain(why, span_of(8), &pieces, NULL), 3);
	cr_expect_eq(pieces[1].class, WHY_RUNNABLE);
	cr_expect_str_eq(pieces[1].what, "CPU 0 ran <...>-1");
}

/* Another thread may have had the CPU. */
static void waits_for_a_cpu(const char *what)
{
	const struct why_piece *pieces;

	feed_switch(0, 0, 1);
	feed_number(ID_REQUEST_BEGIN, 1, 7);
	feed_switch(1, 0, 9); /* if not all threads are recorded, 9 may leave the CPU unseen */
	feed_switch(9, 0, 1);
	feed(event(ID_REQUEST_END, 1));
	cr_assert_eq(why_end(why), 0);
	cr_assert_eq(why_explain(why, span_of(7), &pieces, NULL), 3);
	cr_expect_eq(pieces[1].class, WHY_RUNNABLE);
	cr_expect_str_eq(pieces[1].what, what);
}

Test(why_missing, a_cpu_ran_a_thread_that_was_not_recorded)
{
	choose_threads();
	waits_for_a_cpu("CPU 0 was idle, or ran threads that were " LEFT_OUT);
}

Test(why_missing, a_cpu_ran_another_thread)
{
	waits_for_a_cpu("CPU 0 ran <...>-9");
}
