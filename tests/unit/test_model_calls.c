/* SPDX-License-Identifier: MIT */
/* The meaning of system calls and works (test_model.c): a thread is in one of them at a time. */
#include "model_fixture.h"

#include <criterion/criterion.h>
#include <sys/syscall.h>

TestSuite(model, .init = model_fixture_open, .fini = model_fixture_close);

static void two_of(int id, int32_t tid, int64_t first, int64_t second)
{
	event_of(id, tid);
	event_put64(first);
	event_put64(second);
}

static void feed_two(uint64_t ts, int id, int32_t tid, int64_t first, int64_t second)
{
	two_of(id, tid, first, second);
	event_feed(ts, 0);
}

static void feed_two_lost(uint64_t ts, int id, int32_t tid, int64_t first, int64_t second)
{
	two_of(id, tid, first, second);
	event_feed_lost(ts, 0, 3);
}

/* System calls have the numbers of this machine. */
Test(model, system_calls_by_number)
{
	feed_long(10, CALL_ENTER, 1, SYS_read);
	feed_two(20, CALL_EXIT, 1, SYS_read, 5);
	feed_long(30, CALL_ENTER, 1, 100000);
	feed_two(40, CALL_EXIT, 1, 100000, -38);
	feed_two(50, CALL_EXIT, 2, SYS_write, 1);
	expect_items("raw_syscalls:read 1 10-20 own 10 depth 0\n"
		     "raw_syscalls:syscall 1 30-40 own 10 depth 0\n"
		     "raw_syscalls:write 2 10-50 own 40 depth 0 no-begin\n");
}

/* The kernel calls the probes of both events in the same order where a call begins and where it ends. */
Test(model, both_events_of_a_system_call)
{
	feed_bare(5, INNER_BEGIN, 1);
	feed_long(10, CALL_ENTER, 1, SYS_read);
	feed_int(11, READ_ENTER, 1, 3);
	feed_long(15, FUNCTION_ENTRY, 1, 0x1000);
	feed_long(17, FUNCTION_EXIT, 1, 0x1000);
	feed_two(20, CALL_EXIT, 1, SYS_read, 5);
	feed_long(21, READ_EXIT, 1, 5);
	feed_bare(30, INNER_END, 1);
	/* The probes may also be called in the opposite order at the end of a call. */
	feed_int(40, READ_ENTER, 1, 3);
	feed_long(41, CALL_ENTER, 1, SYS_read);
	feed_two(50, CALL_EXIT, 1, SYS_read, 5);
	feed_long(51, READ_EXIT, 1, 5);
	expect_items("ftrace:vfs_read 1 15-17 own 2 depth 2 in 2\n"
		     "raw_syscalls:read 1 10-20 own 8 depth 1 in 1\n"
		     "syscalls:read 1 11-21 own 10 depth 2 in 2\n"
		     "io:inner 1 5-30 own 15 depth 0\n"
		     "raw_syscalls:read 1 41-50 own 9 depth 1 in 5\n"
		     "syscalls:read 1 40-51 own 11 depth 0\n");
}

/* The end of the second event's span, and the begin of the next call, are lost: its end is not that of the first. */
Test(model, the_end_of_a_later_system_call)
{
	feed_long(10, CALL_ENTER, 1, SYS_read);
	feed_int(11, READ_ENTER, 1, 3);
	feed_two(20, CALL_EXIT, 1, SYS_read, 5);
	event_of(CALL_EXIT, 1);
	event_put64(SYS_read);
	event_put64(5);
	event_feed_lost(40, 0, 3);
	feed_long(41, READ_EXIT, 1, 5);
	expect_spans("raw_syscalls:read 1 10-20 own 10 depth 0\n"
		     "syscalls:read 1 11-20 own 9 depth 1 cut in 1\n"
		     "raw_syscalls:read 1 40-40 own 0 depth 0 no-begin\n"
		     "syscalls:read 1 40-41 own 1 depth 0 no-begin\n");
}

/* One event of a call was lost, or the thread dies in it. */
Test(model, half_of_the_events_of_a_system_call)
{
	feed_long(10, CALL_ENTER, 1, SYS_read);
	feed_int(11, READ_ENTER, 1, 3);
	feed_two(20, CALL_EXIT, 1, SYS_read, 5);
	feed_long(30, CALL_ENTER, 1, SYS_read);
	feed_int(31, READ_ENTER, 1, 3);
	feed_two(40, CALL_EXIT, 1, SYS_read, 5);
	feed_long(50, CALL_ENTER, 1, SYS_exit);
	event_of(SWITCH, 1);
	event_put32(1);
	event_put32(120);
	event_put64(0x10);
	event_put32(0);
	event_put32(120);
	event_feed(60, 0);
	expect_spans("raw_syscalls:read 1 10-20 own 10 depth 0\n"
		     "syscalls:read 1 11-20 own 9 depth 1 cut in 1\n"
		     "raw_syscalls:read 1 30-40 own 10 depth 0\n"
		     "syscalls:read 1 31-40 own 9 depth 1 cut in 3\n"
		     "raw_syscalls:exit 1 50-60 own 10 depth 0 open\n");
}

/* ------------------------------------------------------------------------------- the end belongs to another one */

/* The end of read and the begin of write are lost. */
Test(model, the_end_of_another_system_call)
{
	feed_bare(5, INNER_BEGIN, 1);
	feed_long(10, CALL_ENTER, 1, SYS_read);
	feed_two_lost(40, CALL_EXIT, 1, SYS_write, 5);
	feed_long(50, CALL_ENTER, 1, SYS_read);
	feed_two(60, CALL_EXIT, 1, SYS_read, 5);
	feed_bare(70, INNER_END, 1);
	expect_spans("raw_syscalls:read 1 10-40 own 30 depth 1 cut in 1\n"
		     "raw_syscalls:write 1 40-40 own 0 depth 1 no-begin in 1\n"
		     "raw_syscalls:read 1 50-60 own 10 depth 1 in 1\n"
		     "io:inner 1 5-70 own 25 depth 0\n");
}

/*
 * The same without a loss: something has suppressed the events. The first event after the loss that there is belongs to
 * no system call.
 */
Test(model, the_end_of_another_system_call_after_other_events)
{
	feed_long(10, CALL_ENTER, 1, SYS_read);
	feed_two(20, CALL_EXIT, 1, SYS_write, 5);
	feed_long(30, CALL_ENTER, 1, SYS_read);
	two_of(WORK_END, 1, 0xf0, 0);
	event_feed_lost(40, 0, 3);
	feed_long(42, FUNCTION_ENTRY, 1, 0x1000);
	feed_long(44, FUNCTION_EXIT, 1, 0x1000);
	feed_two(50, CALL_EXIT, 1, SYS_write, 5);
	expect_spans("raw_syscalls:read 1 10-20 own 10 depth 0 cut\n"
		     "raw_syscalls:write 1 20-20 own 0 depth 0 no-begin\n"
		     "workqueue:workqueue_execute 1 40-40 own 0 depth 1 no-begin in 3\n"
		     "ftrace:vfs_read 1 42-44 own 2 depth 1 in 3\n"
		     "raw_syscalls:read 1 30-44 own 12 depth 0 cut\n"
		     "raw_syscalls:write 1 44-50 own 6 depth 0 no-begin\n");
}

/* The end may belong to the begin, or both to different calls of the same name. */
Test(model, the_end_of_a_system_call_of_the_same_name)
{
	feed_long(10, CALL_ENTER, 1, SYS_read);
	feed_two_lost(40, CALL_EXIT, 1, SYS_read, 5);
	expect_spans("raw_syscalls:read 1 10-40 own 30 depth 0 cut\n");
}

/* Calls do not nest: the end of the first one is lost, or the kernel does not write it. */
Test(model, the_begin_of_another_system_call)
{
	feed_int(10, READ_ENTER, 1, 3);
	feed_int(20, READ_ENTER, 1, 3);
	feed_long(30, READ_EXIT, 1, 5);
	feed_int(40, READ_ENTER, 1, 3);
	event_of(NOTE, 1);
	event_feed_lost(50, 0, 3);
	feed_int(60, READ_ENTER, 1, 3);
	feed_long(70, READ_EXIT, 1, 5);
	expect_spans("syscalls:read 1 10-20 own 10 depth 0 cut\n"
		     "syscalls:read 1 20-30 own 10 depth 0\n"
		     "syscalls:read 1 40-50 own 10 depth 0 cut\n"
		     "syscalls:read 1 60-70 own 10 depth 0\n");
}

/* A program begins no span in a call: the call ended before the span, but spans nest, so both end together. */
Test(model, a_span_after_the_lost_end_of_a_system_call)
{
	feed_long(10, CALL_ENTER, 1, SYS_read);
	feed_bare(20, INNER_BEGIN, 1);
	two_of(CALL_ENTER, 1, SYS_write, 0);
	event_feed_lost(30, 0, 3);
	feed_two(40, CALL_EXIT, 1, SYS_write, 5);
	feed_bare(50, INNER_END, 1);
	feed_long(60, CALL_ENTER, 1, SYS_read);
	expect_spans("raw_syscalls:write 1 30-40 own 10 depth 2 in 2\n"
		     "io:inner 1 20-50 own 20 depth 1 in 1\n"
		     "raw_syscalls:read 1 10-50 own 10 depth 0 cut\n"
		     "raw_syscalls:read 1 60-60 own 0 depth 0 open\n");
}

/* At the end of rt_sigreturn, the kernel no longer has its number. */
Test(model, the_end_of_a_system_call_without_a_number)
{
	feed_long(10, CALL_ENTER, 1, SYS_rt_sigreturn);
	feed_two(20, CALL_EXIT, 1, -1, 0);
	expect_spans("raw_syscalls:rt_sigreturn 1 10-20 own 10 depth 0\n");
}

/*
 * CPU 1 loses events, and reports this only after the calls have ended. Thread 1 was on CPU 1 before. Thread 3 left
 * CPU 0 for a time, and may have run on CPU 1 then. Switches show that thread 2 was on CPU 0 during its whole call.
 */
Test(model, a_loss_of_another_cpu_that_is_reported_after_the_end)
{
	model_fixture_lose_kernel(11, 60);
	switch_to(5, 0, 4, 1, 3);
	event_of(READ_ENTER, 1);
	event_put32(3);
	event_feed(10, 1);
	feed_int(14, READ_ENTER, 3, 3);
	switch_to(16, 0, 3, 1, 2);
	feed_int(18, READ_ENTER, 2, 3);
	feed_long(25, READ_EXIT, 2, 5);
	switch_to(26, 0, 2, 1, 3);
	feed_long(28, READ_EXIT, 3, 5);
	switch_to(29, 0, 3, 1, 1);
	feed_long(30, READ_EXIT, 1, 5);
	event_of(NOTE, 9);
	event_feed_lost(60, 1, 3);
	expect_spans("syscalls:read 2 18-25 own 7 depth 0\n"
		     "syscalls:read 3 14-28 own 14 depth 0 cut\n"
		     "syscalls:read 1 10-30 own 20 depth 0 cut\n");
}

/* Where the trace ends: a call of a thread that slept since then may have ended among the lost events. */
Test(model, a_call_that_is_open_when_events_were_lost)
{
	switch_to(5, 0, 4, 1, 1);
	feed_int(10, READ_ENTER, 1, 3);
	switch_to(12, 0, 1, 1, 2);
	feed_int(14, READ_ENTER, 2, 3);
	event_of(NOTE, 9);
	event_feed(20, 1);
	event_of(NOTE, 9);
	event_feed_lost(60, 1, 3);
	expect_spans("syscalls:read 1 10-60 own 50 depth 0 open cut\n"
		     "syscalls:read 2 14-60 own 46 depth 0 open\n");
}

/* Both events of each call are recorded, and events are lost: the spans of a call end together. */
Test(model, a_loss_between_both_events_of_system_calls)
{
	feed_long(10, CALL_ENTER, 1, SYS_read);
	feed_int(11, READ_ENTER, 1, 3);
	feed_two_lost(40, CALL_EXIT, 1, SYS_write, 5);
	feed_long(50, CALL_ENTER, 1, SYS_read);
	two_of(READ_ENTER, 1, 3, 0);
	event_feed_lost(70, 0, 3); /* of another call than the begin at 50 */
	feed_long(80, READ_EXIT, 1, 5);
	expect_spans("raw_syscalls:read 1 10-40 own 30 depth 0 cut\n"
		     "syscalls:read 1 11-40 own 29 depth 1 cut in 1\n"
		     "raw_syscalls:write 1 40-40 own 0 depth 0 no-begin\n"
		     "raw_syscalls:read 1 50-70 own 20 depth 0 cut\n"
		     "syscalls:read 1 70-80 own 10 depth 0\n");
}

/* The end of a function belongs to the begin of the same function: the functions inside it are cut. */
Test(model, the_end_of_an_outer_function)
{
	feed_long(10, FUNCTION_ENTRY, 1, 0x2000);
	feed_long(20, FUNCTION_ENTRY, 1, 0x1000);
	event_of(FUNCTION_EXIT, 1);
	event_put64(0x2000);
	event_feed_lost(30, 0, 3);
	feed_long(40, FUNCTION_ENTRY, 1, 0x2000);
	feed_long(50, FUNCTION_EXIT, 1, 0x1000);
	feed_long(60, FUNCTION_EXIT, 1, 0x2000);
	expect_spans("ftrace:vfs_read 1 20-30 own 10 depth 1 cut in 1\n"
		     "ftrace:ksys_read 1 10-30 own 10 depth 0 cut\n"
		     "ftrace:vfs_read 1 30-50 own 20 depth 1 no-begin in 3\n"
		     "ftrace:ksys_read 1 40-60 own 20 depth 0 cut\n");
}

static void deep(int id, int32_t tid, int64_t function, int32_t depth)
{
	event_of(id, tid);
	event_put64(function);
	if (id == DEEP_ENTRY)
		event_put64(depth);
	else
		event_put32(depth);
}

/* The ends at 25 and 35 are missing, and the begin of a function at depth 1: the depths show it. */
Test(model, the_depth_of_a_function)
{
	deep(DEEP_ENTRY, 1, 0x2000, 0);
	event_feed(10, 0);
	deep(DEEP_ENTRY, 1, 0x1000, 1);
	event_feed(20, 0);
	deep(DEEP_ENTRY, 1, 0x1000, 1);
	event_feed(30, 0);
	deep(DEEP_EXIT, 1, 0x1000, 2);
	event_feed(32, 0);
	deep(DEEP_EXIT, 1, 0x2000, 0);
	event_feed(40, 0);
	deep(DEEP_ENTRY, 1, 0x2000, 0);
	event_feed(50, 0);
	feed_bare(55, INNER_BEGIN, 1);
	deep(DEEP_ENTRY, 1, 0x1000, 0);
	event_feed(60, 0);
	deep(DEEP_EXIT, 1, 0x1000, 0);
	event_feed(70, 0);
	feed_bare(75, INNER_END, 1);
	deep(DEEP_ENTRY, 1, 0x2000, 0);
	event_feed(80, 0);
	deep(DEEP_ENTRY, 1, 0x1000, 0);
	event_feed_lost(90, 0, 3);
	expect_spans("ftrace:vfs_read 1 20-30 own 10 depth 1 cut in 1\n"
		     "ftrace:vfs_read 1 30-32 own 2 depth 2 no-begin in 3\n"
		     "ftrace:vfs_read 1 30-40 own 10 depth 1 cut in 1\n"
		     "ftrace:ksys_read 1 10-40 own 10 depth 0\n"
		     "ftrace:vfs_read 1 60-70 own 10 depth 2 in 6\n"
		     "io:inner 1 55-75 own 10 depth 1 in 5\n"
		     "ftrace:ksys_read 1 50-75 own 5 depth 0 cut\n" /* it ended before io:inner began */
		     "ftrace:ksys_read 1 80-90 own 10 depth 0 cut\n"
		     "ftrace:vfs_read 1 90-90 own 0 depth 0 open\n");
}

/* All idle tasks have the number 0. */
Test(model, functions_in_idle_tasks)
{
	deep(DEEP_ENTRY, 0, 0x2000, 0);
	event_feed(10, 0);
	deep(DEEP_ENTRY, 0, 0x2000, 0);
	event_feed(20, 1);
	deep(DEEP_EXIT, 0, 0x2000, 0);
	event_feed(30, 0);
	deep(DEEP_EXIT, 0, 0x2000, 0);
	event_feed(40, 1);
	/* A damaged file may have system calls there. */
	feed_long(50, CALL_ENTER, 0, SYS_read);
	feed_long(60, CALL_EXIT, 0, SYS_read);
	expect_spans("ftrace:ksys_read 0 10-30 own 20 depth 0\n"
		     "ftrace:ksys_read 0 20-40 own 20 depth 0\n"
		     "raw_syscalls:read 0 50-60 own 10 depth 0\n");
}

/* The end of another work, and the end of another interrupt: neither is that of the one that is open. */
Test(model, the_end_of_another_work_or_interrupt)
{
	feed_two(10, WORK_START, 1, 0xf0, 0x3000);
	event_of(WORK_END, 1);
	event_put64(0xe0);
	event_feed_lost(20, 0, 3);
	feed_two(30, WORK_START, 1, 0xf0, 0x3000);
	feed_two(35, WORK_START, 1, 0xe0, 0x3000);
	feed_long(40, WORK_END, 1, 0xe0);
	event_of(NOTE, 2);
	event_feed_lost(45, 0, 3);
	feed_int(50, SOFTIRQ_ENTRY, 2, 3);
	feed_int(60, SOFTIRQ_EXIT, 2, 1);
	feed_int(70, SOFTIRQ_EXIT, 2, 3);
	expect_spans("workqueue:flush_work 1 10-20 own 10 depth 0 cut\n"
		     "workqueue:workqueue_execute 1 20-20 own 0 depth 0 no-begin\n"
		     "workqueue:flush_work 1 30-35 own 5 depth 0 cut\n"
		     "workqueue:flush_work 1 35-40 own 5 depth 0\n"
		     "irq:TIMER 2 45-60 own 15 depth 1 no-begin in 5\n"
		     "irq:NET_RX 2 50-70 own 20 depth 0 cut\n");
}

/* A new thread leaves the system call that made it, without having entered one. Its parent's numbers show when. */
Test(model, the_end_of_the_system_call_that_made_a_thread)
{
	feed_bare(5, NOTE, 1);
	feed_long(10, CALL_ENTER, 1, SYS_clone);
	event_of(WAKEUP_NEW, 1);
	event_put32(2);
	event_put32(120);
	event_put32(0);
	event_feed(20, 0);
	feed_two(30, CALL_EXIT, 1, SYS_clone, 2);
	feed_two(40, CALL_EXIT, 2, SYS_clone, 0);
	feed_two(50, CALL_EXIT, 3, SYS_clone, 0);
	expect_spans("raw_syscalls:clone 1 10-30 own 20 depth 0\n"
		     "raw_syscalls:clone 2 20-40 own 20 depth 0 no-begin\n"
		     "raw_syscalls:clone 3 5-50 own 45 depth 0 no-begin\n");
}
