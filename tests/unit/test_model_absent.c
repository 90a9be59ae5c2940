/* SPDX-License-Identifier: MIT */
/* The states of threads where a file notes that switches were not recorded: at some times, or of some CPUs. */
#include "model_fixture.h"

#include <criterion/criterion.h>

TestSuite(model_absent, .init = model_fixture_open, .fini = model_fixture_close);

/* No file has the time between two that were recorded one after the other. */
Test(model_absent, the_gap_between_merged_files)
{
	model_fixture_reopen("recorder 1.0.0; no switches from 21 to 99, 141 on; "
			     "no events of the kernel from 21 to 99; no events of programs from 21 to 99");
	switch_to(10, 0, 4, 1, 5);
	feed_bare(15, INNER_BEGIN, 5);
	feed_bare(20, PLAIN, 5);
	switch_to(100, 1, 7, 1, 6);
	feed_bare(110, INNER_END, 5);
	switch_to(120, 0, 0, 0, 4);
	switch_to(140, 0, 4, 1, 0);
	feed_bare(200, PLAIN, 6);
	expect_items("plain 5 at 20 in 1\n"
		     "4 S 10-21\n"
		     "5 R 10-21\n"
		     "5 ? 21-100\n"
		     "io:inner 5 15-110 own 95 depth 0 cut\n"
		     "5 R 100-110\n"
		     "4 ? 21-100\n"
		     "4 w 100-120\n"
		     "4 R 120-140\n"
		     "4 S 140-141\n"
		     "5 ? 110-141\n"
		     "7 S 100-141\n"
		     "6 R 100-141\n"
		     "plain 6 at 200 in 0\n"
		     "4 ? 141-200 open\n"
		     "5 ? 141-200 open\n"
		     "7 ? 141-200 open\n"
		     "6 ? 141-200 open\n");
}

/*
 * Events of programs do not show where the kernel's spans end, and events of the kernel do not show where the spans of
 * programs end.
 */
Test(model_absent, spans_across_a_time_without_events_of_their_kind)
{
	model_fixture_reopen("recorder 1.0.0; no events of the kernel from 21 to 99; "
			     "no events of programs from 121 to 199");
	feed_bare(10, INNER_BEGIN, 5);
	feed_long(15, CALL_ENTER, 6, 0);
	feed_bare(50, INNER_END, 5);
	feed_bare(60, INNER_BEGIN, 5);
	feed_long(110, CALL_EXIT, 6, 0);
	feed_long(115, CALL_ENTER, 6, 0);
	feed_long(205, CALL_EXIT, 6, 0);
	feed_bare(210, INNER_END, 5);
	expect_items("io:inner 5 10-50 own 40 depth 0\n"
		     "raw_syscalls:read 6 15-110 own 95 depth 0 cut\n"
		     "raw_syscalls:read 6 115-205 own 90 depth 0\n"
		     "io:inner 5 60-210 own 150 depth 0 cut\n");
}

/* A whole recording, merged with one of some threads that began before it, and ended after it. */
Test(model_absent, times_with_the_switches_of_some_threads)
{
	model_fixture_reopen("recorder 1.0.0; switches of some threads alone: 5 and no others from 0 to 19, 61 to 100");
	switch_to(10, 0, 5, 1, 6);
	wake(15, 0, 6, 5);
	wake(16, 0, 6, 7);
	switch_to(20, 0, 6, 0, 5);
	switch_to(30, 0, 5, 0, 7);
	switch_to(40, 0, 7, 1, 6);
	wake(50, 0, 6, 7);
	feed_long(65, CALL_ENTER, 6, 0); /* not one of those threads */
	switch_to(70, 0, 8, 0, 5); /* the switches to 7, and to 8, are missing */
	switch_to(80, 0, 5, 1, 7);
	expect_items("5 S 10-15 by 6 in 0\n"
		     "5 w 15-20\n"
		     "5 R 20-30\n"
		     "7 R 30-40\n"
		     "6 w 20-40 preempted\n"
		     "7 S 40-50 by 6 in 0\n"
		     "6 R 40-61\n"
		     "7 w 50-61\n"
		     "5 w 30-70 preempted\n"
		     "5 R 70-80\n"
		     "raw_syscalls:read 6 65-80 own 15 depth 0 open\n");
}

/* CPU 1 was not recorded: a thread that waits for CPU 0 may run there, and sleep, and come back, without an event. */
Test(model_absent, a_cpu_that_was_not_recorded)
{
	model_fixture_reopen("recorder 1.0.0; CPUs not recorded: 1");
	switch_to(1000, 0, 4, 1, 5);
	wake(1100, 0, 5, 4);
	wakeup(1110, 0, 5, 4, 1); /* woken for CPU 1 */
	wake(1500, 0, 5, 4); /* so it slept again */
	wakeup(1510, 0, 5, 4, 0);
	switch_to(1600, 0, 5, 0, 4);
	switch_to(1700, 0, 4, 1, 5);
	wake(1800, 0, 5, 4); /* the second half is written on CPU 1 */
	switch_to(2000, 0, 5, 0, 4);
	switch_to(3200, 0, 4, 2, 0); /* 5 is not on the queue: CPU 0 is idle */
	switch_to(4000, 0, 0, 0, 5);
	switch_to(4100, 0, 5, 1, 4); /* 4 was woken on CPU 1 */
	expect_items("4 S 1000-1100 by 5 in 0\n"
		     "4 ? 1100-1500 by 5 in 0\n"
		     "5 R 1000-1600\n"
		     "4 ? 1500-1600\n"
		     "4 R 1600-1700\n"
		     "5 ? 1600-1700\n"
		     "4 S 1700-1800 by 5 in 0\n"
		     "5 R 1700-2000\n"
		     "4 ? 1800-2000\n"
		     "4 R 2000-3200\n"
		     "5 ? 2000-4000\n"
		     "5 R 4000-4100\n"
		     "4 ? 3200-4100\n");
}

/* Events of programs show that 4 ran there, after it slept; and 6, of which nothing else is known. */
Test(model_absent, programs_on_a_cpu_that_was_not_recorded)
{
	model_fixture_reopen("recorder 1.0.0; CPUs not recorded: 1");
	switch_to(10, 0, 4, 1, 5);
	event_of(PLAIN, 4);
	event_put32(0);
	event_feed(20, 1);
	event_of(PLAIN, 6);
	event_put32(0);
	event_feed(25, 1);
	switch_to(40, 0, 5, 1, 7);
	switch_to(50, 0, 7, 1, 0);
	expect_items("plain 4 at 20 in 0\n"
		     "plain 6 at 25 in 0\n"
		     "5 R 10-40\n"
		     "7 R 40-50\n"
		     "4 ? 10-50 open\n"
		     "5 S 40-50 open\n");
}

/*
 * Thread 5 runs on a machine's CPU 0, in the first buffer, and a thread of the same number on that of another machine,
 * whose interrupts overlap the first one's.
 */
Test(model_absent, several_machines)
{
	model_fixture_reopen("recorder 1.0.0; several machines");
	switch_to(10, 0, 4, 1, 5);
	wake(20, 0, 5, 4);
	feed_int(30, IRQ_ENTRY, 5, 7);
	model_fixture_buffer(1);
	switch_to(40, 0, 6, 1, 5);
	feed_int(50, IRQ_ENTRY, 5, 7);
	model_fixture_buffer(0);
	feed_int(60, IRQ_EXIT, 5, 7);
	model_fixture_buffer(1);
	feed_int(80, IRQ_EXIT, 5, 7);
	switch_to(90, 0, 5, 1, 0);
	expect_items("irq:irq_handler 5 30-60 own 30 depth 0\n"
		     "irq:irq_handler 5 50-80 own 30 depth 0\n");
}
