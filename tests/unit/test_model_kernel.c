/* SPDX-License-Identifier: MIT */
/*
 * The meaning of the kernel's events (test_model.c): states of threads, wakers, interrupts, functions.
 * test_model_calls.c has system calls.
 */
#include "model_fixture.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <sys/syscall.h>

TestSuite(model, .init = model_fixture_open, .fini = model_fixture_close);

Test(model, states_of_threads)
{
	switch_to(10, 0, 1, 1, 2); /* 1 sleeps */
	feed_bare(12, INNER_BEGIN, 2);
	wake(15, 0, 2, 1);
	switch_to(20, 1, 0, 0, 1);
	switch_to(25, 0, 2, 0, 3); /* 2 is preempted */
	switch_to(30, 0, 3, 2, 2); /* 3 waits for a device */
	feed_bare(32, INNER_END, 2);
	switch_to(40, 1, 1, 0x20, 0); /* 1 dies */
	expect_items("1 S 10-15 by 2 in 1\n"
		     "1 w 15-20\n"
		     "2 R 10-25\n"
		     "3 R 25-30\n"
		     "2 w 25-30 preempted\n"
		     "io:inner 2 12-32 own 20 depth 0\n"
		     "1 R 20-40\n"
		     "2 R 30-40 open\n"
		     "3 D 30-40 open\n");
}

Test(model, the_first_switch_of_a_cpu)
{
	feed_int(10, PLAIN, 9, 0);
	switch_to(20, 1, 4, 0x100, 5);
	/* A thread that acts on a CPU runs there. */
	expect_items("plain 9 at 10 in 0\n"
		     "4 R 10-20\n"
		     "9 R 10-20 open\n");
}

/*
 * Only the switches of thread 5 are recorded. A switch from 5 to another thread shows that this one runs, but not when
 * it stops running.
 */
Test(model, switches_of_some_threads_alone)
{
	model_fixture_reopen("recorder 1.0.0; switches of some threads alone: 5");
	switch_to(10, 0, 5, 1, 6);
	wake(15, 0, 6, 5);
	switch_to(20, 0, 7, 0, 5); /* the switch from 6 is missing */
	switch_to(30, 0, 5, 1, 6);
	wake(35, 1, 8, 5);
	switch_to(40, 0, 6, 0, 5); /* two switches may be missing here, too */
	switch_to(50, 0, 5, 0, 6);
	expect_items("5 S 10-15 by 6 in 0\n"
		     "5 w 15-20\n"
		     "5 R 20-30\n"
		     "5 S 30-35 by 8 in 0\n"
		     "5 w 35-40\n"
		     "5 R 40-50\n");
}

/* A filter chose the threads. The idle task is not recorded for its own sake, so the other thread is. */
Test(model, a_switch_with_the_idle_task_shows_who_is_recorded)
{
	model_fixture_reopen("recorder 1.0.0; switches of some threads alone");
	switch_to(10, 0, 6, 1, 5);
	feed_long(15, CALL_ENTER, 7, 0);
	switch_to(20, 0, 5, 1, 0);
	switch_to(30, 0, 0, 0, 5);
	switch_to(40, 0, 5, 0, 6);
	switch_to(50, 1, 6, 0, 5);
	switch_to(60, 0, 7, 0, 5); /* 5 left the other CPU */
	switch_to(70, 0, 5, 1, 6);
	switch_to(80, 0, 5, 1, 6); /* 5 came back */
	expect_items("5 S 20-30\n"
		     "5 R 30-40\n"
		     "5 w 40-50 preempted\n"
		     "5 ? 50-60\n"
		     "5 R 60-70\n"
		     "5 ? 70-80\n"
		     "raw_syscalls:read 7 15-80 own 65 depth 0 open\n");
}

/* Some hosts hide switches. An event in a listed thread shows that it runs; one of a program only after a wake-up. */
Test(model, an_event_shows_that_a_listed_thread_runs)
{
	model_fixture_reopen("recorder 1.0.0; switches of some threads alone: 5");
	switch_to(10, 0, 5, 1, 0);
	feed_bare(11, INNER_BEGIN, 5);
	wake(20, 0, 8, 5);
	feed_bare(25, INNER_END, 5);
	switch_to(30, 0, 5, 1, 0);
	feed_long(35, CALL_ENTER, 5, 0);
	switch_to(40, 0, 5, 1, 0);
	expect_items("5 S 10-20 by 8 in 0\n"
		     "5 ? 20-25\n"
		     "io:inner 5 11-25 own 14 depth 0\n"
		     "5 R 25-30\n"
		     "5 ? 30-35\n"
		     "5 R 35-40\n"
		     "raw_syscalls:read 5 35-40 own 5 depth 0 open\n");
}

/* The kernel also recorded the other events only of these threads, so those of further ones show more of them. */
Test(model, an_event_shows_that_its_thread_is_recorded)
{
	model_fixture_reopen("recorder 1.0.0; switches of some threads alone: 5");
	switch_to(10, 0, 5, 1, 8);
	feed_bare(11, INNER_BEGIN, 8); /* a program's events are recorded in any thread */
	feed_bare(12, INNER_END, 8);
	switch_to(20, 0, 6, 0, 7);
	feed_long(25, CALL_ENTER, 7, 0);
	switch_to(30, 0, 7, 0, 8);
	switch_to(40, 0, 9, 1, 7);
	expect_items("io:inner 8 11-12 own 1 depth 0\n"
		     "7 R 25-30\n"
		     "7 w 30-40 preempted\n"
		     "5 S 10-40 open\n"
		     "raw_syscalls:read 7 25-40 own 15 depth 0 open\n");
}

Test(model, without_switches_no_state_is_known)
{
	wake(10, 0, 1, 3);
	feed_bare(20, INNER_BEGIN, 3);
	feed_bare(30, INNER_END, 3);
	expect_items("io:inner 3 20-30 own 10 depth 0\n");
}

Test(model, a_cpu_without_switches)
{
	switch_to(10, 0, 0, 0, 1);
	event_of(PLAIN, 2);
	event_put32(0);
	event_feed(20, 1);
	event_of(PLAIN, 3);
	event_put32(0);
	event_feed(30, 1);
	expect_items("plain 2 at 20 in 0\n"
		     "2 R 10-20\n"
		     "plain 3 at 30 in 0\n"
		     "1 R 10-30 open\n"
		     "2 ? 20-30 open\n");
}

/*
 * Only the second event of a wake-up has the CPU for which the thread waits; without it, the CPU on which the thread
 * runs later shows it.
 */
Test(model, the_cpu_for_which_a_thread_waits)
{
	switch_to(10, 0, 1, 1, 0);
	switch_to(12, 0, 0, 0, 2);
	switch_to(14, 0, 2, 1, 0);
	wake(20, 0, 0, 1);
	wake(21, 0, 0, 2);
	wakeup(22, 1, 0, 1, 3);
	switch_to(30, 2, 0, 0, 1);
	switch_to(31, 2, 1, 0, 2);
	cr_assert_eq(items_nr_waits, 2);
	cr_assert_eq(items_waits[0], 3);
	cr_assert_eq(items_waits[1], 2);
}

/* A thread that is about to sleep is woken: its switch comes between the halves of the wake-up. */
Test(model, a_wake_up_that_begins_before_the_sleep)
{
	switch_to(10, 0, 0, 0, 5);
	wake(20, 1, 6, 5);
	switch_to(21, 0, 5, 1, 0);
	wakeup(25, 0, 0, 5, 0);
	switch_to(30, 0, 0, 0, 5);
	wake(40, 1, 6, 5); /* it is not yet about to sleep */
	wakeup(41, 1, 6, 5, 0);
	switch_to(42, 0, 5, 1, 0);
	wakeup(50, 0, 0, 5, 0);
	switch_to(55, 0, 0, 0, 5);
	switch_to(60, 0, 5, 1, 0);
	expect_items("5 R 10-21\n5 S 21-25 by 6 in 0\n5 w 25-30\n"
		     "5 R 30-42\n5 S 42-50\n5 w 50-55\n"
		     "5 R 55-60\n6 R 10-60 open\n");
}

Test(model, a_loss_ends_an_interrupt)
{
	feed_int(10, IRQ_ENTRY, 1, 40);
	switch_lost(30, 0, 1, 1, 2, 7);
	feed_int(40, IRQ_ENTRY, 2, 40);
	feed_int(50, IRQ_EXIT, 2, 40);
	event_of(NOTE, 1);
	event_feed_lost(60, 0, 3);
	feed_int(70, IRQ_EXIT, 1, 40); /* begun before 60 */
	expect_spans("irq:irq_handler 1 10-10 own 0 depth 0 open cut\n"
		     "irq:irq_handler 2 40-50 own 10 depth 0\n"
		     "irq:irq_handler 1 60-70 own 10 depth 0 no-begin\n");
}

Test(model, a_loss_makes_the_cpus_thread_unknown)
{
	switch_to(10, 0, 1, 1, 2);
	feed_bare(12, INNER_BEGIN, 2);
	switch_lost(30, 0, 3, 1, 2, 7); /* 2 must have left meanwhile */
	switch_to(40, 0, 2, 1, 0);
	/* The lost events may be from before that of the program. */
	expect_items("lost 7 before 30 on 0\n"
		     "2 ? 10-30\n"
		     "2 R 30-40\n"
		     "1 ? 10-40 open\n" /* it may have been woken */
		     "io:inner 2 12-40 own 28 depth 0 open\n"
		     "3 S 30-40 open\n");
}

/* Each buffer has a ring for each CPU. An event in one ring shows nothing of what another ring has lost before. */
Test(model, a_loss_begins_at_the_last_event_of_its_own_ring)
{
	switch_to(10, 0, 1, 1, 2);
	model_fixture_buffer(1);
	event_of(NOTE, 2);
	event_feed(20, 0);
	model_fixture_buffer(0);
	switch_lost(40, 0, 3, 1, 2, 7);
	model_fixture_buffer(1);
	event_of(NOTE, 2);
	event_feed_lost(50, 0, 3);
	model_fixture_buffer(0);
	switch_to(60, 0, 2, 1, 0);
	expect_items("note 2 at 20 in 0\n"
		     "lost 7 before 40 on 0\n"
		     "2 ? 10-40\n"
		     "lost 3 before 50 on 0\n"
		     "2 ? 40-50\n"
		     "note 2 at 50 in 0\n"
		     "2 R 50-60\n"
		     "1 ? 10-60 open\n"
		     "3 ? 40-60 open\n");
}

/* The interrupts began, and one has ended, after the last event of the ring that lost events. */
Test(model, a_loss_in_another_ring_ends_interrupts_after_those_inside)
{
	model_fixture_buffer(1);
	event_of(NOTE, 1);
	event_feed(5, 0);
	model_fixture_buffer(0);
	feed_int(10, IRQ_ENTRY, 1, 40);
	feed_int(12, IRQ_ENTRY, 1, 41);
	feed_int(14, IRQ_EXIT, 1, 41);
	feed_int(16, IRQ_ENTRY, 1, 42);
	model_fixture_buffer(1);
	event_of(NOTE, 1);
	event_feed_lost(30, 0, 3);
	expect_spans("irq:irq_handler 1 12-14 own 2 depth 1 in 1\n"
		     "irq:irq_handler 1 16-16 own 0 depth 1 open cut in 1\n"
		     "irq:irq_handler 1 10-16 own 4 depth 0 open cut\n");
}

/* The event after the loss is a program's, so the loss is of its lane, and the kernel has lost nothing. */
Test(model, what_programs_lose_does_not_concern_the_kernel)
{
	switch_to(10, 0, 1, 1, 2);
	feed_int(11, READ_ENTER, 2, 3);
	feed_int(12, IRQ_ENTRY, 2, 40);
	feed_int(14, IRQ_EXIT, 2, 40);
	feed_bare(16, INNER_BEGIN, 2);
	feed_int(18, IRQ_ENTRY, 2, 40);
	event_of(INNER_END, 2);
	event_feed_lost(20, 0, 7);
	feed_int(22, IRQ_EXIT, 2, 40);
	feed_long(25, READ_EXIT, 2, 5);
	wake(30, 0, 2, 1);
	switch_to(40, 0, 2, 1, 1);
	expect_items("irq:irq_handler 2 12-14 own 2 depth 0\n"
		     "lost 7 before 20 on 0 by programs\n"
		     "io:inner 2 16-20 own 4 depth 1 cut in 1\n"
		     "irq:irq_handler 2 18-22 own 4 depth 0\n"
		     "syscalls:read 2 11-25 own 10 depth 0\n"
		     "1 S 10-30 by 2 in 0\n"
		     "2 R 10-40\n"
		     "1 w 30-40\n");
}

/* The other way round: the lost events are of the kernel's ring, and no lane has lost anything. */
Test(model, what_the_kernel_loses_does_not_concern_programs)
{
	model_fixture_lose_kernel(12, 20);
	feed_bare(10, INNER_BEGIN, 1);
	feed_int(12, RPC_BEGIN, 1, 5);
	switch_lost(20, 0, 3, 1, 1, 7);
	feed_int(25, RPC_END, 1, 5);
	feed_bare(30, INNER_END, 1);
	expect_spans("net:rpc 1 12-25 own 13 depth 0 key 5 in 1\n"
		     "io:inner 1 10-30 own 20 depth 0\n");
}

/* The notes show whose events an unknown number of lost ones were. */
Test(model, what_the_kernel_loses_without_a_number)
{
	model_fixture_lose_kernel(12, 20);
	feed_bare(10, INNER_BEGIN, 1);
	switch_lost(20, 0, 3, 1, 1, -1);
	feed_bare(30, INNER_END, 1);
	expect_spans("io:inner 1 10-30 own 20 depth 0\n");
}

Test(model, what_programs_lose_without_a_number)
{
	model_fixture_lose_programs(12, 20);
	switch_to(5, 0, 2, 1, 1);
	feed_bare(10, INNER_BEGIN, 1);
	event_of(INNER_END, 1);
	event_feed_lost(20, 0, -1);
	switch_to(40, 0, 1, 1, 2);
	expect_items("lost -1 before 20 on 0 by programs\n"
		     "io:inner 1 10-20 own 10 depth 0 cut\n"
		     "1 R 5-40\n"
		     "2 S 5-40\n");
}

/* The end may be among the lost events, also if it was not the lane's end that reported them. */
Test(model, a_span_that_is_open_after_a_loss)
{
	feed_bare(10, INNER_BEGIN, 1);
	event_of(PLAIN, 1);
	event_put32(0);
	event_feed_lost(20, 0, 5);
	event_of(NOTE, 2);
	event_feed(60, 0);
	expect_spans("io:inner 1 10-60 own 50 depth 0 open cut\n");
}

/* Damage is a loss of an unknown number, of any events. The thread 0 ends the kernel's part of a recording. */
Test(model, what_may_be_lost_of_the_kernel)
{
	switch_to(10, 0, 1, 1, 2);
	event_of(INNER_BEGIN, 2);
	event_feed_lost(20, 0, -1);
	switch_to(30, 0, 2, 1, 0);
	event_of(INNER_BEGIN, 0);
	event_feed_lost(40, 0, 3);
	expect_items("lost -1 before 20 on 0\n"
		     "2 ? 10-20\n"
		     "2 R 20-30\n"
		     "lost 3 before 40 on 0\n"
		     "1 ? 10-40 open\n"
		     "io:inner 2 20-40 own 20 depth 0 open\n"
		     "2 ? 30-40 open\n"
		     "io:inner 0 40-40 own 0 depth 0 open\n");
}

Test(model, spans_of_a_thread_that_dies_are_open)
{
	feed_bare(10, INNER_BEGIN, 1);
	switch_to(20, 0, 1, 0x10, 0);
	feed_bare(30, INNER_BEGIN, 1); /* the number is used again */
	feed_bare(40, INNER_END, 1);
	expect_items("1 R 10-20\n"
		     "io:inner 1 10-20 own 10 depth 0 open\n"
		     "io:inner 1 30-40 own 10 depth 0\n");
}

/* A thread runs since the trace began on a CPU that has not switched, but not while a dead one had its number. */
Test(model, states_of_a_number_that_is_used_again)
{
	switch_to(10, 0, 0, 0, 1);
	switch_to(20, 0, 1, 0x10, 0);
	event_of(PLAIN, 1);
	event_put32(0);
	event_feed(30, 1);
	expect_items("1 R 10-20\n"
		     "plain 1 at 30 in 0\n"
		     "1 R 20-30 open\n");
}

Test(model, interrupts_nest_on_their_cpu)
{
	feed_int(10, READ_ENTER, 1, 3);
	feed_int(20, IRQ_ENTRY, 1, 40);
	feed_int(25, IRQ_ENTRY, 1, 41);
	feed_int(30, IRQ_EXIT, 1, 41);
	feed_int(40, IRQ_EXIT, 2, 40);
	feed_long(50, READ_EXIT, 1, -4);
	expect_items("irq:irq_handler 1 25-30 own 5 depth 1 in 2\n"
		     "irq:irq_handler 1 20-40 own 15 depth 0 to 2\n"
		     "syscalls:read 1 10-50 own 40 depth 0\n");
}

/* ----------------------------------------------------------------------------------------------- the kernel's pairs */

static void feed_two(uint64_t ts, int id, int32_t tid, int64_t first, int64_t second)
{
	event_of(id, tid);
	event_put64(first);
	event_put64(second);
	event_feed(ts, 0);
}

Test(model, functions_nest_and_have_their_names)
{
	feed_long(10, FUNCTION_ENTRY, 1, 0x2000);
	feed_long(20, FUNCTION_ENTRY, 1, 0x1010); /* an address inside of the function */
	feed_long(30, FUNCTION_EXIT, 1, 0x1010);
	feed_long(40, FUNCTION_EXIT, 1, 0x2000);
	feed_long(50, FUNCTION_ENTRY, 1, 0x10); /* below all functions */
	feed_long(60, FUNCTION_EXIT, 1, 0x10);
	expect_items("ftrace:vfs_read 1 20-30 own 10 depth 1 in 1\n"
		     "ftrace:ksys_read 1 10-40 own 20 depth 0\n"
		     "ftrace:funcgraph 1 50-60 own 10 depth 0\n");
}

Test(model, work_and_timers_are_called_after_their_functions)
{
	feed_two(10, WORK_START, 1, 0xf0, 0x3000);
	feed_two(12, TIMER_ENTRY, 1, 0xf1, 0x4000);
	feed_long(14, TIMER_EXIT, 1, 0xf1);
	feed_two(16, HRTIMER_ENTRY, 1, 0xf2, 0x5000);
	feed_long(18, HRTIMER_EXIT, 1, 0xf2);
	feed_long(20, WORK_END, 1, 0xf0);
	expect_items("timer:tcp_timer 1 12-14 own 2 depth 0\n"
		     "timer:hrtimer_wakeup 1 16-18 own 2 depth 0\n"
		     "workqueue:flush_work 1 10-20 own 10 depth 0\n");
}

Test(model, interrupts_have_the_names_of_their_devices)
{
	event_of(IRQ_ENTRY, 1);
	event_put32(40);
	event_put_text("eth0\n");
	event_feed(10, 0);
	feed_int(12, SOFTIRQ_ENTRY, 1, 3);
	feed_int(14, SOFTIRQ_EXIT, 1, 3);
	feed_int(16, SOFTIRQ_ENTRY, 1, 77); /* no soft interrupt has this number */
	feed_int(18, SOFTIRQ_EXIT, 1, 77);
	feed_int(20, IRQ_EXIT, 1, 40);
	expect_items("irq:NET_RX 1 12-14 own 2 depth 1 in 1\n"
		     "irq:softirq 1 16-18 own 2 depth 1 in 1\n"
		     "irq:eth0? 1 10-20 own 6 depth 0\n");
}

Test(model, requests_of_a_device_are_found_by_their_sector)
{
	for (int i = 0; i < 2; i++) {
		event_of(BLOCK_ISSUE, 1);
		event_put32(0x800000);
		event_put64(2048 + i);
		event_feed(10 + (uint64_t)i, 0);
	}
	event_of(BLOCK_COMPLETE, 2);
	event_put32(0x800000);
	event_put64(2048);
	event_feed(20, 1);
	event_of(BLOCK_COMPLETE, 2);
	event_put32(0x100000); /* of another device */
	event_put64(2049);
	event_feed(30, 1);
	expect_items("block:block_rq 1 10-20 own 10 depth 0 key 8388608 to 2\n"
		     "block:block_rq 2 10-30 own 20 depth 0 no-begin key 1048576\n"
		     "block:block_rq 1 11-30 own 19 depth 0 open key 8388608\n");
}

/* Names that are not taken from the file are found, however many other names the file has. */
Test(model, a_full_pool_of_names)
{
	char name[16];

	for (uint64_t i = 0; i <= 65536; i++) {
		snprintf(name, sizeof(name), "device%d", (int)i);
		event_of(IRQ_ENTRY, 1);
		event_put32(40);
		event_put_text(name);
		items_text[0] = '\0';
		event_feed(10 * i, 0);
		feed_int(10 * i + 1, IRQ_EXIT, 1, 40);
	}
	cr_assert_str_eq(items_text, "irq:irq_handler 1 655360-655361 own 1 depth 0\n");
	items_text[0] = '\0';
	event_of(IRQ_ENTRY, 1);
	event_put32(40);
	event_put_text("device3");
	event_feed(700000, 0);
	feed_int(700001, IRQ_EXIT, 1, 40);
	feed_int(700002, SOFTIRQ_ENTRY, 1, 3);
	feed_int(700003, SOFTIRQ_EXIT, 1, 3);
	feed_long(700004, FUNCTION_ENTRY, 1, 0x2000);
	feed_long(700005, FUNCTION_EXIT, 1, 0x2000);
	feed_long(700006, CALL_ENTER, 1, SYS_read);
	feed_two(700007, CALL_EXIT, 1, SYS_read, 5);
	expect_items("irq:device3 1 700000-700001 own 1 depth 0\n"
		     "irq:NET_RX 1 700002-700003 own 1 depth 0\n"
		     "ftrace:ksys_read 1 700004-700005 own 1 depth 0\n"
		     "raw_syscalls:read 1 700006-700007 own 1 depth 0\n");
}
