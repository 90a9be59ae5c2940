/* SPDX-License-Identifier: MIT */
/*
 * `recorder why` on long spans with very many inner items, where quadratic work would not end; and on spans that one
 * thread hands to another.
 */
#include "why_feed.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>

#define MANY 200000u

TestSuite(why, .init = why_feed_begin, .fini = why_feed_end);

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

	feed_switch(0, 0, 1);
	feed_task(1);
	feed_number(ID_REQUEST_BEGIN, 1, 7);
	for (unsigned int i = 0; i < 500; i++)
		feed_number(ID_STEP_BEGIN, 1, 100 + i);
	for (unsigned int i = 0; i < MANY; i++) {
		feed_soft_interrupt(1);
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

static void feed_call(enum machine_id id, int pid)
{
	struct machine_event *e = event(id, pid);

	machine_put64(e, SYS_clock_nanosleep);
	if (id == ID_SYS_EXIT)
		machine_put64(e, 0);
	feed(e);
}

/* 1 waits for 2, which waits for 3, and so on. However long the names are, the text ends with the cause. */
Test(why, names_of_a_long_chain)
{
	enum { LAST = 16 };
	const struct why_piece *pieces;
	const char *what = NULL;
	long nr;

	for (int i = LAST; i; i--) {
		char name[16];

		snprintf(name, sizeof(name), "a-long-name-%03d", i);
		cr_assert_eq(tep_register_comm(table->tep, name, i), 0);
		cpu = (uint32_t)i;
		feed_switch(0, 0, i);
		if (i == LAST)
			continue;
		if (i == 1)
			feed_number(ID_REQUEST_BEGIN, 1, 7);
		feed_call(ID_SYS_ENTER, i);
		feed_switch(i, 1, 0);
	}
	for (int i = LAST; i > 1; i--) {
		cpu = (uint32_t)i;
		feed_wake(i, i - 1);
		cpu = (uint32_t)i - 1;
		feed_switch(0, 0, i - 1);
		feed_call(ID_SYS_EXIT, i - 1);
	}
	feed(event(ID_REQUEST_END, 1));
	cr_assert_eq(why_end(why), 0);
	nr = why_explain(why, span_of(7), &pieces, NULL);
	for (long i = 0; i < nr && !what; i++)
		what = pieces[i].tid == LAST ? pieces[i].what : NULL;
	cr_assert_not_null(what);
	cr_expect(strlen(what) > 512, "%s", what);
	cr_expect_str_eq(what + strlen(what) - strlen(": a-long-name-016-16 ran"), ": a-long-name-016-16 ran");
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

/*
 * 1 begins jobs, 2 ends them, and 3 wakes 2 in between. No wake-up leads from 1 to 2. There are very many other
 * threads, which must not be looked at for each job.
 */
Test(why, many_jobs_and_threads, .timeout = 100)
{
	enum { THREADS = 50000, JOBS = 40000 };
	const struct why_piece *pieces;
	const struct why_span *spans;
	uint64_t sums[WHY_CLASSES];
	size_t nr, wrong = 0;

	start_threads(3);
	wakes(1, 2);
	cpu = 3;
	feed_switch(0, 0, 3);
	cpu = 4;
	for (int i = 10; i < 10 + THREADS; i++)
		feed_switch(i, 1, i + 1);
	for (unsigned int i = 0; i < JOBS; i++) {
		cpu = 1;
		feed_number(ID_JOB_BEGIN, 1, i);
		sleeps(2);
		wakes(3, 2);
		feed_number(ID_JOB_END, 2, i);
	}
	cr_assert_eq(why_end(why), 0);
	spans = why_spans(why, &nr);
	cr_assert_eq(nr, JOBS);
	/* 2 runs, sleeps until 3 wakes it, waits for a CPU, and runs. */
	for (size_t i = 0; i < nr; i++)
		wrong += why_explain(why, &spans[i], &pieces, sums) != 4 || pieces[0].tid != 2 || pieces[1].tid != 3 ||
			 sums[WHY_RUNNING] != 2 || sums[WHY_BLOCKED] != 1 || sums[WHY_RUNNABLE] != 1;
	cr_assert_eq(wrong, 0, "%zu of %zu jobs", wrong, nr);
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
