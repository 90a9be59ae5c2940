/* SPDX-License-Identifier: MIT */
/*
 * The states of threads where switches are missing, because the host has hidden them, or after losses: other events
 * show which thread runs (model_runs.c).
 */
#include "model_fixture.h"

#include <criterion/criterion.h>

TestSuite(model, .init = model_fixture_open, .fini = model_fixture_close);

Test(model, a_switch_that_the_host_hides)
{
	switch_to(10, 0, 0, 0, 1);
	wake(15, 0, 1, 3);
	/* There is no event of the switch from 1 to 2. */
	switch_to(20, 0, 2, 1, 3);
	switch_to(30, 0, 3, 1, 0);
	expect_items("1 R 10-15\n"
		     "3 w 15-20\n"
		     "3 R 20-30\n"
		     "1 ? 15-30 open\n"
		     "2 S 20-30 open\n");
}

static void note_lost(uint64_t ts, uint32_t cpu, int32_t tid, int64_t lost)
{
	event_of(NOTE, tid);
	event_feed_lost(ts, cpu, lost);
}

static void note(uint64_t ts, uint32_t cpu, int32_t tid)
{
	note_lost(ts, cpu, tid, 0);
}

/* There is no event of the switches from the idle task. */
Test(model, an_event_shows_that_a_thread_runs_without_a_switch_to_it)
{
	switch_to(10, 0, 5, 1, 0);
	wake(20, 1, 8, 5);
	feed_long(25, CALL_ENTER, 5, 0);
	switch_to(40, 0, 5, 1, 0);
	wake(50, 1, 8, 5);
	feed_bare(55, INNER_BEGIN, 5);
	switch_to(60, 0, 5, 0, 7); /* it is preempted: the clock of the program may be late */
	feed_bare(65, INNER_END, 5);
	switch_to(70, 0, 5, 1, 0);
	expect_items("5 S 10-20 by 8 in 0\n"
		     "5 ? 20-25\n"
		     "5 R 25-40\n"
		     "5 S 40-50 by 8 in 0\n"
		     "5 ? 50-55\n"
		     "5 R 55-60\n"
		     "io:inner 5 55-65 own 10 depth 1 in 1\n"
		     "5 ? 60-70\n"
		     "raw_syscalls:read 5 25-70 own 35 depth 0 open\n"
		     "8 R 10-70 open\n"
		     "7 ? 60-70 open\n");
}

/* A CPU still has some work to do in the thread that it leaves; another one may wake the thread meanwhile. */
Test(model, an_event_at_the_end_of_a_switch_shows_nothing)
{
	switch_to(10, 0, 5, 1, 0);
	wake(12, 1, 8, 5);
	note(14, 0, 5);
	note(16, 0, 0);
	note(20, 0, 5);
	switch_to(30, 0, 5, 1, 0);
	expect_items("5 S 10-12 by 8 in 0\n"
		     "note 5 at 14 in 0\n"
		     "note 0 at 16 in 0\n"
		     "5 w 12-16\n"
		     "5 ? 16-20\n"
		     "note 5 at 20 in 0\n"
		     "5 R 20-30\n"
		     "8 R 10-30 open\n");
}

/* The switches from 1 to 2 on CPU 0, and from 3 on CPU 1, are missing. */
Test(model, an_event_shows_that_another_thread_has_left)
{
	switch_to(10, 0, 0, 0, 1);
	note(15, 0, 1);
	wake(20, 2, 9, 2);
	note(25, 0, 2);
	switch_to(30, 1, 0, 0, 3);
	note(35, 1, 3);
	switch_to(40, 2, 9, 1, 3);
	switch_to(50, 0, 2, 1, 0);
	expect_items("note 1 at 15 in 0\n"
		     "1 R 10-15\n"
		     "2 ? 20-25\n"
		     "note 2 at 25 in 0\n"
		     "note 3 at 35 in 0\n"
		     "9 R 10-40\n"
		     "3 R 30-35\n"
		     "3 ? 35-40\n"
		     "2 R 25-50\n"
		     "1 ? 15-50 open\n"
		     "9 S 40-50 open\n"
		     "3 R 40-50 open\n");
}

/* On the CPU where it runs at last, other threads ran until 30; 5 waited for that long. */
Test(model, a_thread_waits_while_others_run)
{
	switch_to(10, 0, 5, 0, 6);
	switch_to(20, 0, 6, 1, 7);
	feed_long(30, CALL_ENTER, 7, 0);
	feed_long(40, CALL_ENTER, 5, 0);
	wake(45, 1, 8, 6);
	switch_to(50, 0, 5, 1, 9);
	switch_to(60, 0, 6, 1, 9); /* so did 6, until 9 had begun */
	expect_items("6 R 10-20\n"
		     "7 R 20-30\n"
		     "5 w 10-30 preempted\n"
		     "5 ? 30-40\n"
		     "6 S 20-45 by 8 in 0\n"
		     "5 R 40-50\n"
		     "6 w 45-50\n"
		     "6 ? 50-60\n"
		     "9 ? 50-60\n"
		     "raw_syscalls:read 5 40-60 own 20 depth 0 open\n"
		     "5 S 50-60 open\n"
		     "raw_syscalls:read 7 30-60 own 30 depth 0 open\n"
		     "7 ? 30-60 open\n"
		     "8 R 10-60 open\n");
}

/* The first event of CPU 2 is of a thread that was preempted on CPU 1, or slept there and was woken. */
Test(model, a_first_event_of_a_cpu_is_of_a_thread_that_was_seen)
{
	switch_to(10, 1, 0, 0, 5);
	switch_to(20, 1, 5, 0, 6);
	note(30, 2, 5);
	note(40, 2, 5);
	switch_to(50, 2, 5, 1, 0);
	wake(60, 1, 6, 5);
	note(70, 3, 5);
	switch_to(80, 3, 5, 1, 0);
	expect_items("5 R 10-20\n"
		     "5 ? 20-30\n"
		     "note 5 at 30 in 0\n"
		     "note 5 at 40 in 0\n"
		     "5 R 30-50\n"
		     "5 S 50-60 by 6 in 0\n"
		     "5 ? 60-70\n"
		     "note 5 at 70 in 0\n"
		     "5 R 70-80\n"
		     "6 R 20-80 open\n");
}

/* That event is the switch from the thread. */
Test(model, a_first_switch_of_a_cpu_is_from_a_thread_that_was_seen)
{
	switch_to(10, 1, 0, 0, 5);
	switch_to(20, 1, 5, 0, 6);
	switch_to(50, 2, 5, 1, 0);
	expect_items("5 R 10-20\n"
		     "5 ? 20-50\n"
		     "6 R 20-50 open\n");
}

/* The kernel's thread 7 is not the program's: its spans do not nest in the program's, and its states are not given. */
Test(model, a_thread_of_another_pid_namespace)
{
	model_fixture_reopen("recorder 1.0.0; threads of other pid namespaces: 7");
	feed_bare(5, INNER_BEGIN, 7);
	switch_to(10, 0, 4, 1, 7);
	feed_long(15, CALL_ENTER, 7, 0);
	feed_bare(20, INNER_BEGIN, 7);
	feed_long(25, CALL_EXIT, 7, 0);
	feed_bare(30, INNER_END, 7);
	wake(35, 0, 7, 4);
	switch_to(40, 0, 7, 16, 4); /* the kernel's thread ends */
	feed_bare(50, INNER_END, 7);
	expect_items("4 R 5-10\n"
		     "raw_syscalls:read 7 15-25 own 10 depth 0\n"
		     "io:inner 7 20-30 own 10 depth 1 in 1\n"
		     "4 S 10-35 by 7 in 0\n"
		     "7 ? 10-40\n"
		     "4 w 35-40\n"
		     "io:inner 7 5-50 own 35 depth 0\n"
		     "4 R 40-50 open\n");
}

/* Of a thread that is first seen after a loss, the next loss hides the state that it has since then. */
Test(model, a_loss_after_a_loss)
{
	switch_to(10, 0, 0, 0, 1);
	note_lost(20, 0, 2, 1);
	note_lost(30, 0, 3, 1);
	switch_to(40, 0, 3, 1, 0);
	expect_items("lost 1 before 20 on 0\n"
		     "note 2 at 20 in 0\n"
		     "lost 1 before 30 on 0\n"
		     "note 3 at 30 in 0\n"
		     "3 R 30-40\n"
		     "1 ? 10-40 open\n"
		     "2 ? 20-40 open\n");
}

#define ENDED  250000
#define LOSSES 500000

/* A loss must not look at all threads that have ended: the test would exceed its limit by far. */
Test(model, very_many_threads_that_ended, .timeout = 100)
{
	for (int32_t tid = 1; tid <= ENDED; tid++)
		switch_to((uint64_t)tid, 0, tid, 0x10, tid + 1);
	for (uint64_t i = 1; i <= LOSSES; i++)
		note_lost(ENDED + i, 0, ENDED + 1, 1);
	items_text[0] = '\0';
	switch_to(1000000, 0, ENDED + 1, 1, 0);
	expect_items("250001 R 750000-1000000\n");
}
