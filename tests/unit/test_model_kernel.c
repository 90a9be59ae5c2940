/* SPDX-License-Identifier: MIT */
/* What the kernel's events mean (test_model.c): states of threads, who woke them, interrupts and system calls. */
#include "model_fixture.h"

#include <criterion/criterion.h>

TestSuite(model, .init = model_fixture_open, .fini = model_fixture_close);

static void switch_lost(uint64_t ts, uint32_t cpu, int32_t from, int64_t state, int32_t to, int64_t lost)
{
	event_of(SWITCH, from);
	event_put32(from);
	event_put32(120);
	event_put64(state);
	event_put32(to);
	event_put32(120);
	event_feed_lost(ts, cpu, lost);
}

static void switch_to(uint64_t ts, uint32_t cpu, int32_t from, int64_t state, int32_t to)
{
	switch_lost(ts, cpu, from, state, to, 0);
}

static void wake(uint64_t ts, uint32_t cpu, int32_t waker, int32_t woken)
{
	event_of(WAKING, waker);
	event_put32(woken);
	event_put32(120);
	event_put32(1);
	event_feed(ts, cpu);
}

/* The second event of a wake-up. */
static void wakeup(uint64_t ts, uint32_t cpu, int32_t current, int32_t woken, int32_t target)
{
	event_of(WAKEUP, current);
	event_put32(woken);
	event_put32(120);
	event_put32(target);
	event_feed(ts, cpu);
}

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
	/* Who acts on a CPU runs there. */
	expect_items("plain 9 at 10 in 0\n"
		     "4 R 10-20\n"
		     "9 R 10-20 open\n");
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

/* Only the second event of a wake-up knows for which CPU the thread waits; without it, where it ran says it. */
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

Test(model, a_loss_ends_an_interrupt)
{
	feed_int(10, IRQ_ENTRY, 1, 40);
	switch_lost(30, 0, 1, 1, 2, 7);
	feed_int(40, IRQ_ENTRY, 2, 40);
	feed_int(50, IRQ_EXIT, 2, 40);
	event_of(PLAIN, 1);
	event_put32(0);
	event_feed_lost(60, 0, 3);
	feed_int(70, IRQ_EXIT, 1, 40); /* begun before 60 */
	expect_spans("irq:irq_handler 1 10-10 own 0 depth 0 open cut\n"
		     "irq:irq_handler 2 40-50 own 10 depth 0\n"
		     "irq:irq_handler 1 60-70 own 10 depth 0 no-begin\n");
}

Test(model, a_switch_that_the_host_hides)
{
	switch_to(10, 0, 0, 0, 1);
	wake(15, 0, 1, 3);
	/* 1 has left the CPU to 2 without a switch. */
	switch_to(20, 0, 2, 1, 3);
	switch_to(30, 0, 3, 1, 0);
	expect_items("1 R 10-15\n"
		     "2 R 15-20\n"
		     "3 w 15-20\n"
		     "3 R 20-30\n"
		     "1 ? 15-30 open\n"
		     "2 S 20-30 open\n");
}

Test(model, a_loss_makes_the_cpus_thread_unknown)
{
	switch_to(10, 0, 1, 1, 2);
	feed_bare(12, INNER_BEGIN, 2);
	switch_lost(30, 0, 3, 1, 2, 7); /* 2 must have left meanwhile */
	switch_to(40, 0, 2, 1, 0);
	expect_items("1 S 10-12\n"
		     "2 R 10-12\n"
		     "lost 7 before 30 on 0\n"
		     "2 ? 12-30\n"
		     "2 R 30-40\n"
		     "1 ? 12-40 open\n" /* it may have been woken */
		     "io:inner 2 12-40 own 28 depth 0 open\n"
		     "3 S 30-40 open\n");
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
