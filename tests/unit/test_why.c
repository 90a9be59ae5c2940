/* SPDX-License-Identifier: MIT */
/*
 * `recorder why` on long spans with very many inner items, where quadratic work would not end; and on spans that one
 * thread hands to another.
 */
#include "format/why/why.h"
#include "why_machine_events.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#define MANY 200000u

#define LEFT_OUT "not recorded (-F, -P) or left out by split"

static struct event_table *table;
static struct why *why;
static struct machine machine;
static uint64_t ts;
static uint32_t cpu; /* of the next events */
static int64_t lost; /* before the next event */

static void setup(void)
{
	table = machine_table();
	cr_assert_eq(why_begin(table, &why), 0);
	ts = 1000;
	cpu = 0;
	lost = 0;
}

static void teardown(void)
{
	why_close(why);
	event_table_close(table);
}

TestSuite(why, .init = setup, .fini = teardown);

static struct machine_event *event(enum machine_id id, int pid)
{
	machine.nr_events = 0;
	return machine_event(&machine, KIND_REQUEST, id, 0, 0, pid, false);
}

static void feed(const struct machine_event *e)
{
	struct dat_buffer buffer = { .name = (char[]){ "" } };
	const struct dat_event event = {
		.ts = ts, .raw = ts, .cpu = cpu, .lost = lost, .size = e->size, .data = e->bytes, .buffer = &buffer
	};

	ts++;
	lost = 0;
	cr_assert_eq(why_event(why, &event), 0);
}

static void feed_number(enum machine_id id, int pid, uint64_t number)
{
	struct machine_event *e = event(id, pid);

	machine_put64(e, number);
	feed(e);
}

static void feed_switch(int from, int64_t state, int to)
{
	struct machine_event *e = event(ID_SWITCH, from);

	machine_put32(e, (uint32_t)from);
	machine_put32(e, 120);
	machine_put64(e, (uint64_t)state);
	machine_put32(e, (uint32_t)to);
	machine_put32(e, 120);
	feed(e);
}

static void feed_wake(int by, int woken)
{
	struct machine_event *e = event(ID_WAKING, by);

	machine_put32(e, (uint32_t)woken);
	machine_put32(e, 120);
	machine_put32(e, 0);
	feed(e);
}

/* The second half of a wake-up, on the CPU of the woken thread. */
static void feed_wakeup(int woken)
{
	struct machine_event *e = event(ID_WAKEUP, 0);

	machine_put32(e, (uint32_t)woken);
	machine_put32(e, 120);
	machine_put32(e, cpu);
	feed(e);
}

static void feed_task_of(int pid, uint64_t task)
{
	struct machine_event *e = event(ID_TASK, pid);

	machine_put64(e, task);
	machine_put_text(e, "");
	feed(e);
}

static void feed_task(uint64_t task)
{
	feed_task_of(1, task);
}

/* The span with this number. */
static const struct why_span *span_of(uint64_t id)
{
	size_t nr;
	const struct why_span *spans = why_spans(why, &nr);

	for (size_t i = 0; i < nr; i++) {
		if (spans[i].id == id)
			return &spans[i];
	}
	return NULL;
}

Test(why, many_inner_spans)
{
	const struct why_piece *pieces;
	uint64_t sums[WHY_CLASSES];

	feed_switch(0, 0, 1);
	feed_number(ID_REQUEST_BEGIN, 1, 7);
	for (unsigned int i = 0; i < MANY; i++) {
		feed_number(ID_STEP_BEGIN, 1, 100 + i);
		ts += 2;
		feed(event(ID_STEP_END, 1));
	}
	feed(event(ID_REQUEST_END, 1));
	feed_switch(1, 1, 0);
	cr_assert_eq(why_end(why), 0);
	cr_assert_eq(why_explain(why, span_of(7), &pieces, sums), 2 * MANY + 1);
	cr_assert_eq(sums[WHY_RUNNING], 4 * MANY + 1);
	cr_assert_str_eq(pieces[2 * MANY - 1].what, "io:step");
	cr_assert_str_eq(pieces[2 * MANY].what, "");
	/* One of the spans inside it. */
	cr_assert_eq(why_explain(why, span_of(100 + MANY / 2), &pieces, sums), 1);
	cr_assert_eq(sums[WHY_RUNNING], 3);
}

/* Long nested spans around all later ones. */
Test(why, many_interrupts_and_tasks)
{
	const struct why_piece *pieces;
	uint64_t sums[WHY_CLASSES];
	struct machine_event *e;

	feed_switch(0, 0, 1);
	feed_task(1);
	feed_number(ID_REQUEST_BEGIN, 1, 7);
	for (unsigned int i = 0; i < 500; i++)
		feed_number(ID_STEP_BEGIN, 1, 100 + i);
	for (unsigned int i = 0; i < MANY; i++) {
		e = event(ID_SOFTIRQ_ENTRY, 1);
		machine_put32(e, 7);
		feed(e);
		e = event(ID_SOFTIRQ_EXIT, 1);
		machine_put32(e, 7);
		feed(e);
		feed_task(2);
		feed_task(1);
	}
	for (unsigned int i = 0; i < 500; i++)
		feed(event(ID_STEP_END, 1));
	feed(event(ID_REQUEST_END, 1));
	feed_switch(1, 1, 0);
	cr_assert_eq(why_end(why), 0);
	cr_assert(why_explain(why, span_of(7), &pieces, sums) > 3 * (long)MANY);
	cr_assert_eq(sums[WHY_INTERRUPTED], MANY);
	cr_assert_eq(sums[WHY_BLOCKED], MANY);
	cr_assert_eq(sums[WHY_RUNNING], 2 * MANY + 1001);
	cr_assert_str_eq(pieces[0].what, "");
	cr_assert_str_eq(pieces[1].what, "io:step");
}

/* On PREEMPT_RT, 1 takes the CPU from 3, which is in a soft interrupt. */
Test(why, a_soft_interrupt_that_was_preempted)
{
	const struct why_piece *pieces;
	struct machine_event *e;

	feed_switch(0, 0, 3);
	e = event(ID_SOFTIRQ_ENTRY, 3);
	machine_put32(e, 3);
	feed(e);
	feed_switch(3, 0, 1);
	feed_number(ID_REQUEST_BEGIN, 1, 7);
	feed(event(ID_REQUEST_END, 1));
	feed_switch(1, 1, 3);
	e = event(ID_SOFTIRQ_EXIT, 3);
	machine_put32(e, 3);
	feed(e);
	cr_assert_eq(why_end(why), 0);
	cr_assert_eq(why_explain(why, span_of(7), &pieces, NULL), 1);
	cr_expect_eq(pieces[0].class, WHY_RUNNING);
}

/* The events of chosen threads alone are recorded: not the interrupt that woke a thread while another one ran. */
static void wakes_in_interrupt(int waker, const char *what, bool lacks_threads)
{
	const struct why_piece *pieces;
	struct machine_event *e;

	feed_switch(0, 0, 1);
	feed_number(ID_REQUEST_BEGIN, 1, 7);
	feed_switch(1, 1, 0);
	machine.nr_events = 0;
	e = machine_event(&machine, KIND_REQUEST, ID_WAKING, 0, 0, waker, true);
	machine_put32(e, 1);
	machine_put32(e, 120);
	machine_put32(e, 0);
	feed(e);
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

Test(why, an_interrupt_in_a_thread_that_was_not_recorded)
{
	choose_threads();
	wakes_in_interrupt(5, "an interrupt woke it; interrupts of other threads were " LEFT_OUT, true);
}

Test(why, an_interrupt_in_the_idle_task_that_was_not_recorded)
{
	choose_threads();
	wakes_in_interrupt(0, "an interrupt woke it; interrupts of other threads were " LEFT_OUT, true);
}

Test(why, an_interrupt_in_a_thread_that_was_recorded)
{
	choose_threads();
	wakes_in_interrupt(3, "an interrupt woke it; which one was not recorded: add -e irq -e timer", false);
}

/* --------------------------------------------------------------------------------------------- what is not recorded */

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

Test(why, an_interrupt_before_a_time_that_no_file_has)
{
	lacks_kernel(1010, 1049);
	feed_switch(0, 0, 1);
	feed_number(ID_REQUEST_BEGIN, 1, 7);
	interrupt_and_gap();
	expect_sums(11, 8, 40);
}

/* The loss ends before the interrupt begins. */
Test(why, a_loss_before_a_time_that_no_file_has)
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

/* There are switches, but none at a time that has them all. */
Test(why, switches_without_states)
{
	const struct why_piece *pieces;

	dat_losses_add(&table->absent.no_switches, 1, DAT_LOSS_NO_END);
	why_close(why);
	cr_assert_eq(why_begin(table, &why), 0);
	feed_switch(0, 0, 1);
	feed_number(ID_REQUEST_BEGIN, 1, 7);
	feed(event(ID_REQUEST_END, 1));
	cr_assert_eq(why_end(why), 0);
	cr_assert_eq(why_explain(why, span_of(7), &pieces, NULL), 1);
	cr_expect_str_eq(pieces[0].what, "the trace has no switch of this thread here");
	cr_expect_str_eq(why_missing(why), "");
}

/* The thread sleeps while other CPUs lose events. */
Test(why, many_losses_in_a_sleep)
{
	const struct why_piece *pieces;
	long nr;

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
	nr = why_explain(why, span_of(7), &pieces, NULL);
	cr_expect(nr > 2 && nr < 8, "%ld", nr);
}

Test(why, a_file_of_several_machines)
{
	const struct why_piece *pieces;

	table->absent.several_machines = true;
	why_close(why);
	cr_assert_eq(why_begin(table, &why), 0);
	feed_switch(0, 0, 1);
	feed_number(ID_REQUEST_BEGIN, 1, 7);
	feed(event(ID_REQUEST_END, 1));
	cr_assert_eq(why_end(why), 0);
	cr_assert_eq(why_explain(why, span_of(7), &pieces, NULL), 1);
	cr_expect_eq(pieces[0].class, WHY_UNKNOWN);
	cr_expect_str_eq(pieces[0].what, "the file is of several machines, and an event does not show of which");
	cr_expect_str_eq(why_missing(why), "");
}

/* The kernel's thread 1 is not the program's. */
Test(why, a_program_in_another_pid_namespace)
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

Test(why, a_cpu_ran_a_thread_that_was_not_recorded)
{
	choose_threads();
	waits_for_a_cpu("CPU 0 was idle, or ran threads that were " LEFT_OUT);
}

Test(why, a_cpu_ran_another_thread)
{
	waits_for_a_cpu("CPU 0 ran <...>-9");
}

/* ------------------------------------------------------------------------------------------------------ handed over */

/* Threads 1 to n, each on a CPU of its own; all except the first one sleep. */
static void start_threads(int n)
{
	for (int i = 1; i <= n; i++) {
		cpu = (uint32_t)i;
		feed_switch(0, 0, i);
		if (i > 1)
			feed_switch(i, 1, 0);
	}
	cpu = 1;
}

static void wakes(int by, int woken)
{
	cpu = (uint32_t)by;
	feed_wake(by, woken);
	cpu = (uint32_t)woken;
	feed_switch(0, 0, woken);
}

static void sleeps(int pid)
{
	cpu = (uint32_t)pid;
	feed_switch(pid, 1, 0);
}

static void job_event(enum machine_id id, int pid)
{
	cpu = (uint32_t)pid;
	feed_number(id, pid, 7);
}

/* The classes of the job, one letter for each nanosecond, and the threads, one digit for each. */
static void job_is(const char *classes, const char *tids)
{
	const struct why_piece *pieces;
	const struct why_span *span;
	char is_class[64] = "", is_tid[64] = "";
	size_t at = 0;
	long nr;

	cr_assert_eq(why_end(why), 0);
	span = span_of(7);
	cr_assert_not_null(span);
	nr = why_explain(why, span, &pieces, NULL);
	for (long i = 0; i < nr; i++) {
		for (uint64_t t = pieces[i].begin; t < pieces[i].end && at < 63; t++) {
			is_class[at] = "RWBIU"[pieces[i].class];
			is_tid[at++] = (char)('0' + pieces[i].tid);
		}
	}
	cr_assert(!strcmp(is_class, classes) && !strcmp(is_tid, tids), "%s of %s is right, not %s of %s", classes, tids,
		  is_class, is_tid);
}

/* The thread that got the job then waits for a lock. The lock's holder never had the job. */
Test(why, last_thread_waits_for_a_lock)
{
	start_threads(3);
	job_event(ID_JOB_BEGIN, 1); /* 1 runs */
	cpu = 3;
	feed_switch(0, 0, 3); /* 1 runs */
	wakes(1, 2);	      /* 2 waits for a CPU, runs */
	sleeps(2);	      /* waits for 3 */
	wakes(3, 2);	      /* waits for a CPU, runs */
	job_event(ID_JOB_END, 2);
	job_is("RRWRBWR", "1122322");
}

/* 1 wakes 3 as well, for something else: the shorter chain of wake-ups counts. */
Test(why, holder_of_the_lock_was_woken_by_the_first_thread)
{
	start_threads(3);
	job_event(ID_JOB_BEGIN, 1);
	wakes(1, 3);
	wakes(1, 2);
	sleeps(2);
	wakes(3, 2);
	job_event(ID_JOB_END, 2);
	job_is("RRRWRBWR", "11122322");
}

/* 1, 2, 3 in a chain. 3 was woken by 4 before that and after it. */
Test(why, handed_over_twice)
{
	start_threads(4);
	job_event(ID_JOB_BEGIN, 1);
	cpu = 4;
	feed_switch(0, 0, 4);
	wakes(4, 3);
	sleeps(3);
	wakes(1, 2);
	wakes(2, 3);
	sleeps(3);
	wakes(4, 3);
	job_event(ID_JOB_END, 3);
	job_is("RRRRRWRWRBWR", "111112233433");
}

/* The wake-up begins before 2 has left its CPU. */
Test(why, woken_before_it_slept)
{
	start_threads(2);
	wakes(1, 2);
	job_event(ID_JOB_BEGIN, 1); /* 1 runs */
	cpu = 1;
	feed_wake(1, 2);
	sleeps(2);
	feed_wakeup(2); /* 2 waits for a CPU, runs */
	feed_switch(0, 0, 2);
	job_event(ID_JOB_END, 2);
	job_is("RRRWR", "11122");
}

/* The thread that ends the job is unknown. */
Test(why, ended_by_a_thread_without_other_events)
{
	job_event(ID_JOB_BEGIN, 1);
	job_event(ID_JOB_END, 5);
	job_is("U", "5");
}

/* The first thread works for a task; the one that ends the job never named one. */
Test(why, last_thread_names_no_task)
{
	start_threads(2);
	feed_task_of(1, 9);
	job_event(ID_JOB_BEGIN, 1);
	wakes(1, 2);
	job_event(ID_JOB_END, 2);
	job_is("RWR", "122");
}

Test(why, last_thread_works_for_another_task)
{
	start_threads(2);
	feed_task_of(1, 9);
	job_event(ID_JOB_BEGIN, 1);
	wakes(1, 2);
	feed_task_of(2, 3);
	job_event(ID_JOB_END, 2);
	job_is("RWRB", "1222");
}

/* Threads that work for the job's task do the job, whichever thread woke them. */
Test(why, threads_take_the_task)
{
	start_threads(3);
	feed_task_of(1, 9);
	job_event(ID_JOB_BEGIN, 1);
	wakes(1, 2);
	cpu = 1;
	feed_task_of(1, 0); /* until here 1 runs, then no thread works for the job */
	cpu = 2;
	feed_task_of(2, 3); /* 2 runs, not for it */
	feed_task_of(2, 9);
	wakes(2, 3);
	cpu = 2;
	feed_task_of(2, 0);
	cpu = 3;
	feed_task_of(3, 9);
	sleeps(3);
	wakes(2, 3);
	job_event(ID_JOB_END, 3);
	job_is("RRRBBRRRBRBWR", "1112222233233");
}
